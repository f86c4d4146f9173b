"""Every operation by everyone: the table of permissions decides, so an operation without a check fails here.

Expected statuses are generated from the OpenAPI document and the table.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.assembly.openapi import ALSO, PERMISSION, PLACE
from flagstaff.database import tables
from flagstaff.database.revisions_store import find_project_revision
from flagstaff.history.store.request_metrics import add_measured
from flagstaff.http.revisions import REVISION
from flagstaff.metrics.request_metrics import WHOLE, Measured, RequestKind, Sample
from flagstaff.permissions.members import Role
from flagstaff.permissions.permissions import PERMISSIONS, Permission
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, created, flag_path
from tests.support.description import STREAMS, described
from tests.support.members import join
from tests.support.sessions import PASSWORD
from tests.web.conftest import Call, SignUp

Operation = tuple[str, str, Json]

# These are about two environments, so a token for one is not enough.
IN_TWO = ("copy_flags", "compare_environments")

CHANGE_COMMENTS = "/api/projects/{project_id}/changes/{change_id}/comments"  # which outlive all but the project
_FLAG = {"name": "Another", "key": "another"}
_USER = {"user_id": "of-nobody"}
# The body for each operation that has one.
BODIES: dict[str, Json] = {
    "update_project": {"name": "Renamed"},
    "update_project_security": {"demands_second_factor": False},
    "create_environment": {"name": "Canary", "key": "canary"},
    "update_environment": {"name": "Renamed"},
    "create_segment": {"name": "Another", "key": "another", "conditions": []},
    "update_segment": {"name": "Renamed"},
    "create_flag": _FLAG,
    "update_flag": {"name": "Renamed"},
    "create_rule": {"rule_type": "user_id", "rule_value": "eve"},
    "update_rule": {"priority": 1},
    "update_member": {"role": "viewer"},
    "preview_impact": {"flag": {"name": "New checkout", "key": "new-checkout"}},
    "find_causes": {
        "results": [
            {
                "flag_key": "new-checkout",
                "before_evaluation_id": "01a21f4e-f430-731a-8000-000000010000",
                "after_evaluation_id": "01a21f4e-f515-716d-8000-000000020000",
            }
        ]
    },
    "explain": {"context": {"user_id": "ada"}},
    "list_answers": {"context": {"user_id": "ada"}},
    "create_token": {"name": "Deployments", "permissions": ["project:read"], "current_password": PASSWORD},
    "create_sdk_key": {"name": "Checkout service", "environment": "production", "kind": "server"},
    "update_sdk_key": {"name": "Payments service"},
    "restore_change": {"dry_run": False},
    "create_view": {"name": "Another", "search": {}},
    "update_view": {"name": "Renamed"},
    "update_pinned_chart": {"name": "Renamed"},
    "create_webhook": {"url": "https://hooks.invalid/", "events": ["*"], "enabled": False},
    "update_webhook": {"description": "The deploy bot"},
    "repeat_webhook_deliveries": {"from": "2026-11-20T10:00:00Z", "to": "2026-11-21T10:00:00Z"},
    "preview_webhook": {"events": ["*"]},
    "update_notifications": {"owned": False},
    "create_subscription": {"tag": "beta"},
    "create_flag_comment": {"text": "Why?"},
    "create_release_comment": {"text": "Why now?"},
    "create_change_comment": {"text": "Why then?"},
    "update_comment": {"text": "Because."},
    "create_invitation": {"email": "bob@example.com", "role": "viewer"},
    "preview_erasure": _USER,
    "export_user": _USER,
    "create_metric": {"key": "another", "name": "Another", "kind": "binary", "better": "down"},
    "update_metric": {"name": "Renamed"},
    "create_release": {"steps": [{"after_seconds": 3600, "changes": {"enabled": True}}]},
    "preview_release_outlook": {"steps": [{"after_seconds": 3600, "changes": {"enabled": True}}]},
}
# These are for the author of the comment, or for the account that has subscribed.
OF_OWN = {"update_comment": "comment_id", "delete_comment": "comment_id", "delete_subscription": "subscription_id"}
# Of a flag that has no release yet.
OF_SPARE_FLAG = ("create_release",)


def operations() -> list[Operation]:
    """Return the operations on a project: deletions come last, and contents before their containers."""
    found = [
        (method, path, operation)
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if "{project_id}" in path and operation["operationId"] not in STREAMS
    ]
    return sorted(found, key=_place_in_order)


def _place_in_order(operation: Operation) -> tuple[bool, int, bool]:
    method, path, _ = operation
    return method == "delete", -path.count("/") if method == "delete" else 0, path.endswith("{env_id}")


def success_of(operation: Json) -> int:
    (status,) = (int(each) for each in operation["responses"] if each < "300")
    return status


def is_in_production(operation: Json) -> bool:
    """Return whether an operation needs its permissions only in the environment `production`.

    All resources of the tests are in that environment.
    """
    return bool(operation[PLACE] == "environment")


def expected_of(operation: Json, role: Role, own: Role | None) -> int:
    """Return the status for a member with a role in the project and, if given, a separate one in `production`."""
    needed = {operation[PERMISSION], *operation.get(ALSO, ())}
    allowed = [needed <= PERMISSIONS[each] for each in (role, own or role)]
    if operation[PLACE] == "any environment":
        return success_of(operation) if any(allowed) else 403
    return success_of(operation) if all(allowed[1:] if is_in_production(operation) else allowed) else 403


class Place:
    """A project with one of every resource in `production`, created by its owner."""

    def __init__(self, owner: Caller, ids: Json, sdk_key: str) -> None:
        self.owner = owner
        self.ids = ids
        self.sdk_key = sdk_key
        self.made_environments: list[str] = []

    async def call(self, caller: Caller, operation: Operation, **more: Any) -> Any:
        """Execute an operation; `more` is part of the request."""
        method, path, description = operation
        name = description["operationId"]
        production, staging = self.ids["env_id"], self.ids["other_id"]
        own = {
            "erase_user": {**_USER, "confirmation": self.ids["confirmation"]},
            "restore_changes": {"changes": [self.ids["other_change_id"]]},
            "create_flags": {"name": "Third", "key": "third", "environments": [production]},
            "change_flags": {"flags": [self.ids["flag_id"]], "action": "add_tags", "tags": ["beta"]},
            "answer_users": {"environment_ids": [production], "flag_keys": ["new-checkout"], "users": [{}]},
            "schedule_flags": {
                "at": format_moment(datetime.now(UTC) + timedelta(days=1)),
                "flags": [{"flag_id": self.ids["third_id"], "changes": {"enabled": True}}],
            },
            "create_pinned_chart": {"name": "Another", "environment_id": production},
            "copy_flags": {"from": staging, "to": production, "flag_keys": ["new-checkout"], "parts": ["details"]},
            "order_environments": {"environment_ids": [*self.made_environments, staging, production]},
        }
        body = BODIES.get(name, own.get(name))
        assert "requestBody" not in description or body, f"add a body for {name} to BODIES"
        queries = {
            "compare_environments": {"from": staging, "to": production},
            "list_answer_changes": {"user_id": "ada"},
            "chart_request_metric": {"name": "orders"},
        }
        ids = {**self.ids, "flag_id": self.ids["spare_id"]} if name in OF_SPARE_FLAG else self.ids
        if name in OF_OWN:
            ids = {**ids, OF_OWN[name]: await self._make_own(caller, OF_OWN[name])}
        answer = await caller.request(method.upper(), path.format(**ids), json=body, params=queries.get(name), **more)
        if name == "create_environment" and answer.is_success:
            self.made_environments.append(answer.json()["id"])
        return answer

    async def _make_own(self, caller: Caller, name: str) -> str:
        """Return the id of a caller's new comment or subscription, or of the owner's if the caller may create none."""
        kind, body = name.removesuffix("_id"), {"text": "Mine."} if name == "comment_id" else {"tag": "mine"}
        place = CHANGE_COMMENTS if kind == "comment" else "/api/projects/{project_id}/subscriptions"
        made = await caller.post(place.format(**self.ids), json=body)
        own: str = made.json()["id"] if made.status_code == 201 else self.ids[name]
        return own


async def make_place(flagstaff: Flagstaff, owner: Caller, other: Caller) -> Place:
    project = await owner.create_project()
    flag = await owner.create_flag(await owner.get_environment(project))
    other_flag = await owner.create_flag(await owner.get_environment(project, "staging"), description="Elsewhere.")
    rule, segment = await owner.create_rule(flag), await owner.create_segment(project)
    await join(flagstaff, project, other, "editor")
    invited = await owner.post(
        f"/api/projects/{project['id']}/invitations", json={"email": "linus@example.com", "role": "viewer"}
    )
    issued = await owner.post(f"/api/projects/{project['id']}/tokens", json=BODIES["create_token"])
    key = await owner.post(f"/api/projects/{project['id']}/sdk-keys", json=BODIES["create_sdk_key"])
    view = await owner.post(f"/api/projects/{project['id']}/views", json={"name": "Beta", "search": {}})
    chart_body = {"name": "Checkout", "environment_id": flag["environment_id"]}
    chart = await owner.post(f"/api/projects/{project['id']}/pinned-charts", json=chart_body)
    webhook = await owner.post(f"/api/projects/{project['id']}/webhooks", json=BODIES["create_webhook"])
    async with flagstaff.database.transaction() as transaction:
        values = {"webhook_id": UUID(webhook.json()["id"]), "state": "failed", "created_at": flagstaff.foundation.now()}
        sent = await transaction.connection.execute(tables.webhook_deliveries.insert().values(values))
    metric_body = {"key": "errors", "name": "Errors", "kind": "binary", "better": "down"}
    metric = await owner.post(f"/api/projects/{project['id']}/metrics", json=metric_body)
    production = await owner.get_environment(project)
    spare, third = [await owner.create_flag(production, key=key, name=key) for key in ("spare", "third-flag")]
    release = await owner.post(f"{flag_path(flag)}/releases", json=BODIES["create_release"])
    subscription = await owner.post(f"/api/projects/{project['id']}/subscriptions", json={"tag": "payments"})
    changed = await owner.put(flag_path(flag), json={"description": "Two steps."})
    changed_too = await owner.put(flag_path(third), json={"description": "Three steps."})
    of_change = f"/api/projects/{project['id']}/changes/{changed.headers['flagstaff-change']}/comments"
    comment = await owner.post(of_change, json={"text": "Two steps?"})
    erasures = f"/api/projects/{project['id']}/erasures"
    confirmation = (await owner.post(f"{erasures}/preview", json=_USER)).json()["confirmation"]
    erasure = await owner.post(erasures, json={**_USER, "confirmation": confirmation})
    confirmation = (await owner.post(f"{erasures}/preview", json=_USER)).json()["confirmation"]
    recorded = await record_evaluation(flagstaff, owner, project["sdk_key"], flag)
    measured = Measured("orders", RequestKind.COUNTER, "Orders", (), (Sample(WHOLE, 1.0, 1),))
    async with flagstaff.database.write_history() as connection:
        await add_measured(connection, UUID(flag["environment_id"]), [measured], flagstaff.foundation.now(), 1)
    assert sent.inserted_primary_key is not None
    ids = {
        "erasure_id": erasure.json()["id"],
        "confirmation": confirmation,
        "evaluation_id": recorded["id"],
        "webhook_id": webhook.json()["id"],
        "delivery_id": str(sent.inserted_primary_key[0]),
        "change_id": changed.headers["flagstaff-change"],
        "other_change_id": changed_too.headers["flagstaff-change"],
        "project_id": project["id"],
        "env_id": flag["environment_id"],
        "other_id": other_flag["environment_id"],
        "flag_id": flag["id"],
        "rule_id": rule["id"],
        "metric_id": created(metric)["id"],
        "release_id": created(release)["id"],
        "spare_id": spare["id"],
        "third_id": third["id"],
        "segment_id": segment["id"],
        "view_id": created(view)["id"],
        "chart_id": created(chart)["id"],
        "flag_key": flag["key"],
        "account_id": other.account["id"],
        "invitation_id": created(invited)["id"],
        "token_id": created(issued)["id"],
        "key_id": created(key)["id"],
        "comment_id": created(comment)["id"],
        "subscription_id": created(subscription)["id"],
    }
    return Place(owner, ids, project["sdk_key"])


async def record_evaluation(flagstaff: Flagstaff, owner: Caller, sdk_key: str, flag: Json) -> Json:
    """Evaluate the flags of `production`, and return the record."""
    assert (await owner.evaluate(sdk_key)).status_code == 200
    async with asyncio.timeout(20):
        while flagstaff.history.recorder.waiting:
            await asyncio.sleep(0.01)
    found = await owner.get(f"{flag_path(flag)}/evaluations")
    record: Json = found.json()["items"][0]
    return record


@pytest.fixture
async def place(flagstaff: Flagstaff, ada: Caller, sign_up: SignUp) -> Place:
    """Ada's project, of which Grace is a member."""
    return await make_place(flagstaff, ada, await sign_up("grace"))


def test_every_operation_on_a_project_asks_for_a_permission_and_says_so() -> None:
    for _, path, operation in operations():
        assert operation[PERMISSION] in set(Permission), path
        assert {"401", "403", "404"} <= operation["responses"].keys(), path
        assert f"`{operation[PERMISSION]}`" in operation["description"]


def test_no_other_operation_asks_for_one() -> None:
    for path, methods in described()["paths"].items():
        if "{project_id}" not in path:
            assert not any(PERMISSION in operation for operation in methods.values()), path


@pytest.mark.both_databases
async def test_every_write_that_moves_what_is_evaluated_says_to_which_revision(
    flagstaff: Flagstaff, ada: Caller, place: Place
) -> None:
    project_id = UUID(place.ids["project_id"])

    async def committed() -> int | None:
        async with flagstaff.database.read() as connection:
            return await find_project_revision(connection, project_id)

    moved = set()
    for operation in operations():
        method, path, description = operation
        before = await committed()
        answer = await place.call(ada, operation)
        after = await committed()
        name, said = description["operationId"], answer.headers.get("flagstaff-revision")
        assert answer.status_code == success_of(description), (name, answer.text)
        assert said in (None, str(after)), name
        if after == before:
            continue
        moved.add(name)
        assert said is not None or after is None, name
        assert "flagstaff-change" in answer.headers, name
        assert REVISION in description["responses"][str(answer.status_code)]["headers"], path
        assert method != "get", path
    assert {"create_sdk_key", "revoke_sdk_key", "regenerate_key", "toggle_flag", "delete_project"} <= moved


async def test_without_a_token_nothing_is_answered(client: Caller, place: Place) -> None:
    for operation in operations():
        assert (await place.call(client, operation)).status_code == 401, operation[1]


async def test_whoever_is_no_member_finds_nothing_with_a_project_of_their_own_or_without(
    flagstaff: Flagstaff, eve: Caller, place: Place, sign_up: SignUp
) -> None:
    for caller in (eve, await sign_up("bob")):
        for operation in operations():
            assert (await place.call(caller, operation)).status_code == 404, operation[1]
        await make_place(flagstaff, eve, await sign_up(f"of-{caller.account['id'][-6:]}"))


async def test_a_member_of_other_projects_finds_nothing_here_whatever_the_roles_there(
    flagstaff: Flagstaff, eve: Caller, place: Place, sign_up: SignUp
) -> None:
    owner = await sign_up("bob")
    for role in Role:
        await join(flagstaff, await owner.create_project(), eve, role)
    for operation in operations():
        assert (await place.call(eve, operation)).status_code == 404, operation[1]


@pytest.mark.parametrize("own", [None, Role.VIEWER, Role.EDITOR, Role.ADMIN], ids=lambda own: f"there-{own}")
@pytest.mark.parametrize("role", Role)
async def test_a_member_may_do_what_the_table_says(
    flagstaff: Flagstaff, eve: Caller, place: Place, role: Role, own: Role | None
) -> None:
    if role is Role.OWNER and own:
        pytest.skip("an owner's role holds everywhere")
    await join(flagstaff, {"id": place.ids["project_id"]}, eve, role, {"production": own} if own else {})
    for operation in operations():
        answer = await place.call(eve, operation)
        expected = expected_of(operation[2], role, own)
        assert answer.status_code == expected, (operation[0], operation[1], answer.text)
        if expected == 403:
            assert answer.json()["permission"] == operation[2][PERMISSION]


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.ADMIN])
async def test_roles_in_other_environments_give_and_take_nothing_here(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, place: Place, role: Role
) -> None:
    project = {"id": place.ids["project_id"]}
    elsewhere: dict[str, str] = {"staging": Role.VIEWER, "tests": Role.EDITOR, "demo": Role.ADMIN}
    for key in ("tests", "demo"):
        await ada.create_environment(project, key=key)
    await join(flagstaff, project, eve, role, elsewhere)
    for operation in operations():
        if is_in_production(operation[2]):
            answer = await place.call(eve, operation)
            assert answer.status_code == expected_of(operation[2], role, None), operation[1]


NOT_BY_TOKENS = "create_token"
ONLY_PEOPLE = {"update_notifications", "create_subscription", "delete_subscription"}
"""Operations about what a person is mailed, which access tokens never carry out."""


def operations_of_tokens() -> list[Operation]:
    """Return the operations that accept access tokens."""
    return [each for each in operations() if each[2]["operationId"] not in ONLY_PEOPLE]


async def test_no_access_token_carries_out_what_is_for_people_only(place: Place, ada: Caller) -> None:
    machine = await issue(ada, list(Permission))
    found = [each for each in operations() if each[2]["operationId"] in ONLY_PEOPLE]
    assert len(found) == len(ONLY_PEOPLE)
    for operation in found:
        answer = await place.call(machine, operation)
        assert (answer.status_code, "Log in" in answer.json()["detail"]) == (403, True), operation[1]


async def make_token(caller: Caller, permissions: Iterable[str], **values: Any) -> str:
    """Return a new personal access token."""
    body = {"name": "Deployments", "permissions": sorted(permissions), "current_password": PASSWORD, **values}
    token: str = created(await caller.post("/api/me/tokens", json=body))["token"]
    return token


async def issue(caller: Caller, permissions: Iterable[str], **values: Any) -> Caller:
    """Return the same caller with a personal access token."""
    caller.headers["authorization"] = f"Bearer {await make_token(caller, permissions, **values)}"
    return caller


async def test_an_access_token_needs_each_permission_of_an_operation_and_no_other(
    place: Place, ada: Caller, call_from: Call
) -> None:
    machines: dict[frozenset[str], Caller] = {}

    async def with_permissions(permissions: set[str]) -> Caller:
        key = frozenset(permissions)
        if key not in machines:
            machines[key] = call_from("192.0.2.1")
            machines[key].headers["authorization"] = f"Bearer {await make_token(ada, permissions)}"
        return machines[key]

    for operation in operations_of_tokens():
        description = operation[2]
        needed = {description[PERMISSION], *description.get(ALSO, ())}
        for permission in needed:
            answer = await place.call(await with_permissions({*Permission} - {permission}), operation)
            assert answer.status_code == 403, (operation[1], permission, answer.text)
            assert answer.json()["permission"] == permission, operation[1]
        answer = await place.call(await with_permissions(needed), operation)
        expected = 403 if description["operationId"] == NOT_BY_TOKENS else success_of(description)
        assert answer.status_code == expected, (operation[1], needed, answer.text)


@pytest.mark.parametrize("role", Role)
async def test_an_access_token_may_do_no_more_than_the_role_of_its_account(
    flagstaff: Flagstaff, eve: Caller, place: Place, role: Role
) -> None:
    machine = await issue(eve, list(Permission))
    await join(flagstaff, {"id": place.ids["project_id"]}, eve, role)
    for operation in operations_of_tokens():
        expected = expected_of(operation[2], role, None)
        if operation[2]["operationId"] == NOT_BY_TOKENS:
            expected = 403
        answer = await place.call(machine, operation)
        assert answer.status_code == expected, (operation[1], answer.text)


@pytest.mark.parametrize("environment", ["production", "staging"])
async def test_an_access_token_for_an_environment_may_do_nothing_in_others_and_read_the_project(
    place: Place, ada: Caller, environment: str
) -> None:
    project = {"id": place.ids["project_id"]}
    there = await ada.get_environment(project, environment)
    spare = await ada.create_environment(project, key="spare")  # remains when the other one is deleted
    machine = await issue(ada, list(Permission), environments=[there["id"], spare["id"]])
    for operation in operations_of_tokens():
        is_there = is_in_production(operation[2]) and environment == "production"
        is_everywhere = operation[2][PLACE] == "any environment"
        is_there = is_there and operation[2]["operationId"] not in IN_TWO
        is_allowed = is_there or is_everywhere or operation[2][PERMISSION] == Permission.PROJECT_READ
        answer = await place.call(machine, operation)
        assert answer.status_code == (success_of(operation[2]) if is_allowed else 403), (operation[1], answer.text)


async def test_an_access_token_for_another_project_finds_nothing(place: Place, ada: Caller, client: Caller) -> None:
    other = await ada.create_project()
    body = {"name": "Deployments", "permissions": list(Permission), "current_password": PASSWORD}
    issued = created(await ada.post(f"/api/projects/{other['id']}/tokens", json=body))
    client.headers["authorization"] = f"Bearer {issued['token']}"
    for operation in operations_of_tokens():
        assert (await place.call(client, operation)).status_code == 404, operation[1]
