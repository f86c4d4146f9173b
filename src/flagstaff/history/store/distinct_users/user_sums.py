"""Reads how many distinct users had a flag on and off: from the rows of days and the segments not counted yet."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from sys import maxsize
from uuid import UUID

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
    """A flag's users on some days, counted from 1970, by intervals that begin on the days `starts`, and on all of them.

    They are not known for the days from `unknown_from` on.
    """

    days: range
    starts: Sequence[int]
    unknown_from: int = maxsize
    _all: FlagUsers = field(default_factory=FlagUsers)
    _by_start: dict[int, FlagUsers] = field(default_factory=dict)

    def add(self, day: int, users: FlagUsers) -> None:
        """Add the users of a day."""
        start = self.starts[bisect_right(self.starts, day) - 1]
        self._by_start.setdefault(start, FlagUsers()).merge(users)
        self._all.merge(users)

    def of_interval(self, start: int) -> DistinctUsers | None:
        """Return the sketches of the interval that begins on a day; None if they are not known."""
        following = bisect_right(self.starts, start)
        stop = self.starts[following] if following < len(self.starts) else self.days.stop
        if stop > self.unknown_from:
            return None
        return _count(self._by_start.get(start, FlagUsers()))

    def names_of_interval(self, start: int) -> dict[str, int]:
        """Return the numbers of users of variants and rules in the interval that begins on a day, by name."""
        return _count_named(self._by_start.get(start, FlagUsers()))

    def names_of_all(self) -> dict[str, int]:
        """Return the same of all days."""
        return _count_named(self._all)

    def of_all(self) -> DistinctUsers | None:
        """Return the sketches of all days; None if they are not known."""
        return None if self.days.stop > self.unknown_from else _count(self._all)


def _count(users: FlagUsers) -> DistinctUsers:
    is_exact = users.on.is_exact and users.off.is_exact
    return DistinctUsers(users.on.count(), users.off.count(), 0 if is_exact else STANDARD_ERROR)


def _count_named(users: FlagUsers) -> dict[str, int]:
    return {name: users.named[name].count() for name in sorted(users.named)}


@dataclass(frozen=True, slots=True)
class UsersOf:
    """The flag whose users are wanted, or without a key the environment, whose users are counted as `on`.

    Without an id, the users of all flags that had the key are. `first_day` is the day from which the flag has had its
    key: what an earlier release has counted since is its own.
    """

    flag_key: str | None = None
    flag_id: UUID | None = None
    first_day: int | None = None

    def is_own(self, flag_id: UUID | None, day: int) -> bool:
        """Return whether users of a flag, whose id is None if it was not stored, are wanted."""
        if self.flag_id is None or flag_id == self.flag_id:
            return True
        return flag_id is None and self.first_day is not None and day >= self.first_day


async def sum_users(connection: AsyncConnection, number: int, flag: UsersOf | str, sums: UserSums) -> None:
    """Add the users of a flag in an environment on the days of the sums; a text is a key."""
    wanted = UsersOf(flag) if isinstance(flag, str) else flag
    turns, days = Turns(), sums.days
    pending = await list_pending(connection, number, limit=MOST_SEGMENTS + 1)
    has_too_many = len(pending) > MOST_SEGMENTS or sum(each.size for each in pending) > MOST_EVALUATIONS
    if has_too_many:
        sums.unknown_from = min(each.first_time for each in pending) // MICROSECONDS_A_DAY
    span = await find_span(connection, number)
    stop = min(days.stop, span.stop)
    for start in range(max(days.start, span.start), stop, DAYS_AT_ONCE):
        await _add_days(connection, number, wanted, sums, range(start, min(start + DAYS_AT_ONCE, stop)))
        await turns.give()
    if not has_too_many:
        for part in parts_of(pending, evaluations=EVALUATIONS_AT_ONCE):
            await _add_pending(connection, number, wanted, part, sums)
            await turns.give()


async def _add_days(connection: AsyncConnection, number: int, wanted: UsersOf, sums: UserSums, days: range) -> None:
    everyone, key = await find_days(connection, number, days), wanted.flag_key
    if key is None:
        for day, users in everyone.items():
            sums.add(day, FlagUsers(on=users.users))
            sums.add(day, FlagUsers(on=users.single))
        return
    own = await find_flag_users(connection, number, days, [key])
    for day in days:
        shared = everyone.get(day)
        if (day, key) in own:
            for flag_id, found in own[day, key].by_flag.items():
                if wanted.is_own(flag_id, day):
                    sums.add(day, found)
        elif shared is not None and key in shared.flags and wanted.is_own(shared.ids.get(key), day):
            sums.add(day, _with_state(shared.users, is_on=shared.flags[key]))


async def _add_pending(
    connection: AsyncConnection, number: int, wanted: UsersOf, part: Sequence[PendingSegment], sums: UserSums
) -> None:
    turns, key = Turns(), wanted.flag_key
    for day, users in await gather_users(connection, number, part, turns, flag_key=key):
        if day not in sums.days:
            continue
        if key is None:
            sums.add(day, FlagUsers(on=Sketch(users.hashes)))
        elif (found := users.layout.find_flag(key)) and wanted.is_own(found[1].id, day):
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
