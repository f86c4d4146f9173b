"""`python -m bench.simulation`: prints the tables of docs/scale.md."""

import argparse
import sys

from bench.simulation.delays import Delays, percentile
from bench.simulation.model import Fleet, Setting, Toggle

_LARGER = (2, 4, 8, 16, 32, 64, 128, 256, 512)
_ROUND_TRIP = 0.0005
_TOGGLES = 40


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
    _row(["instances", "measured p50", "p99", "simulated p50", "p99"])
    _row(["---"] * 5)
    for count in delays.toggles:
        found = Fleet(Setting(count, shared_cores=2), delays, seed).run(200)
        real = _milliseconds(list(delays.toggles[count]), 50, 99)
        _row([str(count), *real, *_milliseconds(_responses(found), 50, 99)])
    sys.stdout.write("\n")
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
