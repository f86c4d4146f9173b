"""Simulates guards: how often they act on a harmless flag, and how soon they find a harmful one.

    python -m bench.guards [--runs 2000] [--seed 2026]

Everything is drawn from a seeded generator. A look happens after every 200 users, as releases look every fraction of a
second. Rows on harmless flags say how many runs a guard acted in at any look, with the standard error; rows on harmful
ones the median number of users until it acts, beside the number that a test with a fixed sample needs for 80 % power.
"""

import argparse
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from statistics import NormalDist, median

from flagstaff.releases.judging import COUNTED_LEAST
from flagstaff.releases.statistics import binary, means
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.releases.statistics.means import BURN_IN, MeanSplit, Moments, Scale, find_scale

ALPHA = 0.05
USERS = 30_000
LOOK_EVERY = 200
RAMP = (0.01, 0.05, 0.10, 0.25, 0.50)
"""The shares of a ramp, a fifth of the users each."""


@dataclass(frozen=True)
class Visit:
    """A user: the step, whether it has the flag, and the chance of an event without the flag."""

    step: int
    has_flag: bool
    rate: float


Traffic = Callable[[random.Random], Iterator[Visit]]


def fixed(share: float, rate: float = 0.02) -> Traffic:
    """A share that stays, and a rate that does too."""

    def visits(generator: random.Random) -> Iterator[Visit]:
        for _ in range(USERS):
            yield Visit(0, generator.random() < share, rate)

    return visits


def ramp(generator: random.Random) -> Iterator[Visit]:
    """Five steps, while the rate of events rises from 1 to 4 %."""
    for place in range(USERS):
        step = place * len(RAMP) // USERS
        yield Visit(step, generator.random() < RAMP[step], 0.01 + 0.03 * place / USERS)


def stop_and_start(generator: random.Random) -> Iterator[Visit]:
    """Two steps, and traffic that comes in bursts, each with a rate of its own: nights, campaigns, outages."""
    place = 0
    while place < USERS:
        rate = generator.choice([0.001, 0.01, 0.05, 0.2])
        for _ in range(min(USERS - place, generator.randrange(50, 3000))):
            step = int(place >= USERS // 2)
            yield Visit(step, generator.random() < (0.1, 0.5)[step], rate)
            place += 1


def shares_of(traffic: Traffic) -> Sequence[float]:
    """The shares of the steps of a traffic."""
    return {ramp: RAMP, stop_and_start: (0.1, 0.5)}.get(traffic, (0.0,))


def run_binary(
    generator: random.Random, traffic: Traffic, shares: Sequence[float], ratio: float = 1.0, *, peek: bool = False
) -> tuple[int | None, bool]:
    """After how many users a guard acts, if it does; and with `peek`, whether the usual test would ever have."""
    counts = [[0, 0] for _ in shares]
    exposed = [[0, 0] for _ in shares]
    threshold, limit, is_fooled = -log(ALPHA), NormalDist().inv_cdf(1 - ALPHA), False
    for number, visit in enumerate(traffic(generator), 1):
        exposed[visit.step][visit.has_flag] += 1
        if generator.random() < visit.rate * (ratio if visit.has_flag else 1.0):
            counts[visit.step][visit.has_flag] += 1
        if number % LOOK_EVERY == 0:
            steps = [EventSplit(of[1], of[0], share) for of, share in zip(counts, shares, strict=True)]
            if binary.log_evidence(steps, harm_is_more=True) >= threshold:
                return number, is_fooled
            if peek and not is_fooled:
                is_fooled = z_score(counts, exposed) >= limit
    return None, is_fooled


def z_score(counts: Sequence[Sequence[int]], exposed: Sequence[Sequence[int]]) -> float:
    """The usual test of two pooled proportions, which is made to be looked at once."""
    control, treated = (sum(of[arm] for of in counts) for arm in (0, 1))
    others, users = (sum(of[arm] for of in exposed) for arm in (0, 1))
    if not others or not users or not control + treated:
        return 0.0
    pooled = (control + treated) / (others + users)
    spread = sqrt(pooled * (1 - pooled) * (1 / others + 1 / users))
    return (treated / users - control / others) / spread if spread else 0.0


def run_mean(
    generator: random.Random,
    draw: Callable[[random.Random], float],
    shares: Sequence[float],
    factor: float = 1.0,
    *,
    counts: bool = False,
    harm_is_more: bool = True,
) -> int | None:
    """After how many users a guard of a number acts, if it does. A latency rises by half in the course of a run."""
    first: list[tuple[int, int, float]] = []
    sums = [[[0, 0.0, 0.0], [0, 0.0, 0.0]] for _ in shares]
    scale, threshold = None, -log(ALPHA)

    def add(step: int, arm: int, number: float, scale: Scale) -> None:
        of, kept = sums[step][arm], scale.cut(number)
        of[0] += 1
        of[1] += kept
        of[2] += kept * kept

    with_events = [0 for _ in shares]
    for place in range(USERS):
        step = place * len(shares) // USERS
        has_flag = generator.random() < shares[step]
        drift = 1.0 if counts else 1 + 0.5 * place / USERS
        number = draw(generator) * drift * (factor if has_flag else 1.0)
        with_events[step] += number > 0
        if scale is None:
            first.append((step, has_flag, number))
            if len(first) == BURN_IN:
                numbers = [each for *_, each in first if each or not counts]
                scale = find_scale(numbers or [1.0], len(first) - len(numbers), grow=counts)
                for each in first:
                    add(*each, scale)
            continue
        add(step, has_flag, number, scale)
        if (place + 1) % LOOK_EVERY == 0:
            steps = [
                MeanSplit(Moments(int(treated[0]), *treated[1:]), Moments(int(control[0]), *control[1:]))
                for (control, treated), share, many in zip(sums, shares, with_events, strict=True)
                if not counts or many * min(share, 1 - share) >= COUNTED_LEAST
            ]
            if means.log_evidence(steps, deviation=scale.deviation, harm_is_more=harm_is_more) >= threshold:
                return place + 1
    return None


def lognormal(generator: random.Random) -> float:
    """A latency with a moderate tail."""
    return generator.lognormvariate(4.5, 0.5)


def pareto(generator: random.Random) -> float:
    """A latency with a heavy tail, whose variance is infinite."""
    return 50 * generator.paretovariate(1.9)


def rare_count(generator: random.Random) -> float:
    """How often something rare happened to a user: to one of fifty, and mostly once."""
    return float(generator.choice((1, 1, 1, 2, 5))) if generator.random() < 0.02 else 0.0


def fixed_sample(base: float, ratio: float, share: float) -> int:
    """The users that a test of two proportions needs, one-sided at 5 % with 80 % power, looked at once.

    (z_alpha + z_beta)² (p₁(1 - p₁)/share + p₀(1 - p₀)/(1 - share))/(p₁ - p₀)², as in textbooks.
    """
    z = NormalDist().inv_cdf(1 - ALPHA) + NormalDist().inv_cdf(0.8)
    other = base * ratio
    return ceil(z**2 * (other * (1 - other) / share + base * (1 - base) / (1 - share)) / (other - base) ** 2)


def main() -> None:
    """Run all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=2000, help="harmless runs of each case")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--power-runs", type=int, default=400, help="harmful runs of each case")
    options = parser.parse_args()
    print(f"harmless flags, {options.runs} runs of {USERS:,} users, a look every {LOOK_EVERY}, alpha {ALPHA:.0%}")
    harmless: list[tuple[str, Traffic, Sequence[float]]] = [
        ("binary, fixed 50:50", fixed(0.5), (0.5,)),
        ("binary, canary 10 %", fixed(0.1), (0.1,)),
        ("binary, ramp of five steps, rate drifts 1 -> 4 %", ramp, RAMP),
        ("binary, traffic stops and starts", stop_and_start, (0.1, 0.5)),
    ]
    for name, traffic, shares in harmless:
        generator = random.Random(f"{options.seed} {name}")
        found = [run_binary(generator, traffic, shares, peek=True) for _ in range(options.runs)]
        fooled = sum(is_fooled for _, is_fooled in found)
        print_rate(
            name,
            sum(at is not None for at, _ in found),
            options.runs,
            f"the usual z-test, looked at: {fooled / options.runs:.1%}",
        )
    for name, draw, shares in (
        ("value, log-normal latency, 50:50", lognormal, (0.5,)),
        ("value, log-normal latency, ramp of five steps", lognormal, RAMP),
        ("value, heavy-tailed latency (Pareto 1.9), 50:50", pareto, (0.5,)),
        ("value, heavy-tailed latency (Pareto 1.9), ramp", pareto, RAMP),
    ):
        generator = random.Random(f"{options.seed} {name}")
        acted = sum(run_mean(generator, draw, shares) is not None for _ in range(options.runs))
        print_rate(name, acted, options.runs)
    for share, harm_is_more in ((0.01, False), (0.05, False), (0.05, True), (0.5, False), (0.95, True)):
        name = f"count, 1 of 50 users, {share:.0%} with the flag, harm is {'more' if harm_is_more else 'fewer'}"
        generator = random.Random(f"{options.seed} {name}")
        acted = sum(
            run_mean(generator, rare_count, (share,), counts=True, harm_is_more=harm_is_more) is not None
            for _ in range(options.runs)
        )
        print_rate(name, acted, options.runs)
    print(f"\nharmful flags, {options.power_runs} runs, base rate 2 %")
    for ratio, share in ((1.5, 0.5), (2.0, 0.5), (3.0, 0.5), (1.5, 0.1), (2.0, 0.1), (3.0, 0.1)):
        generator = random.Random(f"{options.seed} {ratio} {share}")
        found_at = [run_binary(generator, fixed(share), (share,), ratio)[0] for _ in range(options.power_runs)]
        print_power(f"binary, x{ratio}, share {share:.0%}", found_at, f"{fixed_sample(0.02, ratio, share):,}")
    for name, draw in (("log-normal", lognormal), ("Pareto 1.9", pareto)):
        generator = random.Random(f"{options.seed} {name}")
        found_at = [run_mean(generator, draw, (0.5,), 1.1) for _ in range(options.power_runs)]
        print_power(f"value, {name} latency +10 %, share 50%", found_at, "")


def print_rate(name: str, acted: int, runs: int, more: str = "") -> None:
    """A row of a harmless case."""
    rate = acted / runs
    error = sqrt(max(rate, 1 / runs) * (1 - rate) / runs)
    print(f"  {name:<50} false alarms {rate:6.2%} ± {error:.2%}   {more}", flush=True)


def print_power(name: str, found_at: Sequence[int | None], fixed_users: str) -> None:
    """A row of a harmful case."""
    reached = sorted(each for each in found_at if each is not None)
    middle = median([each if each is not None else USERS + 1 for each in found_at])
    shown = f"{middle:,.0f}" if middle <= USERS else f"more than {USERS:,}"
    more = f"   fixed sample: {fixed_users}" if fixed_users else ""
    print(f"  {name:<50} found in {len(reached) / len(found_at):4.0%}, median users {shown}{more}", flush=True)


if __name__ == "__main__":
    main()
