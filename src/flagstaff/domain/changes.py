"""Changes: the audit trail of every write, and the feed that keeps snapshots fresh."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from flagstaff.domain.accounts import Account
from flagstaff.domain.flags import Flag, Rule
from flagstaff.domain.moments import format_moment
from flagstaff.domain.projects import Environment, Project

Resource = Account | Project | Environment | Flag | Rule

_SECRET = frozenset({"sdk_key", "password_hash"})


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is acting: an account, or the command line, which has none."""

    account_id: UUID | None
    email: str | None


COMMAND_LINE = Actor(account_id=None, email=None)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where a change happened: in which project, environment and flag, as far as it happened inside one.

    Of a flag's own changes and of its rules', `flag_id` and `flag_key` are the flag's.
    """

    project_id: UUID | None = None
    environment_id: UUID | None = None
    flag_id: UUID | None = None
    flag_key: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `action` is `resource.verb`, such as `flag.toggled`.

    `before` is None for a creation, `after` for a deletion; both hold the resource as JSON, without its secrets.
    """

    at: datetime
    actor: Actor
    action: str
    resource_id: UUID
    scope: Scope
    before: dict[str, Any] | None
    after: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class NumberedChange:
    """A change as it stands in the trail; of one project's, a later one has a higher number."""

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
) -> Change:
    """The change that turned `before` into `after`, at least one of which is given."""
    resource = after or before
    assert resource is not None
    return Change(
        at=at,
        actor=actor,
        action=action,
        resource_id=resource.id,
        scope=scope,
        before=_recorded(before),
        after=_recorded(after),
    )


def _recorded(resource: Resource | None) -> dict[str, Any] | None:
    if resource is None:
        return None
    names = (field.name for field in fields(resource) if field.name not in _SECRET)
    return {name: _as_json(getattr(resource, name)) for name in names}


def _as_json(value: Any) -> Any:
    match value:
        case datetime():
            return format_moment(value)
        case UUID():
            return str(value)
        case _:
            return value
