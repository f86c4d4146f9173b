"""Applications with released SDKs, each in a separate process. tests/sdks has their programs."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from hatch_build import CLIENTS, find_node
from tests.support.built import built
from tests.support.local_sdk import Result, read_payload

PROGRAMS = Path(__file__).parents[1] / "sdks"
_ANSWER_SECONDS = 60
Question = tuple[str, Mapping[str, Any]]
"""A flag's key and a context."""


def _python() -> list[str]:
    return [sys.executable, str(PROGRAMS / "python" / "unleash.py")]


def _node() -> list[str]:
    node = find_node()
    assert node is not None, "make test brings one"
    assert (CLIENTS / "node_modules" / "unleash-client").is_dir(), "make test installs it"
    return [str(node.binary), str(PROGRAMS / "node" / "unleash.mjs")]


COMMANDS: Mapping[str, Callable[[], list[str]]] = {"python": _python, "node": _node, **built("unleash")}
WITHOUT_STREAM = {"rust"}


class Application:
    """A program with an SDK of Unleash. The context manager starts it on entry, and ends it on exit."""

    def __init__(self, language: str, url: str, mode: str = "polling") -> None:
        """`mode` says how it learns of changes: `polling`, `streaming` or, in Node.js, polling for a `delta`."""
        self._command = [*COMMANDS[language](), f"{url}/unleash/api", mode]
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, limit=2**24)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.communicate()

    async def connect(self, key: str, name: str = "shop") -> bool:
        """Start a client with this key; return whether it has received any flags."""
        answer = await self._command_for({"connect": key, "name": name})
        return bool(answer["connected"])

    async def ask(self, questions: Sequence[Question], name: str = "shop") -> list[Result]:
        """Return the results of flags for users."""
        answers = await self._command_for({"ask": questions, "name": name})
        return [Result(is_on, variant, read_payload(payload)) for is_on, variant, payload in answers]

    async def is_on(self, flag: str, user_id: str = "ada", name: str = "shop") -> bool:
        """Return whether a flag is on for a user."""
        (result,) = await self.ask([(flag, {"userId": user_id, "properties": {}})], name)
        return result.enabled

    async def measure(self, flag: str, name: str = "shop") -> None:
        """Count two orders, and measure a response time of half a second and a queue of seven, for a user of a flag."""
        await self._command_for({"measure": flag, "name": name})

    async def _command_for(self, command: Mapping[str, Any]) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        async with asyncio.timeout(_ANSWER_SECONDS):
            line = await self._process.stdout.readline()
        assert line, "the application ended"
        return json.loads(line)


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = 30) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.001)


def is_ascii(context: Mapping[str, Any]) -> bool:
    """Return whether everything that could identify a user is ASCII."""
    return json.dumps(context, ensure_ascii=False).isascii()
