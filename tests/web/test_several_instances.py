"""Several instances on one PostgreSQL: what a call has changed, no instance answers the old way after it returned."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import httpx
import pytest

from flagstaff.bootstrap import Flagstaff
from flagstaff.services.passwords import Passwords
from flagstaff.settings import Settings
from flagstaff.storage import feed
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

_PASSWORD = "correct horse battery staple"
Start = Callable[[str], Awaitable[Flagstaff]]


@pytest.fixture
async def shared(postgres_template: PostgresServer, tmp_path: Path) -> AsyncIterator[Store]:
    """A database for several instances."""
    async with postgresql_store(postgres_template, tmp_path) as store:
        yield store


@pytest.fixture
async def start(shared: Store) -> AsyncIterator[Start]:
    """Start an instance by its name; each has a data directory of its own."""
    async with AsyncExitStack() as stack:

        async def start_instance(name: str) -> Flagstaff:
            settings = Settings.load(
                {
                    "FLAGSTAFF_DATABASE_URL": shared.database_url or "",
                    "FLAGSTAFF_DATA_DIR": str(shared.data_directory / name),
                    "FLAGSTAFF_SECRET_KEY": "k" * 32,
                }
            )
            instance = Flagstaff(settings, passwords=Passwords(time_cost=1, memory_cost_kib=32))
            stack.push_async_callback(instance.stop)
            await instance.start()
            return instance

        yield start_instance


@dataclass
class Scene:
    """Ada works at the first instance; the second answers applications and has her flag loaded."""

    ada: Caller
    second: Caller
    sdk_key: str
    project: Json
    flag: Json

    async def toggle(self) -> int:
        """Flip the flag; the response's status."""
        return (await self.send_toggle(self.ada, None)).status_code

    async def send_toggle(self, caller: Caller, key: str | None) -> httpx.Response:
        """Flip the flag, perhaps with an Idempotency-Key."""
        headers = {"idempotency-key": key} if key else None
        return await caller.post(f"{flag_path(self.flag)}/toggle", headers=headers)

    async def count_toggles(self) -> int:
        """How often the flag was flipped, as the audit trail has it."""
        path = f"{project_path(self.project)}/changes"
        return len((await self.ada.get(path, params={"action": "flag.toggled"})).json()["items"])

    async def is_on_at_second(self) -> bool:
        """What the second instance answers."""
        answer = await self.second.evaluate(self.sdk_key)
        enabled: bool = answer.json()["flags"][self.flag["key"]]["enabled"]
        return enabled


@pytest.fixture
async def scene(start: Start) -> AsyncIterator[Scene]:
    """Two instances and a flag that is on."""
    first, second = await start("first"), await start("second")
    await first.accounts.register(email="ada@example.com", password=_PASSWORD)
    token = await first.accounts.log_in(email="ada@example.com", password=_PASSWORD)
    async with Caller(first.asgi, token=token) as ada, Caller(second.asgi) as application:
        project = await ada.create_project()
        flag = await ada.create_flag(await ada.get_environment(project))
        scene = Scene(ada, application, project["sdk_key"], project, flag)
        assert await scene.is_on_at_second()
        yield scene


async def test_a_change_that_an_instance_does_not_confirm_is_in_force_but_not_called_done(
    scene: Scene, shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CONFIRM_SECONDS", 0.5)
    deaf = await asyncpg.connect(shared.database_url, server_settings={"application_name": "flagstaff feed deaf"})
    try:
        assert await scene.toggle() == 503
    finally:
        await deaf.close()
    assert not await scene.is_on_at_second()


async def test_a_toggle_that_may_be_in_force_invites_nobody_to_flip_it_back(
    scene: Scene, shared: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "CONFIRM_SECONDS", 0.5)
    deaf = await asyncpg.connect(shared.database_url, server_settings={"application_name": "flagstaff feed deaf"})
    try:
        for _ in range(2):
            answer = await scene.send_toggle(scene.ada, "once")
            assert answer.status_code == 503
            assert "retry-after" not in answer.headers
            assert answer.json()["detail"].startswith("The change is stored")
    finally:
        await deaf.close()
    answer = await scene.send_toggle(scene.ada, "once")
    assert (answer.status_code, answer.headers["idempotency-replayed"]) == (200, "true")
    assert answer.json()["enabled"] is False
    assert not await scene.is_on_at_second()
    assert await scene.count_toggles() == 1


async def test_a_commit_that_nobody_knows_the_end_of_is_told_as_such(scene: Scene, shared: Store) -> None:
    administrator = await asyncpg.connect(shared.database_url)
    try:
        await administrator.execute(
            "CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';"
            "CREATE CONSTRAINT TRIGGER cut_at_the_commit AFTER UPDATE ON flags DEFERRABLE INITIALLY DEFERRED "
            "FOR EACH ROW EXECUTE FUNCTION cut()"
        )
        answer = await scene.send_toggle(scene.ada, "once")
        assert answer.status_code == 503
        assert "retry-after" not in answer.headers
        assert "it is not known whether the change was stored. Read the resource" in answer.json()["detail"]
        await administrator.execute("DROP TRIGGER cut_at_the_commit ON flags")
    finally:
        await administrator.close()
    assert (await scene.send_toggle(scene.ada, "once")).json()["enabled"] is False
    assert await scene.count_toggles() == 1


async def test_a_key_holds_for_every_instance_also_when_all_are_asked_at_once(scene: Scene) -> None:
    scene.second.headers["authorization"] = scene.ada.headers["authorization"]
    for number in range(5):
        callers = [scene.ada, scene.second] * 10
        answers = await asyncio.gather(*(scene.send_toggle(caller, f"key-{number}") for caller in callers))
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
        assert await scene.is_on_at_second() is answers[0].json()["enabled"]
    assert await scene.count_toggles() == 5


async def test_after_a_toggle_returned_the_other_instance_answers_the_new_state(scene: Scene) -> None:
    for wanted in (False, True) * 20:
        assert await scene.toggle() == 200
        assert await scene.is_on_at_second() is wanted


async def test_after_a_key_rotation_returned_the_other_instance_refuses_the_old_key(scene: Scene) -> None:
    rotated = (await scene.ada.post(f"{project_path(scene.project)}/regenerate-key")).json()
    assert (await scene.second.evaluate(scene.sdk_key)).status_code == 401
    assert (await scene.second.evaluate(rotated["sdk_key"])).status_code == 200


async def test_a_project_created_at_one_instance_is_known_to_the_other(scene: Scene) -> None:
    created = await scene.ada.create_project(name="Second shop")
    assert (await scene.second.evaluate(created["sdk_key"])).json() == {"flags": {}}


async def test_after_a_deletion_returned_the_other_instance_refuses_the_key(scene: Scene) -> None:
    assert (await scene.ada.delete(project_path(scene.project))).status_code == 204
    assert (await scene.second.evaluate(scene.sdk_key)).status_code == 401


async def test_an_instance_that_has_stopped_keeps_nobody_waiting(
    scene: Scene, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    third = await start("third")
    await third.stop()
    monkeypatch.setattr(feed, "CONFIRM_SECONDS", 2.0)
    assert await scene.toggle() == 200


async def test_an_instance_that_lost_its_feed_makes_good_for_what_it_missed(scene: Scene, shared: Store) -> None:
    administrator = await asyncpg.connect(shared.database_url)
    try:
        await administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND starts_with(application_name, 'flagstaff feed ')"
        )
        # The change of another program's hand, which no instance announces.
        await administrator.execute("UPDATE flags SET enabled = false")
    finally:
        await administrator.close()
    async with asyncio.timeout(5):
        while await scene.is_on_at_second():
            await asyncio.sleep(0.01)
    assert await scene.toggle() == 200
    assert await scene.is_on_at_second()


async def test_many_toggles_at_once_leave_both_instances_with_the_same_answer(scene: Scene) -> None:
    statuses = await asyncio.gather(*(scene.toggle() for _ in range(41)))
    assert set(statuses) == {200}
    assert not await scene.is_on_at_second()
