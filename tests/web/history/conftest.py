"""A project of Ada's whose flags have been evaluated, and paths where its history must not be found."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, flag_path

Evaluate = Callable[..., Awaitable[None]]
WhenRecorded = Callable[[], Awaitable[None]]
Elsewhere = list[tuple[Caller, str]]


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag in it that is on for all, with a rule for the user `ada`."""
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag)
    return flag


@pytest.fixture
async def when_recorded(flagstaff: Flagstaff) -> WhenRecorded:
    """Wait until every evaluation is in the store."""

    async def wait() -> None:
        async with asyncio.timeout(20):
            while flagstaff.history.recorder.waiting:
                await asyncio.sleep(0.01)

    return wait


@pytest.fixture
async def evaluate(client: Caller, project: Json, when_recorded: WhenRecorded) -> Evaluate:
    """Evaluate for each user id in turn; return when the evaluations are stored."""

    async def call(*user_ids: str | None, environment: str = "production", user_email: str | None = None) -> None:
        for user_id in user_ids:
            context = {"user_id": user_id, "user_email": user_email}
            answer = await client.evaluate(project["sdk_key"], environment, context)
            assert answer.status_code == 200
        await when_recorded()

    return call


@pytest.fixture
async def elsewhere(ada: Caller, eve: Caller, environment: Json) -> Elsewhere:
    """Return callers and paths of environments that they must not find."""
    other = await ada.create_project()
    return [
        (eve, environment_path(environment)),
        (ada, environment_path({**environment, "project_id": other["id"]})),
        (ada, environment_path({**environment, "id": uuid4()})),
        (ada, environment_path({**environment, "id": "production"})),
    ]


@pytest.fixture
async def flags_elsewhere(ada: Caller, eve: Caller, flag: Json) -> Elsewhere:
    """Return callers and paths of flags that they must not find."""
    staging = await ada.get_environment({"id": flag["project_id"]}, "staging")
    return [
        (eve, flag_path(flag)),
        (ada, flag_path({**flag, "environment_id": staging["id"]})),
        (ada, flag_path({**flag, "id": uuid4()})),
        (ada, flag_path({**flag, "id": flag["key"]})),
    ]
