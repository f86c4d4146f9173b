"""Counts the distinct users of each day, and of each flag on it, in the segments that were not counted yet.

This happens after some thousand evaluations, or at the end of the hour if there is little traffic. An environment
remembers the last segment that was counted. Batches do not continue such a segment.

A flag that is the same for everyone has the users of the environment, which are stored once. It gets users of its own
on days on which it depends on the user, changes, or is evaluated alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.history.store.distinct_users.pending_users import (
    IS_PENDING,
    PendingSegment,
    PendingUsers,
    gather_users,
    list_pending,
    parts_of,
)
from flagstaff.history.store.distinct_users.sketches import Sketch
from flagstaff.history.store.distinct_users.user_rows import (
    ROWS_AT_ONCE,
    DayUsers,
    FlagUsers,
    KeyUsers,
    find_days,
    find_flag_users,
    store_day,
    store_flag_users,
)
from flagstaff.history.store.rollups import add_bytes, lock_environment
from flagstaff.history.store.segments import CONTINUED_SIZE

# With so many evaluations or segments, users are counted before the end of the hour. To count those of a thousand flags
# that are evaluated alone costs nearly the same for one evaluation of each as for fifty.
EVALUATIONS_DUE, SEGMENTS_DUE = 10_000, 200
EVALUATIONS_AT_ONCE = 50_000
_SEGMENTS_AT_ONCE = 500
_MICROSECONDS_AN_HOUR = 3600 * 10**6

_segments = tables.segments.c
_environments = tables.recorded_environments.c


async def find_due(connection: AsyncConnection, hour: int, within: tuple[int, int] | None = None) -> Sequence[int]:
    """The environments with segments to count: many, or one from before this hour (counted from 1970).

    Those with a long history to count come last, so that the others do not wait for them. Without a range of times, in
    microseconds since 1970, PostgreSQL looks for each environment's segments in the partition of each day.
    """
    pending = sa.select(_segments.size).where(IS_PENDING).correlate(tables.recorded_environments)
    if within is not None:
        pending = pending.where(_segments.last_time.between(*within))
    oldest = pending.order_by(_segments.id).limit(SEGMENTS_DUE).subquery()
    counts = sa.func.count(), sa.func.coalesce(sa.func.sum(oldest.c.size), 0)
    segments, evaluations = (sa.select(count).select_from(oldest).scalar_subquery() for count in counts)
    has_many = sa.or_(evaluations >= EVALUATIONS_DUE, segments >= SEGMENTS_DUE)
    has_old = pending.where(_segments.first_time < hour * _MICROSECONDS_AN_HOUR).exists()
    due = (
        sa.select(_environments.number).where(sa.or_(has_old, has_many)).order_by(_environments.counted_segment.desc())
    )
    return (await connection.execute(due)).scalars().all()


@dataclass(frozen=True, slots=True)
class CountedUsers:
    """Users that are counted and not stored yet: the users of an environment's `segments`, the first after `after`.

    `more` says whether there may be more to count.
    """

    number: int
    after: int
    segments: Sequence[PendingSegment]
    days: "Sequence[_Day]"
    more: bool


async def count_users(connection: AsyncConnection, number: int, *, with_newest: bool = False) -> CountedUsers | None:
    """Count the users of an environment's oldest pending segments; None if there are none.

    This takes a while and needs no lock. A newest segment that batches may continue is left for the next time, unless
    it is wanted or the only one.
    """
    counted = await connection.execute(sa.select(_environments.counted_segment).where(_environments.number == number))
    after = counted.scalar_one_or_none()
    pending = await list_pending(connection, number, limit=_SEGMENTS_AT_ONCE)
    if not pending or after is None:
        return None
    leaves_newest = not with_newest and len(pending) > 1 and pending[-1].size < CONTINUED_SIZE
    segments = next(parts_of(pending[:-1] if leaves_newest else pending, evaluations=EVALUATIONS_AT_ONCE))
    turns = Turns()
    by_day: defaultdict[int, list[PendingUsers]] = defaultdict(list)
    for day, some in await gather_users(connection, number, segments, turns):
        by_day[day].append(some)
    days = []
    for day, found in by_day.items():
        stored = await find_days(connection, number, [day])
        days.append(_Day(number, day, stored.get(day) or DayUsers()))
        await days[-1].look_up(connection, {flag.key for some in found for flag in some.layout.flags})
        for some in found:
            await days[-1].add(some, turns)
    more = len(pending) == _SEGMENTS_AT_ONCE or len(segments) < len(pending)
    return CountedUsers(number, after, segments, days, more)


async def store_users(connection: AsyncConnection, counted: CountedUsers) -> bool:
    """Store what was counted; return False, and change nothing, if segments or counts have changed since."""
    await lock_environment(connection, counted.number)
    newest = counted.segments[-1]
    between = sa.select(sa.func.sum(_segments.size)).where(
        _segments.environment == counted.number, _segments.id > counted.after, _segments.id <= newest.id
    )
    is_same = sa.select(_environments.number).where(
        _environments.number == counted.number,
        _environments.counted_segment == counted.after,
        between.scalar_subquery() == sum(each.size for each in counted.segments),
    )
    if (await connection.execute(is_same)).first() is None:
        return False
    turns, grown = Turns(), 0
    for day in counted.days:
        grown += await day.store(connection, turns)
    await add_bytes(connection, counted.number, {newest.first_time // _MICROSECONDS_AN_HOUR: grown})
    of_environment = tables.recorded_environments.update().where(_environments.number == counted.number)
    await connection.execute(of_environment.values(counted_segment=newest.id))
    return True


async def roll_up_users(connection: AsyncConnection, number: int) -> bool:
    """Count and store the users of an environment's oldest pending segments. Return whether there may be more.

    The environment is locked all the time, so that nothing changes meanwhile.
    """
    await lock_environment(connection, number)
    counted = await count_users(connection, number, with_newest=True)
    return counted is not None and await store_users(connection, counted) and counted.more


@dataclass(slots=True)
class _Day:
    """A day while users are added to it, with the flags that have users of their own, as far as they are needed."""

    number: int
    day: int
    everyone: DayUsers
    _flags: dict[str, KeyUsers] = field(default_factory=dict)

    async def look_up(self, connection: AsyncConnection, keys: set[str]) -> None:
        """Read the users of flags that have some of their own."""
        own = sorted(keys - self.everyone.flags.keys())
        for start in range(0, len(own), ROWS_AT_ONCE):
            some = own[start : start + ROWS_AT_ONCE]
            for (_, key), users in (await find_flag_users(connection, self.number, [self.day], some)).items():
                self._flags[key] = users

    async def add(self, found: PendingUsers, turns: Turns) -> None:
        """Add the users of evaluations of one layout, whose flags were looked up."""
        users = Sketch(found.hashes)
        constant = {flag.key: flag for flag in found.layout.constant}
        if len(found.layout.flags) == 1:  # a flag that was evaluated alone
            self._separate([found.layout.flags[0].key])
            self.everyone.single.merge(users)
        else:
            self._share(constant, users)
        for key in constant.keys() - self.everyone.flags.keys():
            self._own(key, constant[key].id).merge_state(users, is_on=constant[key].default.enabled)
            await turns.give()
        for position, flag in enumerate(found.layout.recorded):
            found.add_to(self._own(flag.key, flag.id), position, users)
            await turns.give()

    async def store(self, connection: AsyncConnection, turns: Turns) -> int:
        """Store everything. Return by how many bytes it grew."""
        grown = await store_flag_users(connection, self.number, self.day, self._flags, turns)
        return grown + await store_day(connection, self.number, self.day, self.everyone)

    def _share(self, constant: Mapping[str, LayoutFlag], users: Sketch) -> None:
        """Add users to the environment's, and separate the flags that are not the same for all any more."""
        everyone = self.everyone
        if everyone.users.is_empty:
            new = [flag for key, flag in constant.items() if key not in self._flags]
            everyone.flags = {flag.key: flag.default.enabled for flag in new}
            everyone.ids = {flag.key: flag.id for flag in new}
        self._separate([key for key in everyone.flags if not self._is_same(key, constant.get(key))])
        everyone.users.merge(users)

    def _is_same(self, key: str, flag: LayoutFlag | None) -> bool:
        shared = self.everyone
        if flag is None or shared.ids.get(key, flag.id) != flag.id:
            return False
        return shared.flags[key] is flag.default.enabled

    def _separate(self, keys: Iterable[str]) -> None:
        """Give users of their own to flags that so far shared the environment's."""
        for key in keys:
            if key in self.everyone.flags:
                own = self._own(key, self.everyone.ids.pop(key, None))
                own.merge_state(self.everyone.users, is_on=self.everyone.flags.pop(key))

    def _own(self, key: str, flag_id: UUID | None) -> FlagUsers:
        return self._flags.setdefault(key, KeyUsers(flag_id)).of_flag(flag_id)
