"""Every operation that changes a resource honours If-Match, and every response that consists of one has its ETag."""

from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.administration import account_path
from tests.support.api import Caller, Json
from tests.support.description import described
from tests.support.sessions import PASSWORD
from tests.web.conftest import ListChanges, SignUp
from tests.web.test_matrix import Operation, Place, make_place, operations

ANOTHER = {"if-match": '"1999-12-31T00:00:00.000000Z"'}

# They end or begin something, or belong to one account, and no two people can edit it against each other.
EDIT_NOTHING = {
    "end_session",
    "end_account_session",
    "add_favourite",
    "remove_favourite",
    "remove_passkey",
    "update_notifications",
}
# Their bodies say of what state they are meant for: `if_unchanged`.
OF_SEVERAL = {"copy_flags", "restore_change", "change_flags"}
# Not by their ids: POSTs that create, ask, log in or concern the own account.
ACTIONS = {"toggle_flag", "archive_flag", "unarchive_flag", "regenerate_key", "send_invitation"}
# Resources without an `id` in their representation.
OTHERS = {"MemberOut", "SecurityOut", "InstanceSettingsOut"}
# Records, and parts of larger things, which nobody edits.
RECORDS = {"get_my_account", "get_evaluation", "register", "get_own_account"}
RECORDS |= {f"{verb}_{kind}" for verb in ("test", "repeat") for kind in ("webhook", "instance_webhook")}
RECORDS |= {f"{verb}_{kind}_delivery" for verb in ("get", "repeat") for kind in ("webhook", "instance_webhook")}


def management() -> list[Operation]:
    """All operations under /api."""
    return [
        (method, path, operation)
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/")
    ]


def takes_tag(operation: Json) -> bool:
    return any(each["name"] == "If-Match" for each in operation.get("parameters", ()))


def shown(operation: Json) -> tuple[str, Json, Json]:
    """The name of the schema of a success, the schema, and the response."""
    (success,) = (answer for status, answer in operation["responses"].items() if status < "300")
    schema = success.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").rpartition("/")[2]
    return name, described()["components"]["schemas"].get(name, {}), success


def test_every_operation_that_changes_a_resource_takes_if_match() -> None:
    for method, path, operation in management():
        name = operation["operationId"]
        changes_one = (method in ("put", "delete") and name not in EDIT_NOTHING) or name in ACTIONS
        assert takes_tag(operation) is changes_one, (method, path, name)
        assert ("412" in operation["responses"]) is changes_one, (method, path)


def test_every_response_that_consists_of_a_resource_declares_its_tag() -> None:
    for method, path, operation in management():
        name, schema, success = shown(operation)
        is_one = ("id" in schema.get("properties", {}) or name in OTHERS) and operation["operationId"] not in RECORDS
        assert ("ETag" in success.get("headers", {})) is is_one, (method, path, name)


@pytest.fixture
async def place(flagstaff: Flagstaff, ada: Caller, sign_up: SignUp) -> Place:
    """Ada's project with one of everything, of which Grace is a member."""
    return await make_place(flagstaff, ada, await sign_up("grace"))


async def call(place: Place, operation: Operation, tag: dict[str, str]) -> httpx.Response:
    """Carry out an operation as the owner, with a precondition."""
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
    order.sort(key=lambda each: each[2]["operationId"] == "archive_flag")  # what else changes a flag comes before
    order.sort(key=lambda each: each[2]["operationId"] == "unarchive_flag")
    order.sort(key=lambda each: each[0] == "delete")  # in the order of `operations`
    by_ada = {name: ada.account[name] for name in ("id", "email")}

    async def list_own() -> list[dict[str, Any]]:
        return [each for each in await list_changes() if each["release"] is None]  # a release goes on meanwhile

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
            assert tag == f'"{current["updated_at"]}"'
        if "{account_id}" not in path:  # Grace has joined without a trail
            assert problem["changed_by"] == {**by_ada, "token": None, "release": None}
            assert problem["changed_at"] is not None

        done = await call(place, (method, path, operation), {"if-match": tag})

        assert done.status_code < 300, (method, path, done.text)
        if method != "delete":
            assert done.headers["etag"].startswith('"')


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


async def test_a_personal_token_is_revoked_only_in_the_state_that_is_demanded(ada: Caller) -> None:
    body = {"name": "Laptop", "permissions": ["project:read"], "current_password": PASSWORD}
    made = await ada.post("/api/me/tokens", json=body)
    path = f"/api/me/tokens/{made.json()['id']}"
    refused = await ada.delete(path, headers=ANOTHER)
    assert (refused.status_code, refused.headers["etag"]) == (412, made.headers["etag"])
    assert (await ada.delete(path, headers={"if-match": made.headers["etag"]})).status_code == 204
