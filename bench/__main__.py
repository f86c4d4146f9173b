"""`python -m bench`: measure, print tables, write JSON."""

import argparse
import asyncio
import json
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.evaluations import CONNECTIONS, Contender, Effort, measure_evaluations
from bench.flag_sets import (
    make_attributes_set,
    make_mixed_set,
    make_ofrep_set,
    make_segments_set,
    make_variants_set,
    store_flag_sets,
)
from bench.latencies import measure_latencies
from bench.machine import Cores, NotReadyError, check_tools, choose_cores
from bench.memory import measure_memory
from bench.servers import Switches

SECTIONS = ("evaluations", "latencies", "memory")
EVERY_SWITCH = (
    Switches(),
    Switches(limiter=False),
    Switches(history=False),
    Switches(limiter=False, history=False),
)
_TARGETED = (make_attributes_set, make_segments_set, make_variants_set, make_ofrep_set)
RESULTS = Path(__file__).with_name("results")


def main() -> None:
    """Run the requested sections."""
    asked = _parse()
    try:
        check_tools()
        cores = choose_cores()
        with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
            result = _measure(Path(folder), cores, asked)
    except NotReadyError as error:
        sys.exit(f"bench: {error}")
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    asked.output.write_text(json.dumps(result, indent=1))
    print(f"Written to {asked.output}")


def _parse() -> argparse.Namespace:
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json"
    parser = argparse.ArgumentParser(prog="bench", description="Compare Flagstaff with nginx and uvicorn.")
    parser.add_argument("--quick", action="store_true", help="measure less, in seconds instead of minutes")
    parser.add_argument("--only", choices=SECTIONS, action="append", help="a section; can be repeated")
    parser.add_argument("--flags", type=int, action="append", help="a number of flags; can be repeated")
    parser.add_argument(
        "--connections", type=int, action="append", help=f"a number of connections; can be repeated ({CONNECTIONS})"
    )
    parser.add_argument("--before", type=Path, help="another checkout that is built, to be measured in turns with this")
    parser.add_argument(
        "--rounds", type=int, help="how often to load each server, in turns (default: 5; with --quick: 1)"
    )
    parser.add_argument("--seconds", type=int, help="how long to load it each time (default: 4; with --quick: 1)")
    parser.add_argument("--output", type=Path, default=RESULTS / name, help="the JSON file (bench/results/…)")
    return parser.parse_args()


def _measure(folder: Path, cores: Cores, asked: argparse.Namespace) -> dict[str, Any]:
    quick = asked.quick
    effort = Effort(asked.rounds or (1 if quick else 5), asked.seconds or (1 if quick else 4))
    mixed = [make_mixed_set(size) for size in asked.flags or (1, 20, 100, 1000)]
    rollout = [] if quick else [make_mixed_set(len(each.flags), all_rollout=True) for each in mixed]
    targeted = [make(len(each.flags)) for make in _TARGETED for each in mixed if len(each.flags) > 1]
    (folder / "data").mkdir(mode=0o700)
    asyncio.run(store_flag_sets(folder / "data", [*mixed, *rollout, *targeted]))
    sections = asked.only or SECTIONS
    result: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    if "evaluations" in sections:
        before = [Contender(Switches(), asked.before.resolve())] if asked.before else []
        every = [Contender(each) for each in (EVERY_SWITCH[:1] if quick else EVERY_SWITCH)]
        result["evaluations"] = measure_evaluations(
            folder,
            [*mixed, *rollout, *targeted],
            [*every[:1], *before, *every[1:]],
            cores,
            effort,
            asked.connections or (CONNECTIONS,),
        )
    if "latencies" in sections:
        result["latencies"] = measure_latencies(folder, cores, 1 if quick else 200)
    if "memory" in sections:
        result["memory"] = measure_memory(
            folder, mixed[0], cores, environments=20 if quick else 1000, users=1000 if quick else 1_000_000
        )
    return result


if __name__ == "__main__":
    main()
