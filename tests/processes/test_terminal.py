"""The first minute at a terminal: a pseudo-terminal shows text for people, and a pipe gets JSON."""

import asyncio
import os
import pty
import re
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.support.forks import ForkedProcess
from tests.support.ports import free_port
from tests.support.processes import kill

_SECONDS = 60
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Screen:
    """The output of a server on its terminal."""

    def __init__(self, descriptor: int, port: int) -> None:
        self._descriptor = descriptor
        self._shown = b""
        self._grown = asyncio.Event()
        self.url = f"http://127.0.0.1:{port}"
        asyncio.get_running_loop().add_reader(descriptor, self._read)

    def _read(self) -> None:
        try:
            self._shown += os.read(self._descriptor, 65_536)
        except OSError:  # Linux returns this when no process has the terminal open
            asyncio.get_running_loop().remove_reader(self._descriptor)
        self._grown.set()

    @property
    def lines(self) -> list[str]:
        """The lines so far, without colours."""
        return _COLOURS.sub("", self._shown.decode()).replace("\r", "").splitlines()

    async def shows(self, text: str) -> None:
        """Wait until a line contains a text."""
        async with asyncio.timeout(_SECONDS):
            while not any(text in line for line in self.lines):
                self._grown.clear()
                await self._grown.wait()


@asynccontextmanager
async def serving(folder: Path, environ: Mapping[str, str] | None = None) -> AsyncIterator[Screen]:
    """Run a server with its own terminal, and end it with Ctrl-C."""
    ours, theirs = pty.openpty()
    port = free_port()
    settings = {"FLAGSTAFF_PORT": str(port), "FLAGSTAFF_DATA_DIR": str(folder), **(environ or {})}
    with os.fdopen(theirs, "r+b", buffering=0) as terminal:
        process = ForkedProcess(
            ["serve"],
            environ={"PATH": os.environ["PATH"], **settings},
            given=terminal,
            output=terminal,
            errors=terminal,
        )
    screen = Screen(ours, port)
    try:
        yield screen
        process.send_signal(signal.SIGINT)
        async with asyncio.timeout(_SECONDS):
            assert await process.wait() == 0
    finally:
        await kill(process)
        asyncio.get_running_loop().remove_reader(ours)
        os.close(ours)


async def test_a_first_start_says_what_was_created_where_and_what_to_do_first(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    async with serving(folder) as screen:
        await screen.shows("Ctrl-C")
        migrated, *said = [line for line in screen.lines if line]
        assert re.fullmatch(r"\d\d:\d\d:\d\d \[info\] migrated migrations=\d+ revision='\d{4}'", migrated)
        assert re.fullmatch(rf"Flagstaff \S+ serves on {screen.url}", said[0])
        parts = dict(line.split(maxsplit=1) for line in said[1:])
        assert parts["Created"] == f"SQLite in {folder}"
        assert parts["Begin"] == f"open {screen.url} and create the first account, the administrator"
        assert parts["API"] == f"{screen.url}/docs"
        assert parts["Passwords"] == "common ones are accepted: only this machine can reach the server"
        assert parts["Stop"] == "Ctrl-C"
        assert not any("{" in line for line in screen.lines)


async def test_a_later_start_does_not_repeat_the_first_steps(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as screen:
        await screen.shows("Ctrl-C")
    async with serving(tmp_path / "data", {"FLAGSTAFF_WORKERS": "2"}) as screen:
        await screen.shows("Ctrl-C")
        parts = dict(line.split(maxsplit=1) for line in screen.lines if line)
        assert parts["Data"] == f"SQLite in {tmp_path / 'data'}"
        assert parts["Workers"] == "2"
        assert {"Begin", "Created"}.isdisjoint(parts)


async def test_closed_registration_begins_with_a_command(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", {"FLAGSTAFF_REGISTRATION": "closed"}) as screen:
        await screen.shows("create the first account, the administrator: flagstaff users create EMAIL")
        await screen.shows("Ctrl-C")


async def test_requests_are_phrases_and_refused_ones_have_their_fields(tmp_path: Path) -> None:
    async with serving(tmp_path / "data") as screen, httpx.AsyncClient(base_url=screen.url) as client:
        await screen.shows("Ctrl-C")
        await client.get("/health")
        await client.get("/api/%1b%5b31mred")
        await screen.shows("GET /api/")
        logged = [line for line in screen.lines if " in " in line and "GET" in line]
        assert re.fullmatch(r"\d\d:\d\d:\d\d \[info\] GET /health 200 in \d+ ms", logged[0])
        assert re.search(r"GET /api/\\x1b\[31mred 404 in \d+ ms client='127.0.0.1' .*request_id=", logged[1])


async def test_whoever_asks_for_json_gets_it_at_a_terminal_too(tmp_path: Path) -> None:
    async with serving(tmp_path / "data", {"FLAGSTAFF_LOG_FORMAT": "json"}) as screen:
        await screen.shows('"event": "serving"')
        await screen.shows("Ctrl-C")
