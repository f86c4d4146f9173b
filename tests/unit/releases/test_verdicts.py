"""One sentence for each arm: better, worse, not decided yet, or that it cannot be decided."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.arm_results import ArmResult, Interval
from flagstaff.releases.verdicts import Standing, judge_arms

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def metric_of(kind: Kind = Kind.BINARY, better: Better = Better.UP, unit: str | None = None) -> Metric:
    """A metric of purchases."""
    return Metric(UUID(int=0), UUID(int=0), "bought", "Bought", None, kind, better, unit, NOW, NOW)


def arm(name: str, *, ratio: Interval | None = None, difference: Interval | None = None) -> ArmResult:
    """An arm that is compared with the control."""
    return ArmResult(name, 100, 10, 10, 0.1, None, None, ratio, difference)


CONTROL = arm("red")


@pytest.mark.parametrize(
    ("ratio", "better", "standing"),
    [
        (Interval(1.13, 0.83, 1.51), Better.UP, Standing.UNDECIDED),
        (Interval(1.5, 1.0, 2.0), Better.UP, Standing.UNDECIDED),
        (Interval(1.5, 1.01, 2.0), Better.UP, Standing.BETTER),
        (Interval(1.5, 1.01, 2.0), Better.DOWN, Standing.WORSE),
        (Interval(0.5, 0.2, 0.99), Better.UP, Standing.WORSE),
        (Interval(0.5, 0.2, 0.99), Better.DOWN, Standing.BETTER),
        (None, Better.UP, Standing.UNDECIDED),
    ],
)
def test_a_ratio_is_decided_by_its_interval(ratio: Interval | None, better: Better, standing: Standing) -> None:
    (found,) = judge_arms(metric_of(better=better), [CONTROL, arm("green", ratio=ratio)], is_blind=False)
    assert (found.arm, found.standing) == ("green", standing)


def test_the_sentence_has_the_interval_and_the_control() -> None:
    green = arm("green", ratio=Interval(1.13, 0.83, 1.51))
    (found,) = judge_arms(metric_of(), [CONTROL, green], is_blind=False)
    assert found.words == "With green: 1.13 times the rate with red, 0.83 to 1.51: not decided yet."
    slower = arm("on", difference=Interval(12.5, 2, 23))
    (found,) = judge_arms(metric_of(Kind.VALUE, Better.DOWN, "ms"), [arm("off"), slower], is_blind=False)
    assert found.words == "With the flag: +12.5 ms compared to the mean without it, +2 to +23: worse."
    (found,) = judge_arms(metric_of(), [CONTROL, arm("green")], is_blind=False)
    assert found.words == "With green: not decided yet."


def test_what_nothing_can_decide_says_so_unless_it_is_decided_already() -> None:
    (found,) = judge_arms(metric_of(), [CONTROL, arm("green")], is_blind=True)
    assert found.standing is Standing.UNDECIDABLE
    assert found.words == "With green: cannot be decided in this step."
    decided = arm("green", ratio=Interval(2.0, 1.5, 3.0))
    assert judge_arms(metric_of(), [CONTROL, decided], is_blind=True)[0].standing is Standing.BETTER


def test_nothing_is_decided_while_the_users_are_not_split_as_asked() -> None:
    decided = arm("green", ratio=Interval(0.5, 0.2, 0.9))
    (found,) = judge_arms(metric_of(), [CONTROL, decided], is_blind=False, is_split_wrong=True)
    assert found.standing is Standing.UNDECIDABLE
    assert found.words == "With green: cannot be decided while the users are not split as asked."


def test_the_arms_keep_their_order_and_without_any_there_is_no_verdict() -> None:
    found = judge_arms(metric_of(), [CONTROL, arm("z"), arm("a")], is_blind=False)
    assert [each.arm for each in found] == ["z", "a"]
    assert judge_arms(metric_of(), [], is_blind=False) == []
