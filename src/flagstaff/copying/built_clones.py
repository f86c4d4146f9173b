"""The flags and rules of an environment that is created as a copy of another, and the changes that record them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Change, change_of
from flagstaff.copying.comparisons import Side
from flagstaff.copying.copies import rule_like
from flagstaff.flags.access import scope_of
from flagstaff.flags.flags import Flag, Rule
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error


@dataclass(frozen=True, slots=True)
class ClonedRow:
    """A flag as it is written in the clone, or one of its rules."""

    flag: Flag
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class BuiltClone:
    """An environment with all flags and rules that nobody sees yet, and the numbers of the changes that record it.

    `origin_revision` is the state of the environment from which they were copied.
    """

    environment: Environment
    creation: Change
    origin_revision: int
    numbers: Sequence[int]


def clone_flags(
    sides: Mapping[str, Side], environment: Environment, now: datetime, *, all_off: bool
) -> list[ClonedRow]:
    """Make flags and rules, each a microsecond younger than the one before: the order by age stays.

    Raises:
        Error: CONFLICT for a flag that needs an archived one, which is not copied.
    """
    _require_prerequisites(sides)
    rows = []
    # The newest flag is read first, and shall be the newest again.
    for place, side in enumerate(reversed(list(sides.values()))):
        at = now + timedelta(microseconds=place)
        flag = replace(
            side.flag,
            id=uuid7(),
            environment_id=environment.id,
            enabled=side.flag.enabled and not all_off,
            created_at=at,
            updated_at=at,
        )
        rows.append(ClonedRow(flag))
        for order, rule in enumerate(side.rules):
            rows.append(ClonedRow(flag, rule_like(rule, flag.id, uuid7(), at + timedelta(microseconds=order))))
    return rows


def changes_of(actor: Actor, rows: Sequence[ClonedRow]) -> Iterator[Change]:
    """The changes by which flags and rules are created."""
    for row in rows:
        scope = scope_of(row.flag)
        if row.rule is None:
            yield change_of(actor, "flag.created", row.flag.created_at, scope, after=row.flag)
        else:
            yield change_of(actor, "rule.created", row.rule.created_at, scope, after=row.rule)


def _require_prerequisites(sides: Mapping[str, Side]) -> None:
    for key, side in sides.items():
        missing = [each.flag_key for each in side.flag.prerequisites if each.flag_key not in sides]
        if missing:
            message = f"The flag {key} needs {missing[0]}, which is archived. Unarchive it, or remove the prerequisite."
            raise Error(Code.CONFLICT, message)
