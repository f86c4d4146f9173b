"""Simulates guards: how often they act on a harmless flag, and how soon they find a harmful one.

    python -m bench.guards [--runs 2000] [--seed 2026]

Everything is drawn from a seeded generator. The guard looks after every 200 users, as releases look several times a
second. Rows on harmless flags show the share of runs in which a guard acted, with the standard error. Rows on harmful
ones show the median number of users until it acts, beside the number that a test with a fixed sample needs for 80 %
power.
"""

import argparse
import os
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from math import ceil, log, sqrt
from statistics import NormalDist, median

from flagstaff.releases.judging import COUNTED_LEAST
from flagstaff.releases.statistics import binary, means
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.releases.statistics.limits import Limits, find_limits, place_of
from flagstaff.releases.statistics.means import BURN_IN, Block, Moments, Step

ALPHA = 0.05
USERS = 30_000
LOOK_EVERY = 200
RAMP = (0.01, 0.05, 0.10, 0.25, 0.50)
"""The shares of a ramp, for a fifth of the users each."""


Visit = tuple[int, bool, float]
"""A user: the step, whether it has the flag, and the probability of an event without the flag."""

Traffic = Callable[[random.Random], Iterator[Visit]]
Draw = Callable[[random.Random], float]


def fixed(share: float, rate: float = 0.02) -> Traffic:
    """Simulate a constant share and a constant rate of events."""

    def visits(generator: random.Random) -> Iterator[Visit]:
        for _ in range(USERS):
            yield 0, generator.random() < share, rate

    return visits


def ramp(generator: random.Random) -> Iterator[Visit]:
    """Simulate five steps, while the rate of events rises from 1 to 4 %."""
    for place in range(USERS):
        step = place * len(RAMP) // USERS
        yield step, generator.random() < RAMP[step], 0.01 + 0.03 * place / USERS


def stop_and_start(generator: random.Random) -> Iterator[Visit]:
    """Simulate two steps, and traffic in bursts with separate rates: nights, campaigns, outages."""
    place = 0
    while place < USERS:
        rate = generator.choice([0.001, 0.01, 0.05, 0.2])
        for _ in range(min(USERS - place, generator.randrange(50, 3000))):
            step = int(place >= USERS // 2)
            yield step, generator.random() < (0.1, 0.5)[step], rate
            place += 1


def run_binary(
    generator: random.Random, traffic: Traffic, shares: Sequence[float], ratio: float = 1.0, *, peek: bool = False
) -> tuple[int | None, bool]:
    """Return after how many users a guard acts, if it does.

    With `peek`, also return whether the usual test would ever have acted.
    """
    counts = [[0, 0] for _ in shares]
    exposed = [[0, 0] for _ in shares]
    threshold, limit, is_fooled = -log(ALPHA), NormalDist().inv_cdf(1 - ALPHA), False
    for number, (step, has_flag, rate) in enumerate(traffic(generator), 1):
        exposed[step][has_flag] += 1
        if generator.random() < (rate * ratio if has_flag else rate):
            counts[step][has_flag] += 1
        if number % LOOK_EVERY == 0:
            steps = [EventSplit(of[1], of[0], share) for of, share in zip(counts, shares, strict=True)]
            if binary.log_evidence(steps, harm_is_more=True) >= threshold:
                return number, is_fooled
            if peek and not is_fooled:
                is_fooled = z_score(counts, exposed) >= limit
    return None, is_fooled


def z_score(counts: Sequence[Sequence[int]], exposed: Sequence[Sequence[int]]) -> float:
    """Compute the usual test of two pooled proportions, which is designed for a single look."""
    control, treated = (sum(of[arm] for of in counts) for arm in (0, 1))
    others, users = (sum(of[arm] for of in exposed) for arm in (0, 1))
    if not others or not users or not control + treated:
        return 0.0
    pooled = (control + treated) / (others + users)
    spread = sqrt(pooled * (1 - pooled) * (1 / others + 1 / users))
    return (treated / users - control / others) / spread if spread else 0.0


def run_mean(
    generator: random.Random,
    draw: Draw,
    shares: Sequence[float],
    factor: float = 1.0,
    *,
    counts: bool = False,
    harm_is_more: bool = True,
) -> int | None:
    """Return after how many users a guard of a number acts, if it does. A latency rises by half during a run."""
    first: list[tuple[int, int, float]] = []
    sums: list[list[dict[int, list[float]]]] = [[{}, {}] for _ in shares]
    sketch, limits, found_at = Counter[int](), list[Limits](), 0
    with_events = [0 for _ in shares]

    def add(step: int, arm: int, number: float) -> None:
        kept = limits[-1].cut(number)
        of = sums[step][arm].setdefault(0 if counts else len(limits) - 1, [0, 0.0, 0.0])
        of[0] += 1
        of[1] += kept
        of[2] += kept * kept

    for place in range(USERS):
        step = place * len(shares) // USERS
        has_flag = generator.random() < shares[step]
        drift = 1.0 if counts else 1 + 0.5 * place / USERS
        number = draw(generator) * drift * (factor if has_flag else 1.0)
        with_events[step] += number > 0
        if number or not counts:
            sketch[place_of(number)] += 1
        if limits:
            add(step, has_flag, number)
        else:
            first.append((step, has_flag, number))
        users = place + 1
        if users >= BURN_IN and (not limits or (users >= 2 * found_at and not counts)):
            found = find_limits(sketch, users - sketch.total(), grow=counts)
            found_at = users
            if found is not None:
                limits.append(found)
                for each in first:
                    add(*each)
                first.clear()
        if limits and users % LOOK_EVERY == 0:
            steps = [
                Step(_blocks(of, limits), 0.9 / len(shares))
                for of, share, many in zip(sums, shares, with_events, strict=True)
                if not counts or many * min(share, 1 - share) >= COUNTED_LEAST
            ]
            if means.log_evidence(steps, harm_is_more=harm_is_more) >= -log(ALPHA):
                return users
    return None


def _blocks(of: Sequence[dict[int, list[float]]], limits: Sequence[Limits]) -> list[Block]:
    def moments(arm: int, place: int) -> Moments:
        users, total, squares = of[arm].get(place, (0, 0.0, 0.0))
        return Moments(int(users), total, squares)

    places = sorted({*of[0], *of[1]})
    return [Block(moments(1, place), moments(0, place), limits[place].deviation) for place in places]


def lognormal(generator: random.Random) -> float:
    """Draw a latency with a moderate tail."""
    return generator.lognormvariate(4.5, 0.5)


def pareto(generator: random.Random) -> float:
    """Draw a latency with a heavy tail, whose variance is infinite."""
    return 50 * generator.paretovariate(1.9)


def rare_count(generator: random.Random) -> float:
    """Draw how often something rare happened to a user: to one in fifty, and mostly once."""
    return float(generator.choice((1, 1, 1, 2, 5))) if generator.random() < 0.02 else 0.0


def fixed_sample(base: float, ratio: float, share: float) -> int:
    """Return the users that a test of two proportions needs, one-sided at 5 % with 80 % power and a single look.

    The formula is in textbooks: (z_alpha + z_beta)² (p₁(1 - p₁)/share + p₀(1 - p₀)/(1 - share))/(p₁ - p₀)².
    """
    z = NormalDist().inv_cdf(1 - ALPHA) + NormalDist().inv_cdf(0.8)
    other = base * ratio
    return ceil(z**2 * (other * (1 - other) / share + base * (1 - base) / (1 - share)) / (other - base) ** 2)


@dataclass(frozen=True)
class Case:
    """A simulation with a name and a separate seed, so that its result does not depend on where and when it runs."""

    name: str
    run: Callable[[random.Random, int], str]
    """Takes the number of runs, and returns their row of the table."""


def harmless_rates(traffic: Traffic, shares: Sequence[float]) -> Callable[[random.Random, int], str]:
    """Return a case of a binary guard on a harmless flag."""

    def run(generator: random.Random, runs: int) -> str:
        found = [run_binary(generator, traffic, shares, peek=True) for _ in range(runs)]
        fooled = sum(is_fooled for _, is_fooled in found)
        alarms = sum(at is not None for at, _ in found)
        return f"{rate_of(alarms, runs)}   the usual z-test, looked at: {fooled / runs:.1%}"

    return run


def harmless_means(draw: Draw, shares: Sequence[float], **options: bool) -> Callable[[random.Random, int], str]:
    """Return a case of a guard of a value or a count on a harmless flag."""

    def run(generator: random.Random, runs: int) -> str:
        return rate_of(sum(run_mean(generator, draw, shares, **options) is not None for _ in range(runs)), runs)

    return run


def harmful_rate(ratio: float, share: float) -> Callable[[random.Random, int], str]:
    """Return a case of a binary guard on a harmful flag."""

    def run(generator: random.Random, runs: int) -> str:
        found = [run_binary(generator, fixed(share), (share,), ratio)[0] for _ in range(runs)]
        return f"{power_of(found)}   fixed sample: {fixed_sample(0.02, ratio, share):,}"

    return run


def harmful_mean(draw: Draw, factor: float) -> Callable[[random.Random, int], str]:
    """Return a case of a guard of a value on a harmful flag."""
    return lambda generator, runs: power_of([run_mean(generator, draw, (0.5,), factor) for _ in range(runs)])


HARMLESS = [
    Case("binary, fixed 50:50", harmless_rates(fixed(0.5), (0.5,))),
    Case("binary, canary 10 %", harmless_rates(fixed(0.1), (0.1,))),
    Case("binary, ramp of five steps, rate drifts 1 -> 4 %", harmless_rates(ramp, RAMP)),
    Case("binary, traffic stops and starts", harmless_rates(stop_and_start, (0.1, 0.5))),
    Case("value, log-normal latency, 50:50", harmless_means(lognormal, (0.5,))),
    Case("value, log-normal latency, ramp of five steps", harmless_means(lognormal, RAMP)),
    Case("value, heavy-tailed latency (Pareto 1.9), 50:50", harmless_means(pareto, (0.5,))),
    Case("value, heavy-tailed latency (Pareto 1.9), ramp", harmless_means(pareto, RAMP)),
    *(
        Case(
            f"count, 1 of 50 users, {share:.0%} with the flag, harm is {'more' if harm_is_more else 'fewer'}",
            harmless_means(rare_count, (share,), counts=True, harm_is_more=harm_is_more),
        )
        for share, harm_is_more in ((0.01, False), (0.05, False), (0.05, True), (0.5, False), (0.95, True))
    ),
]
HARMFUL = [
    *(
        Case(f"binary, x{ratio}, share {share:.0%}", harmful_rate(ratio, share))
        for ratio, share in ((1.5, 0.5), (2.0, 0.5), (3.0, 0.5), (1.5, 0.1), (2.0, 0.1), (3.0, 0.1))
    ),
    Case("value, log-normal latency +10 %, share 50%", harmful_mean(lognormal, 1.1)),
    Case("value, Pareto 1.9 latency +10 %, share 50%", harmful_mean(pareto, 1.1)),
]


def rate_of(acted: int, runs: int) -> str:
    """Return the share of runs in which a guard acted, with its standard error."""
    rate = acted / runs
    error = sqrt(max(rate, 1 / runs) * (1 - rate) / runs)
    return f"false alarms {rate:6.2%} ± {error:.2%}"


def power_of(found_at: Sequence[int | None]) -> str:
    """Return the share of runs in which a guard acted, and the median number of users until it did."""
    reached = sum(each is not None for each in found_at)
    middle = median([each if each is not None else USERS + 1 for each in found_at])
    shown = f"{middle:,.0f}" if middle <= USERS else f"more than {USERS:,}"
    return f"found in {reached / len(found_at):4.0%}, median users {shown}"


CASES = [*HARMLESS, *HARMFUL]


def run_case(place: int, runs: int, seed: int) -> str:
    """Run a case in a separate process; return its row."""
    case = CASES[place]
    return f"  {case.name:<60} {case.run(random.Random(f'{seed} {case.name}'), runs)}"


def main() -> None:
    """Run all cases, as many at a time as there are processors, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="harmless runs of each case")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--power-runs", type=int, default=400, help="harmful runs of each case")
    options = parser.parse_args()
    runs = [options.runs] * len(HARMLESS) + [options.power_runs] * len(HARMFUL)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        rows = [pool.submit(run_case, place, many, options.seed) for place, many in enumerate(runs)]
        print(f"harmless flags, {options.runs} runs of {USERS:,} users, a look every {LOOK_EVERY}, alpha {ALPHA:.0%}")
        for place, row in enumerate(rows):
            if place == len(HARMLESS):
                print(f"\nharmful flags, {options.power_runs} runs, base rate 2 %")
            print(row.result(), flush=True)


if __name__ == "__main__":
    main()
