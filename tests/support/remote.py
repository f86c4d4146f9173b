"""Callers of a server in another process, and load that records all responses to compare them with the stored data."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx

from tests.support.api import Caller, Json, check_manners, created, environment_path, flag_path
from tests.support.clients import no_certificates
from tests.support.server import ServerProcess

_PASSWORD = "correct horse battery staple"
_LONG_SECONDS = 30
_PAUSE_SECONDS = 0.01  # other tests need the processor, too


class RemoteCaller(Caller):
    """A caller over the network. It has no token until it has signed up.

    The responses of an earlier release are not checked for manners: they keep the rules of their time.
    """

    def __init__(self, url: str, *, is_earlier_release: bool = False) -> None:
        hooks = {"response": [] if is_earlier_release else [check_manners]}
        # Longer than HTTPX's five seconds: the next connection may be to another worker.
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=_LONG_SECONDS)
        httpx.AsyncClient.__init__(
            self, base_url=url, verify=no_certificates(), timeout=_LONG_SECONDS, event_hooks=hooks, limits=limits
        )

    async def sign_up(self, email: str = "ada@example.com") -> None:
        """Register and log in."""
        self.account = created(await self.post("/auth/register", json={"email": email, "password": _PASSWORD}))
        await self.log_in(email)

    async def log_in(self, email: str = "ada@example.com", password: str = _PASSWORD) -> None:
        """Get a new token."""
        answer = await self.post("/auth/login", json={"email": email, "password": password})
        assert answer.status_code == 200, answer.text
        self.headers["authorization"] = f"Bearer {answer.json()['token']}"


@dataclass
class Load:
    """Clients that create flags, toggle and evaluate as long as the server responds."""

    caller: RemoteCaller
    project: Json
    environment: Json
    toggled: Json
    pause_seconds: float
    statuses: dict[str, Counter[int]] = field(default_factory=lambda: {"manage": Counter(), "evaluate": Counter()})
    created_keys: list[str] = field(default_factory=list)
    toggles: list[Json] = field(default_factory=list)
    evaluated: dict[str, float] = field(
        default_factory=dict
    )  # each user with a response, and its time on the monotonic clock
    lost: list[str] = field(default_factory=list)  # why clients without a response have ended
    _stopping: bool = False

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the responses meet a test's condition."""
        async with asyncio.timeout(_LONG_SECONDS):
            while not condition():
                await asyncio.sleep(0.005)

    async def until_well_under_way(self) -> None:
        """Wait until several requests of each kind have been answered from now on."""
        creations, toggles, evaluations = len(self.created_keys), len(self.toggles), len(self.evaluated)
        await self.until(
            lambda: (
                len(self.created_keys) >= creations + 10
                and len(self.toggles) >= toggles + 10
                and len(self.evaluated) >= evaluations + 100
            )
        )

    def stop(self) -> None:
        """Let every client finish its current request and send no more."""
        self._stopping = True

    async def survive_a_rolling_restart(self, caller: RemoteCaller, *servers: ServerProcess) -> None:
        """Restart the servers, one after the other, and assert that no request failed and no write was lost."""
        for server in servers:
            await self.until_well_under_way()
            assert await server.stop() == 0
            await server.start()
        await self.until_well_under_way()
        self.stop()
        assert self.lost == []
        assert set(self.statuses["manage"]) == {200, 201}
        assert set(self.statuses["evaluate"]) == {200}
        await self.assert_writes_are_there(caller)

    async def assert_writes_are_there(self, caller: RemoteCaller) -> None:
        """Assert that every answered creation and toggle is in the configuration."""
        keys, last = set(self.created_keys), self.toggles[-1]  # before others are answered while the list is read
        answer = await caller.get(f"{environment_path(self.environment)}/flags")
        flags = {flag["key"]: flag for flag in answer.json()}
        assert flags.keys() >= keys
        toggled = flags[self.toggled["key"]]
        # One more may have been committed without its response being received.
        assert toggled == last or toggled["updated_at"] > last["updated_at"]

    async def recorded_users(self, caller: RemoteCaller) -> set[str]:
        """All users with an evaluation in the history, over all pages."""
        users: set[str] = set()
        parameters: dict[str, str | int] = {"limit": 100}
        while True:
            answer = await caller.get(f"{environment_path(self.environment)}/evaluations", params=parameters)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            users |= {item["user_id"] for item in page["items"]}
            if page["next_cursor"] is None:
                return users
            parameters["cursor"] = page["next_cursor"]

    async def create_flags(self, worker: int) -> None:
        number = 0
        while not self._stopping:
            key = f"flag-{worker}-{number}"
            number += 1
            path = f"{environment_path(self.environment)}/flags"
            answer = await self.caller.post(path, json={"name": key, "key": key})
            self.statuses["manage"][answer.status_code] += 1
            if answer.status_code == 201:
                self.created_keys.append(key)
            await asyncio.sleep(self.pause_seconds)

    async def toggle(self) -> None:
        while not self._stopping:
            answer = await self.caller.post(f"{flag_path(self.toggled)}/toggle")
            self.statuses["manage"][answer.status_code] += 1
            if answer.status_code == 200:
                self.toggles.append(answer.json())
            await asyncio.sleep(self.pause_seconds)

    async def evaluate(self, worker: int) -> None:
        number = 0
        while not self._stopping:
            user_id = f"user-{worker}-{number}"
            number += 1
            answer = await self.caller.evaluate(self.project["sdk_key"], context={"user_id": user_id})
            self.statuses["evaluate"][answer.status_code] += 1
            if answer.status_code == 200:
                self.evaluated[user_id] = time.monotonic()
            await asyncio.sleep(self.pause_seconds)


@asynccontextmanager
async def under_load(caller: RemoteCaller, *, pause_seconds: float = _PAUSE_SECONDS) -> AsyncIterator[Load]:
    """Put the server of a signed-up caller under load until it stops or the block ends.

    Each client pauses between two requests. Without pauses, a moment finds requests of every kind under way.
    """
    project = await caller.create_project()
    environment = await caller.get_environment(project)
    toggled = await caller.create_flag(environment, key="toggled")
    load = Load(caller, project, environment, toggled, pause_seconds)
    clients = [load.create_flags(0), load.create_flags(1), load.toggle(), *(load.evaluate(each) for each in range(3))]
    async with asyncio.TaskGroup() as group:
        for client in clients:
            group.create_task(_until_the_server_is_gone(client, load))
        yield load
        load.stop()


async def _until_the_server_is_gone(client: Awaitable[None], load: Load) -> None:
    try:
        await client
    except httpx.TransportError as error:
        load.lost.append(repr(error))
