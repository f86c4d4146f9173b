"""Open streams of changes: `python -m bench.streams --streams 10000`.

Opens the streams of Unleash's clients on one server, toggles a flag several times, and prints the memory per stream,
the time from the toggle's response until all have the change, and the latency of evaluations meanwhile, beside a run
without streams.
"""

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from bench.evaluations import PATH
from bench.machine import NotReadyError, choose_cores, resident_mib
from bench.servers import FlagstaffServer, Switches
from bench.wrk import put_load

FLAGS = 20
TOGGLES = 10
EVALUATE_CONNECTIONS = 4
_LOAD_SECONDS = 2
_AT_ONCE = 200
_STREAMING = "/unleash/api/client/streaming"
_ACCOUNT = {"email": "bench@example.com", "password": "a password for the bench"}


class _Client(asyncio.Protocol):
    """A client that records when it received each change."""

    def __init__(self, request: bytes, connected: "asyncio.Future[None]") -> None:
        self._request = request
        self._connected = connected
        self._refusal = b""
        self.told_at: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.write(self._request)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        if data.startswith(b"HTTP/1.1") and not data.startswith(b"HTTP/1.1 200"):
            self._refusal = data
        if b"unleash-connected" in data and not self._connected.done():
            self._connected.set_result(None)
        self.told_at += [now] * data.count(b"unleash-updated")

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._connected.done():
            self._connected.set_exception(NotReadyError(f"a stream was refused: {exc} {self._refusal!r}"))


async def _open(url: str, sdk_key: str, number: int) -> _Client:
    where = urlsplit(url)
    head = (
        f"GET {_STREAMING} HTTP/1.1\r\nhost: {where.netloc}\r\nauthorization: {sdk_key}\r\n"
        f"unleash-appname: bench\r\nunleash-connection-id: {number}\r\n\r\n"
    )
    loop = asyncio.get_running_loop()
    connected = loop.create_future()
    _, client = await loop.create_connection(
        lambda: _Client(head.encode(), connected), str(where.hostname), where.port or 80
    )
    await connected
    return client


async def _make_project(api: httpx.AsyncClient) -> tuple[str, str, str]:
    """Create a project; return its SDK key, an environment's, and the path of a flag."""
    await api.post("/auth/register", json=_ACCOUNT)
    token = (await api.post("/auth/login", json=_ACCOUNT)).json()["token"]
    api.headers["authorization"] = f"Bearer {token}"
    project = (await api.post("/api/projects", json={"name": "Bench"})).json()
    path = f"/api/projects/{project['id']}"
    (environment,) = [each for each in (await api.get(f"{path}/environments")).json() if each["key"] == "production"]
    flags = f"{path}/environments/{environment['id']}/flags"
    made = [
        (await api.post(flags, json={"name": "A flag", "key": f"flag-{number}", "rollout_percentage": 50})).json()
        for number in range(FLAGS)
    ]
    key = await api.post(f"{path}/sdk-keys", json={"name": "Bench", "environment": "production", "kind": "server"})
    return project["sdk_key"], key.raise_for_status().json()["key"], f"{flags}/{made[0]['id']}/toggle"


async def _measure(server: FlagstaffServer, streams: int, load_core: int) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=30) as api:
        sdk_key, environment_key, toggle = await _make_project(api)

        async def load() -> float:
            found = await asyncio.to_thread(
                put_load,
                server.url + PATH,
                core=load_core,
                seconds=_LOAD_SECONDS,
                connections=EVALUATE_CONNECTIONS,
                sdk_key=sdk_key,
            )
            return found.p99_ms

        async def toggle_during(loading: "asyncio.Task[float]") -> list[tuple[float, float]]:
            called: list[tuple[float, float]] = []
            while not loading.done() and len(called) < TOGGLES:
                began = time.perf_counter()
                (await api.post(toggle)).raise_for_status()
                called.append((began, time.perf_counter()))
                await asyncio.sleep(_LOAD_SECONDS / (TOGGLES + 2))
            return called

        await load()
        loading = asyncio.create_task(load())
        await toggle_during(loading)
        print(f"evaluate's p99 without streams, with toggles: {await loading:.2f} ms")

        before = resident_mib(server.pid)
        began = time.perf_counter()
        clients: list[_Client] = []
        for first in range(0, streams, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, streams))
            clients += await asyncio.gather(*(_open(server.url, environment_key, number) for number in numbers))
        print(f"{streams:,} streams opened in {time.perf_counter() - began:.1f} s")
        await asyncio.sleep(2)
        grown = resident_mib(server.pid) - before
        print(f"memory: {grown:.0f} MiB, {grown * 1024 / streams:.1f} KiB a stream")

        print(f"evaluate's p99 with idle streams: {await load():.2f} ms")
        loading = asyncio.create_task(load())
        called = await toggle_during(loading)
        print(f"evaluate's p99 with toggles that all hear of: {await loading:.2f} ms")
        async with asyncio.timeout(30):
            while any(len(client.told_at) < len(called) for client in clients):  # noqa: ASYNC110 - clients only note
                await asyncio.sleep(0.05)
        for name, quantile in (("half", 0.5), ("99 %", 0.99), ("all", 1.0)):
            delays = []
            for number, (_, answered) in enumerate(called):
                told = sorted(client.told_at[number] - answered for client in clients)
                delays.append(told[min(len(told) - 1, int(quantile * len(told)))] * 1000)
            print(f"from a toggle's response until {name} have it: {statistics.median(delays):.0f} ms")
        print(f"a toggle takes {statistics.median(end - start for start, end in called) * 1000:.0f} ms")


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.streams", description="Measure open streams of changes.")
    parser.add_argument("--streams", type=int, default=10_000)
    streams: int = parser.parse_args().streams
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cores = choose_cores()
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        room = str(streams + 1_000)
        # as behind a proxy, which may open all of them
        settings = {"FLAGSTAFF_MAX_CONNECTIONS": room, "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1/32"}
        with FlagstaffServer(cores.server, data, Switches(), settings) as server:
            server.wait_until_it_is_loaded()
            try:
                asyncio.run(_measure(server, streams, cores.load))
            except NotReadyError as error:
                print(error)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
