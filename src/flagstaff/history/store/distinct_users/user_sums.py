"""Reads how many distinct users had a flag on and off: from the rows of days and the segments not counted yet."""

from dataclasses import dataclass, field
from sys import maxsize

from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.history.store.distinct_users.pending_users import (
    MICROSECONDS_A_DAY,
    PendingUsers,
    gather_users,
    list_pending_times,
    read_pending,
)
from flagstaff.history.store.distinct_users.sketches import STANDARD_ERROR, Sketch
from flagstaff.history.store.distinct_users.user_rows import FlagUsers, find_days, find_flag_users, find_span

DAYS_AT_ONCE = 10
SEGMENTS_AT_ONCE = 20
MOST_SEGMENTS = 500  # not counted yet, that a summary reads; with more of them, it does not know the newest days


@dataclass(slots=True)
class UserSums:
    """A flag's users on some days, counted from 1970, by intervals of so many days, and on all of them.

    They are not known for the days from `unknown_from` on.
    """

    days: range
    interval: int
    unknown_from: int = maxsize
    _all: FlagUsers = field(default_factory=FlagUsers)
    _by_start: dict[int, FlagUsers] = field(default_factory=dict)

    def add(self, day: int, users: FlagUsers) -> None:
        """Add the users of a day."""
        start = self.days.start + (day - self.days.start) // self.interval * self.interval
        self._by_start.setdefault(start, FlagUsers()).merge(users)
        self._all.merge(users)

    def of_interval(self, start: int) -> DistinctUsers | None:
        """Return the sketches of the interval that begins on a day; None if they are not known."""
        if start + self.interval > self.unknown_from:
            return None
        return _count(self._by_start.get(start, FlagUsers()))

    def of_all(self) -> DistinctUsers | None:
        """Return the sketches of all days; None if they are not known."""
        return None if self.days.stop > self.unknown_from else _count(self._all)


def _count(users: FlagUsers) -> DistinctUsers:
    is_exact = users.on.is_exact and users.off.is_exact
    return DistinctUsers(users.on.count(), users.off.count(), 0 if is_exact else STANDARD_ERROR)


async def sum_users(connection: AsyncConnection, number: int, flag_key: str, sums: UserSums) -> None:
    """Add the users of a flag in an environment on the days of the sums."""
    turns, days = Turns(), sums.days
    times = await list_pending_times(connection, number, limit=MOST_SEGMENTS + 1)
    has_too_many = len(times) > MOST_SEGMENTS
    if has_too_many:
        sums.unknown_from = min(times) // MICROSECONDS_A_DAY
    span = await find_span(connection, number)
    stop = min(days.stop, span.stop)
    for start in range(max(days.start, span.start), stop, DAYS_AT_ONCE):
        await _add_days(connection, number, flag_key, sums, range(start, min(start + DAYS_AT_ONCE, stop)))
        await turns.give()
    if times and not has_too_many:
        await _add_pending(connection, number, flag_key, sums, turns)


async def _add_days(connection: AsyncConnection, number: int, flag_key: str, sums: UserSums, days: range) -> None:
    everyone = await find_days(connection, number, days)
    own = await find_flag_users(connection, number, days, [flag_key])
    for day in days:
        if (day, flag_key) in own:
            sums.add(day, own[day, flag_key])
        elif day in everyone and flag_key in everyone[day].flags:
            sums.add(day, _with_state(everyone[day].users, is_on=everyone[day].flags[flag_key]))


async def _add_pending(connection: AsyncConnection, number: int, flag_key: str, sums: UserSums, turns: Turns) -> None:
    after, more = 0, True
    while more:
        segments = await read_pending(connection, number, after=after, limit=SEGMENTS_AT_ONCE)
        for day, users in await gather_users(connection, segments, turns):
            if day in sums.days and (found := users.layout.find_flag(flag_key)):
                sums.add(day, _of_flag(users, *found))
                await turns.give()
        more = len(segments) == SEGMENTS_AT_ONCE
        after = segments[-1].id if segments else after


def _of_flag(users: PendingUsers, position: int | None, flag: LayoutFlag) -> FlagUsers:
    everyone = Sketch(users.hashes)
    if position is None:
        return _with_state(everyone, is_on=flag.default.enabled)
    found = FlagUsers()
    users.add_to(found, position, everyone)
    return found


def _with_state(users: Sketch, *, is_on: bool) -> FlagUsers:
    return FlagUsers(on=users) if is_on else FlagUsers(off=users)
