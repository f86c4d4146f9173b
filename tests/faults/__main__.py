"""`make test-faults`: each fault once, or random faults for some minutes."""

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.faults import lost_logs
from tests.faults.clock import find_faketime
from tests.faults.fleet import open_fleet
from tests.faults.nemeses import NEMESES, draw
from tests.faults.nemesis import Nemesis
from tests.faults.report import HEAD, complaints, row
from tests.faults.rounds import Arena, Pace

MODES = ("serve", "refuse")


def main() -> None:
    """Run, print a table, and fail if a round found a problem."""
    asked = _parse()
    seed = asked.seed if asked.seed is not None else random.randrange(1_000_000)
    is_right = True
    for mode in asked.mode or MODES:
        print(f"\nFLAGSTAFF_WHEN_CUT_OFF={mode}, seed {seed}\n{HEAD}", flush=True)
        is_right &= asyncio.run(_run(mode, seed, asked))
    if asked.lost_logs:
        print(f"\nSQLite's logs are lost, seed {seed}", flush=True)
        is_right &= asyncio.run(lost_logs.run(seed, asked.lost_logs))
    sys.exit(0 if is_right else 1)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make test-faults", description="Cause faults under load.")
    parser.add_argument("--seed", type=int, help="what is drawn at random; printed at the start")
    parser.add_argument("--minutes", type=float, help="faults at random for so long; without it, each fault once")
    parser.add_argument("--mode", choices=MODES, action="append", help="of FLAGSTAFF_WHEN_CUT_OFF; both by default")
    parser.add_argument("--fault", choices=NEMESES, action="append", help="only this fault; can be repeated")
    parser.add_argument("--lost-logs", type=int, default=3, help="rounds in which SQLite's logs are lost, 3 by default")
    parser.add_argument("--evaluate-pause", type=float, default=0.025, help="seconds between a client's evaluations")
    parser.add_argument("--toggle-pause", type=float, default=0.1, help="seconds between a client's toggles")
    return parser.parse_args()


async def _run(mode: str, seed: int, asked: argparse.Namespace) -> bool:
    pace = Pace(asked.evaluate_pause, asked.toggle_pause)
    is_right = True
    environ = {"FLAGSTAFF_WHEN_CUT_OFF": mode} if mode != "serve" else {}
    with tempfile.TemporaryDirectory(prefix="flagstaff-faults-") as folder:
        async with open_fleet(
            Path(folder), environ, faketime=find_faketime(), has_cables=True, has_pages=True
        ) as fleet:
            arena = await Arena.of(fleet)
            for nemesis in _choose(asked, random.Random(seed)):
                played = await arena.play(nemesis, pace, marks_allowed=mode == "serve")
                print(row(played), *complaints(played), sep="\n", flush=True)
                is_right &= not played.violations and not played.problems
    return is_right


def _choose(asked: argparse.Namespace, drawing: random.Random) -> Iterator[Nemesis]:
    if asked.minutes is None:
        for name in asked.fault or NEMESES:
            yield NEMESES[name](drawing)
        return
    end = time.monotonic() + asked.minutes * 60
    while time.monotonic() < end:
        yield NEMESES[drawing.choice(asked.fault)](drawing) if asked.fault else draw(drawing)


if __name__ == "__main__":
    main()
