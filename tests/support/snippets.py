"""Runs the commands of a documentation page, and compares their output with the output in the page."""

import asyncio
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.processes import kill

needs_shell = pytest.mark.skipif(
    not (shutil.which("bash") and shutil.which("curl")), reason="the commands need bash and curl"
)

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_END_OF_STEP = "--- end of step ---"
_SECONDS = 240  # a page starts a hundred programs, each of which takes a second on a busy machine
_CHANGING = frozenset({"id", "evaluated_at"})


@dataclass(frozen=True)
class Step:
    """A block of commands, and the JSON that it prints according to the page, if any."""

    commands: str
    answer: Any | None


async def run_and_compare(text: str, environ: Mapping[str, str]) -> None:
    """Run all blocks of commands in a page or a part of it, in one shell, which ends at the first failure."""
    steps = list(_read_steps(text))
    answers = sum(step.answer is not None for step in steps)
    assert answers == text.count("```json\n") > 0, "an answer must follow the commands that print it"
    printed = await _run([step.commands for step in steps], environ)
    for step, output in zip(steps, printed, strict=True):
        if step.answer is not None:
            assert _without_what_changes(json.loads(output)) == _without_what_changes(step.answer), step.commands


def _read_steps(text: str) -> Iterator[Step]:
    blocks = _BLOCK.findall(text)
    for (language, block), (next_language, next_block) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if language == "bash":
            yield Step(block, json.loads(next_block) if next_language == "json" else None)


def _without_what_changes(value: Any) -> Any:
    """Return the same JSON without ids and times, which differ in every run."""
    if isinstance(value, list):
        return [_without_what_changes(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_what_changes(item) for name, item in value.items() if name not in _CHANGING}
    return value


async def _run(commands: list[str], environ: Mapping[str, str]) -> list[str]:
    """Return the output of each block."""
    script = "\n".join(["set -euo pipefail", *(f"{each}\necho '{_END_OF_STEP}'" for each in commands)])
    shell = await asyncio.create_subprocess_exec(
        *("bash", "-c", script), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, env=environ
    )
    try:
        async with asyncio.timeout(_SECONDS):
            printed, complaints = await shell.communicate()
    finally:
        await kill(shell)
    assert shell.returncode == 0, f"{printed.decode()}\n{complaints.decode()}"
    return printed.decode().split(f"{_END_OF_STEP}\n")[:-1]
