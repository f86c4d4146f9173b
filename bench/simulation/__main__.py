"""`python -m bench.simulation`: prints the tables of docs/scale.md."""

import argparse
import sys

from bench.simulation.delays import Delays, percentile
from bench.simulation.model import Fleet, Setting, Toggle

_LARGER = (2, 4, 8, 16, 32, 64, 128, 256, 512)
_ROUND_TRIP = 0.0005
_TOGGLES = 40
ERROR = 0.3
"""By how much the simulated and the measured median may differ where instances share cores."""


def _row(cells: list[str]) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")


def _milliseconds(sample: list[float], *percents: float) -> list[str]:
    return [f"{percentile(sorted(sample), percent) * 1000:.0f} ms" for percent in percents]


def _responses(toggles: list[Toggle]) -> list[float]:
    return [each.response for each in toggles]


def main() -> None:
    """Simulate, and print tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    seed = parser.parse_args().seed
    delays = Delays.load()
    _compare(delays, seed)
    _compare_processor_time(delays, seed)
    sys.stdout.write("\n")
    _simulate_larger(delays, seed)


def _compare(delays: Delays, seed: int) -> None:
    """Instances on two cores: what was measured beside what is simulated, and whether they agree."""
    _row(["instances", "measured p50", "p99", "simulated p50", "p99", "simulated / measured p50"])
    _row(["---"] * 6)
    ratios = {}
    for count, measured in delays.toggles.items():
        found = _responses(Fleet(Setting(count, shared_cores=2, pause=0.0), delays, seed).run(200))
        ratios[count] = percentile(sorted(found), 50) / percentile(sorted(measured), 50)
        taken = [_milliseconds(sample, 50, 99) for sample in (list(measured), found)]
        _row([str(count), *taken[0], *taken[1], f"{ratios[count]:.2f}"])
    beyond = [str(count) for count, ratio in ratios.items() if not 1 / (1 + ERROR) <= ratio <= 1 + ERROR]
    said = f"does not hold with {', '.join(beyond)} instances" if beyond else "holds in every row"
    sys.stdout.write(f"\nThe error of the median, at most a factor of {1 + ERROR:.1f}, {said}.\n")


def _compare_processor_time(delays: Delays, seed: int) -> None:
    """The processor time of a toggle, which other work on the machine changes much less than how long it takes."""
    for count, measured in delays.checked.items():
        fleet = Fleet(Setting(count, shared_cores=2, pause=0.0), delays, seed)
        toggles = fleet.run(100)
        simulated = fleet.worked / len(toggles)
        sys.stdout.write(
            f"Processor time of a toggle with {count}: measured {measured * 1000:.1f} ms, "
            f"simulated {simulated * 1000:.1f} ms ({simulated / measured:.2f}).\n"
        )


def _simulate_larger(delays: Delays, seed: int) -> None:
    """Instances with a core each."""
    _row(["instances", "toggle p50", "p99", "spread p50", "p99", "one slow: p50", "one stopped: longest", "later p50"])
    _row(["---"] * 8)
    for count in _LARGER:
        usual = Fleet(Setting(count, round_trip=_ROUND_TRIP), delays, seed).run(_TOGGLES)
        slow = Fleet(Setting(count, round_trip=_ROUND_TRIP, slow_factor=100), delays, seed).run(_TOGGLES // 4)
        stopped = Fleet(Setting(count, round_trip=_ROUND_TRIP, stopped_at=1.0), delays, seed).run(_TOGGLES // 4)
        longest = max(_responses(stopped))
        later = _responses(stopped[[each.response for each in stopped].index(longest) + 1 :])
        spread = [each.spread for each in usual]
        _row(
            [
                str(count),
                *_milliseconds(_responses(usual), 50, 99),
                *_milliseconds(spread, 50, 99),
                *_milliseconds(_responses(slow), 50),
                f"{longest:.1f} s",
                *_milliseconds(later, 50),
            ]
        )


if __name__ == "__main__":
    main()
