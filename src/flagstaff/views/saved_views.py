"""Saved views: filters of the flag list with a name, which the members of a project share."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from flagstaff.values.text import NAME_MAX_LENGTH, check_length, check_text

# The filters of the flag list. A filter that is not set is left out.
State = Literal["on", "off"]
Audience = Literal["everyone", "rollout", "rules", "only"]
Use = Literal["day", "quiet"]
Order = Literal["name", "changed", "evaluated"]


@dataclass(frozen=True, slots=True)
class SavedView:
    """A saved view of a project. `search` has those fields of the flag list's filter that are set.

    It applies to every environment, so it names no resource of one.
    """

    id: UUID
    project_id: UUID
    name: str
    search: Mapping[str, Any]
    created_at: datetime


def check_searched(value: str) -> str:
    """A text to search flags for: trimmed, 1 to 255 characters."""
    return check_length(check_text(value).strip(), 1, NAME_MAX_LENGTH)
