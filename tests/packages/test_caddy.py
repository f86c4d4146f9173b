"""Tests of the Caddyfile: two instances on PostgreSQL are restarted one after the other behind Caddy."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from tests.packages.tools import program
from tests.support.ports import free_port, is_listening
from tests.support.postgres import PostgresServer
from tests.support.processes import terminate
from tests.support.remote import RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store, postgresql_store

CADDYFILE = Path(__file__).parents[2] / "packaging" / "caddy" / "Caddyfile"
SECRET = "a-secret-of-the-client"
ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
    "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1",
    "FLAGSTAFF_DRAIN_SECONDS": "1",
}


@asynccontextmanager
async def caddy(folder: Path, *ports: int) -> AsyncIterator[str]:
    """Run Caddy with the Caddyfile, without TLS; yield its URL. Its log is in the folder."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "SITE": url,
        "UPSTREAMS": " ".join(f"127.0.0.1:{each}" for each in ports),
    }
    command = (program("caddy"), "run", "--config", CADDYFILE, "--adapter", "caddyfile")
    with (folder / "caddy.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, env=environ, cwd=folder, stdout=log, stderr=log)
    try:
        async with asyncio.timeout(10):
            while not await is_listening(port):
                assert process.returncode is None, (folder / "caddy.log").read_text()
                await asyncio.sleep(0.01)
        yield url
    finally:
        await terminate(process)


def test_the_file_is_formatted_as_caddy_does() -> None:
    command: list[str | Path] = [program("caddy"), "fmt", "--diff", CADDYFILE]
    formatted = subprocess.run(command, capture_output=True, text=True, check=False)
    assert formatted.returncode == 0, formatted.stdout


async def test_no_request_fails_while_instances_are_restarted_one_after_the_other(
    postgres_template: PostgresServer, data_directory: Path, tmp_path: Path
) -> None:
    async with postgresql_store(postgres_template, data_directory) as shared:
        stores = [Store(shared.database_url, tmp_path / f"{name}-data") for name in ("first", "second")]
        async with (
            ServerProcess(stores[0], ENVIRON) as first,
            ServerProcess(stores[1], ENVIRON) as second,
            caddy(tmp_path, first.port, second.port) as url,
            RemoteCaller(url) as caller,
        ):
            await caller.sign_up()
            async with httpx.AsyncClient() as anybody:
                assert (await anybody.get(f"{url}/metrics")).status_code == 404
            async with under_load(caller) as load:
                await load.survive_a_rolling_restart(caller, first, second)
            for server in (first, second):
                assert await server.stop() == 0
            await fail_with_secrets(url)
    assert_the_log_is_discreet(tmp_path / "caddy.log")
    # Both instances served, and knew the client's address.
    assert all('"client":"127.0.0.1"' in server.log.replace(": ", ":") for server in (first, second))


async def fail_with_secrets(url: str) -> None:
    """Send a request that no instance can answer, which Caddy also writes to its error log."""
    async with httpx.AsyncClient(timeout=20) as client:
        address = f"{url}/sdk/v1/flags?token={SECRET}"
        refused = await client.get(address, headers={"X-SDK-Key": SECRET, "Authorization": SECRET})
    assert refused.status_code in {502, 503}


def assert_the_log_is_discreet(log: Path) -> None:
    """Assert that no entry contains a query or a header of a request."""
    text = log.read_text()
    assert SECRET not in text
    entries = [json.loads(line) for line in text.splitlines()]
    assert [entry for entry in entries if entry.get("logger") == "http.log.error" and "request" in entry]
    requests = [entry["request"] for entry in entries if "request" in entry]
    assert len(requests) > 100
    assert not [each for each in requests if "?" in each["uri"] or "headers" in each]
