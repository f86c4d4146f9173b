"""SQLite's write-ahead log is deleted or replaced under a server with workers, which then ends and starts again.

Every acknowledged change is there afterwards, or the server has said that some may be lost: the start is refused
without `--accept-loss`, and `doctor` fails. The same applies to evaluations but for those of the last second.
"""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import httpx

from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.faults.counts import LOST_NANOSECONDS
from tests.support.api import environment_path
from tests.support.command import run_flagstaff
from tests.support.processes import children_of
from tests.support.remote import Load, RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store

ENVIRON = {
    "FLAGSTAFF_WORKERS": "2",
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
}
CHECKS = {CONFIGURATION_FILE: "database", HISTORY_FILE: "history"}
"""What `doctor` calls the check of each file."""
_LACKS = "lacks the last"
_START_SECONDS, _END_SECONDS = 60.0, 30.0  # on a machine that is busy with other tests, too
_RECORDED_SECONDS = 30.0


def _delete(log: Path, index: Path) -> None:
    log.unlink()
    index.unlink()


def _delete_log(log: Path, _index: Path) -> None:
    log.unlink()


def _delete_index(_log: Path, index: Path) -> None:
    index.unlink()


def _replace(log: Path, _index: Path) -> None:
    draft = log.with_name("draft")
    shutil.copyfile(log, draft)
    draft.rename(log)


def _empty(log: Path, _index: Path) -> None:
    draft = log.with_name("draft")
    draft.touch()
    draft.rename(log)


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "-wal and -shm deleted": _delete,
    "-wal deleted": _delete_log,
    "-shm deleted": _delete_index,
    "-wal replaced by a copy": _replace,
    "-wal replaced by an empty file": _empty,
}


@dataclass(frozen=True)
class LostLog:
    """What happens in a round. `is_after` says that the server has ended before."""

    files: tuple[str, ...]
    way: str
    steady_seconds: float
    end_seconds: float
    is_killed: bool
    is_after: bool

    @classmethod
    def draw(cls, random: Random) -> "LostLog":
        """Choose at random. Only a kill leaves a log that can be lost afterwards."""
        files = random.choice([(CONFIGURATION_FILE,), (HISTORY_FILE,), (CONFIGURATION_FILE, HISTORY_FILE)])
        is_killed, is_after = random.random() < 0.7, random.random() < 0.3
        seconds = random.uniform(1, 4), random.uniform(0, 3)
        return cls(files, random.choice(list(WAYS)), *seconds, is_killed, is_killed and is_after)

    def __str__(self) -> str:
        end = f"{'killed' if self.is_killed else 'stopped'}"
        order = f"{end}, then" if self.is_after else f"{end} {self.end_seconds:.1f} s after"
        return f"{order} {' and '.join(self.files)}: {self.way}"

    def happen(self, directory: Path) -> None:
        """Lose the logs. After a kill, those that are not there cannot be."""
        for name in self.files:
            with suppress(FileNotFoundError):
                WAYS[self.way](directory / f"{name}-wal", directory / f"{name}-shm")


@dataclass
class Played:
    """What a round has seen. `told` are the files that have lost something, as the server has said."""

    lost: LostLog
    changes: int = 0
    refused: int = 0
    evaluations: int = 0
    told: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        told = f"said to lack commits: {', '.join(sorted(self.told))}" if self.told else "nothing said to be lost"
        counts = f"{self.changes} changes, {self.refused} refused, {self.evaluations} evaluations"
        return "\n".join((f"{self.lost}; {counts}; {told}", *(f"  {each}" for each in self.problems)))


async def play(folder: Path, lost: LostLog, *, sure_seconds: float = LOST_NANOSECONDS / 1e9) -> Played:
    """Run a round on a new database in a folder.

    An evaluation must be there if it was recorded before the fault, or answered so many seconds before a kill.
    """
    store, played = Store(None, folder / "data"), Played(lost)
    async with ServerProcess(store, ENVIRON) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        async with under_load(caller) as load:
            await asyncio.sleep(lost.steady_seconds)
            users = await load.recorded_users(caller)
            if not lost.is_after:
                lost.happen(store.data_directory)
                await asyncio.sleep(lost.end_seconds)
            ended = time.monotonic()
            await _end(server, store, is_killed=lost.is_killed)
        if lost.is_after:
            lost.happen(store.data_directory)
        played.changes = len(load.created_keys) + len(load.toggles)
        played.refused, played.evaluations = load.statuses["manage"][503], len(load.evaluated)
        await _find_told(server, store, played)
    async with (
        ServerProcess(store, ENVIRON, options=["--accept-loss"] if played.told else []) as again,
        RemoteCaller(again.url) as caller,
    ):
        known = sure_seconds if lost.is_killed else 0.0
        users |= {user for user, at in load.evaluated.items() if at < ended - known}
        played.problems += [each async for each in _find_missing(caller, load, users, played.told)]
        logs = server.log + again.log
    played.problems += ["the log has a traceback"] if "Traceback" in logs else []
    return played


async def _end(server: ServerProcess, store: Store, *, is_killed: bool) -> None:
    if is_killed:
        for pid in (server.pid, *children_of(server.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        await server.wait()
    elif await server.stop() != 0:
        raise AssertionError(f"the server did not stop in order:\n{server.log}")
    async with asyncio.timeout(_END_SECONDS):
        while DataDirectory(store.data_directory).is_locked():  # a process of it still ends
            await asyncio.sleep(0.02)


async def _find_told(server: ServerProcess, store: Store, played: Played) -> None:
    """Start the server as before, and note of which files it says that they lack commits, as `doctor` must."""
    outcome = await asyncio.to_thread(run_flagstaff, "doctor", "--json", environ=store.environ)
    failing = {each["check"]: each for each in json.loads(outcome.stdout) if each["status"] == "FAIL"}
    examined = {name for name, check in CHECKS.items() if _LACKS in failing.get(check, {}).get("found", "")}
    before = len(server.log)
    await server.launch()
    ready = await _get_ready(server)
    said = server.log[before:] if ready is None else ready
    played.told = {name for name in CHECKS if f"{name} {_LACKS}" in said}
    if ready is None and not played.told:
        played.problems.append(f"the start was refused for something else: {said}")
    if ready is not None:
        await server.stop()
    if examined != played.told:
        played.problems.append(f"doctor does not say the same: {failing}")


async def _get_ready(server: ServerProcess) -> str | None:
    """What `/ready` says, or None if the server ends."""
    async with asyncio.timeout(_START_SECONDS), RemoteCaller(server.url) as caller:
        while not server.has_ended:
            with suppress(httpx.TransportError):
                return (await caller.get("/ready")).text
            await asyncio.sleep(0.05)
    return None


async def _find_missing(caller: RemoteCaller, load: Load, users: set[str], told: Collection[str]) -> AsyncIterator[str]:
    """What was answered and is not there, in words, but for files that are said to lack commits."""
    if CONFIGURATION_FILE in told:
        return
    await caller.log_in()
    found = {each["key"]: each for each in (await caller.get(f"{environment_path(load.environment)}/flags")).json()}
    if missing := set(load.created_keys) - found.keys():
        yield f"{len(missing)} flags are lost in silence, such as {min(missing)}"
    if load.toggles and found["toggled"]["updated_at"] < load.toggles[-1]["updated_at"]:
        yield f"the last toggle is lost in silence: {load.toggles[-1]} {found['toggled']}"
    if HISTORY_FILE in told:
        return
    with suppress(TimeoutError):
        async with asyncio.timeout(_RECORDED_SECONDS):
            while users - (recorded := await load.recorded_users(caller)):
                await asyncio.sleep(0.2)
    if lost := users - recorded:
        yield f"{len(lost)} of {len(users)} evaluations are lost in silence, such as that of {min(lost)}"


async def run(seed: int, rounds: int) -> bool:
    """Run rounds and print them; return whether nothing was wrong."""
    drawing, is_right = Random(seed), True
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="flagstaff-faults-") as folder:
            played = await play(Path(folder), LostLog.draw(drawing))
        sys.stdout.write(f"{played}\n")
        sys.stdout.flush()
        is_right &= not played.problems
    return is_right
