"""Released SDKs of Unleash, unmodified, that poll: they get only changes, and are limited by their key's rate limit."""

from pathlib import Path

import pytest

from tests.sdks.test_ofrep import shop
from tests.support.api import created, environment_path, flag_path
from tests.support.applications import Application, until
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

LIMIT = {"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "3/second"}
FEATURES, DELTA = "/unleash/api/client/features", "/unleash/api/client/delta"


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


async def until_it_is(app: Application, key: str, *, on: bool) -> None:
    async def is_so() -> bool:
        return await app.is_on(key) is on

    await until(is_so)


async def test_an_application_that_asks_for_changes_has_each_of_them_also_after_a_restart(sqlite: Store) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        Application("node", server.url, "delta") as app,
    ):
        assert await app.connect(key)
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await until_it_is(app, "checkout", on=False)
        environment = {"id": flag["environment_id"], "project_id": flag["project_id"]}
        body = {"name": "Other", "key": "other", "enabled": True}
        other = created(await caller.post(f"{environment_path(environment)}/flags", json=body))
        await until_it_is(app, "other", on=True)
        assert (await caller.delete(flag_path(other))).status_code == 204
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await until_it_is(app, "checkout", on=True)
        assert not await app.is_on("other")
        await server.stop()
        await server.start()
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await until_it_is(app, "checkout", on=False)


# The SDK for Node.js moves to the stream after its first request to `features`.
@pytest.mark.parametrize(
    ("language", "mode", "path", "other"), [("python", "polling", FEATURES, DELTA), ("node", "delta", DELTA, FEATURES)]
)
async def test_an_application_beyond_the_limit_keeps_its_flags_and_gets_new_ones_after_it(
    sqlite: Store, language: str, mode: str, path: str, other: str
) -> None:
    async with (
        ServerProcess(sqlite, LIMIT) as server,
        shop(server) as (caller, flag, key),
        Application(language, server.url, mode) as app,
    ):
        assert await app.connect(key)

        async def is_refused() -> bool:
            """Use up the key's limit until the application is refused as well."""
            await caller.get(other, headers={"authorization": key})
            return f'"path": "{path}", "status": 429' in server.log

        await until(is_refused)
        assert await app.is_on("checkout")
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        await until_it_is(app, "checkout", on=False)
