"""Notices: what the server tells by itself, such as that flags have become stale."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class NoticeType(StrEnum):
    """The type of a notice, as in the events of webhooks."""

    FLAG_STALE = "flag.stale"
    """Flags may be removed, as the page Clean up shows."""
    FLAG_MISSING = "flag.missing"
    """Applications ask for flags that do not exist, or are archived."""
    INSTANCE_LAGGING = "instance.lagging"
    """An instance does not serve the newest changes, or is not heard of any more."""
    INSTANCE_RECOVERED = "instance.recovered"
    HISTORY_BEHIND = "history.behind"
    """Evaluations wait to be written to the history."""
    HISTORY_RECOVERED = "history.recovered"


PROJECT_NOTICES = (NoticeType.FLAG_STALE, NoticeType.FLAG_MISSING)
INSTANCE_NOTICES = tuple(each for each in NoticeType if each not in PROJECT_NOTICES)
FLAGS_MAX = 50
"""The number of flags that a notice describes at most."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A fact that the server has noticed, in an environment or about an instance.

    `details` are JSON. Of flags, they are a list `flags`, each with its `key`, and their `count`; of an instance, its
    name as `instance`, and figures.
    """

    number: int
    type: NoticeType
    project_id: UUID | None
    environment_id: UUID | None
    at: datetime
    details: Mapping[str, Any]
