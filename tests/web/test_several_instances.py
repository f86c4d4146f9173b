"""Several instances on one PostgreSQL: what a call has changed, no instance answers the old way after it returned."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import asyncpg
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
async def start(shared: Store, passwords: Passwords) -> AsyncIterator[Start]:
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
            instance = Flagstaff(settings, passwords=passwords)
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
        return (await self.ada.post(f"{flag_path(self.flag)}/toggle")).status_code

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


async def test_a_token_that_ends_at_one_instance_has_ended_at_every_other(scene: Scene) -> None:
    headers = {"authorization": f"Bearer {scene.ada.token}"}
    assert (await scene.second.get("/api/me", headers=headers)).status_code == 200

    assert (await scene.ada.post("/auth/logout")).status_code == 204

    assert (await scene.second.get("/api/me", headers=headers)).status_code == 401


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
