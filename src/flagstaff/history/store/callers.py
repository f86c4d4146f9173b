"""The callers of each environment: their requests lately and in the last hours, and when they asked first and last.

All processes add to the same rows. A row's id is a digest of its caller, so that it needs no look-up, and all processes
write rows in the same order.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import collect, pause
from flagstaff.database import dialect, tables
from flagstaff.database.tables import microseconds
from flagstaff.history.callers import OTHERS, Caller, CallerUse, SdkProtocol
from flagstaff.history.store.reported_counts import hour_of
from flagstaff.values.lists import parts_of

CALLERS_MAX = 1_000
CALLERS_OF_KEY_MAX = 200
HOURS = 24
_SLOT = timedelta(minutes=5)
_SLOT_MICROSECONDS = 300 * 10**6
_REPLACED_AFTER = timedelta(days=1)
_AHEAD = timedelta(hours=1)  # further ahead is what a clock has left that was wrong
_SLOTS_AHEAD = _AHEAD // _SLOT
_ROWS_AT_ONCE = 100  # in a statement
_OWN_KEY = UUID(int=0)

_columns, _hours = tables.callers.c, tables.caller_hours.c
_present = sa.select(_columns.id).where(_columns.id.in_(sa.bindparam("ids", expanding=True)))
_is_told_apart = _columns.network != OTHERS
_by_key = (
    sa.select(_columns.key_id, sa.func.count())
    .where(_columns.environment_id == sa.bindparam("environment"), _is_told_apart)
    .group_by(_columns.key_id)
)


def _adding(insert: Any) -> Any:
    """Add to the slot of a row. Processes may write the slots of a caller in another order than they began."""
    new = insert.excluded
    later = new.slot - _columns.slot
    is_later = sa.or_(later > 0, later < -_SLOTS_AHEAD)
    passed = sa.type_coerce(new.last_at - _columns.last_at, sa.BigInteger)
    is_last = sa.or_(passed > 0, passed < -(_AHEAD // timedelta(microseconds=1)))
    return insert.on_conflict_do_update(
        index_elements=[_columns.id],
        set_={
            "slot": sa.case((is_later, new.slot), else_=_columns.slot),
            "in_slot": sa.case(
                (is_later, new.in_slot), (later == 0, _columns.in_slot + new.in_slot), else_=_columns.in_slot
            ),
            "before_slot": sa.case(
                (later == 1, _columns.in_slot),
                (is_later, 0),
                (later == -1, _columns.before_slot + new.in_slot),
                else_=_columns.before_slot,
            ),
            "last_at": sa.case((is_last, new.last_at), else_=_columns.last_at),
            "first_at": sa.case((new.first_at < _columns.first_at, new.first_at), else_=_columns.first_at),
        },
    )


_add = dialect.upsert(tables.callers, _adding)
_add_hour = dialect.upsert(
    tables.caller_hours,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_hours.caller, _hours.hour], set_={"requests": _hours.requests + insert.excluded.requests}
    ),
)


async def add_requests(connection: AsyncConnection, counts: Mapping[Caller, int], at: datetime) -> None:
    """Add requests of callers.

    A new caller of a key that has CALLERS_OF_KEY_MAX takes the place of one that has not asked for a day, or else
    counts among the others of its key. The same applies to the environment and CALLERS_MAX.
    """
    by_id: dict[int, tuple[Caller, int]] = {}
    for caller, requests in (await _told_apart(connection, counts, at)).items():
        by_id[_id_of(caller)] = caller, requests
    rows = [_row(caller_id, *by_id[caller_id], at) for caller_id in sorted(by_id)]
    hour = hour_of(at)
    hours = [{"caller": row["id"], "hour": hour, "requests": row["in_slot"]} for row in rows if row["in_slot"]]
    for statement, new in ((_add(connection), rows), (_add_hour(connection), hours)):
        for some in parts_of(new, _ROWS_AT_ONCE):
            await connection.execute(statement, some)
            await pause()


async def list_callers(
    connection: AsyncConnection,
    environment_id: UUID,
    since: datetime,
    now: datetime,
    limit: int,
    key_id: UUID | None = None,
) -> list[CallerUse]:
    """The callers since a moment, or the callers with one key: at most `limit`, those that asked last first."""
    query = sa.select(tables.callers).where(
        _columns.environment_id == environment_id,
        _columns.last_at >= since,
        _columns.protocol.in_(list(SdkProtocol)),  # a later release may know others
    )
    if key_id is not None:
        query = query.where(_columns.key_id == key_id)
    rows = (await connection.execute(query.order_by(_columns.last_at.desc(), _columns.id).limit(limit))).all()
    sums: dict[int, int] = {}
    for some in parts_of(rows, _ROWS_AT_ONCE):
        ids = [row.id for row in some]
        summed = (
            sa.select(_hours.caller, sa.func.sum(_hours.requests))
            .where(_hours.caller.in_(ids), _hours.hour > hour_of(now) - HOURS, _hours.hour <= hour_of(now + _AHEAD))
            .group_by(_hours.caller)
        )
        sums |= {caller: int(requests) for caller, requests in await connection.execute(summed)}
    return await collect(_from_row(row, sums.get(row.id, 0), now) for row in rows)


async def delete_callers_before(connection: AsyncConnection, before: datetime, now: datetime) -> None:
    """Delete the callers that asked last before a moment, and the counts of hours that no list shows by `now`."""
    await connection.execute(tables.callers.delete().where(_columns.last_at < before))
    await connection.execute(tables.caller_hours.delete().where(_hours.hour <= hour_of(now) - HOURS))


async def list_called_environments(connection: AsyncConnection) -> set[UUID]:
    """The environments that have callers, whether or not they exist."""
    return set((await connection.execute(sa.select(_columns.environment_id).distinct())).scalars())


async def delete_callers(connection: AsyncConnection, environment_id: UUID) -> None:
    """Delete the callers of an environment. The counts of their hours are deleted a day later."""
    await connection.execute(tables.callers.delete().where(_columns.environment_id == environment_id))


async def _told_apart(connection: AsyncConnection, counts: Mapping[Caller, int], at: datetime) -> Mapping[Caller, int]:
    """The counts, in which new callers without a place are counted together as others."""
    ids = [_id_of(caller) for caller in counts]
    present: set[int] = set()
    for some in parts_of(ids, _ROWS_AT_ONCE):
        found = await connection.execute(_present, {"ids": some})
        present.update(found.scalars())
        await pause()
    kept: Counter[Caller] = Counter()
    new: defaultdict[UUID, list[Caller]] = defaultdict(list)
    for caller_id, (caller, requests) in zip(ids, counts.items(), strict=True):
        if caller.is_others or caller_id in present:
            kept[caller] = requests
        else:
            new[caller.environment_id].append(caller)
    for environment_id in sorted(new):
        placed = await _place(connection, environment_id, new[environment_id], present, at)
        for caller in new[environment_id]:
            kept[caller if caller in placed else caller.others] += counts[caller]
    return kept


async def _place(
    connection: AsyncConnection, environment_id: UUID, new: Sequence[Caller], present: Collection[int], at: datetime
) -> Collection[Caller]:
    """Return the new callers of an environment for which there is a place, which is made where possible.

    `present` are the ids of the callers with a row that ask in the same moment: they keep their places.
    """
    places = _Places(connection, environment_id, present, at)
    await places.count()
    return {each for each in new if await places.take(each.key_id or _OWN_KEY)}


class _Places:
    """The places for callers in an environment."""

    def __init__(
        self, connection: AsyncConnection, environment_id: UUID, present: Collection[int], at: datetime
    ) -> None:
        self._connection = connection
        self._environment_id = environment_id
        self._present = present
        self._at = at
        self._taken: Counter[UUID] = Counter()
        self._idle: dict[int, UUID] | None = None  # those that can be replaced, with their keys, the oldest first
        self._full: set[UUID | None] = set()  # keys in which no place can be made; None is the environment

    async def count(self) -> None:
        """Count the places that are taken, by key."""
        for key_id, count in await self._connection.execute(_by_key, {"environment": self._environment_id}):
            self._taken[key_id] = count

    async def take(self, key_id: UUID) -> bool:
        """Take a place for a caller with this key; return whether there was one."""
        if self._taken[key_id] >= CALLERS_OF_KEY_MAX:
            has_place = await self._free(key_id)
        else:
            has_place = self._taken.total() < CALLERS_MAX or await self._free(None)
        self._taken[key_id] += has_place
        return has_place

    async def _free(self, within: UUID | None) -> bool:
        """Delete the caller that has not asked for longest, with a key or any, if that is a day; return whether."""
        if within in self._full:
            return False
        if self._idle is None:
            self._idle = await self._find_idle()
        replaced = next((caller for caller, key_id in self._idle.items() if within in (None, key_id)), None)
        if replaced is None:
            self._full.add(within)
            return False
        await self._connection.execute(tables.callers.delete().where(_columns.id == replaced))
        self._taken[self._idle.pop(replaced)] -= 1
        return True

    async def _find_idle(self) -> dict[int, UUID]:
        query = (
            sa.select(_columns.id, _columns.key_id)
            .where(
                _columns.environment_id == self._environment_id,
                _is_told_apart,
                sa.or_(_columns.last_at < self._at - _REPLACED_AFTER, _columns.last_at > self._at + _REPLACED_AFTER),
            )
            .order_by(_columns.last_at)
            .limit(CALLERS_MAX)
        )
        rows = await self._connection.execute(query)
        return {row.id: row.key_id for row in rows if row.id not in self._present}


def _id_of(caller: Caller) -> int:
    """A digest of the caller. It is signed, as the databases' integers are."""
    digest = blake2b(digest_size=8)
    for part in (caller.environment_id.bytes, (caller.key_id or _OWN_KEY).bytes, *map(str.encode, caller[3:])):
        digest.update(b"%d:" % len(part) + part)
    digest.update(caller.protocol.encode())
    return int.from_bytes(digest.digest(), "big", signed=True)


def _slot_of(at: datetime) -> int:
    return microseconds(at) // _SLOT_MICROSECONDS


def _row(caller_id: int, caller: Caller, requests: int, at: datetime) -> dict[str, object]:
    return {
        "id": caller_id,
        "environment_id": caller.environment_id,
        "key_id": caller.key_id or _OWN_KEY,
        "protocol": caller.protocol,
        "user_agent": caller.user_agent,
        "network": caller.network,
        "first_at": at,
        "last_at": at,
        "slot": _slot_of(at),
        "in_slot": requests,
        "before_slot": 0,
    }


def _from_row(row: sa.Row[*tuple[object, ...]], requests_last_day: int, now: datetime) -> CallerUse:
    key_id = None if row.key_id == _OWN_KEY else row.key_id
    caller = Caller(row.environment_id, SdkProtocol(row.protocol), key_id, row.user_agent, row.network)
    return CallerUse(caller, _rate(row, now), requests_last_day, row.first_at, row.last_at)


def _rate(row: sa.Row[*tuple[object, ...]], now: datetime) -> float:
    """Requests each minute: the requests of the present slot, and a part of the slot before, for five minutes."""
    slots = microseconds(now) / _SLOT_MICROSECONDS
    elapsed, part = divmod(slots, 1)
    past = int(elapsed) - row.slot
    if -_SLOTS_AHEAD <= past <= 0:
        requests = row.in_slot + row.before_slot * (1 - part)
    else:
        requests = row.in_slot * (1 - part) if past == 1 else 0.0
    return float(requests) / (_SLOT / timedelta(minutes=1))
