"""DELETE …/flags/{flag_id}."""

import asyncio

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.changes import changes_in
from tests.web.flags.conftest import Elsewhere


async def test_it_needs_a_token(client: Caller, ada: Caller, flag: Json) -> None:
    assert (await client.delete(flag_path(flag))).status_code == 401
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_a_flag_is_deleted_nowhere_but_in_its_place(ada: Caller, flag: Json, elsewhere: list[Elsewhere]) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.delete(path)).status_code == 404, why
    assert (await ada.get(flag_path(flag))).json() == flag


@pytest.mark.both_databases
async def test_a_deleted_flag_is_gone_with_its_rules_and_no_other(
    flagstaff: Flagstaff, ada: Caller, environment: Json, flag: Json
) -> None:
    other = await ada.create_flag(environment, key="other")
    rule, kept = await ada.create_rule(flag), await ada.create_rule(other)
    answer = await ada.delete(flag_path(flag))
    assert (answer.status_code, answer.content) == (204, b"")
    for path in (flag_path(flag), f"{flag_path(flag)}/rules", f"{flag_path(flag)}/rules/{rule['id']}"):
        assert (await ada.get(path)).status_code == 404
    assert (await ada.get(f"{environment_path(environment)}/flags")).json() == [other]
    async with flagstaff.database.read() as connection:
        left = (await connection.execute(sa.select(tables.rules.c.id))).scalars().all()
    assert [str(each) for each in left] == [kept["id"]]


async def test_a_flag_is_deleted_once(ada: Caller, flag: Json) -> None:
    answers = await asyncio.gather(*(ada.delete(flag_path(flag)) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [204] + [404] * 7


async def test_a_deletion_is_recorded_with_its_actor(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    await ada.delete(flag_path(flag))
    change = (await changes_in(flagstaff, {"id": flag["environment_id"]}))[-1]
    assert (change.action, change.actor.email) == ("flag.deleted", "ada@example.com")
    assert (change.before, change.after) == (flag, None)
