"""Flagstaff-Revision of answers, and Flagstaff-Min-Revision: no answer is older than the required revision."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.changes.changes import Scope
from flagstaff.database import tables
from flagstaff.database.revisions_store import advance
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.sdk_keys import KeyMaker

REVISION, DEMAND = "flagstaff-revision", "flagstaff-min-revision"
PATHS = ("/sdk/v1/evaluate", "/sdk/v1/evaluate/new-checkout", "/ofrep/v1/evaluate/flags", "/ofrep/v1/evaluate/flags/x")
NO_NUMBERS = [("",), ("x",), ("-1",), ("1.5",), ("9" * 19,), ("1" * 900,), ("1", "1")]

Ask = Callable[..., Awaitable[httpx.Response]]


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag that is on."""
    return await ada.create_flag(environment)


@pytest.fixture
async def ask(client: Caller, keys: KeyMaker, project: Json, environment: Json, flag: Json) -> Ask:
    """Send a request by one of the endpoints, with required revisions. The project is loaded."""
    sdk_key = await keys.create(environment)
    assert (await client.evaluate(project["sdk_key"])).status_code == 200

    async def send(path: str, *demands: object) -> httpx.Response:
        body = {"context": {"targetingKey": "ada"}} if "ofrep" in path else {"environment": "production"}
        headers = [("x-sdk-key", project["sdk_key"]), ("authorization", f"Bearer {sdk_key}")]
        return await client.post(path, json=body, headers=[*headers, *((DEMAND, str(each)) for each in demands)])

    return send


async def turn_off_unheard(flagstaff: Flagstaff, flag: Json) -> int:
    """Turn a flag off as an instance whose changes this one does not receive; return the revision."""
    scope = Scope(UUID(flag["project_id"]), UUID(flag["environment_id"]))
    async with flagstaff.database.transaction() as transaction:
        off = sa.update(tables.flags).where(tables.flags.c.id == UUID(flag["id"])).values(enabled=False)
        await transaction.connection.execute(off)
        revision, _ = await advance(transaction.connection, scope, ("unheard", "nothing"))
    assert revision is not None
    return revision


def is_on(answer: httpx.Response) -> bool:
    """Return whether an answer about all flags has the flag on."""
    assert answer.status_code == 200, answer.text
    flags = answer.json()["flags"]
    on: bool = flags[0]["value"] if isinstance(flags, list) else flags["new-checkout"]["enabled"]
    return on


@pytest.mark.parametrize(
    "demands", [("",), ("x",), ("-1",), ("1.5",), ("9" * 19,), ("1" * 900,), ("1", "1")], ids=lambda given: given[0][:3]
)
async def test_what_is_not_one_number_is_refused(ask: Ask, demands: tuple[str, ...]) -> None:
    for path in PATHS:
        answer = await ask(path, *demands)
        assert answer.status_code == 400
        assert "Flagstaff-Min-Revision is not a number" in answer.text


async def test_a_revision_that_does_not_exist_is_unavailable(ask: Ask) -> None:
    for path in PATHS:
        answers = await asyncio.gather(*(ask(path, 10**18 - 1) for _ in range(5)))
        assert {answer.status_code for answer in answers} == {503}
        assert all("does not have the revision" in answer.text for answer in answers)


async def test_without_a_key_the_demand_is_not_looked_at(client: Caller, ask: Ask) -> None:
    for path in PATHS:
        for demand in ("1", "x"):
            assert (await client.post(path, json={}, headers={DEMAND: demand})).status_code == 401


async def test_an_answer_has_the_revision_of_the_last_change(ada: Caller, ask: Ask, flag: Json) -> None:
    toggled = await ada.post(f"{flag_path(flag)}/toggle")
    for path in PATHS[:3]:
        assert (await ask(path)).headers[REVISION] == toggled.headers[REVISION], path


@pytest.mark.both_databases
async def test_what_this_instance_has_not_heard_of_is_answered_to_whoever_demands_it(
    flagstaff: Flagstaff, ask: Ask, flag: Json
) -> None:
    for path in (PATHS[0], PATHS[2]):
        assert is_on(await ask(path))
    revision = await turn_off_unheard(flagstaff, flag)
    assert is_on(await ask(PATHS[0]))
    answers = await asyncio.gather(*(ask(path, revision) for path in (PATHS[0], PATHS[2]) for _ in range(5)))
    assert [is_on(answer) for answer in answers] == [False] * 10
    assert {answer.headers[REVISION] for answer in answers} == {str(revision)}
    assert not is_on(await ask(PATHS[0]))


async def test_a_change_of_another_environment_is_in_every_answer_without_a_load(
    flagstaff: Flagstaff, ada: Caller, project: Json, ask: Ask
) -> None:
    elsewhere = await ada.create_flag(await ada.get_environment(project, "staging"))
    before = flagstaff.serving.snapshots.loaded[UUID(project["id"])].environments["production"]
    revision = int((await ada.post(f"{flag_path(elsewhere)}/toggle")).headers[REVISION])
    for path in (PATHS[0], PATHS[2]):
        answer = await ask(path, revision)
        assert is_on(answer)
        assert int(answer.headers[REVISION]) < revision
    assert flagstaff.serving.snapshots.loaded[UUID(project["id"])].environments["production"] is before


async def test_a_deleted_project_is_not_answered(ada: Caller, project: Json, ask: Ask) -> None:
    assert (await ada.delete(project_path(project))).status_code == 204
    for path in PATHS:
        assert (await ask(path, 1)).status_code == 401
