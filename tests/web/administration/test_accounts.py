"""/api/admin/accounts: who may administer accounts, and the effects of deactivation."""

from contextlib import AsyncExitStack
from uuid import uuid4

import jwt
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.values.errors import Code, Error
from tests.support import tokens
from tests.support.administration import account_path, change
from tests.support.api import NO_IDS, Caller, Json, created, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.description import described
from tests.support.mailbox import newest_to, reset_token
from tests.support.sessions import PASSWORD, log_in
from tests.support.two_factor import enrol
from tests.web.conftest import ReadMails, SignUp

PATH = "/api/admin/accounts"
# The body for each operation that has one.
BODIES: dict[str, Json] = {
    "update_account": {"administrator": True},
    "join_project": {"project_id": str(uuid4()), "role": "viewer"},
    "delete_trail": {"name": "Shop"},
    "update_settings": {"registration": "closed"},
    "create_instance_webhook": {"url": "https://hooks.invalid/", "events": ["*"]},
    "preview_instance_webhook": {"events": ["*"]},
    "update_instance_webhook": {"enabled": False},
    "repeat_instance_webhook_deliveries": {"from": "2026-11-20T10:00:00Z", "to": "2026-11-21T10:00:00Z"},
}


def operations() -> list[tuple[str, str, Json | None]]:
    """Every operation under `/api/admin`, as documented, with its body."""
    return [
        (method, path, BODIES[operation["operationId"]] if "requestBody" in operation else None)
        for path, methods in described()["paths"].items()
        if path.startswith("/api/admin/")
        for method, operation in methods.items()
    ]


async def test_whoever_is_no_administrator_is_refused_everywhere(
    flagstaff: Flagstaff, callers: AsyncExitStack, root: Caller, eve: Caller, client: Caller
) -> None:
    machine = await tokens.issue(flagstaff, callers, "/api/me/tokens", root, "project:read")
    before = (await root.get("/api/admin/changes")).json()
    for method, path, body in operations():
        ids = {name: uuid4() for name in ("session_id", "webhook_id", "deleted_project_id")}
        target = path.format(account_id=root.account["id"], delivery_id="1", **ids)
        assert (await client.request(method.upper(), target, json=body)).status_code == 401, path
        for caller in (eve, machine):
            assert (await caller.request(method.upper(), target, json=body)).status_code == 403, path
    assert (await root.get("/api/admin/changes")).json() == before


async def test_unknown_accounts_and_sessions_are_not_found(root: Caller, eve: Caller) -> None:
    for account_id in (uuid4(), *NO_IDS):
        assert (await root.get(f"{PATH}/{account_id}")).status_code == 404
        assert (await root.put(f"{PATH}/{account_id}", json={"active": False})).status_code == 404
        assert (await root.delete(f"{account_path(eve)}/sessions/{account_id}")).status_code == 404
    (session,) = (await root.get(account_path(eve))).json()["sessions"]
    assert (await root.delete(f"{account_path(root)}/sessions/{session['id']}")).status_code == 404


async def test_an_invalid_change_is_refused_and_changes_nothing(root: Caller, eve: Caller) -> None:
    before = (await root.get(account_path(eve))).json()
    for body, field in (
        ({"active": "no"}, "active"),
        ({"active": None}, "active"),
        ({"active": 0}, "active"),
        ({"administrator": "yes", "active": False}, "administrator"),
        ({"admin": True}, "admin"),
        ({"email": "x@example.com", "active": False}, "email"),
    ):
        assert list(field_errors(await root.put(account_path(eve), json=body))) == [field], body
    assert (await root.get(account_path(eve))).json() == before


async def test_the_last_administrator_cannot_be_demoted_or_deactivated(
    flagstaff: Flagstaff, root: Caller, eve: Caller
) -> None:
    for values in ({"administrator": False}, {"active": False}, {"active": False, "administrator": False}):
        answer = await change(root, root, **values)
        assert answer.status_code == 409, values
        assert "the last administrator" in answer.json()["detail"]
    with pytest.raises(Error) as refusal:
        await flagstaff.identity.administrators.set_administrator(email="root@example.com", is_administrator=False)
    assert refusal.value.code is Code.CONFLICT
    await change(root, eve, administrator=True)
    await change(root, eve, active=False)
    assert (await change(root, root, active=False)).status_code == 409, "a deactivated administrator does not count"


@pytest.mark.both_databases
async def test_the_first_account_is_the_administrator_and_no_other(root: Caller, ada: Caller, eve: Caller) -> None:
    listed = (await root.get(PATH)).json()
    assert [(each["email"], each["administrator"]) for each in listed] == [
        ("eve@example.com", False),
        ("ada@example.com", False),
        ("root@example.com", True),
    ]
    assert listed[0] == {
        "id": eve.account["id"],
        "email": "eve@example.com",
        "administrator": False,
        "active": True,
        "deactivated_at": None,
        "second_factor": False,
        "last_seen_at": "2026-11-20T10:00:00.000000Z",
        "created_at": "2026-11-20T10:00:00.000000Z",
    }


@pytest.mark.both_databases
async def test_accounts_are_listed_in_parts_and_searched_by_email(root: Caller, sign_up: SignUp) -> None:
    for name in ("Grace", "grace.hopper", "100%", "a_b"):
        await sign_up(name)
    first = await root.get(f"{PATH}?limit=2")
    assert [each["email"] for each in first.json()] == ["a_b@example.com", "100%@example.com"]
    rest = await root.get(f"{PATH}{first.headers['link'].partition('>')[0][1:]}")
    assert [each["email"] for each in rest.json()] == ["grace.hopper@example.com", "Grace@example.com"]
    for search, found in (("GRACE", 2), ("grace.", 1), ("%25", 1), ("_", 1), ("\\", 0), ("@example", 5), ("' or 1", 0)):
        assert len((await root.get(PATH, params={"email": search.replace("%25", "%")})).json()) == found, search
    for query, field in (("limit=0", "limit"), ("cursor=x", "cursor"), ("mail=x", "mail"), ("email=%00", "email")):
        assert list(field_errors(await root.get(f"{PATH}?{query}"))) == [field]


@pytest.mark.both_databases
async def test_an_administrator_sees_the_sessions_and_projects_of_an_account_and_ends_sessions(
    flagstaff: Flagstaff, root: Caller, eve: Caller
) -> None:
    await eve.create_project()
    await log_in(flagstaff, email="eve@example.com", password=PASSWORD, device="Phone")
    found = (await root.get(account_path(eve))).json()
    assert (found["projects"], [each["device"] for each in found["sessions"]]) == (1, ["Phone", None])
    assert (found["tokens"], found["last_seen_at"]) == (0, "2026-11-20T10:00:00.000000Z")
    assert "current" not in found["sessions"][0]
    assert eve.token is not None
    session_id = jwt.decode(eve.token, options={"verify_signature": False})["sid"]
    assert (await root.delete(f"{account_path(eve)}/sessions/{session_id}")).status_code == 204
    assert (await eve.get("/api/me")).status_code == 401
    item = (await root.get("/api/admin/changes")).json()["items"][0]
    assert (item["action"], item["actor"]["email"]) == ("account.session_ended", "root@example.com")
    assert item["resource_id"] == eve.account["id"]


@pytest.mark.both_databases
async def test_a_deactivated_account_is_out_at_once_and_its_projects_stay(
    flagstaff: Flagstaff, callers: AsyncExitStack, root: Caller, eve: Caller, client: Caller
) -> None:
    project = await eve.create_project()
    flag = await eve.create_flag(await eve.get_environment(project))
    machines = [
        await tokens.issue(flagstaff, callers, path, eve, "flags:read")
        for path in ("/api/me/tokens", f"{project_path(project)}/tokens")
    ]
    credentials = {"email": "eve@example.com", "password": PASSWORD}

    assert (await root.get(account_path(eve))).json()["tokens"] == 2
    answer = await change(root, eve, active=False)

    assert (answer.json()["active"], answer.json()["deactivated_at"]) == (False, "2026-11-20T10:00:00.000000Z")
    for caller in (eve, *machines):
        assert (await caller.get(flag_path(flag))).status_code == 401
    refused = await client.post("/auth/login", json=credentials)
    assert (refused.status_code, "deactivated" in refused.json()["detail"]) == (403, True)
    wrong = await client.post("/auth/login", json={**credentials, "password": "wrong"})
    assert wrong.status_code == 401, "only who knows the password learns it"
    assert (await client.evaluate(project["sdk_key"])).json()["flags"]["new-checkout"]["enabled"] is True
    found = (await root.get(account_path(eve))).json()
    assert (found["sessions"], found["tokens"], found["last_seen_at"]) == ([], 0, None)
    assert (await change(root, eve, active=True)).json()["deactivated_at"] is None
    for caller in (eve, *machines):
        assert (await caller.get(flag_path(flag))).status_code == 401, "what has ended does not return"
    token = (await client.post("/auth/login", json=credentials)).json()["token"]
    assert (await client.get(flag_path(flag), headers={"authorization": f"Bearer {token}"})).status_code == 200


@pytest.mark.both_databases
async def test_an_invitation_of_a_deactivated_account_ends(
    flagstaff: Flagstaff, root: Caller, eve: Caller, ada: Caller, read_mails: ReadMails
) -> None:
    path = f"{project_path(await eve.create_project())}/invitations"
    created(await eve.post(path, json={"email": "ada@example.com", "role": "viewer"}))
    token = reset_token(newest_to(await read_mails(), "invitation"), "invitation")
    await change(root, eve, active=False)
    assert list(field_errors(await ada.post("/api/invitations/accept", json={"token": token}))) == ["token"]
    await change(root, eve, active=True)
    assert (await ada.post("/api/invitations/accept", json={"token": token})).status_code == 200


@pytest.mark.both_databases
async def test_a_promoted_account_may_administer_until_it_is_demoted(root: Caller, eve: Caller) -> None:
    for is_administrator, status in ((True, 200), (False, 403)):
        answer = await change(root, eve, administrator=is_administrator)
        assert answer.json()["administrator"] is is_administrator
        assert (await eve.get(PATH)).status_code == status


async def test_every_change_is_recorded_once_and_equal_values_change_nothing(root: Caller, eve: Caller) -> None:
    for values in ({"administrator": True}, {"active": False}, {"active": True}, {"administrator": False}):
        assert (await change(root, eve, **values)).status_code == 200
        assert (await change(root, eve, **values)).status_code == 200
    items = (await root.get("/api/admin/changes")).json()["items"][:4]
    assert [each["action"] for each in items] == [
        "account.demoted",
        "account.reactivated",
        "account.deactivated",
        "account.promoted",
    ]
    assert {(each["actor"]["email"], each["resource_id"]) for each in items} == {
        ("root@example.com", eve.account["id"])
    }
    assert (items[0]["before"]["is_administrator"], items[0]["after"]["is_administrator"]) == (True, False)
    assert "password_hash" not in repr(items)


@pytest.mark.both_databases
async def test_everyone_sees_their_own_account_and_whether_it_is_an_administrator(root: Caller, eve: Caller) -> None:
    for caller, is_administrator in ((root, True), (eve, False)):
        assert (await caller.get("/api/me/account")).json() == {
            **caller.account,
            "administrator": is_administrator,
            "email_verified": True,
            "created_at": "2026-11-20T10:00:00.000000Z",
        }
    await change(root, eve, administrator=True)
    assert (await eve.get("/api/me/account")).json()["administrator"] is True


@pytest.mark.both_databases
async def test_an_account_with_a_second_factor_is_listed_as_one(root: Caller, eve: Caller, clock: Clock) -> None:
    await enrol(eve, clock)
    assert [each["second_factor"] for each in (await root.get(PATH)).json()] == [True, False]
    assert (await root.get(account_path(eve))).json()["second_factor"] is True
