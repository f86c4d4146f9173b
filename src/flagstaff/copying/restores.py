"""Restoring: what a change has altered is put back as it was before the change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from flagstaff.audit.recorded_values import read_resource, read_value
from flagstaff.changes.changes import OWN_FIELDS, Change, Scope, altered_values
from flagstaff.changes.redaction import has_erased
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting.segments import Segment
from flagstaff.values.errors import Code, Error

T = TypeVar("T", Flag, Rule, Segment)


@dataclass(frozen=True, slots=True)
class FieldAlteration:
    """A field that a restore alters, with its values as the audit trail has them."""

    field: str
    present: Any
    restored: Any


@dataclass(frozen=True, slots=True)
class Alteration:
    """A write of a restore, to one resource. `before` is None if it comes back, `after` if its creation is undone."""

    action: str
    scope: Scope
    before: Flag | Rule | Segment | None
    after: Flag | Rule | Segment | None

    @property
    def resource(self) -> Flag | Rule | Segment:
        """The flag, the rule or the segment."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def fields(self) -> list[FieldAlteration]:
        """The fields that are altered."""
        return [FieldAlteration(*each) for each in altered_values(self.before, self.after)]

    @property
    def turns_on(self) -> bool:
        """True if it is of a flag that is on after it, and was off, archived or not there before."""
        return _is_on(self.after) and not _is_on(self.before)


def _is_on(resource: Flag | Rule | Segment | None) -> bool:
    return isinstance(resource, Flag) and resource.enabled and resource.archived_at is None


def values_before(change: Change, now: Mapping[str, Any], *, if_unchanged: bool) -> dict[str, Any]:
    """The values before a change of the fields that it has altered, as the domain has them.

    `now` is the resource as the audit trail would have it.

    Raises:
        Error: CONFLICT if the change has none, or with `if_unchanged`, if a field has been changed again since.
    """
    before, after = change.before or {}, change.after or {}
    altered = [name for name in before if name not in OWN_FIELDS and name in after and before[name] != after[name]]
    if not altered:
        raise unrestorable("The audit trail does not contain the values before the change.")
    again = [name for name in altered if now.get(name) != after[name]]
    if if_unchanged and again:
        raise unrestorable(f"It has been changed again since: {', '.join(again)}.")
    values = {name: before[name] for name in altered}
    _refuse_erased(values)
    return {name: read_value(name, value) for name, value in values.items()}


def read_recorded(kind: type[T], values: Mapping[str, Any]) -> T:
    """A whole resource from the audit trail; raises Error CONFLICT if the entry lacks some of its fields."""
    _refuse_erased(values)
    try:
        return read_resource(kind, values)
    except LookupError as error:
        raise unrestorable(f"The audit trail does not contain valid values: {error}.") from error


def _refuse_erased(values: Mapping[str, Any]) -> None:
    """Raise Error CONFLICT if values before a change named a user who was erased from the trail."""
    if has_erased(values):
        raise unrestorable("A user was erased from the values before the change. Set the other values by hand.")


def unrestorable(why: str) -> Error:
    """The error for a change that cannot be restored."""
    return Error(Code.CONFLICT, f"This cannot be restored. {why}")
