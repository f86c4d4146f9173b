"""Access tokens: /api/me/tokens and /api/projects/{project_id}/tokens."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access_tokens.access_tokens import PATTERN, is_token, new_token
from tests.support import tokens
from tests.support.api import NO_IDS, Caller, Json, created, environment_path, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.members import join, member_path
from tests.support.sessions import PASSWORD, log_in
from tests.support.two_factor import enrol
from tests.web.conftest import Call, ListChanges, ReadMails, RequestReset

OWN = "/api/me/tokens"
BODY = {"name": "Deployments", "permissions": ["flags:read", "flags:toggle"], "current_password": PASSWORD}
ALL = list(Permission)

Issue = Callable[..., Awaitable[Caller]]


@pytest.fixture
def issue(flagstaff: Flagstaff, callers: AsyncExitStack) -> Issue:
    """Create a token at a path: `issue(path, maker, *permissions, **values)` returns a caller with it."""

    async def make(path: str, maker: Caller, *permissions: str, **values: Any) -> Caller:
        return await tokens.issue(flagstaff, callers, path, maker, *permissions, **values)

    return make


def of(project: Json) -> str:
    return f"{project_path(project)}/tokens"


MALFORMED: list[tuple[Json, dict[str, str]]] = [
    ({}, {"name": "is required", "permissions": "is required"}),
    ({"name": " ", "permissions": ["flags:read"]}, {"name": "must not be empty"}),
    ({"name": "x" * 256, "permissions": ["flags:read"]}, {"name": "must be at most 255 characters long"}),
    ({"name": "x", "permissions": []}, {"permissions": "must have at least one permission"}),
    ({"name": "x", "permissions": "flags:read"}, {"permissions": "must be a list"}),
    ({"name": "x", "permissions": ["flags:read"] * 2}, {"permissions": "must not have a permission twice"}),
    ({"name": "x", "permissions": ["x"] * 10_00}, {"permissions": f"must have at most {len(ALL)} items"}),
    ({**BODY, "environments": []}, {"environments": "must have at least one environment"}),
    ({**BODY, "environments": ["x"]}, {"environments.0": "must be a UUID"}),
    ({**BODY, "environments": [5]}, {"environments.0": "must be a UUID"}),
    ({**BODY, "expires": "never"}, {"expires": "is not a known field; did you mean expires_at?"}),
    ({**BODY, "expires_at": "2026-11-20T10:00:00Z"}, {"expires_at": "must be in the future"}),
    ({**BODY, "expires_at": "1999-01-01T00:00:00Z"}, {"expires_at": "must be in the future"}),
]


async def test_a_malformed_token_is_refused_at_its_field(ada: Caller, project: Json) -> None:
    for path in (OWN, of(project)):
        for body, errors in MALFORMED:
            assert field_errors(await ada.post(path, json=body)) == errors, body
        for permission in ("flags:fly", "", 5, None, ["flags:read"]):
            found = field_errors(await ada.post(path, json={**BODY, "permissions": ["flags:read", permission]}))
            assert found["permissions.1"].startswith("is not a permission; the permissions are project:read, ")
        for moment in ("tomorrow", "2027-01-32", 5, True, "3000-01-01T00:00:00Z"):
            found = field_errors(await ada.post(path, json={**BODY, "expires_at": moment}))
            assert found["expires_at"].startswith("must be a time with its offset from UTC"), moment
        assert (await ada.get(path)).json() == []


async def test_a_foreign_environment_is_refused_like_one_that_does_not_exist(
    ada: Caller, eve: Caller, project: Json
) -> None:
    theirs = await eve.get_environment(await eve.create_project())
    elsewhere = await ada.get_environment(await ada.create_project())
    message = {"environments.1": "must be the id of an environment that you can use here"}
    own = (await ada.get_environment(project))["id"]
    for path, ids in (
        (OWN, (theirs["id"], str(uuid4()))),
        (of(project), (theirs["id"], elsewhere["id"], str(uuid4()))),
    ):
        for each in ids:
            assert field_errors(await ada.post(path, json={**BODY, "environments": [own, each]})) == message
    created(await ada.post(OWN, json={**BODY, "environments": [own, elsewhere["id"]]}))


async def test_a_token_may_not_do_more_than_its_maker(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    staging = await ada.get_environment(project, "staging")
    await join(flagstaff, project, eve, "admin")
    refused = await eve.post(of(project), json={**BODY, "permissions": ["flags:read", "owners:write"]})
    assert (refused.status_code, refused.json()["permission"]) == (403, "owners:write")
    await join(flagstaff, project, eve, "editor")
    assert (await eve.post(of(project), json=BODY)).json()["permission"] == "tokens:write"
    await join(flagstaff, project, eve, "editor", {"staging": "viewer"})
    refused = await eve.post(OWN, json={**BODY, "environments": [staging["id"]]})
    assert (refused.status_code, refused.json()["permission"]) == (403, "flags:toggle")
    assert "in the environment staging" in refused.json()["detail"]
    for path, caller in ((of(project), ada), (OWN, eve)):
        assert (await caller.get(path)).json() == []


async def test_what_is_foreign_or_unknown_is_not_found(ada: Caller, eve: Caller, project: Json, issue: Issue) -> None:
    own, ours = await issue(OWN, ada, *ALL), await issue(of(project), ada, *ALL)
    for token_id in (own.account["id"], ours.account["id"], uuid4(), *NO_IDS):
        assert (await eve.delete(f"{OWN}/{token_id}")).status_code == 404
        assert (await eve.delete(f"{of(project)}/{token_id}")).status_code == 404
    assert (await ada.delete(f"{OWN}/{ours.account['id']}")).status_code == 404
    assert (await ada.delete(f"{of(project)}/{own.account['id']}")).status_code == 404
    assert [(await each.get("/api/me")).status_code for each in (own, ours)] == [200, 200]


async def test_a_token_that_was_never_issued_is_refused(client: Caller, ada: Caller, issue: Issue) -> None:
    real = (await issue(OWN, ada, *ALL)).token
    assert real is not None
    for text in (new_token(), "fst_", "fst_x", real[:-1], real + "0", real[:-1] + ("0" if real[-1] != "0" else "1")):
        answer = await client.get("/api/projects", headers={"authorization": f"Bearer {text}"})
        assert answer.status_code == 401, text
    assert (await client.post("/auth/logout", headers={"authorization": f"Bearer {real}"})).status_code == 401


async def test_a_token_acts_for_its_account_on_projects_only(ada: Caller, project: Json, issue: Issue) -> None:
    for machine in (await issue(OWN, ada, *ALL), await issue(of(project), ada, *ALL)):
        assert (await machine.get("/api/me")).json() == {"user_id": ada.account["id"]}
        change = {"current_password": PASSWORD, "new_password": "another fine password"}
        for method, path, body in (
            ("GET", "/api/me/sessions", None),
            ("DELETE", f"/api/me/sessions/{uuid4()}", None),
            ("GET", OWN, None),
            ("POST", OWN, BODY),
            ("DELETE", f"{OWN}/{machine.account['id']}", None),
            ("POST", "/api/me/password", change),
            ("GET", "/api/me/changes", None),
            ("POST", "/api/invitations/accept", {"token": "x"}),
        ):
            answer = await machine.request(method, path, json=body)
            assert answer.status_code == 403, path
            assert "Log in" in answer.json()["detail"]
        assert (await machine.post("/api/me", json={})).status_code == 405
        assert (await machine.get("/api/projectsx")).status_code == 404
        refused = await machine.post(of(project), json=BODY)
        assert (refused.status_code, "cannot create access tokens" in refused.json()["detail"]) == (403, True)


async def test_a_token_cannot_leave_the_project_for_its_account(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, issue: Issue
) -> None:
    path = await join(flagstaff, project, eve, "viewer")
    machine = await issue(OWN, eve, *ALL)
    assert (await machine.delete(path)).json()["permission"] == "members:write"
    assert (await eve.delete(path)).status_code == 204


async def test_creating_returns_the_secret_once(flagstaff: Flagstaff, ada: Caller, project: Json, clock: Clock) -> None:
    environment = await ada.get_environment(project)
    for path in (OWN, of(project)):
        body = {**BODY, "name": " CI ", "environments": [environment["id"]], "expires_at": "2026-12-01T10:00:00+01:00"}
        token = created(await ada.post(path, json=body))
        secret = token.pop("token")
        assert is_token(secret)
        assert token == {
            "id": token["id"],
            "name": "CI",
            "permissions": ["flags:read", "flags:toggle"],
            "environments": [environment["id"]],
            "account_id": ada.account["id"],
            "email": "ada@example.com",
            "created_at": "2026-11-20T10:00:00.000000Z",
            "expires_at": "2026-12-01T09:00:00.000000Z",
            "last_used_at": None,
        }
        assert (await ada.get(path)).json() == [token]
    async with flagstaff.database.read() as connection:
        stored = repr((await connection.execute(sa.select(tables.access_tokens))).all())
        trail = repr((await connection.execute(sa.select(tables.changes))).all())
    assert secret not in stored + trail
    assert "token_hash" not in trail


async def test_an_idempotency_key_is_refused_because_nothing_stores_the_secret(
    flagstaff: Flagstaff, ada: Caller, project: Json
) -> None:
    for path in (OWN, of(project)):
        refused = await ada.post(path, json=BODY, headers={"idempotency-key": "once"})
        assert list(field_errors(refused)) == ["Idempotency-Key"]
        assert (await ada.get(path)).json() == []
    async with flagstaff.database.read() as connection:
        assert (await connection.execute(sa.select(tables.idempotency_keys))).all() == []


async def test_a_token_and_its_account_have_keys_of_their_own(ada: Caller, project: Json, issue: Issue) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    path, key = f"{project_path(project)}/regenerate-key", {"idempotency-key": "once"}
    await ada.post(path, headers=key)
    machine = await issue(OWN, ada, "flags:toggle")
    assert (await machine.post(path, headers=key)).status_code == 403
    answers = [await machine.post(f"{flag_path(flag)}/toggle", headers=key) for _ in range(2)]
    assert [each.headers.get("idempotency-replayed") for each in answers] == [None, "true"]


@pytest.mark.both_databases
async def test_a_revoked_or_expired_token_is_refused_at_once(
    ada: Caller, project: Json, clock: Clock, issue: Issue
) -> None:
    for path in (OWN, of(project)):
        machine = await issue(path, ada, *ALL)
        assert (await machine.get("/api/projects")).status_code == 200
        assert (await ada.delete(f"{path}/{machine.account['id']}")).status_code == 204
        assert (await machine.get("/api/projects")).status_code == 401
        assert (await ada.delete(f"{path}/{machine.account['id']}")).status_code == 404
        expiring = await issue(path, ada, *ALL, expires_at=clock().isoformat().replace("10:00:00", "11:00:00"))
        assert (await expiring.get("/api/projects")).status_code == 200
        clock.advance(hours=1)
        assert (await expiring.get("/api/projects")).status_code == 401
        assert [each["id"] for each in (await ada.get(path)).json()] == [expiring.account["id"]]
        clock.advance(hours=-1)


async def test_a_token_loses_what_its_maker_loses(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, issue: Issue
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    await join(flagstaff, project, eve, "admin")
    machines = [await issue(OWN, eve, *ALL), await issue(of(project), eve, "flags:read", "flags:toggle")]
    for role, status in (("admin", 200), ("viewer", 403), ("editor", 200)):
        await join(flagstaff, project, eve, role)
        for machine in machines:
            assert (await machine.post(f"{flag_path(flag)}/toggle")).status_code == status
    assert (await ada.delete(member_path(project, eve))).status_code == 204
    assert [(await each.get(flag_path(flag))).status_code for each in machines] == [404, 401]
    assert (await ada.get(of(project))).json() == []
    await join(flagstaff, project, eve, "admin")
    assert [(await each.get(flag_path(flag))).status_code for each in machines] == [200, 401]


async def test_a_project_shows_its_key_only_to_a_token_that_may_read_it(
    ada: Caller, project: Json, issue: Issue
) -> None:
    for permissions, shown in ((("project:read",), None), (("project:read", "keys:read"), project["sdk_key"])):
        machine = await issue(OWN, ada, *permissions)
        assert (await machine.get(project_path(project))).json()["sdk_key"] == shown
        assert [each["sdk_key"] for each in (await machine.get("/api/projects")).json()] == [shown]


async def test_a_token_lists_the_projects_that_it_reaches(ada: Caller, project: Json, issue: Issue) -> None:
    others = [await ada.create_project() for _ in range(3)]
    environments = [(await ada.get_environment(each))["id"] for each in (project, others[2])]
    everywhere = await issue(OWN, ada, "project:read")
    here, there = await issue(of(project), ada, "project:read"), await issue(OWN, ada, *ALL, environments=environments)
    for machine, expected in ((everywhere, [*others[::-1], project]), (here, [project]), (there, [others[2], project])):
        assert [each["id"] for each in (await machine.get("/api/projects")).json()] == [each["id"] for each in expected]
    first = await there.get("/api/projects?limit=1")
    cursor = first.headers["link"].partition("cursor=")[2].partition(">")[0]
    rest = await there.get(f"/api/projects?limit=1&cursor={cursor}")
    assert [each.json()[0]["id"] for each in (first, rest)] == [others[2]["id"], project["id"]]
    assert "link" not in rest.headers
    assert (await (await issue(OWN, ada, "flags:read")).get("/api/projects")).json()["permission"] == "project:read"
    for machine in (here, there):
        answer = await machine.get(project_path(others[0]))
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is no such project.")


@pytest.mark.parametrize("kind", ["personal", "for the project"])
async def test_a_token_for_some_environments_changes_flags_in_each_of_them_and_in_no_other(
    ada: Caller, project: Json, issue: Issue, kind: str
) -> None:
    environments = [await ada.get_environment(project, key) for key in ("staging", "production")]
    other = await ada.create_environment(project)
    ids = [each["id"] for each in environments]
    machine = await issue(OWN if kind == "personal" else of(project), ada, "flags:toggle", environments=ids)
    for environment in environments:
        flag = await ada.create_flag(environment)
        assert (await machine.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert (await ada.get(flag_path(flag))).json()["enabled"] is False
    answer = await machine.post(f"{flag_path(await ada.create_flag(other))}/toggle")
    assert (answer.status_code, answer.json()["permission"]) == (403, "flags:toggle")


async def test_only_a_token_for_all_projects_creates_projects(ada: Caller, project: Json, issue: Issue) -> None:
    environment = await ada.get_environment(project)
    for machine in (
        await issue(of(project), ada, *ALL),
        await issue(OWN, ada, *ALL, environments=[environment["id"]]),
        await issue(OWN, ada, *(each for each in ALL if each != "project:write")),
    ):
        answer = await machine.post("/api/projects", json={"name": "Shop"})
        assert (answer.status_code, answer.json()["permission"]) == (403, "project:write")
        assert "Use a personal access token (POST /api/me/tokens) with the permission project:write" in answer.text
    created(await (await issue(OWN, ada, "project:write")).post("/api/projects", json={"name": "Shop"}))


async def test_a_token_for_an_environment_that_is_deleted_and_made_again_may_do_nothing(
    ada: Caller, project: Json, issue: Issue
) -> None:
    environment = await ada.create_environment(project)
    machine = await issue(OWN, ada, *ALL, environments=[environment["id"]])
    assert (await machine.get(environment_path(environment))).status_code == 200
    await ada.delete(environment_path(environment))
    again = await ada.create_environment(project)
    for path in (environment_path(again), environment_path(environment), project_path(project)):
        assert (await machine.get(path)).status_code == 404
    assert (await machine.get("/api/projects")).json() == []


async def test_the_trail_names_the_token_and_its_account(ada: Caller, project: Json, issue: Issue) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    machine = await issue(of(project), ada, *ALL, name="Release train")
    await machine.post(f"{flag_path(flag)}/toggle")
    await ada.delete(f"{of(project)}/{machine.account['id']}")
    deleted, toggled, made, *_ = (await ada.get(f"{project_path(project)}/changes")).json()["items"]
    assert toggled["actor"] == {
        "id": ada.account["id"],
        "email": "ada@example.com",
        "token": {"id": machine.account["id"], "name": "Release train"},
        "release": None,
    }
    assert [(each["action"], each["actor"]["token"]) for each in (made, deleted)] == [
        ("token.created", None),
        ("token.deleted", None),
    ]
    assert made["after"]["permissions"] == ALL
    own = await issue(OWN, ada, *ALL)
    await ada.delete(f"{OWN}/{own.account['id']}")
    items = (await ada.get("/api/me/changes")).json()["items"]
    assert [each["action"] for each in items[:2]] == ["account.token_deleted", "account.token_created"]


async def test_the_last_use_is_known_to_within_minutes(
    flagstaff: Flagstaff, ada: Caller, clock: Clock, issue: Issue
) -> None:
    machine = await issue(OWN, ada, *ALL)
    for minutes, used in ((1, "10:01:00"), (4, "10:01:00"), (1, "10:06:00")):
        clock.advance(minutes=minutes)
        await machine.get("/api/me")
        await flagstaff.identity.access_tokens.write_last_used()
        assert (await ada.get(OWN)).json()[0]["last_used_at"] == f"2026-11-20T{used}.000000Z"


@pytest.mark.parametrize(
    "environ", [{"FLAGSTAFF_MAX_TOKENS_PER_ACCOUNT": "2", "FLAGSTAFF_MAX_TOKENS_PER_PROJECT": "2"}]
)
async def test_there_is_room_for_so_many_tokens(ada: Caller, project: Json) -> None:
    for path, setting in ((OWN, "FLAGSTAFF_MAX_TOKENS_PER_ACCOUNT"), (of(project), "FLAGSTAFF_MAX_TOKENS_PER_PROJECT")):
        answers = [await ada.post(path, json=BODY) for _ in range(3)]
        assert [each.status_code for each in answers] == [201, 201, 409]
        assert setting in answers[2].json()["detail"]


@pytest.mark.parametrize(
    "environ", [{"FLAGSTAFF_MAX_TOKENS_PER_ACCOUNT": "3", "FLAGSTAFF_MAX_TOKENS_PER_PROJECT": "3"}]
)
async def test_an_expired_token_gives_its_place_to_a_new_one(ada: Caller, project: Json, clock: Clock) -> None:
    for path in (OWN, of(project)):
        for name, hours in (("later", 3), ("first", 1), ("second", 2)):
            expires_at = (clock() + timedelta(hours=hours)).isoformat()
            created(await ada.post(path, json={**BODY, "name": name, "expires_at": expires_at}))
        assert (await ada.post(path, json=BODY)).status_code == 409
        clock.advance(hours=2)
        assert [each["name"] for each in (await ada.get(path)).json()] == ["second", "first", "later"]
        for name, listed in (("a", ["a", "second", "later"]), ("b", ["b", "a", "later"])):
            created(await ada.post(path, json={**BODY, "name": name}))
            assert [each["name"] for each in (await ada.get(path)).json()] == listed
        assert (await ada.post(path, json=BODY)).status_code == 409


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_API_RATE_LIMIT": "4/minute"}])
async def test_tokens_count_against_the_limit_of_their_account_and_guesses_against_the_client(
    ada: Caller, issue: Issue, call_from: Call
) -> None:
    machine = await issue(OWN, ada, *ALL)
    answers = [await each.get("/api/me") for each in (machine, ada, machine, machine, ada)]
    assert [each.status_code for each in answers] == [200, 200, 200, 429, 429]
    guesser = call_from("198.51.100.1")
    codes = [
        (await guesser.get("/api/me", headers={"authorization": f"Bearer {new_token()}"})).status_code for _ in range(6)
    ]
    assert codes == [401] * 4 + [429] * 2


def test_the_pattern_is_the_documented_one() -> None:
    assert PATTERN == "fst_[0-9A-Za-z]{49}"


async def test_a_session_alone_makes_no_token(
    ada: Caller, clock: Clock, project: Json, list_changes: ListChanges
) -> None:
    without = {name: value for name, value in BODY.items() if name != "current_password"}
    missing = (
        "is required, or the code of your authenticator app; if you sign in at an identity provider, sign out and in "
        "again, and try again within ten minutes"
    )
    before = await list_changes()
    for path in (OWN, of(project)):
        assert field_errors(await ada.post(path, json=without)) == {"current_password": missing}
        wrong = await ada.post(path, json={**without, "current_password": "wrong password"})
        assert field_errors(wrong) == {"current_password": "is not your current password"}
        both = await ada.post(path, json={**BODY, "code": "123456"})
        assert field_errors(both) == {"code": "must not be sent together with the password"}
        none = await ada.post(path, json={**without, "code": "123456"})
        assert list(field_errors(none)) == ["code"]  # without an app
        assert (await ada.get(path)).json() == []
    assert await list_changes() == before
    app = await enrol(ada, clock)
    for path in (OWN, of(project)):
        assert list(field_errors(await ada.post(path, json={**without, "code": app.wrong_code()}))) == ["code"]
        code = app.next_code()
        created(await ada.post(path, json={**without, "code": code}))
        again = await ada.post(path, json={**without, "code": code})
        assert list(field_errors(again)) == ["code"]  # it counts once


async def test_wrong_passwords_count_as_failed_logins(ada: Caller, client: Caller) -> None:
    for _ in range(10):
        assert (await ada.post(OWN, json={**BODY, "current_password": "wrong password"})).status_code == 400
    assert (await ada.post(OWN, json=BODY)).status_code == 429
    login = await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD})
    assert login.status_code == 429


async def test_the_owner_is_mailed_about_each_new_token_without_words_of_its_maker(
    ada: Caller, project: Json, read_mails: ReadMails
) -> None:
    for path, page in ((OWN, "/account/tokens"), (of(project), f"/projects/{project['id']}/tokens")):
        before = len(await read_mails())
        created(await ada.post(path, json={**BODY, "name": "https://evil.example"}))
        mails = await read_mails()
        assert len(mails) == before + 1
        mail = mails[-1]
        assert (mail["to"], mail["subject"]) == ("ada@example.com", "A new access token for your Flagstaff account")
        assert page in mail.as_string()
        assert "evil.example" not in mail.as_string()
    count = len(await read_mails())
    assert (await ada.post(OWN, json={**BODY, "current_password": "wrong password"})).status_code == 400
    assert len(await read_mails()) == count


async def test_an_hour_has_forty_mails_about_tokens_at_most(ada: Caller, clock: Clock, read_mails: ReadMails) -> None:
    for _ in range(41):
        token = created(await ada.post(OWN, json=BODY))
        (await ada.delete(f"{OWN}/{token['id']}")).raise_for_status()
    assert len(await read_mails()) == 40
    clock.advance(hours=1)
    created(await ada.post(OWN, json=BODY))
    assert len(await read_mails()) == 41


async def test_a_reset_of_the_password_ends_the_tokens_unless_they_are_to_be_kept(
    flagstaff: Flagstaff,
    issue: Issue,
    ada: Caller,
    eve: Caller,
    client: Caller,
    project: Json,
    request_reset: RequestReset,
) -> None:
    await join(flagstaff, project, eve, "admin")
    others = await issue(of(project), eve, "project:read")
    for kept in (True, False):
        token = await log_in(flagstaff, email="ada@example.com", password=PASSWORD)
        ada.headers["authorization"] = f"Bearer {token}"
        machines = [await issue(path, ada, "project:read") for path in (OWN, of(project))]
        reset: Json = {"token": await request_reset(), "newPassword": PASSWORD}
        reset |= {"keep_access_tokens": True} if kept else {}
        answer = await client.post("/auth/reset-password", json=reset)
        assert (answer.status_code, answer.text) == (200, "Password reset successful")
        for machine in machines:
            assert (await machine.get(project_path(project))).status_code == (200 if kept else 401)
    assert (await others.get(project_path(project))).status_code == 200
