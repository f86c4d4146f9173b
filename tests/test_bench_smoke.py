"""The bench runs, or says what is missing. Its figures are not tested."""

import asyncio
import json
import os
import random
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.guard_scenarios import HARMLESS, run

CORES = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
HAS_TOOLS = all(shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin") for tool in ("wrk", "nginx", "taskset"))


async def run_bench(*arguments: str, path: str) -> tuple[int | None, str]:
    """Run it; return its exit status and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "bench", *arguments),
        env={**os.environ, "PATH": path},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(240):
            said, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    return process.returncode, said.decode()


@pytest.mark.parametrize(
    "name", ["rule at 20 %, rollout 10/50 %", "value, returning users, 10 -> 50 %", "count, 1 of 10 users"]
)
def test_the_tally_of_simulated_users_has_the_result_of_counting_them(name: str) -> None:
    (scenario,) = (replace(each, users=1_200) for each in HARMLESS if each.name == name)
    tallied, counted = (run(random.Random(7), scenario, tallies=tallies) for tallies in (True, False))
    assert tallied == counted


async def test_without_its_tools_the_bench_says_what_to_install(tmp_path: Path) -> None:
    status, said = await run_bench("--quick", path=str(tmp_path))
    if shutil.which("nginx", path="/usr/sbin"):
        assert "The bench needs wrk and taskset." in said
    else:
        assert "The bench needs wrk and nginx and taskset." in said
    assert "apt-get install wrk nginx-light" in said
    assert status == 1


@pytest.mark.skipif(not HAS_TOOLS, reason="wrk and nginx are not installed")
@pytest.mark.skipif(CORES < 2, reason="there is one core only")
async def test_a_short_run_measures_every_section(tmp_path: Path) -> None:
    output = tmp_path / "results" / "short.json"
    status, said = await run_bench("--quick", "--flags", "1", "--output", str(output), path=os.environ["PATH"])
    assert status == 0, said
    result = json.loads(output.read_text())
    (evaluations,) = result["evaluations"]
    assert evaluations["of_nginx"] > 0
    assert {each["what"] for each in result["latencies"]} >= {"start to first answer", "toggle until it is served"}
    assert result["memory"]["users"] >= 1000
