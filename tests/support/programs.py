"""Programs with released clients, each in a separate process, which read commands. tests/sdks has some of them."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from hatch_build import CLIENTS, find_node
from tests.support.built import built

_PROGRAMS = Path(__file__).parents[1] / "sdks"
_ANSWER_SECONDS = 60
_PROGRAM_SECONDS = 240  # on a machine that is busy with other tests, too


def command_of(language: str, protocol: str) -> list[str]:
    """The command that starts a language's program with a client of a protocol."""
    if language == "python":
        return [sys.executable, str(_PROGRAMS / "python" / f"{protocol}.py")]
    if language != "node":
        return built(protocol)[language]()
    node = find_node()
    assert node is not None, "make test brings one"
    assert (CLIENTS / "node_modules").is_dir(), "make test installs it"
    return [str(node.binary), str(_PROGRAMS / "node" / f"{protocol}.mjs")]


async def printed(*command: str, folder: Path, environ: Mapping[str, str] | None = None) -> str:
    """The output of a program that ends by itself, and has succeeded. `environ` is added to this process's."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "TMPDIR": str(folder), **(environ or {})},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(_PROGRAM_SECONDS):
        output, complaints = await process.communicate()
    assert process.returncode == 0, f"{output.decode()}{complaints.decode()}"
    return output.decode()


class Program:
    """A program that reads commands. The context manager starts it on entry, and ends it on exit."""

    path = ""
    """The path of the protocol below the server's address."""

    def __init__(self, command: Sequence[str], url: str, mode: str | None = None) -> None:
        """`mode` is what the program knows as one."""
        self._command = command
        self._url = url
        self._mode = mode
        self._turn = asyncio.Lock()
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

    async def connect(self, key: str, name: str = "shop", url: str | None = None) -> bool:
        """Create a client with this key, of another server if there is a `url`.

        Returns whether it has got any flags, if that is known.
        """
        given = {"connect": key, "name": name, "url": f"{url or self._url}{self.path}", "mode": self._mode}
        answer = await self.carry_out(given)
        return bool(answer["connected"])

    async def carry_out(self, command: Mapping[str, Any]) -> Any:
        """Execute a command; return the answer."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        async with self._turn, asyncio.timeout(_ANSWER_SECONDS):
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            line = await self._process.stdout.readline()
        assert line, "the application ended"
        return json.loads(line)
