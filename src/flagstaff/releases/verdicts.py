"""Describes each arm in one sentence: whether it is better or worse than the control, or not decided. Pure."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from flagstaff.metrics.metrics import Better, Metric
from flagstaff.releases.arm_results import ArmResult, Interval
from flagstaff.releases.wording import say_arm, say_number


class Standing(StrEnum):
    """How an arm stands compared with the control."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"
    """The interval has both sides."""
    UNDECIDABLE = "undecidable"
    """The step in force has nothing that can be compared, or the users are not split as asked."""


class Verdict(NamedTuple):
    """The standing of an arm, and a sentence with the interval."""

    arm: str
    standing: Standing
    words: str


_SAID = {
    Standing.BETTER: "better",
    Standing.WORSE: "worse",
    Standing.UNDECIDED: "not decided yet",
    Standing.UNDECIDABLE: "cannot be decided in this step",
}
_SPLIT_WRONG = "cannot be decided while the users are not split as asked"


def judge_arms(
    metric: Metric, arms: Sequence[ArmResult], *, is_blind: bool, is_split_wrong: bool = False
) -> list[Verdict]:
    """The verdicts on all arms but the control, in their order.

    With a wrong split there are none: the intervals assume the shares that were asked for.
    """
    if not arms:
        return []
    control, *others = arms
    if is_split_wrong:
        return [Verdict(arm.name, Standing.UNDECIDABLE, f"{_say_name(arm)}: {_SPLIT_WRONG}.") for arm in others]
    return [_judge(metric, control, arm, is_blind=is_blind) for arm in others]


def _judge(metric: Metric, control: ArmResult, arm: ArmResult, *, is_blind: bool) -> Verdict:
    compared, neutral = (arm.ratio, 1.0) if arm.ratio else (arm.difference, 0.0)
    standing = _stand(metric, compared, neutral)
    if is_blind and standing is Standing.UNDECIDED:
        standing = Standing.UNDECIDABLE
    found = f"{_say_comparison(metric, arm, control)}: " if compared else ""
    return Verdict(arm.name, standing, f"{_say_name(arm)}: {found}{_SAID[standing]}.")


def _say_name(arm: ArmResult) -> str:
    name = say_arm(arm.name)
    return name[:1].upper() + name[1:]


def _stand(metric: Metric, compared: Interval | None, neutral: float) -> Standing:
    if compared is None or compared.low <= neutral <= compared.high:
        return Standing.UNDECIDED
    return Standing.WORSE if (compared.low > neutral) is (metric.better is Better.DOWN) else Standing.BETTER


def _say_comparison(metric: Metric, arm: ArmResult, control: ArmResult) -> str:
    other = say_arm(control.name)
    if arm.ratio:
        ratio = arm.ratio
        return (
            f"{say_number(ratio.estimate)} times the rate {other}, {say_number(ratio.low)} to {say_number(ratio.high)}"
        )
    assert arm.difference is not None
    estimate, low, high = (
        f"{'+' if each > 0 else ''}{say_number(each)}"
        for each in (arm.difference.estimate, arm.difference.low, arm.difference.high)
    )
    unit = f" {metric.unit}" if metric.unit else ""
    return f"{estimate}{unit} compared to the mean {other}, {low} to {high}"
