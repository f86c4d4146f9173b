"""The states before and after changes: stored as what differs, and read as wholes.

A change is stored as a delta if the resource's latest change has left the state that this one has found. The states
before and after such a change follow from an earlier change that is stored whole, on which it is `based_on`, and all
changes of the resource since. So a row that another version wrote, or a write that the trail does not have, only means
that the next change is stored whole.

A new base is written when the deltas are longer than the state itself, so that whole states take at most a few times
as long to read as if they were stored.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import Change, NumberedChange
from flagstaff.concurrency.pacing import paced
from flagstaff.database import tables
from flagstaff.database.change_rows_store import read_change
from flagstaff.database.deltas import EncodedState, State, apply, difference

DELTAS_MAX_BYTES = 8_000
"""The deltas since a base, if the state itself is shorter."""
_DELTA_BYTES = 100
"""Added to each delta, so that short ones have a bound as well: to read one takes some time."""

_ROW_BYTES = 500
"""The other columns of a row, and its places in the indexes."""

_columns = tables.changes.c
_wanted = tables.changes.alias("wanted")
_chains = (
    sa.select(_columns.id, _columns.resource_id, _columns.based_on, _columns.after)
    .join(
        _wanted,
        sa.and_(_wanted.c.resource_id == _columns.resource_id, _columns.id.between(_wanted.c.based_on, _wanted.c.id)),
    )
    .where(_wanted.c.id.in_(sa.bindparam("numbers", expanding=True)))
    .order_by(_columns.id)
)


class _Latest(NamedTuple):
    """The latest change of a resource, the base of it or of what follows, and the deltas since that base."""

    resource_id: UUID
    number: int
    based_on: int | None
    digest: int | None
    delta_bytes: int | None


class StoredStates(NamedTuple):
    """The columns of a change that have its states, the bytes that its row takes, and the length of what it alters."""

    row: dict[str, Any]
    stored_bytes: int
    altered_bytes: int


async def store_states(connection: AsyncConnection, made: Sequence[Change], key: bytes) -> list[StoredStates]:
    """Decide how the states of some changes are stored. No more are given than one statement can look for."""
    encoded = [(_encode(each.before), _encode(each.after)) for each in made]
    altering = [each.resource_id for each in made if each.before and each.after and each.scope.project_id]
    latest = await _find_latest(connection, list(dict.fromkeys(altering)))
    return [
        # Of several changes of a resource, only the first follows the latest one.
        _store(each, before, after, latest.pop(each.resource_id, None), key)
        for each, (before, after) in zip(made, encoded, strict=True)
    ]


def _encode(state: State | None) -> EncodedState | None:
    return None if state is None else EncodedState(state)


def _store(
    change: Change, before: EncodedState | None, after: EncodedState | None, latest: _Latest | None, key: bytes
) -> StoredStates:
    row = {
        "before": change.before,
        "after": change.after,
        "based_on": None,
        "delta_bytes": 0,
        "whole_bytes": (before.size if before else 0) + (after.size if after else 0),
        "state_digest": after.digest(key) if after and change.scope.project_id else None,
    }
    whole = _ROW_BYTES + sum(each.stored_bytes(each.fields) for each in (before, after) if each)
    delta = difference(before, after) if before and after else None
    if before is None or after is None or delta is None:
        return StoredStates(row, whole, whole)
    length = before.length(delta[0]) + after.length(delta[1])
    names = [name for name in delta[1] if before.fields[name] != after.fields[name]]
    altered = before.length(names) + after.length(names)
    if latest is None or latest.digest != before.digest(key):
        return StoredStates(row, whole, altered)
    delta_bytes = (latest.delta_bytes or 0) + _DELTA_BYTES + length
    if delta_bytes > max(DELTAS_MAX_BYTES, after.size):
        return StoredStates(row, whole, altered)
    based_on = latest.number if latest.based_on is None else latest.based_on
    row |= {"before": delta[0], "after": delta[1], "based_on": based_on, "delta_bytes": delta_bytes}
    return StoredStates(row, _ROW_BYTES + before.stored_bytes(delta[0]) + after.stored_bytes(delta[1]), altered)


async def _find_latest(connection: AsyncConnection, resource_ids: Sequence[UUID]) -> dict[UUID, _Latest]:
    if not resource_ids:
        return {}
    given = {f"resource_{place}": each for place, each in enumerate(resource_ids)}
    rows = await connection.execute(_latest_of(len(resource_ids)), given)
    return {row.resource_id: _Latest(*row) for row in rows}


@lru_cache(maxsize=32)
def _latest_of(count: int) -> sa.Select[Any] | sa.CompoundSelect[Any]:
    """Read the end of the index for each resource: it can have thousands of changes."""
    latest = sa.select(
        _columns.resource_id, _columns.id, _columns.based_on, _columns.state_digest, _columns.delta_bytes
    )
    each = [
        latest.where(_columns.resource_id == sa.bindparam(f"resource_{place}", type_=sa.Uuid))
        .order_by(_columns.id.desc())
        .limit(1)
        for place in range(count)
    ]
    return each[0] if count == 1 else sa.union_all(*(sa.select(one.subquery()) for one in each))


async def read_whole(connection: AsyncConnection, rows: Iterable[sa.Row[Any]]) -> list[NumberedChange]:
    """Read changes from their rows, with whole states. Each parses the JSON of a row, which can take a millisecond."""
    found = [row async for row in paced(rows)]
    ends: dict[tuple[UUID, int], int] = {}
    for row in found:
        if row.based_on is not None:
            chain = row.resource_id, row.based_on
            ends[chain] = max(ends.get(chain, 0), row.id)
    states = await _read_states(connection, list(ends.values())) if ends else {}
    return [read_change(row, states.get(row.id)) async for row in paced(found)]


async def _read_states(connection: AsyncConnection, numbers: Sequence[int]) -> Mapping[int, tuple[State, State]]:
    """The states before and after the changes with these numbers, and the changes between them and their bases."""
    latest: dict[UUID, State] = {}
    states: dict[int, tuple[State, State]] = {}
    async for row in paced(await connection.execute(_chains, {"numbers": numbers})):
        if row.based_on is None:
            latest[row.resource_id] = row.after or {}
            continue
        before = latest.get(row.resource_id, {})
        after = latest[row.resource_id] = apply(before, row.after or {})
        states[row.id] = before, after
    return states
