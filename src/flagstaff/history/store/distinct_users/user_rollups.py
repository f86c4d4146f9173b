"""Counts the distinct users of each day, and of each flag on it, in the segments that were not counted yet.

This happens every few seconds, or at the end of the hour if there is little traffic. An environment remembers the last
segment that was counted. Batches do not continue such a segment.

A flag that is the same for everyone has the users of the environment, which are stored once. It gets users of its own
on days on which it depends on the user, changes, or is evaluated alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.history.store.distinct_users.pending_users import IS_PENDING, PendingUsers, gather_users, read_pending
from flagstaff.history.store.distinct_users.sketches import Sketch
from flagstaff.history.store.distinct_users.user_rows import (
    ROWS_AT_ONCE,
    DayUsers,
    FlagUsers,
    find_days,
    find_flag_users,
    store_day,
    store_flag_users,
)
from flagstaff.history.store.rollups import add_bytes, lock_environment

SEGMENTS_AT_ONCE = 20
BYTES_AT_ONCE = 4 * 10**6  # of segments; with a thousand flags a few hundred kilobytes each
_MICROSECONDS_AN_HOUR = 3600 * 10**6

_segments = tables.segments.c
_environments = tables.recorded_environments.c


async def find_due(connection: AsyncConnection, hour: int, within: tuple[int, int] | None = None) -> Sequence[int]:
    """The environments with segments to count: many, or one from before this hour (counted from 1970).

    Those with a long history to count come last, so that the others do not wait for them. Without a range of times, in
    microseconds since 1970, PostgreSQL looks for each environment's segments in the partition of each day.
    """
    pending = sa.select(_segments.id).where(IS_PENDING).correlate(tables.recorded_environments)
    if within is not None:
        pending = pending.where(_segments.last_time.between(*within))
    has_many = pending.order_by(_segments.id).offset(SEGMENTS_AT_ONCE - 1).limit(1).exists()
    has_old = pending.where(_segments.first_time < hour * _MICROSECONDS_AN_HOUR).exists()
    due = (
        sa.select(_environments.number).where(sa.or_(has_many, has_old)).order_by(_environments.counted_segment.desc())
    )
    return (await connection.execute(due)).scalars().all()


async def roll_up_users(connection: AsyncConnection, number: int) -> bool:
    """Count the users of an environment's oldest pending segments. Return whether there may be more."""
    await lock_environment(connection, number)
    pending = await read_pending(connection, number, limit=SEGMENTS_AT_ONCE)
    if not pending:
        return False
    sizes = accumulate(len(each.content) for each in pending)
    segments = pending[: max(1, sum(size <= BYTES_AT_ONCE for size in sizes))]
    turns = Turns()
    by_day: defaultdict[int, list[PendingUsers]] = defaultdict(list)
    for day, some in await gather_users(connection, segments, turns):
        by_day[day].append(some)
    grown = 0
    for day, found in by_day.items():
        stored = await find_days(connection, number, [day])
        counted = _Day(connection, number, day, stored.get(day))
        for some in found:
            await counted.add(some, turns)
        grown += await counted.store(turns)
    newest = segments[-1]
    await add_bytes(connection, number, {newest.first_time // _MICROSECONDS_AN_HOUR: grown})
    of_environment = tables.recorded_environments.update().where(_environments.number == number)
    await connection.execute(of_environment.values(counted_segment=newest.id))
    return len(pending) == SEGMENTS_AT_ONCE or len(segments) < len(pending)


@dataclass(slots=True)
class _Day:
    """A day while users are added to it, with the flags that have users of their own, as far as they are needed."""

    connection: AsyncConnection
    number: int
    day: int
    everyone: DayUsers | None
    _flags: dict[str, FlagUsers] = field(default_factory=dict)
    _looked_up: set[str] = field(default_factory=set)

    async def add(self, found: PendingUsers, turns: Turns) -> None:
        """Add the users of evaluations of one layout."""
        users = Sketch(found.hashes)
        constant = {flag.key: flag.default.enabled for flag in found.layout.constant}
        keys = {flag.key for flag in found.layout.recorded} | set(constant)
        await self._look_up(keys)
        if len(keys) == 1:  # a flag that was evaluated alone
            self._separate(keys)
        else:
            self._share(constant, users)
        for key in constant.keys() - self._shared.keys():
            self._own(key).merge_state(users, is_on=constant[key])
            await turns.give()
        for position, flag in enumerate(found.layout.recorded):
            found.add_to(self._own(flag.key), position, users)
            await turns.give()

    async def store(self, turns: Turns) -> int:
        """Store everything. Return by how many bytes it grew."""
        grown = await store_flag_users(self.connection, self.number, self.day, self._flags, turns)
        if self.everyone is not None:
            grown += await store_day(self.connection, self.number, self.day, self.everyone)
        return grown

    @property
    def _shared(self) -> dict[str, bool]:
        return self.everyone.flags if self.everyone else {}

    def _share(self, constant: Mapping[str, bool], users: Sketch) -> None:
        """Add users to those of the environment, and separate the flags that are not the same for all any more."""
        if self.everyone is None:
            self.everyone = DayUsers(flags={key: constant[key] for key in constant if key not in self._flags})
        self._separate([key for key, is_on in self._shared.items() if constant.get(key) is not is_on])
        self.everyone.users.merge(users)

    def _separate(self, keys: Iterable[str]) -> None:
        """Give flags users of their own that so far had those of the environment."""
        for key in keys:
            if self.everyone and key in self.everyone.flags:
                self._own(key).merge_state(self.everyone.users, is_on=self.everyone.flags.pop(key))

    def _own(self, key: str) -> FlagUsers:
        return self._flags.setdefault(key, FlagUsers())

    async def _look_up(self, keys: set[str]) -> None:
        new = sorted(keys - self._looked_up - self._shared.keys())
        self._looked_up.update(new)
        for start in range(0, len(new), ROWS_AT_ONCE):
            some = new[start : start + ROWS_AT_ONCE]
            for (_, key), users in (await find_flag_users(self.connection, self.number, [self.day], some)).items():
                self._flags[key] = users
