"""Every operation that changes a resource honours If-Match, and every response with one resource has its ETag.

The other operations that write refuse If-Match.
"""

import re
from typing import Any

import httpx
import pytest

from flagstaff.assembly.api import create_api
from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.administration import account_path
from tests.support.api import Caller, Json, field_errors
from tests.support.description import described
from tests.support.operations import list_operations
from tests.support.sessions import PASSWORD
from tests.web.conftest import ListChanges, SignUp
from tests.web.test_matrix import Operation, Place, make_place, operations

UNKNOWN = "01a21f4e-f430-731a-8000-000000010000"
ANOTHER = {"if-match": '"1999-12-31T00:00:00.000000Z"'}

# These end or start something, or belong to one account, so two people cannot edit it at the same time.
EDIT_NOTHING = {
    "end_session",
    "end_other_sessions",
    "delete_subscription",
    "end_account_session",
    "add_favourite",
    "remove_favourite",
    "remove_passkey",
}
# These create, repeat or log in, are about several resources, or concern the own account.
NOT_ON_ONE = {
    "accept_invitation",
    "begin_passkey",
    "begin_totp",
    "change_flags",
    "change_password",
    "confirm_totp",
    "copy_flags",
    "delete_own_account",
    "delete_trail",
    "disable_totp",
    "erase_user",
    "join_project",
    "register_passkey",
    "request_email_verification",
    "remove_passkey",
    "renew_recovery_codes",
    "restore_change",
    "restore_changes",
    "schedule_flags",
    "verify_email",
    *(f"{verb}_{kind}" for verb in ("test", "repeat") for kind in ("webhook", "instance_webhook")),
    *(f"repeat_{kind}_{what}" for kind in ("webhook", "instance_webhook") for what in ("delivery", "deliveries")),
}
# Resources without an `id` in their representation.
OTHERS = {"EnvironmentOrderOut", "MemberOut", "SecurityOut", "InstanceSettingsOut", "NotificationsOut"}
# They are not in the audit trail.
WITHOUT_TRAIL = ("update_notifications", "update_comment", "delete_comment")
# Records, and parts of larger resources, which nobody edits.
RECORDS = {
    "get_my_account",
    "get_evaluation",
    "register",
    "get_own_account",
    "erase_user",
    "get_erasure",
    "delete_trail",
}
RECORDS |= {f"{verb}_{kind}" for verb in ("test", "repeat") for kind in ("webhook", "instance_webhook")}
RECORDS |= {f"{verb}_{kind}_delivery" for verb in ("get", "repeat") for kind in ("webhook", "instance_webhook")}


def management() -> list[Operation]:
    """Return all operations under /api."""
    return [
        (method, path, operation)
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/")
    ]


def writing() -> list[Operation]:
    """Return the operations that write."""
    facts = {(method, path): operation for method, path, operation in list_operations(create_api().routes)}
    return [each for each in management() if not facts[each[0].upper(), each[1]].reads]


def changes_one(operation: Operation) -> bool:
    """Return whether an operation changes one existing resource: all do except those that are listed, and creations."""
    method, _, description = operation
    name = description["operationId"]
    if method in ("put", "delete"):
        return name not in EDIT_NOTHING
    return not name.startswith("create_") and name not in NOT_ON_ONE


def takes_tag(operation: Json) -> bool:
    return any(each["name"] == "If-Match" for each in operation.get("parameters", ()))


def shown(operation: Json) -> tuple[str, Json, Json]:
    """Return the name of the schema of a success, the schema, and the response."""
    (success,) = (answer for status, answer in operation["responses"].items() if status < "300")
    schema = success.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    return name, described()["components"]["schemas"].get(name, {}), success


def test_every_operation_that_changes_a_resource_takes_if_match() -> None:
    changing = [each for each in writing() if changes_one(each)]
    for each in management():
        method, path, operation = each
        assert takes_tag(operation) is (each in changing), (method, path, operation["operationId"])
        assert ("412" in operation["responses"]) is (each in changing), (method, path)


async def test_every_other_operation_that_changes_something_refuses_if_match(ada: Caller) -> None:
    others = [(method, path, operation) for method, path, operation in writing() if not takes_tag(operation)]
    assert len(others) > 30
    for method, path, operation in others:
        for given in (ANOTHER, {"if-match": "*"}):
            refused = await ada.request(method.upper(), re.sub("{.*?}", UNKNOWN, path), json={}, headers=given)
            assert field_errors(refused) == {"If-Match": "is not accepted here; send the request without it"}, path
        assert "400" in operation["responses"], path


async def test_a_request_without_a_token_is_refused_for_that_whatever_it_demands(client: Caller) -> None:
    assert (await client.post("/api/projects", json={"name": "Mine"}, headers=ANOTHER)).status_code == 401


def test_every_response_that_consists_of_a_resource_declares_its_tag() -> None:
    for method, path, operation in management():
        name, schema, success = shown(operation)
        is_one = ("id" in schema.get("properties", {}) or name in OTHERS) and operation["operationId"] not in RECORDS
        assert ("ETag" in success.get("headers", {})) is is_one, (method, path, name)


@pytest.fixture
async def place(flagstaff: Flagstaff, ada: Caller, sign_up: SignUp) -> Place:
    """Ada's project with one of every resource, of which Grace is a member."""
    return await make_place(flagstaff, ada, await sign_up("grace"))


async def call(place: Place, operation: Operation, tag: dict[str, str]) -> httpx.Response:
    """Execute an operation as the owner, with a precondition."""
    place.owner.headers.update(tag)
    try:
        answer: httpx.Response = await place.call(place.owner, operation)
        return answer
    finally:
        del place.owner.headers["if-match"]


async def test_every_change_in_a_project_is_made_only_to_the_state_that_it_demands(
    ada: Caller, place: Place, list_changes: ListChanges
) -> None:
    order = [each for each in operations() if takes_tag(each[2])]
    order.sort(key=lambda each: each[2]["operationId"] == "archive_flag")  # other changes of a flag come before
    order.sort(key=lambda each: each[2]["operationId"] == "unarchive_flag")
    order.sort(key=lambda each: each[0] == "delete")  # in the order of `operations`
    order.sort(key=lambda each: "{release_id}" not in each[1])  # a release pauses when its flag is toggled
    by_ada = {name: ada.account[name] for name in ("id", "email")}

    async def list_own() -> list[dict[str, Any]]:
        return [each for each in await list_changes() if each["release"] is None]  # a release continues meanwhile

    for method, path, operation in order:
        before = await list_own()

        refused = await call(place, (method, path, operation), ANOTHER)

        problem: dict[str, Any] = refused.json()
        assert refused.status_code == 412, (method, path, refused.text)
        assert problem["type"] == "urn:flagstaff:error:precondition_failed"
        assert problem["detail"].startswith("The ")
        assert await list_own() == before
        current, tag = problem["current"], refused.headers["etag"]
        if "get" in described()["paths"][path]:
            read = await ada.get(path.format(**place.ids))
            assert (read.json(), read.headers["etag"]) == (current, tag)
        if "updated_at" in current:
            assert tag.removeprefix("W/") == f'"{current["updated_at"]}"'  # compression marks it
        if "{account_id}" not in path and operation["operationId"] not in WITHOUT_TRAIL:
            assert problem["changed_by"] == {**by_ada, "token": None, "release": None}
            assert problem["changed_at"] is not None

        done = await call(place, (method, path, operation), {"if-match": tag})

        assert done.status_code < 300, (method, path, done.text)
        if method != "delete":
            assert done.headers["etag"].removeprefix("W/").startswith('"')


@pytest.mark.both_databases
async def test_an_account_and_the_configuration_are_changed_only_in_the_state_that_is_demanded(
    ada: Caller, eve: Caller
) -> None:
    for path, body in (
        (account_path(eve), {"active": False}),
        ("/api/admin/settings", {"registration": "closed"}),
    ):
        read = await ada.get(path)
        refused = await ada.put(path, json=body, headers=ANOTHER)
        assert refused.status_code == 412
        assert refused.json()["current"].items() <= read.json().items()
        assert refused.headers["etag"] == read.headers["etag"]
        assert (await ada.get(path)).json() == read.json()
        changed = await ada.put(path, json=body, headers={"if-match": read.headers["etag"]})
        assert changed.status_code == 200
        assert changed.headers["etag"] != read.headers["etag"]
        assert changed.headers["etag"] == (await ada.get(path)).headers["etag"]


@pytest.mark.both_databases
async def test_a_personal_token_is_revoked_only_in_the_state_that_is_demanded(ada: Caller) -> None:
    body = {"name": "Laptop", "permissions": ["project:read"], "current_password": PASSWORD}
    made = await ada.post("/api/me/tokens", json=body)
    path = f"/api/me/tokens/{made.json()['id']}"
    refused = await ada.delete(path, headers=ANOTHER)
    assert (refused.status_code, refused.headers["etag"]) == (412, made.headers["etag"])
    assert (await ada.delete(path, headers={"if-match": made.headers["etag"]})).status_code == 204
