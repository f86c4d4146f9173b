"""OFREP and Unleash's frontend API on two server processes with one PostgreSQL, also while it is unavailable."""

import asyncio
from uuid import UUID

import httpx
import pytest

from flagstaff.projects.sdk_keys import new_environment_key
from tests.processes.test_sdk_keys import Pair, pair
from tests.support.api import flag_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key

__all__ = ["pair"]  # the fixture
OFREP, FRONTEND = "/ofrep/v1/evaluate/flags", "/unleash/api/frontend"
each_path = pytest.mark.parametrize("path", [OFREP, f"{OFREP}/checkout", FRONTEND])


async def ask(application: RemoteCaller, path: str, key: str, tag: str = "") -> httpx.Response:
    body = {"context": {"targetingKey": "ada", "userId": "ada"}}
    headers = {"authorization": f"Bearer {key}", **({"if-none-match": tag} if tag else {})}
    return await application.post(path, json=body, headers=headers)


async def test_every_instance_answers_with_the_same_tag_and_accepts_the_others(pair: Pair) -> None:
    path = OFREP  # the tags of the frontend API only name a client
    environment = await pair.ada.get_environment(pair.project)
    for number in range(5):
        flag = await pair.ada.create_flag(environment, key=f"flag-{number}", rollout_percentage=20 * number)
        await pair.ada.create_rule(flag, rule_value=f"user-{number}")
    key = (await create_key(pair.ada, pair.project))["key"]
    first, second = await ask(pair.ada, path, key), await ask(pair.application, path, key)
    assert first.content == second.content
    assert first.headers["etag"] == second.headers["etag"]
    assert (await ask(pair.application, path, key, first.headers["etag"])).status_code == 304
    await pair.ada.post(f"{flag_path(flag)}/toggle")
    for application in (pair.ada, pair.application):
        changed = await ask(application, path, key, first.headers["etag"])
        assert changed.status_code == 200
        assert changed.content != first.content


@each_path
async def test_without_the_database_flags_are_answered_and_no_key_is_called_wrong(
    pair: Pair, outage_postgres: PostgresServer, path: str
) -> None:
    await pair.ada.create_flag(await pair.ada.get_environment(pair.project), key="checkout")
    key = (await create_key(pair.ada, pair.project))["key"]
    unknown = new_environment_key(UUID(pair.project["id"]), "production")
    before = await ask(pair.application, path, key)
    assert before.status_code == 200
    assert (await ask(pair.application, path, unknown)).status_code == 401
    outage_postgres.stop()
    try:
        async with asyncio.timeout(30):
            while (refused := await ask(pair.application, path, unknown)).status_code == 401:
                await asyncio.sleep(0.02)
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert {"errorCode", "errorDetails"} <= refused.json().keys() or refused.json()["name"] == "UnavailableError"
        again = await ask(pair.application, path, key)
        assert (again.status_code, again.content) == (200, before.content)
    finally:
        outage_postgres.start()
