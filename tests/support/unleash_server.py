"""Unleash's own server, unmodified, and resources that tests create with its administrators' API."""

import asyncio
import os
from pathlib import Path
from typing import Any, Self

import httpx

from hatch_build import UNLEASH_SERVER, find_node
from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.ports import free_port
from tests.support.postgres import PostgresServer
from tests.support.processes import kill

ENVIRONMENT = "production"
SERVER_KEY, BROWSER_KEY = f"default:{ENVIRONMENT}.servers", f"default:{ENVIRONMENT}.browsers"
_ADMIN_KEY = "*:*.administrators"
_START_SECONDS = 120
_FEATURES = "/api/admin/projects/default/features"


class UnleashServer:
    """A server with an empty database, below the path that Flagstaff has for its SDKs."""

    def __init__(self, postgres: PostgresServer, folder: Path) -> None:
        """`folder` is for its log."""
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._log_file = folder / "unleash-server.log"
        self._environ = {
            "PATH": os.environ["PATH"],
            "DATABASE_URL": postgres.url(),
            "DATABASE_SSL": "false",
            "HTTP_HOST": "127.0.0.1",
            "HTTP_PORT": str(self._port),
            "BASE_URI_PATH": "/unleash",
            "INIT_ADMIN_API_TOKENS": _ADMIN_KEY,
            "INIT_BACKEND_API_TOKENS": SERVER_KEY,
            "INIT_FRONTEND_API_TOKENS": BROWSER_KEY,
            "CLIENT_FEATURE_CACHING_ENABLED": "false",
            "CHECK_VERSION": "false",
            "SEND_TELEMETRY": "false",
            "LOG_LEVEL": "error",
        }
        self._process: asyncio.subprocess.Process | None = None
        self._client = open_client(base_url=f"{self.url}/unleash", headers={"authorization": _ADMIN_KEY}, timeout=60)

    async def __aenter__(self) -> Self:
        node = find_node()
        assert node is not None
        program = UNLEASH_SERVER / "node_modules" / "unleash-server" / "dist" / "server.js"
        assert program.is_file(), "make test-sdks installs it"
        with self._log_file.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                str(node.binary), str(program), stdout=log, stderr=log, env=self._environ
            )
        try:
            async with asyncio.timeout(_START_SECONDS):
                while not await self._is_ready():
                    assert self._process.returncode is None, self._log_file.read_text()
                    await asyncio.sleep(0.1)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await kill(self._process)
        await self._client.aclose()

    async def create_segment(self, name: str, constraints: list[Json]) -> int:
        """A new segment; returns its id."""
        made = await self._send("POST", "/api/admin/segments", {"name": name, "constraints": constraints})
        number: int = made["id"]
        return number

    async def create_feature(self, name: str, strategies: list[Json], *, is_on: bool) -> None:
        """A new feature with these strategies, in this order."""
        await self._send("POST", _FEATURES, {"name": name, "description": "A feature", "type": "release"})
        place = f"{_FEATURES}/{name}/environments/{ENVIRONMENT}"
        for order, strategy in enumerate(strategies):
            await self._send("POST", f"{place}/strategies", {**strategy, "sortOrder": order})
        if is_on:
            await self._send("POST", f"{place}/on")

    async def create_dependency(self, name: str, dependency: Json) -> None:
        """Make a feature depend on another one."""
        await self._send("POST", f"{_FEATURES}/{name}/dependencies", dependency)

    async def settle(self) -> None:
        """Wait until browsers get everything that was created before: the server refreshes that from time to time."""
        await self.create_feature("settled", [{"name": "default"}], is_on=True)
        async with asyncio.timeout(_START_SECONDS):
            while "settled" not in {each["name"] for each in (await self._frontend())["toggles"]}:
                await asyncio.sleep(0.1)

    async def _frontend(self) -> Json:
        answer = await self._client.get("/api/frontend", headers={"authorization": BROWSER_KEY})
        assert answer.is_success, answer.text
        body: Json = answer.json()
        return body

    async def _send(self, method: str, path: str, body: Json | None = None) -> Any:
        answer = await self._client.request(method, path, json=body)
        assert answer.is_success, (path, body, answer.text)
        return answer.json() if answer.content else None

    async def _is_ready(self) -> bool:
        try:
            return (await self._client.get("/health")).is_success
        except httpx.TransportError:
            return False
