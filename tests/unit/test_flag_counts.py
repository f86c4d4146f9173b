"""The rows of counts, in which flags that had the same key are told apart."""

from types import SimpleNamespace
from uuid import UUID

from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.flag_counts import MOST_OTHERS, FlagCounts, decode_counts
from flagstaff.history.store.recorded_flags import UNNAMED

ON = (Outcome.ON, 0, "")


def stored(counts: FlagCounts) -> SimpleNamespace:
    """Return the row."""
    return SimpleNamespace(**counts.encode()[0])


def test_further_flags_of_a_key_in_an_hour_are_counted_together() -> None:
    flags = MOST_OTHERS + 10
    counts = FlagCounts(UUID(int=1))
    for number in range(1, flags + 1):
        counts = FlagCounts.of_row(stored(counts)) if number > 1 else counts
        counts.add(UUID(int=number), {ON: {7: 1}})
    found = {flag_id: sum(sum(each.times.values()) for each in series) for flag_id, series in counts.by_flag()}
    named = {UUID(int=number): 1 for number in range(1, MOST_OTHERS + 2)}
    assert found == {**named, UNNAMED: flags - len(named)}


def test_what_an_earlier_release_adds_to_a_row_is_the_first_flags() -> None:
    counts = FlagCounts(UUID(int=1))
    counts.add(UUID(int=1), {ON: {0: 1}})
    counts.add(UUID(int=2), {ON: {0: 2}})
    row = stored(counts)
    (series,) = decode_counts(row.version, row.counts)
    assert series.times == {0: 3}
    earlier = FlagCounts(None)
    earlier.add(UUID(int=1), {ON: {0: 3 + 5}})
    row.counts = stored(earlier).counts
    found = {flag_id: [each.times for each in series] for flag_id, series in FlagCounts.of_row(row).by_flag()}
    assert found == {UUID(int=1): [{0: 6}], UUID(int=2): [{0: 2}]}
