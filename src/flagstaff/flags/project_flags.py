"""The flags of all environments of a project, side by side: those with the same key belong together."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from flagstaff.flags.flags import Fallthrough


class Aspect(StrEnum):
    """An aspect in which the flags with one key can differ. Only what decides evaluations counts.

    `environments`: not every environment has one. `state`: on, off or archived. `rollout`: the percentage, what decides
    when no rule matches, and which users are chosen. Rules are compared in the order in which they are tried.
    """

    ENVIRONMENTS = "environments"
    STATE = "state"
    RULES = "rules"
    ROLLOUT = "rollout"
    VARIANTS = "variants"
    PREREQUISITES = "prerequisites"


@dataclass(frozen=True, slots=True)
class FlagInBrief:
    """A flag of one environment: its state, and how many enabled `rules`, `variants` and `prerequisites` it has."""

    id: UUID
    environment_id: UUID
    key: str
    name: str
    enabled: bool
    archived_at: datetime | None
    updated_at: datetime
    rollout_percentage: int
    fallthrough: Fallthrough
    rules: int
    variants: int
    prerequisites: int


@dataclass(frozen=True, slots=True)
class ProjectFlag:
    """The flags of a project with one key, in the order of the environments, and in what they differ."""

    key: str
    differs: tuple[Aspect, ...]
    flags: tuple[FlagInBrief, ...]


@dataclass(frozen=True, slots=True)
class ProjectFlagFilter:
    """A filter of a project's flags: those whose key or name contains `text`, ignoring case, or with this `key`.

    Keys whose flags are all archived are left out, unless `key` names one.
    """

    text: str = ""
    key: str | None = None
    differs: bool = False
