"""Runs the simulations of `bench.guards` through two published implementations of sequential tests.

    python -m bench.reference_guards growthbook     # gbstats, of GrowthBook, MIT
    python -m bench.reference_guards multinomial    # savvi, which follows Lindon and Malek (2022), MIT

Their packages need releases of NumPy that exclude each other, and one needs an old Python, so they are no dependencies
of this project: make a virtual environment for each, with this project, and with `gbstats==0.8.0`, or `savvi==0.3.1`
and `matplotlib`, in it.
The tests look as often as in `bench.guards`, at the same users, drawn from the same seeds.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from math import inf, isnan
from typing import Any

from bench.guards import ALPHA, LOOK_EVERY, RAMP, Traffic, fixed, power_of, ramp, rate_of, stop_and_start

Counts = Sequence[Sequence[Sequence[int]]]
"""By step and by arm, without the flag and with it: the users, and those of them with the event."""
Look = Callable[[Counts], bool]
"""Whether the implementation rejects the hypothesis that the flag is harmless."""
_EVENTS_LEAST = 150


def growthbook(_shares: Sequence[float]) -> Look:
    """Return the sequential t-test of two proportions: two-sided, of totals over all steps, with its default tuning.

    It is asymptotic, so it is not asked before there are some events.
    """
    from gbstats.frequentist.tests import SequentialConfig, SequentialTwoSidedTTest  # noqa: PLC0415
    from gbstats.models.statistics import ProportionStatistic  # noqa: PLC0415

    def look(counts: Counts) -> bool:
        arms = [[sum(step[arm][place] for step in counts) for place in (0, 1)] for arm in (0, 1)]
        if sum(events for _, events in arms) < _EVENTS_LEAST or not all(events for _, events in arms):
            return False
        control, treated = (ProportionStatistic(n=users, sum=events) for users, events in arms)
        test = SequentialTwoSidedTTest(control, treated, SequentialConfig(alpha=ALPHA))
        return bool(test.p_value <= ALPHA)

    return look


def multinomial(shares: Sequence[float]) -> Look:
    """Return the multinomial test of the users with an event against the shares: two-sided, one for each step.

    The odds of the steps are multiplied, which keeps the bound on false alarms.
    """
    import numpy as np  # noqa: PLC0415
    from savvi.multinomial import Multinomial  # noqa: PLC0415

    tests: list[Any] = [Multinomial(ALPHA, np.array([1 - share, share])) for share in shares]

    def look(counts: Counts) -> bool:
        odds = 1.0
        for test, step in zip(tests, counts, strict=True):
            seen = np.array([events for _, events in step]) - test.counts
            if seen.any():
                test.update(seen)
            odds *= inf if isnan(test.odds) else test.odds
        return odds >= 1 / ALPHA

    return look


def run(generator: random.Random, traffic: Traffic, look: Look, steps: int, ratio: float = 1.0) -> int | None:
    """Return after how many users the implementation raises an alarm, if it does."""
    counts = [[[0, 0], [0, 0]] for _ in range(steps)]
    for number, (step, has_flag, rate) in enumerate(traffic(generator), 1):
        arm = counts[step][has_flag]
        arm[0] += 1
        arm[1] += generator.random() < (rate * ratio if has_flag else rate)
        if number % LOOK_EVERY == 0 and look(counts):
            return number
    return None


def main() -> None:
    """Run the binary cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("implementation", choices=["growthbook", "multinomial"])
    parser.add_argument("--runs", type=int, default=2000, help="harmless runs of each case")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--power-runs", type=int, default=400, help="harmful runs of each case")
    options = parser.parse_args()
    new_test = {"growthbook": growthbook, "multinomial": multinomial}[options.implementation]
    harmless: list[tuple[str, Traffic, Sequence[float]]] = [
        ("binary, fixed 50:50", fixed(0.5), (0.5,)),
        ("binary, canary 10 %", fixed(0.1), (0.1,)),
        ("binary, ramp of five steps, rate drifts 1 -> 4 %", ramp, RAMP),
        ("binary, traffic stops and starts", stop_and_start, (0.1, 0.5)),
    ]
    print(f"{options.implementation}, harmless flags, {options.runs} runs, alpha {ALPHA:.0%}")
    for name, traffic, shares in harmless:
        generator = random.Random(f"{options.seed} {name}")
        found = [run(generator, traffic, new_test(shares), len(shares)) for _ in range(options.runs)]
        print(f"  {name:<60} {rate_of(sum(at is not None for at in found), options.runs)}", flush=True)
    print(f"\nharmful flags, {options.power_runs} runs, base rate 2 %")
    for ratio, share in ((1.5, 0.5), (2.0, 0.5), (3.0, 0.5), (1.5, 0.1), (2.0, 0.1), (3.0, 0.1)):
        name = f"binary, x{ratio}, share {share:.0%}"
        generator = random.Random(f"{options.seed} {name}")
        found = [run(generator, fixed(share), new_test((share,)), 1, ratio) for _ in range(options.power_runs)]
        print(f"  {name:<60} {power_of(found)}", flush=True)


if __name__ == "__main__":
    main()
