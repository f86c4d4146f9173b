"""Changes: every write is recorded in the audit trail, and announced so that snapshots stay up to date."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, Protocol
from uuid import UUID

from flagstaff.changes.actions import NOT_EVALUATED
from flagstaff.permissions.permissions import Limits
from flagstaff.values.moments import format_moment


class Resource(Protocol):
    """A resource whose changes are recorded: a dataclass with an id, such as a flag or a webhook.

    One whose changes belong to the trail of another resource has that one's id as its `trail_id`. A dataclass in it may
    have a method `as_recorded`, which returns it as JSON.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def id(self) -> UUID:
        """The resource's id."""


# A webhook's URL may contain a secret; its `host` is recorded. A comment that is deleted must not stay here. An
# environment's position says little by itself: a new order is recorded as a whole.
_NOT_RECORDED = frozenset({"sdk_key", "password_hash", "url", "text", "position"})
# They say which resource it is, or when it was written.
OWN_FIELDS = frozenset({"id", "project_id", "environment_id", "flag_id", "created_at", "updated_at"})


class TokenName(NamedTuple):
    """The access token with which a change is made."""

    id: UUID
    name: str


class ReleaseName(NamedTuple):
    """The release that makes a change by itself, and the metric of the guard that acts, if one does."""

    id: UUID
    name: str | None
    guard: str | None = None


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change: an account, or the command line, which has no account.

    With an access token, the account acts within its `limits`; otherwise `session_id` is the session that it acts in.
    A `release` acts for its author, with the token that its author has used; see releases/authority.py.
    """

    account_id: UUID | None
    email: str | None
    token: TokenName | None = None
    limits: Limits | None = None
    session_id: UUID | None = None
    release: ReleaseName | None = None


class BatchKind(StrEnum):
    """The operation whose changes belong together."""

    BULK_ACTION = "bulk_action"
    COPY = "copy"
    CLONE = "clone"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Batch:
    """An operation that makes several changes in one transaction, which the trail shows as one entry with its parts.

    `changes` and `flags` are the numbers of its changes and of the flags that they concern; `origin_id` is the
    environment from which flags were copied.
    """

    id: UUID
    kind: BatchKind
    changes: int
    flags: int
    origin_id: UUID | None = None


COMMAND_LINE = Actor(account_id=None, email=None)
DELETED_ACCOUNT = "a deleted account"
"""Stands for the address of an account that was deleted, in everything that names one."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The project, environment and flag in which a change was made, as far as they apply.

    Of a flag's own changes and of its rules', `flag_id` and `flag_key` are the flag's.
    """

    project_id: UUID | None = None
    environment_id: UUID | None = None
    flag_id: UUID | None = None
    flag_key: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `action` is `resource.verb`, such as `flag.toggled`.

    `before` is None for a creation, `after` for a deletion. Both contain the resource as JSON, without its secrets.
    A change that puts back what another has altered `restores` the number of that one. A change that an operation made
    together with others names their `batch`.
    """

    at: datetime
    actor: Actor
    action: str
    resource_id: UUID
    scope: Scope
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    restores: int | None = None
    batch: Batch | None = None

    @property
    def affects_evaluations(self) -> bool:
        """Return whether snapshots must be loaded again."""
        return self.action not in NOT_EVALUATED


class Committed(NamedTuple):
    """The changes of a transaction, and the state in which it found the projects that it was to change.

    `found` has the revision of each project that it has locked for a write, and `left` of those that it has changed;
    None stands for a project that has been deleted.
    """

    changes: Sequence[Change]
    found: Mapping[UUID, int | None]
    left: Mapping[UUID, int | None]


@dataclass(frozen=True, slots=True)
class NumberedChange:
    """A change in the audit trail. Within a project, later changes have higher numbers."""

    number: int
    change: Change


def change_of(
    actor: Actor,
    action: str,
    at: datetime,
    scope: Scope,
    *,
    before: Resource | None = None,
    after: Resource | None = None,
    restores: int | None = None,
) -> Change:
    """The change from `before` to `after`. At least one of them must be given."""
    resource = after or before
    assert resource is not None
    return Change(
        at=at,
        actor=actor,
        action=action,
        resource_id=getattr(resource, "trail_id", resource.id),
        scope=scope,
        before=recorded(before) if before else None,
        after=recorded(after) if after else None,
        restores=restores,
    )


def recorded(resource: Resource) -> dict[str, Any]:
    """A resource as the audit trail has it: as JSON, without its secrets."""
    names = (field.name for field in fields(resource) if field.name not in _NOT_RECORDED)
    return {name: _as_json(getattr(resource, name)) for name in names}


def altered_values(before: Resource | None, after: Resource | None) -> list[tuple[str, Any, Any]]:
    """The fields in which two states of a resource differ, with both values as the audit trail has them."""
    old, new = recorded(before) if before else {}, recorded(after) if after else {}
    names = (name for name in new or old if name not in OWN_FIELDS)
    return [(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]


def _as_json(value: Any) -> Any:
    if isinstance(value, str):  # a segment has thousands, and the other checks take most of the time
        return value
    match value:
        case datetime():
            return format_moment(value)
        case UUID():
            return str(value)
        case Mapping():
            return {name: _as_json(each) for name, each in value.items()}
        case tuple() | list():
            return [_as_json(each) for each in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            if hasattr(value, "as_recorded"):
                return value.as_recorded()
            return {field.name: _as_json(getattr(value, field.name)) for field in fields(value)}
        case _:
            return value


class Authenticated(NamedTuple):
    """The account that a token stands for, and whether the instance demands a second factor: its setting, as stored.

    None means that nobody has changed the setting, so that the environment variable decides.
    """

    actor: Actor
    demand: str | None
