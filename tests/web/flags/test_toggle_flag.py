"""POST …/flags/{flag_id}/toggle."""

import asyncio
from threading import Event

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.worker import in_worker
from tests.support.api import Caller, Json, flag_path
from tests.support.changes import changes_in
from tests.web.flags.conftest import Elsewhere


async def test_it_needs_a_token(client: Caller, ada: Caller, flag: Json) -> None:
    assert (await client.post(f"{flag_path(flag)}/toggle")).status_code == 401
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_a_flag_is_toggled_nowhere_but_in_its_place(ada: Caller, flag: Json, elsewhere: list[Elsewhere]) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.post(f"{path}/toggle")).status_code == 404, why
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_it_accepts_only_post(ada: Caller, flag: Json) -> None:
    answer = await ada.get(f"{flag_path(flag)}/toggle")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_it_flips_enabled_and_keeps_everything_else(ada: Caller, flag: Json) -> None:
    rule = await ada.create_rule(flag)
    expected = flag
    for enabled in (False, True, False):
        answer = await ada.post(f"{flag_path(flag)}/toggle")
        assert answer.status_code == 200
        assert answer.json()["updated_at"] > expected["updated_at"]
        expected = {**expected, "enabled": enabled, "updated_at": answer.json()["updated_at"]}
        assert answer.json() == expected
        assert (await ada.get(flag_path(flag))).json() == expected
    assert (await ada.get(f"{flag_path(flag)}/rules")).json() == [rule]


@pytest.mark.parametrize("body", [b'{"enabled": tr', b'{"enabled": false}', b"[]"])
async def test_a_body_with_anything_in_it_is_refused(ada: Caller, flag: Json, body: bytes) -> None:
    answer = await ada.post(f"{flag_path(flag)}/toggle", content=body)
    assert answer.status_code == 400
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_a_toggle_is_recorded_with_its_actor(flagstaff: Flagstaff, ada: Caller, flag: Json) -> None:
    toggled = (await ada.post(f"{flag_path(flag)}/toggle")).json()
    change = (await changes_in(flagstaff, {"id": flag["environment_id"]}))[-1]
    assert (change.action, change.actor.email) == ("flag.toggled", "ada@example.com")
    assert (change.before, change.after) == (flag, toggled)


async def test_neither_a_toggle_nor_a_write_before_it_waits_for_the_long_work_of_others(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag, segment = await ada.create_flag(environment), await ada.create_segment(project)
    assert (await ada.evaluate(project["sdk_key"])).json()["flags"][flag["key"]]["enabled"] is True
    go_on = Event()
    work = asyncio.ensure_future(in_worker(go_on.wait))
    try:
        async with asyncio.timeout(10):
            await ada.create_rule(flag, rule_type="segment", rule_value=segment["key"])
            assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200
            answer = await ada.evaluate(project["sdk_key"])
            assert answer.json()["flags"][flag["key"]]["enabled"] is False
    finally:
        go_on.set()
        await work
