"""Reads how many distinct users had a flag on and off: from the rows of days and the segments not counted yet."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from sys import maxsize

from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.history.store.distinct_users.pending_users import (
    MICROSECONDS_A_DAY,
    PendingSegment,
    PendingUsers,
    gather_users,
    list_pending,
    parts_of,
)
from flagstaff.history.store.distinct_users.sketches import STANDARD_ERROR, Sketch
from flagstaff.history.store.distinct_users.user_rows import FlagUsers, find_days, find_flag_users, find_span

DAYS_AT_ONCE = 10
EVALUATIONS_AT_ONCE = 10_000
# Not counted yet, that a summary reads; with more of them, it does not know the newest days.
MOST_EVALUATIONS, MOST_SEGMENTS = 250_000, 2_500


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
    pending = await list_pending(connection, number, limit=MOST_SEGMENTS + 1)
    has_too_many = len(pending) > MOST_SEGMENTS or sum(each.size for each in pending) > MOST_EVALUATIONS
    if has_too_many:
        sums.unknown_from = min(each.first_time for each in pending) // MICROSECONDS_A_DAY
    span = await find_span(connection, number)
    stop = min(days.stop, span.stop)
    for start in range(max(days.start, span.start), stop, DAYS_AT_ONCE):
        await _add_days(connection, number, flag_key, sums, range(start, min(start + DAYS_AT_ONCE, stop)))
        await turns.give()
    if not has_too_many:
        for part in parts_of(pending, evaluations=EVALUATIONS_AT_ONCE):
            await _add_pending(connection, number, flag_key, part, sums)
            await turns.give()


async def _add_days(connection: AsyncConnection, number: int, flag_key: str, sums: UserSums, days: range) -> None:
    everyone = await find_days(connection, number, days)
    own = await find_flag_users(connection, number, days, [flag_key])
    for day in days:
        if (day, flag_key) in own:
            sums.add(day, own[day, flag_key])
        elif day in everyone and flag_key in everyone[day].flags:
            sums.add(day, _with_state(everyone[day].users, is_on=everyone[day].flags[flag_key]))


async def _add_pending(
    connection: AsyncConnection, number: int, flag_key: str, part: Sequence[PendingSegment], sums: UserSums
) -> None:
    turns = Turns()
    for day, users in await gather_users(connection, number, part, turns, flag_key=flag_key):
        if day in sums.days and (found := users.layout.find_flag(flag_key)):
            sums.add(day, _of_flag(users, *found))
            await turns.give()


def _of_flag(users: PendingUsers, position: int | None, flag: LayoutFlag) -> FlagUsers:
    everyone = Sketch(users.hashes)
    if position is None:
        return _with_state(everyone, is_on=flag.default.enabled)
    found = FlagUsers()
    users.add_to(found, position, everyone)
    return found


def _with_state(users: Sketch, *, is_on: bool) -> FlagUsers:
    return FlagUsers(on=users) if is_on else FlagUsers(off=users)
