"""Finds, reads and rewrites recorded states in the audit trail, a part of the trail at a time."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.windows import containing

EXAMINED_AT_ONCE = 500
BYTES_AT_ONCE = 1 << 20
"""The size of the states that a statement searches, as the database stores them: PostgreSQL compresses them."""
_columns = tables.changes.c


class _Encoded(sa.types.TypeDecorator[str]):
    """JSON that is given as text: to encode a long state takes longer than the event loop may be held."""

    impl = sa.JSON
    cache_ok = True

    def bind_processor(self, dialect: sa.Dialect) -> None:
        """Leave the text as it is."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The changes whose states contain one of these texts, as a whole value or anywhere, or that are an account's.

    Only states of some actions are searched and read, or with `of_other_actions` the states of all others. If a project
    is given, only its changes are wanted.
    """

    texts: Collection[str]
    actions: Collection[str]
    of_other_actions: bool = False
    are_whole: bool = False
    account_id: UUID | None = None
    project_id: UUID | None = None

    @property
    def has_states(self) -> sa.ColumnElement[bool]:
        """As a condition: a change has one of the actions whose states are searched."""
        return _columns.action.not_in(self.actions) if self.of_other_actions else _columns.action.in_(self.actions)

    @property
    def is_of_account(self) -> Sequence[sa.ColumnElement[bool]]:
        """As conditions, of which one is enough: a change is the account's."""
        if self.account_id is None:
            return ()
        return _columns.actor_id == self.account_id, _columns.resource_id == self.account_id

    def within(self, after: int, until: int) -> sa.ColumnElement[bool]:
        """As a condition: a change has a number after one and up to another, and is of the project."""
        is_between = sa.and_(_columns.id > after, _columns.id <= until)
        return is_between if self.project_id is None else sa.and_(is_between, _columns.project_id == self.project_id)


class Parts(NamedTuple):
    """The next changes of the trail: the numbers with which parts of them end, and whether there are more changes."""

    ends: Sequence[int]
    more: bool


class Recorded(NamedTuple):
    """A change as it is rewritten. Its states are JSON as it is stored; None if the action's are not rewritten."""

    number: int
    actor_id: UUID | None
    resource_id: UUID
    before: Any
    after: Any


async def find_parts(connection: AsyncConnection, wanted: Wanted, *, after: int, until: int) -> Parts:
    """Divide the next changes into parts whose states are small enough for one statement to search."""
    examined = sa.select(_columns.id).where(wanted.within(after, until)).order_by(_columns.id)
    last = (await connection.execute(examined.limit(1).offset(EXAMINED_AT_ONCE - 1))).scalar_one_or_none()
    end = until if last is None else last
    measure = sa.func.pg_column_size if connection.dialect.name == "postgresql" else sa.func.length
    size = sum((sa.func.coalesce(measure(each), 0) for each in (_columns.before, _columns.after)), sa.literal(0))
    searched = sa.select(_columns.id, size).where(wanted.within(after, end), wanted.has_states)
    ends, previous, taken = [], after, 0
    for number, added in await connection.execute(searched.order_by(_columns.id)):
        if taken and taken + added > BYTES_AT_ONCE:
            ends.append(previous)
            taken = 0
        previous, taken = number, taken + added
    return Parts([*ends, end], last is not None)


async def find_wanted(connection: AsyncConnection, wanted: Wanted, *, after: int, until: int) -> Sequence[int]:
    """The numbers of the wanted changes in a part."""
    states = (_columns.before, _columns.after)
    found = [contains(column, text, is_whole=wanted.are_whole) for column in states for text in wanted.texts]
    is_wanted = sa.or_(sa.false(), *wanted.is_of_account, sa.and_(wanted.has_states, sa.or_(sa.false(), *found)))
    query = sa.select(_columns.id).where(wanted.within(after, until), is_wanted).order_by(_columns.id)
    return (await connection.execute(query)).scalars().all()


async def read_changes(connection: AsyncConnection, wanted: Wanted, numbers: Sequence[int]) -> Sequence[Recorded]:
    """The changes with these numbers that still exist."""
    before, after = (
        sa.case((wanted.has_states, sa.cast(each, sa.Text)), else_=sa.null())
        for each in (_columns.before, _columns.after)
    )
    query = sa.select(_columns.id, _columns.actor_id, _columns.resource_id, before, after)
    rows = await connection.execute(query.where(_columns.id.in_(numbers)).order_by(_columns.id))
    return [Recorded(*row) for row in rows]


async def rewrite_change(connection: AsyncConnection, read: Recorded, values: Mapping[str, str]) -> bool:
    """Replace columns of a change, of which states are JSON; return False if a state is not the one that was read."""
    update = tables.changes.update().where(_columns.id == read.number)
    encoded: dict[str, Any] = dict(values)
    for name in values.keys() & {"before", "after"}:
        update = update.where(sa.cast(_columns[name], sa.Text) == getattr(read, name))
        encoded[name] = sa.type_coerce(values[name], _Encoded())
    return (await connection.execute(update.values(encoded))).rowcount == 1


def contains(column: sa.ColumnElement[Any], text: str, *, is_whole: bool) -> sa.ColumnElement[bool]:
    """Return whether a recorded state has a text, ignoring case; JSON may write it with or without escapes."""
    stored = sa.func.lower(sa.cast(column, sa.Text))
    written = {json.dumps(text, ensure_ascii=escaped) for escaped in (True, False)}
    patterns = sorted(containing((each if is_whole else each[1:-1]).lower()) for each in written)
    return sa.or_(*(stored.like(each, escape="\\") for each in patterns))
