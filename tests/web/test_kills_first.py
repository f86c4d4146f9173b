"""Requests have the class that their operations state, in every turn at the database."""

import json

import pytest

from flagstaff.assembly.api import create_api
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.claims import Priority
from flagstaff.http.operations import find_priority
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.operations import list_operations

_FLAG = "/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}"
_BULK = "/api/projects/{project_id}/environments/{env_id}/bulk-actions"


def test_what_turns_a_flag_off_or_revokes_a_key_is_a_kill_and_what_writes_many_rows_is_long() -> None:
    found = {priority: set[str]() for priority in Priority}
    for method, path, operation in list_operations(create_api().routes):
        if not operation.reads:
            found[find_priority(operation, None)].add(f"{method} {path}")
    assert found[Priority.KILL] == {
        f"POST {_FLAG}/toggle",
        f"POST {_FLAG}/releases/{{release_id}}/pause",
        f"POST {_FLAG}/releases/{{release_id}}/cancel",
        "POST /api/projects/{project_id}/regenerate-key",
        "DELETE /api/projects/{project_id}/sdk-keys/{key_id}",
        "DELETE /api/projects/{project_id}/tokens/{token_id}",
        "DELETE /api/me/tokens/{token_id}",
    }
    assert found[Priority.LONG] == {
        "POST /api/projects/{project_id}/environments",
        "DELETE /api/projects/{project_id}/environments/{env_id}",
        "POST /api/projects/{project_id}/copy",
        "POST /api/projects/{project_id}/changes/restore",
        "POST /api/projects/{project_id}/flags",
        "POST /api/projects/{project_id}/environments/{env_id}/releases",
        "POST /api/projects/{project_id}/erasures",
        "DELETE /api/projects/{project_id}",
        "POST /api/me/deletion",
        "DELETE /api/admin/accounts/{account_id}",
        "POST /api/admin/deleted-projects/{deleted_project_id}/trail-deletion",
    }


@pytest.mark.parametrize(
    ("body", "priority"),
    [
        ({"flags": [], "action": "disable"}, Priority.KILL),
        ({"flags": [], "action": "enable"}, Priority.LONG),
        ({"flags": [], "action": "add_tags", "tags": ['"action":"disable"']}, Priority.LONG),
    ],
)
def test_a_bulk_action_is_a_kill_if_it_only_turns_flags_off(body: Json, priority: Priority) -> None:
    facts = {(method, path): operation for method, path, operation in list_operations(create_api().routes)}
    assert find_priority(facts["POST", _BULK], json.dumps(body).encode()) is priority


@pytest.mark.both_databases
@pytest.mark.parametrize("has_key", [False, True])
async def test_the_turns_of_a_request_are_of_its_class(
    flagstaff: Flagstaff, ada: Caller, environment: Json, has_key: bool
) -> None:
    flag = await ada.create_flag(environment)
    project = f"/api/projects/{flag['project_id']}"
    other = await ada.create_environment({"id": flag["project_id"]}, key="other")
    copy = {"from": environment["id"], "to": other["id"], "flag_keys": [flag["key"]]}
    disable = {"flags": [flag["id"]], "action": "disable"}
    for name, path, body in (
        ("kill", f"{flag_path(flag)}/toggle", None),
        ("kill", f"{environment_path(environment)}/bulk-actions", disable),
        ("long", f"{project}/copy", copy),
        ("short", f"{flag_path(flag)}/archive", None),
    ):
        before = _count_turns(flagstaff)
        response = await ada.post(path, json=body, headers={"Idempotency-Key": path} if has_key else {})
        assert response.status_code < 300, response.text
        after = _count_turns(flagstaff)
        assert after[name] > before[name]
        assert {each for each in after if after[each] > before[each]} <= {name, "short"}  # the server's own are short


def _count_turns(flagstaff: Flagstaff) -> dict[str, float]:
    text = flagstaff.foundation.metrics.render()[0].decode()
    lines = [each for each in text.splitlines() if each.startswith("flagstaff_write_turn_seconds_count")]
    counts = {each.partition('"')[2].partition('"')[0]: float(each.split()[-1]) for each in lines}
    return {"kill": 0.0, "short": 0.0, "long": 0.0} | counts
