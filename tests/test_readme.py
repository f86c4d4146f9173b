"""The README's quickstart, executed as written against a real server."""

import asyncio
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store

README = Path(__file__).parents[1] / "README.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_END_OF_STEP = "--- end of step ---"
_CHANGING = frozenset({"id", "evaluated_at"})


@dataclass(frozen=True)
class Step:
    """A block of commands, and the JSON that the README says it prints, if any."""

    commands: str
    answer: Any | None


def steps() -> Iterator[Step]:
    _, _, quickstart = README.read_text().partition("\n## Quickstart\n")
    blocks = _BLOCK.findall(quickstart.partition("\n## ")[0])
    for (language, text), (next_language, next_text) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "bash":
            yield Step(text, json.loads(next_text) if next_language == "json" else None)


def without_what_changes(value: Any) -> Any:
    """The same JSON without ids and times, which differ in every run."""
    if isinstance(value, list):
        return [without_what_changes(item) for item in value]
    if isinstance(value, dict):
        return {name: without_what_changes(item) for name, item in value.items() if name not in _CHANGING}
    return value


async def outputs(commands: list[str], environ: dict[str, str]) -> list[str]:
    """The output of each block, all run in one shell, which ends at the first that fails."""
    script = f"\necho '{_END_OF_STEP}'\n".join(["set -euo pipefail", *commands, ""])
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", script), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environ
    )
    async with asyncio.timeout(60):
        printed, complaints = await shell.communicate()
    assert shell.returncode == 0, f"{printed.decode()}\n{complaints.decode()}"
    return printed.decode().split(f"{_END_OF_STEP}\n")[1:]


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the quickstart needs bash and curl")
async def test_the_quickstart_does_what_it_says(sqlite_template: Path, data_directory: Path) -> None:
    quickstart = list(steps())
    assert any(step.answer for step in quickstart), "the quickstart shows no answer any more"
    async with ServerProcess(sqlite_store(sqlite_template, data_directory)) as server:
        environ = {"PATH": os.environ["PATH"], "BASE": server.url}
        printed = await outputs([step.commands for step in quickstart], environ)
    for step, output in zip(quickstart, printed, strict=False):
        if step.answer is not None:
            assert without_what_changes(json.loads(output)) == without_what_changes(step.answer), step.commands
