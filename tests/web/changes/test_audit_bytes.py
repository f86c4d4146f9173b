"""The bounds on the bytes that accounts and projects write in the audit trail."""

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.sdk_keys import create_key
from tests.web.conftest import ListChanges

PER_HOUR = 1_000_000
in_an_hour = pytest.mark.parametrize("environ", [{"FLAGSTAFF_AUDIT_BYTES_PER_HOUR": str(PER_HOUR)}])
altogether = pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_AUDIT_BYTES": str(PER_HOUR)}])


async def use_up(caller: Caller, flag: Json) -> httpx.Response:
    """Describe a flag at length until it is refused; return the refusal."""
    for number in range(40):
        answer = await caller.put(flag_path(flag), json={"description": f"{number} {'😀' * 9_000}"})
        if answer.status_code != 200:
            return answer
    raise AssertionError("nothing was refused")


@pytest.mark.both_databases
@in_an_hour
async def test_beyond_the_bytes_of_an_hour_changes_are_refused_and_alter_nothing(
    ada: Caller, environment: Json, clock: Clock, list_changes: ListChanges
) -> None:
    flag = await ada.create_flag(environment)
    refused = await use_up(ada, flag)
    assert refused.status_code == 429
    assert "This account has written the 1,000,000 bytes" in refused.json()["detail"]
    assert "(audit-bytes)" in refused.json()["detail"]
    before, present = await list_changes(), (await ada.get(flag_path(flag))).json()
    assert (await ada.put(flag_path(flag), json={"name": "Other"})).status_code == 429
    body = {"action": "add_tags", "flags": [flag["id"]], "tags": ["new"]}
    assert (await ada.post(f"{environment_path(environment)}/bulk-actions", json=body)).status_code == 429
    assert (await ada.delete(flag_path(flag))).status_code == 429
    assert (await list_changes(), (await ada.get(flag_path(flag))).json()) == (before, present)
    clock.advance(seconds=int(refused.headers["retry-after"]) - 1)
    assert (await ada.put(flag_path(flag), json={"name": "Other"})).headers["retry-after"] == "1"
    clock.advance(seconds=1)
    assert (await ada.put(flag_path(flag), json={"name": "Other"})).status_code == 200


@altogether
async def test_beyond_the_bytes_of_all_time_changes_are_refused(ada: Caller, environment: Json, clock: Clock) -> None:
    flag = await ada.create_flag(environment)
    await use_up(ada, flag)
    clock.advance(hours=2)
    refused = await ada.put(flag_path(flag), json={"name": "Other"})
    assert refused.status_code == 409
    assert "raise FLAGSTAFF_MAX_AUDIT_BYTES" in refused.json()["detail"]
    assert (await ada.post(f"{flag_path(flag)}/toggle")).json()["enabled"] is False


@in_an_hour
async def test_a_project_has_the_bytes_of_four_accounts(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, sign_up: object
) -> None:
    flag = await ada.create_flag(environment)
    await use_up(ada, flag)
    others = []
    for name in ("bob", "cem", "dan", "eve"):
        other = await sign_up(name)  # type: ignore[operator]
        await join(flagstaff, project, other, "editor")
        others.append(await use_up(other, flag))
    assert [each.status_code for each in others] == [429] * 4
    assert ["This project" in each.json()["detail"] for each in others] == [False, False, True, True]


@pytest.mark.both_databases
@in_an_hour
async def test_what_turns_something_off_passes_beyond_the_bound_and_is_not_counted(
    ada: Caller, project: Json, environment: Json
) -> None:
    tags = [f"{number:02}{'ü' * 48}" for number in range(20)]
    flags = [await ada.create_flag(environment, key=key, tags=tags) for key in ("a", "b", "c")]
    key = await create_key(ada, project)
    await use_up(ada, flags[0])
    bulk = f"{environment_path(environment)}/bulk-actions"
    body = {"action": "disable", "flags": [each["id"] for each in flags[1:]]}
    for _ in range(3):
        assert (await ada.post(f"{flag_path(flags[0])}/toggle")).json()["enabled"] is False
        assert (await ada.post(f"{flag_path(flags[0])}/toggle")).json()["enabled"] is True
    assert (await ada.post(bulk, json=body)).status_code == 200
    assert (await ada.post(bulk, json={**body, "action": "enable"})).status_code == 429
    assert (await ada.put(flag_path(flags[0]), json={"enabled": False})).status_code == 200
    assert (await ada.put(flag_path(flags[0]), json={"enabled": True})).status_code == 429
    assert (await ada.post(f"{flag_path(flags[0])}/toggle")).status_code == 200
    assert (await ada.put(flag_path(flags[0]), json={"enabled": False, "description": "y" * 3_000})).status_code == 429
    assert (await ada.post(bulk, json={"action": "archive", "flags": [flags[2]["id"]]})).status_code == 200
    assert (await ada.delete(f"{project_path(project)}/sdk-keys/{key['id']}")).status_code == 204
    assert (await ada.delete(environment_path(environment))).status_code == 204
    assert (await ada.delete(project_path(project))).status_code == 204
