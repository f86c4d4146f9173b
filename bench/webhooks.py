"""`python -m bench.webhooks`: messages to webhooks: their rate, their delay, and their cost for other requests.

Receivers are real ones in this process. Servers are real processes on all cores, and everything is on loopback.
"""

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path

from bench.report import print_table
from tests.support.api import Json, created, environment_path, flag_path, project_path
from tests.support.postgres import PostgresServer
from tests.support.receiver import Message, Receiver, response
from tests.support.remote import RemoteCaller
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store, execute

ENVIRON = {
    "FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "s" * 64,
}
FLAGS = 200
DELAYED, PAUSE_SECONDS = 200, 0.05
TOGGLES, TOGGLE_SECONDS, ROUNDS = 25, 0.25, 6
EVALUATIONS, EVALUATE_SECONDS = 50, 10  # a second, and for how long
_MANY = 10


class TimedReceiver(Receiver):
    """A receiver that records when each change first came."""

    def __init__(self, *, answers: bool = True) -> None:
        super().__init__()
        self.came: dict[str, float] = {}
        self.answer = self._note
        self._answers = answers

    def _note(self, message: Message) -> bytes | None:
        self.came.setdefault(message.json["data"]["id"], time.perf_counter())
        return response() if self._answers else None


async def main() -> None:
    """Measure, and print a table for each."""
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        rows = [("1 instance, SQLite", *await _deliver([Store(None, Path(folder) / "one")], Path(folder)))]
        with PostgresServer() as postgres:
            await execute(postgres, "CREATE DATABASE flagstaff")
            stores = [Store(postgres.url("flagstaff"), Path(folder) / name) for name in "abc"]
            rows += [("3 instances, PostgreSQL", *await _deliver(stores, None))]
            postgres.delete()
        print_table(("messages", "", "per second", "delay p50 ms", "p99 ms", "bytes each"), rows)
        print_table(("toggle, SQLite", "", "p50 ms", "to none"), await _toggle(Path(folder) / "toggles"))
        print_table(("evaluate, SQLite", "", "p50 ms", "p99 ms"), await _evaluate(Path(folder) / "evaluate"))


async def _deliver(stores: Sequence[Store], folder: Path | None) -> tuple[str, str, str, str, str]:
    """Measure the rate of many messages, and the delays of single ones between the response and their arrival."""
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(TimedReceiver())
        servers = [await stack.enter_async_context(ServerProcess(each, ENVIRON, command=COMMAND)) for each in stores]
        callers = [await stack.enter_async_context(RemoteCaller(each.url)) for each in servers]
        await callers[0].sign_up()
        for caller in callers[1:]:
            await caller.log_in()
        environment = await _make_environment(callers[0])
        flags = [await callers[0].create_flag(environment, key=f"flag-{number}") for number in range(FLAGS)]
        body = {"url": receiver.url, "events": ["flag.toggled"]}
        created(await callers[0].post(_webhooks(environment), json=body))
        size = _size(folder / "one" if folder else None)
        began, sent = time.perf_counter(), 0
        for action in ("disable", "enable") * 5:
            body = {"action": action, "flags": [each["id"] for each in flags]}
            (await callers[0].post(f"{environment_path(environment)}/bulk-actions", json=body)).raise_for_status()
            sent += FLAGS
        await _until(receiver, sent)
        rate = sent / (time.perf_counter() - began)
        grown = (_size(folder / "one" if folder else None) - size) / sent
        delays = []
        for number in range(DELAYED):
            answer = await callers[number % len(callers)].post(f"{flag_path(flags[0])}/toggle")
            returned = time.perf_counter()
            change = answer.headers["flagstaff-change"]
            while change not in receiver.came:  # noqa: ASYNC110 - the receiver notes the times itself
                await asyncio.sleep(0.001)
            delays.append((receiver.came[change] - returned) * 1000)
            await asyncio.sleep(PAUSE_SECONDS)
        each = f"{grown:,.0f} with the change" if folder else "-"
        return "", f"{rate:,.0f}", f"{statistics.median(delays):.1f}", f"{_p99(delays):.1f}", each


async def _toggle(data: Path) -> list[tuple[str, str, str, str]]:
    """Measure toggles without a webhook and with many, in turns on one server."""
    times: dict[str, list[float]] = {"no webhook": [], f"{_MANY} webhooks": []}
    async with _one_server(data) as caller, TimedReceiver() as receiver:
        environment = await _make_environment(caller)
        flag = await caller.create_flag(environment)
        body = {"url": receiver.url, "events": ["flag.toggled"], "enabled": False}
        made = [created(await caller.post(_webhooks(environment), json=body)) for _ in range(_MANY)]
        for round_number in range(2 * ROUNDS):
            what = list(times)[round_number % 2]
            for each in made:
                path = f"{_webhooks(environment)}/{each['id']}"
                (await caller.put(path, json={"enabled": what != "no webhook"})).raise_for_status()
            for _ in range(TOGGLES):
                began = time.perf_counter()
                (await caller.post(f"{flag_path(flag)}/toggle")).raise_for_status()
                times[what].append(time.perf_counter() - began)
                await asyncio.sleep(TOGGLE_SECONDS)  # people do not toggle faster; messages are sent meanwhile
    medians = {what: statistics.median(each) * 1000 for what, each in times.items()}
    return [(what, "", f"{each:.2f}", f"{each / medians['no webhook']:.3f}") for what, each in medians.items()]


async def _evaluate(data: Path) -> list[tuple[str, str, str, str]]:
    """Measure evaluations alone, beside changes, and beside changes that go to receivers that never answer."""
    rows = []
    async with _one_server(data) as caller, TimedReceiver(answers=False) as receiver:
        environment = await _make_environment(caller)
        project = (await caller.get(project_path({"id": environment["project_id"]}))).json()
        flags = [await caller.create_flag(environment, key=f"flag-{number}") for number in range(20)]
        for what in ("alone", "beside changes", "beside receivers that never answer"):
            if "never" in what:
                for number in range(20):
                    body = {"url": f"{receiver.url}&{number}", "events": ["*"]}
                    created(await caller.post(_webhooks(environment), json=body))
            async with asyncio.TaskGroup() as group:
                changing = None if what == "alone" else group.create_task(_change(caller, flags[0]))
                took = await _time_evaluations(caller, project["sdk_key"])
                if changing:
                    changing.cancel()
            rows.append((what, "", f"{statistics.median(took):.2f}", f"{_p99(took):.2f}"))
    return rows


async def _time_evaluations(caller: RemoteCaller, sdk_key: str) -> list[float]:
    """Return the milliseconds of evaluations that arrive at a steady rate, each from its scheduled start."""
    took: list[float] = []

    async def evaluate(due: float) -> None:
        (await caller.evaluate(sdk_key)).raise_for_status()
        took.append((time.perf_counter() - due) * 1000)

    async with asyncio.TaskGroup() as group:
        began = time.perf_counter()
        for number in range(EVALUATIONS * EVALUATE_SECONDS):
            due = began + number / EVALUATIONS
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(evaluate(due))
    return took


async def _change(caller: RemoteCaller, flag: Json) -> None:
    while True:
        (await caller.post(f"{flag_path(flag)}/toggle")).raise_for_status()
        await asyncio.sleep(0.2)


@asynccontextmanager
async def _one_server(data: Path) -> AsyncIterator[RemoteCaller]:
    async with ServerProcess(Store(None, data), ENVIRON, command=COMMAND) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        yield caller


async def _make_environment(caller: RemoteCaller) -> Json:
    return await caller.get_environment(await caller.create_project())


def _webhooks(environment: Json) -> str:
    return f"/api/projects/{environment['project_id']}/webhooks"


async def _until(receiver: TimedReceiver, count: int) -> None:
    async with asyncio.timeout(300):
        while len(receiver.came) < count:  # noqa: ASYNC110 - the receiver notes the times itself
            await asyncio.sleep(0.005)


def _size(data: Path | None) -> int:
    """Return the bytes in use in the configuration's file."""
    if data is None:
        return 0
    with closing(sqlite3.connect(data / "flagstaff.sqlite")) as connection:
        (pages,), (free,), (size,) = (
            connection.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


if __name__ == "__main__":
    asyncio.run(main())
