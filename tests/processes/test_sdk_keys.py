"""SDK keys of environments on two server processes with one PostgreSQL, through pauses, kills and outages."""

import asyncio
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from flagstaff.projects.sdk_keys import new_environment_key
from flagstaff.values.moments import format_moment
from tests.support.api import Json
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key, keys_path
from tests.support.server import ServerProcess
from tests.support.stores import Store

ENVIRON = {
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_SECRET_KEY": "k" * 32,
}


@dataclass
class Pair:
    """Ada manages keys at the first process; the application uses them at the second."""

    second: ServerProcess
    ada: RemoteCaller
    application: RemoteCaller
    project: Json

    async def status(self, key: str) -> int:
        return (await self.application.evaluate(key)).status_code

    async def until(self, key: str, status: int) -> None:
        async with asyncio.timeout(30):
            while await self.status(key) != status:
                await asyncio.sleep(0.02)


@pytest.fixture
async def pair(outage_store: Store) -> AsyncIterator[Pair]:
    stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in ("first", "second")]
    async with (
        ServerProcess(stores[0], ENVIRON) as first,
        ServerProcess(stores[1], ENVIRON) as second,
        RemoteCaller(first.url) as ada,
        RemoteCaller(second.url) as application,
    ):
        await ada.sign_up()
        yield Pair(second, ada, application, await ada.create_project())
        for server in (first, second):
            assert "Traceback" not in server.log


async def test_what_one_process_makes_or_revokes_is_in_force_at_the_other_when_the_response_leaves(pair: Pair) -> None:
    for _ in range(20):
        key = await create_key(pair.ada, pair.project)
        assert await pair.status(key["key"]) == 200
        assert (await pair.ada.delete(f"{keys_path(pair.project)}/{key['id']}")).status_code == 204
        assert await pair.status(key["key"]) == 401


async def test_a_key_is_there_and_a_revoked_one_is_not_after_a_kill(pair: Pair) -> None:
    kept, gone = await create_key(pair.ada, pair.project), await create_key(pair.ada, pair.project)
    await pair.ada.delete(f"{keys_path(pair.project)}/{gone['id']}")
    await pair.second.kill()
    await pair.second.start()
    async with RemoteCaller(pair.second.url) as application:
        assert (await application.evaluate(gone["key"])).status_code == 401
        assert (await application.evaluate(kept["key"])).status_code == 200


async def test_a_key_that_expired_while_the_process_was_paused_is_not_accepted_when_it_resumes(pair: Pair) -> None:
    expires_at = datetime.now(UTC) + timedelta(seconds=2)
    key = await create_key(pair.ada, pair.project, expires_at=format_moment(expires_at))
    assert await pair.status(key["key"]) == 200
    pair.second.signal(signal.SIGSTOP)
    asked = asyncio.create_task(pair.status(key["key"]))
    await asyncio.wait([asked], timeout=(expires_at - datetime.now(UTC)).total_seconds() + 0.05)
    pair.second.signal(signal.SIGCONT)
    assert await asked == 401


async def test_a_paused_process_keeps_a_revocation_waiting_and_has_it_when_it_is_confirmed(pair: Pair) -> None:
    key = await create_key(pair.ada, pair.project)
    assert await pair.status(key["key"]) == 200
    pair.second.signal(signal.SIGSTOP)
    revocation = asyncio.create_task(pair.ada.delete(f"{keys_path(pair.project)}/{key['id']}"))
    await asyncio.wait([revocation], timeout=1)
    assert not revocation.done()
    pair.second.signal(signal.SIGCONT)
    assert (await revocation).status_code == 204
    assert await pair.status(key["key"]) == 401


async def test_without_the_database_known_keys_work_and_no_key_is_called_wrong(
    pair: Pair, outage_postgres: PostgresServer
) -> None:
    used, never_used = await create_key(pair.ada, pair.project), await create_key(pair.ada, pair.project)
    assert await pair.status(used["key"]) == 200
    unknown = new_environment_key(UUID(pair.project["id"]), "production")
    assert await pair.status(unknown) == 401
    outage_postgres.stop()
    try:
        await pair.until(unknown, 503)
        for key in (used, never_used):
            assert await pair.status(key["key"]) == 200
        for text in (unknown, "sdk_" + 43 * "x"):
            answer = await pair.application.evaluate(text)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert await pair.status("no key at all") == 401
    finally:
        outage_postgres.start()
    await pair.until(unknown, 401)
    assert await pair.status(used["key"]) == 200
