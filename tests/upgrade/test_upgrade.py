"""The previous release's wheel and this version on one PostgreSQL, under load: upgrade and downgrade."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from flagstaff.database.schema_state import known_revisions
from tests.faults.checker import find_violations
from tests.faults.counts import find_miscounts, find_recorded_users
from tests.faults.fleet import ENVIRON
from tests.support.api import Json, created, environment_path
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key, keys_path
from tests.support.server import ServerProcess
from tests.support.stores import Store, execute
from tests.upgrade.crowd import Crowd
from tests.upgrade.previous import Release, build_previous, find_previous, find_previous_revision

OLD, NEW = 0, 1
_DRAINING = {"FLAGSTAFF_DRAIN_SECONDS": "5"}  # a busy machine needs time to see that an instance is not ready
_WRITTEN_SECONDS = 20


@pytest.fixture(scope="session")
def previous() -> Release:
    """The previous release, installed."""
    return build_previous()


@pytest.fixture
async def empty_url(postgres: PostgresServer) -> AsyncIterator[str]:
    """The URL of a database without tables."""
    name = f"upgrade_{uuid4().hex}"
    await execute(postgres, f"CREATE DATABASE {name}")
    yield postgres.url(name)
    await execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")


def test_the_previous_release_has_a_revision_that_this_one_knows() -> None:
    assert find_previous() is None or find_previous_revision() in known_revisions()


async def test_no_request_fails_and_none_is_stale_while_two_versions_serve(
    previous: Release, empty_url: str, tmp_path: Path
) -> None:
    since = datetime.now(UTC) - timedelta(seconds=10)
    old = ServerProcess(
        Store(empty_url, tmp_path / "old"), {**ENVIRON, **_DRAINING, **previous.environ}, command=previous.command
    )
    new = ServerProcess(Store(empty_url, tmp_path / "new"), {**ENVIRON, **_DRAINING})
    async with old, RemoteCaller(old.url, is_earlier_release=True) as at_old, RemoteCaller(new.url) as at_new:
        await at_old.sign_up()
        token = at_new.headers["authorization"] = at_old.headers["authorization"]
        project = await at_old.create_project()
        environment = await at_old.get_environment(project)
        flags = [await make_flag(at_old, project, environment, key) for key in ("old", "new")]
        async with Crowd.gather(token.removeprefix("Bearer "), project["sdk_key"], flags) as crowd:
            crowd.join(OLD, old.port)
            await crowd.work()
            async with new:  # the start migrates the database while the old version serves
                crowd.join(NEW, new.port)
                await crowd.work()
                await manage_at_both(at_old, at_new, project, environment)
                await drain(crowd, OLD, old, at_old)
                await crowd.work()
                await old.start()
                crowd.join(OLD, old.port)
                await crowd.work()
                await manage_at_both(at_old, at_new, project, environment)
                await drain(crowd, NEW, new, at_new)
            await crowd.work()
        history = crowd.history
        assert not crowd.failures(), "\n".join((*map(str, crowd.failures()[:5]), old.log[-3000:], new.log[-3000:]))
        violations = find_violations(history.toggles, history.evaluations, marks_allowed=False)
        assert not violations, "\n".join(map(str, violations[:5]))
        await assert_counted(crowd, empty_url, tmp_path, UUID(environment["id"]), since)
    for server in (old, new):
        assert "Traceback" not in server.log


async def make_flag(caller: RemoteCaller, project: Json, environment: Json, key: str) -> Json:
    answer = await caller.post(f"{environment_path(environment)}/flags", json={"name": key, "key": key})
    return {**created(answer), "project_id": project["id"]}


async def manage_at_both(at_old: RemoteCaller, at_new: RemoteCaller, project: Json, environment: Json) -> None:
    """Check that the other version has each change at once: flags, a rule, and a key, which is then revoked."""
    for here, there in ((at_old, at_new), (at_new, at_old)):
        key = f"flag-{uuid4().hex}"
        flags = f"{environment_path(environment)}/flags"
        flag = created(await here.post(flags, json={"name": key, "key": key}))
        archived = created(await here.post(flags, json={"name": key, "key": f"{key}-archived"}))
        await archive_at_both(here, there, archived)
        rule = {"rule_type": "user_id", "rule_value": "eve"}
        created(await there.post(f"{flags}/{flag['id']}/rules", json=rule))
        assert [each["rule_value"] for each in (await here.get(f"{flags}/{flag['id']}/rules")).json()] == ["eve"]
        made = await create_key(here, project)
        assert await evaluate(there, made["key"]) == 200
        assert (await here.delete(f"{keys_path(project)}/{made['id']}")).status_code == 204
        assert await evaluate(there, made["key"]) == 401


async def archive_at_both(here: RemoteCaller, there: RemoteCaller, flag: Json) -> None:
    """Check that the other version has each archived flag at once, and restores it unchanged."""
    path = f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}/flags/{flag['id']}"
    (await here.put(path, json={"enabled": True})).raise_for_status()
    (await here.post(f"{path}/archive")).raise_for_status()
    assert (await there.get(path)).json()["archived_at"] is not None
    assert (await there.post(f"{path}/unarchive")).json()["enabled"] is True
    assert (await here.get(path)).json()["archived_at"] is None
    (await there.delete(path)).raise_for_status()


async def evaluate(caller: RemoteCaller, sdk_key: str) -> int:
    headers = {"X-SDK-Key": sdk_key, "X-Forwarded-For": "192.0.2.1"}
    answer = await caller.post("/sdk/v1/evaluate", json={"environment": "production"}, headers=headers)
    return answer.status_code


async def drain(crowd: Crowd, instance: int, server: ServerProcess, caller: RemoteCaller) -> None:
    """Stop an instance as behind a load balancer, which sends it no requests once it is not ready."""
    stopping = asyncio.create_task(server.stop())
    async with asyncio.timeout(10):
        while (await caller.get("/ready")).status_code == 200:
            await asyncio.sleep(0.01)
    await crowd.leave(instance)
    assert await stopping == 0


async def assert_counted(crowd: Crowd, url: str, folder: Path, environment_id: UUID, since: datetime) -> None:
    """Assert that each evaluation is in the history exactly once, as soon as the last ones are written."""
    async with asyncio.timeout(_WRITTEN_SECONDS):
        while True:
            recorded = await find_recorded_users(url, folder, environment_id, "u", since)
            miscounts = find_miscounts(crowd.history.evaluations, recorded, kills={}, dropped={})
            if not miscounts:
                return
            await asyncio.sleep(0.2)
