"""POST …/bulk-actions."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from uuid_utils.compat import uuid7

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.flags.bulk_actions import FLAGS_MAX
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.changes import changes_in
from tests.support.holds import watch_holds
from tests.support.members import join
from tests.support.sessions import PASSWORD
from tests.web.flags.conftest import Elsewhere


async def act(caller: Caller, environment: Json, action: str, *flags: Json, **body: Any) -> httpx.Response:
    given = {"flags": [each["id"] for each in flags], "action": action, **body}
    return await caller.post(f"{environment_path(environment)}/bulk-actions", json=given)


async def flags_of(caller: Caller, environment: Json) -> list[Json]:
    found: list[Json] = (await caller.get(f"{environment_path(environment)}/flags")).json()
    return found


def reasons(answer: httpx.Response, status: int) -> dict[str, str]:
    assert answer.status_code == status, answer.text
    return {each["field"]: each["message"] for each in answer.json()["errors"]}


async def test_it_needs_a_token_and_the_environment(
    client: Caller, flag: Json, environment: Json, environments_elsewhere: list[Elsewhere]
) -> None:
    assert (await act(client, environment, "disable", flag)).status_code == 401
    for why, caller, path in environments_elsewhere:
        answer = await caller.post(
            f"{path.removesuffix('/flags')}/bulk-actions", json={"flags": [flag["id"]], "action": "disable"}
        )
        assert answer.status_code == 404, why


async def test_who_may_only_toggle_toggles_and_a_viewer_does_nothing(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json, flag: Json
) -> None:
    await join(flagstaff, project, eve, "viewer")
    answer = await act(eve, environment, "disable", flag)
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:toggle")
    answer = await act(eve, environment, "archive", flag)
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:write")
    body = {"name": "Toggles", "permissions": ["flags:toggle"], "current_password": PASSWORD}
    token = (await ada.post("/api/me/tokens", json=body)).json()["token"]
    eve.headers["authorization"] = f"Bearer {token}"
    assert (await act(eve, environment, "add_tags", flag, tags=["x"])).status_code == 403
    assert (await act(eve, environment, "disable", flag)).status_code == 200
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False


async def test_invalid_bodies_are_refused_by_name(ada: Caller, environment: Json, flag: Json) -> None:
    many = [str(uuid4()) for _ in range(FLAGS_MAX + 1)]
    rejections: list[tuple[Json, str]] = [
        ({"flags": []}, "flags"),
        ({"flags": [flag["id"], flag["id"]]}, "flags"),
        ({"flags": many}, "flags"),
        ({"flags": ["x"]}, "flags.0"),
        ({"action": "delete"}, "action"),
        ({"tags": ["x"]}, "tags"),
        ({"action": "add_tags"}, "tags"),
        ({"action": "add_tags", "tags": ["x" * 51]}, "tags.0"),
        ({"action": "add_tags", "tags": [f"t{number}" for number in range(21)]}, "tags"),
        ({"dry_run": True}, "dry_run"),
    ]
    for given, field in rejections:
        answer = await act(ada, environment, given.pop("action", "disable"), flag, **given)
        assert list(field_errors(answer)) == [field], given
    assert await flags_of(ada, environment) == [flag]


async def test_flags_that_do_not_exist_are_named_and_nothing_changes(
    ada: Caller, project: Json, environment: Json, flag: Json
) -> None:
    elsewhere = await ada.create_flag(await ada.get_environment(project, "staging"))
    answer = await act(ada, environment, "disable", flag, elsewhere, {"id": str(uuid4())})
    assert reasons(answer, 404) == {"flags.1": "does not exist", "flags.2": "does not exist"}
    assert await flags_of(ada, environment) == [flag]


@pytest.mark.both_databases
async def test_what_others_need_is_archived_only_together_with_them(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    base = await ada.create_flag(environment, key="base")
    other = await ada.create_flag(environment, key="other", tags=[f"t{number}" for number in range(20)])
    one, two = [
        await ada.create_flag(environment, key=key, prerequisites=[{"flag_key": "base"}]) for key in ("one", "two")
    ]
    before = await flags_of(ada, environment)
    answer = await act(ada, environment, "archive", other, base, one)
    assert reasons(answer, 409) == {
        "flags.1": "base is a prerequisite of two. Choose these as well, or remove it from their prerequisites first."
    }
    answer = await act(ada, environment, "add_tags", base, other, tags=["new"])
    assert reasons(answer, 409) == {"flags.1": "other would have 21 tags, and a flag has at most 20."}
    assert await flags_of(ada, environment) == before

    answer = await act(ada, environment, "archive", base, two, one)
    assert [each["key"] for each in answer.json()["flags"]] == ["base", "two", "one"]
    assert all(each["archived_at"] for each in answer.json()["flags"])
    assert await flags_of(ada, environment) == [other]
    assert (await act(ada, environment, "archive", base, two)).json()["changes"] == []
    assert list(reasons(await act(ada, environment, "disable", other, base), 409)) == ["flags.1"]
    made = [change.action for change in await changes_in(flagstaff, environment)]
    assert made[-3:] == ["flag.archived"] * 3


async def test_each_flag_that_was_not_so_is_a_change_and_no_evaluation_sees_the_state_before(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    flags = [await ada.create_flag(environment, key=f"f{number}", enabled=number == 1) for number in range(3)]
    await ada.evaluate(project["sdk_key"])
    answer = await act(ada, environment, "enable", *flags)
    evaluated = (await ada.evaluate(project["sdk_key"])).json()["flags"]
    assert all(evaluated[flag["key"]] for flag in flags)
    body = answer.json()
    assert (answer.status_code, [each["enabled"] for each in body["flags"]]) == (200, [True] * 3)
    assert body["flags"][1] == flags[1]
    assert body["flags"] == [(await ada.get(flag_path(flag))).json() for flag in flags]
    made = (await changes_in(flagstaff, environment))[-2:]
    assert [(each.action, each.scope.flag_key) for each in made] == [("flag.toggled", "f0"), ("flag.toggled", "f2")]
    assert answer.headers["flagstaff-change"] == body["changes"][-1]
    restored = await ada.post(f"{project_path(project)}/changes/{body['changes'][0]}/restore", json={"dry_run": False})
    assert restored.status_code == 200, restored.text
    assert (await ada.get(flag_path(flags[0]))).json()["enabled"] is False


async def test_tags_are_added_and_removed_and_a_repeated_request_changes_nothing(
    ada: Caller, environment: Json
) -> None:
    one, two = await ada.create_flag(environment, key="one", tags=["a"]), await ada.create_flag(environment, key="two")
    path = f"{environment_path(environment)}/bulk-actions"
    body = {"flags": [one["id"], two["id"]], "action": "add_tags", "tags": ["a", "b"]}
    first = await ada.post(path, json=body, headers={"idempotency-key": "once"})
    assert [each["tags"] for each in first.json()["flags"]] == [["a", "b"], ["a", "b"]]
    removed = await act(ada, environment, "remove_tags", two, one, tags=["a", "c"])
    assert [each["tags"] for each in removed.json()["flags"]] == [["b"], ["b"]]
    again = await ada.post(path, json=body, headers={"idempotency-key": "once"})
    assert (again.json(), again.headers["idempotency-replayed"]) == (first.json(), "true")
    assert [each["tags"] for each in await flags_of(ada, environment)] == [["b"], ["b"]]


@pytest.mark.both_databases
async def test_many_flags_are_changed_without_holding_the_event_loop(
    flagstaff: Flagstaff, ada: Caller, environment: Json, flag: Json
) -> None:
    """Two hundred flags that need one another."""
    ids = [uuid7() for _ in range(FLAGS_MAX)]
    async with flagstaff.database.transaction() as transaction:
        columns = tables.flags.c
        row = (
            (await transaction.connection.execute(tables.flags.select().where(columns.id == UUID(flag["id"]))))
            .mappings()
            .one()
        )
        rows = [
            {
                **row,
                "id": each,
                "key": f"f{place}",
                "prerequisites": [{"flag_key": f"f{place - 1}", "enabled": True, "variants": []}] if place else [],
            }
            for place, each in enumerate(ids)
        ]
        await transaction.connection.execute(tables.flags.insert(), rows)
    chosen = [{"id": str(each)} for each in ids]
    async with watch_holds() as holds:
        for action in ("disable", "archive"):
            answer = await act(ada, environment, action, *chosen)
            assert len(answer.json()["changes"]) == FLAGS_MAX
    assert holds.longest_in_units < HOLD_UNITS
    assert [each["id"] for each in await flags_of(ada, environment)] == [flag["id"]]


HOLD_UNITS = 40
