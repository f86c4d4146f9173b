"""The roll-up of the history is computed in small pieces."""

from uuid import UUID

from flagstaff.concurrency.pacing import Turns
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.flag_counts import DAY, HOUR
from flagstaff.history.store.rollups import _Moved
from tests.support.holds import watch_holds

LONGEST_UNITS = 50
FLAG = UUID(int=1)


async def test_the_days_of_thousands_of_flags_are_added_up_in_pieces() -> None:
    kind = (Outcome.ON, 0, "")
    moved = _Moved()
    for hour in range(40):
        for number in range(5_000):
            moved.hours[hour * HOUR][f"flag-{number}"][FLAG][kind] = {0: 1, 30: 2}

    async with watch_holds() as holds:
        days = await moved.days(Turns())

    assert {start: len(flags) for start, flags in days.items()} == {0: 5_000, DAY: 5_000}
    assert days[DAY]["flag-0"][FLAG] == {kind: dict.fromkeys(range(16), 3)}
    assert holds.longest_in_units < LONGEST_UNITS
