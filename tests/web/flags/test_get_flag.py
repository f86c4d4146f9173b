"""GET …/flags/{flag_id}."""

from uuid import uuid4

from tests.support.api import Caller, Json, flag_path
from tests.web.flags.conftest import Elsewhere


async def test_it_needs_a_token(client: Caller, flag: Json) -> None:
    assert (await client.get(flag_path(flag))).status_code == 401


async def test_a_flag_is_found_nowhere_but_in_its_place(elsewhere: list[Elsewhere]) -> None:
    for why, caller, path in elsewhere:
        assert (await caller.get(path)).status_code == 404, why


async def test_a_foreign_resource_is_answered_like_a_missing_one(elsewhere: list[Elsewhere]) -> None:
    details = {(await caller.get(path)).json()["detail"] for _, caller, path in elsewhere if "UUID" not in path}
    assert details <= {
        "There is no such flag.",
        "There is no such environment.",
        "There is no such project.",
        "There is no such resource.",
    }
    not_yours, unknown = elsewhere[0], elsewhere[0]._replace(path=elsewhere[1].path)
    assert (await not_yours.caller.get(not_yours.path)).json()["detail"] == (
        await unknown.caller.get(unknown.path)
    ).json()["detail"]


async def test_what_does_not_exist_is_named(ada: Caller, flag: Json) -> None:
    for name, missing in (("project", "project_id"), ("environment", "environment_id"), ("flag", "id")):
        answer = await ada.get(flag_path({**flag, missing: uuid4()}))
        assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no such {name}.")


async def test_a_flag_is_as_it_was_created(ada: Caller, flag: Json) -> None:
    answer = await ada.get(flag_path(flag))
    assert (answer.status_code, answer.json()) == (200, flag)
