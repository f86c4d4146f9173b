"""Invitations: created, listed, mailed again, revoked and accepted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.projects.members.invitations import MAILS_PER_ACCOUNT
from flagstaff.projects.members.invitations_store import record_mail
from tests.support.api import Caller, Json, created, environment_path, field_errors, project_path
from tests.support.clock import Clock
from tests.support.mailbox import newest_to, reset_token
from tests.support.members import join, member_path
from tests.support.sessions import PASSWORD
from tests.web.conftest import ListChanges, ReadMails, SignUp

Invite = Callable[..., Awaitable[str]]

INVALID = "is not the token of a valid invitation to this account's address"


@pytest.fixture
def path(project: Json) -> str:
    """The path of the invitations of Ada's project."""
    return f"{project_path(project)}/invitations"


@pytest.fixture
def invite(ada: Caller, path: str, read_mails: ReadMails) -> Invite:
    """Invite an address and return the token in its mail."""

    async def send(email: str = "eve@example.com", **values: Any) -> str:
        created(await ada.post(path, json={"email": email, "role": "editor", **values}))
        mail = newest_to(await read_mails(), "invitation")
        assert mail["to"] == email
        return reset_token(mail, "invitation")

    return send


async def accept(caller: Caller, token: str) -> Any:
    return await caller.post("/api/invitations/accept", json={"token": token})


async def test_invalid_invitations_are_refused_and_mail_nothing(ada: Caller, path: str, read_mails: ReadMails) -> None:
    for values, errors in (
        ({"email": "garbage"}, {"email": "must be an email address such as ada@example.com"}),
        ({"email": "a@b.c\nBcc: eve@example.com"}, {"email": "must be an email address such as ada@example.com"}),
        ({"email": " ADA@example.com"}, {"email": "is your own address"}),
        ({"role": "god"}, {"role": "must be 'owner', 'admin', 'editor' or 'viewer'"}),
        (
            {"environments": {"canary": "viewer"}},
            {"environments.canary": "is not the key of an environment of this project"},
        ),
        (
            {"role": "owner", "environments": {"production": "viewer"}},
            {"environments": "must be empty for an owner, whose role applies to every environment"},
        ),
    ):
        answer = await ada.post(path, json={"email": "eve@example.com", "role": "viewer", **values})
        assert field_errors(answer) == errors
    assert await read_mails() == []
    assert (await ada.get(path)).json() == []


async def test_an_admin_cannot_invite_an_owner_nor_revoke_or_send_the_invitation_of_one(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, path: str
) -> None:
    await join(flagstaff, project, eve, "admin")
    body = {"email": "bob@example.com", "role": "owner"}
    invitation = created(await ada.post(path, json=body))
    for answer in (
        await eve.post(path, json={**body, "email": "linus@example.com"}),
        await eve.post(f"{path}/{invitation['id']}/send"),
        await eve.delete(f"{path}/{invitation['id']}"),
    ):
        assert (answer.status_code, answer.json()["permission"]) == (403, "owners:write")


async def test_an_address_is_invited_once_and_a_member_not_at_all(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, path: str
) -> None:
    await join(flagstaff, project, eve, "viewer")
    body = {"email": "bob@example.com", "role": "viewer"}
    answers = await asyncio.gather(*(ada.post(path, json=body) for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [201, 409, 409, 409]
    assert (await ada.post(path, json={**body, "email": "BOB@example.com"})).status_code == 409
    assert (await ada.post(path, json={**body, "email": "Eve@example.com"})).status_code == 409


async def test_the_answer_is_the_same_whether_or_not_the_address_has_an_account(
    ada: Caller, eve: Caller, path: str
) -> None:
    answers = [
        created(await ada.post(path, json={"email": email, "role": "viewer"}))
        for email in (eve.account["email"], "nobody@example.com")
    ]
    assert answers[0].keys() == answers[1].keys()
    assert [each["sent_at"] for each in answers] == [None, None]
    assert not {"token", "token_hash"} & answers[0].keys()


@pytest.mark.both_databases
async def test_a_token_is_refused_for_another_address_when_used_revoked_replaced_or_expired(
    ada: Caller, eve: Caller, sign_up: SignUp, path: str, invite: Invite, read_mails: ReadMails, clock: Clock
) -> None:
    bob = await sign_up("bob")
    token = await invite()
    rejections = [await accept(bob, token), await accept(eve, "x"), await accept(eve, "")]
    (invitation,) = (await ada.get(path)).json()
    assert (await ada.post(f"{path}/{invitation['id']}/send")).status_code == 200
    newer = reset_token(newest_to(await read_mails(), "invitation"), "invitation")
    rejections.append(await accept(eve, token))
    assert (await ada.delete(f"{path}/{invitation['id']}")).status_code == 204
    rejections.append(await accept(eve, newer))
    token = await invite()
    clock.advance(days=7)
    eve_again = await eve.post("/auth/login", json={"email": "eve@example.com", "password": PASSWORD})
    eve.headers["authorization"] = f"Bearer {eve_again.json()['token']}"
    rejections.append(await accept(eve, token))
    for answer in rejections:
        assert field_errors(answer)["token"].startswith(INVALID)
    assert (await eve.get("/api/projects")).json() == []


async def test_an_invitation_ends_with_the_inviters_right_to_give_the_role(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, sign_up: SignUp, project: Json, path: str, read_mails: ReadMails
) -> None:
    admin = await sign_up("bob")
    place = await join(flagstaff, project, admin, "admin")
    created(await admin.post(path, json={"email": "eve@example.com", "role": "editor"}))
    token = reset_token(newest_to(await read_mails(), "invitation"), "invitation")
    assert (await ada.put(place, json={"role": "editor"})).status_code == 200
    assert field_errors(await accept(eve, token))["token"].startswith(INVALID)


async def test_one_address_gets_five_mails_a_day(ada: Caller, path: str, read_mails: ReadMails, clock: Clock) -> None:
    invitation = created(await ada.post(path, json={"email": "bob@example.com", "role": "viewer"}))
    for _ in range(6):
        assert (await ada.post(f"{path}/{invitation['id']}/send")).status_code == 200
        await read_mails()
    assert len(await read_mails()) == 5
    (before,) = (await ada.get(path)).json()
    clock.advance(hours=23)
    assert (await ada.post(f"{path}/{invitation['id']}/send")).status_code == 200
    assert len(await read_mails()) == 5
    assert (await ada.get(path)).json() == [before]


async def test_an_account_has_fifty_invitations_mailed_a_day(
    flagstaff: Flagstaff, ada: Caller, path: str, read_mails: ReadMails, clock: Clock
) -> None:
    async with flagstaff.database.transaction() as transaction:
        for number in range(MAILS_PER_ACCOUNT - 1):
            await record_mail(transaction.connection, UUID(ada.account["id"]), f"{number}@example.com", clock())
    invitation = created(await ada.post(path, json={"email": "bob@example.com", "role": "viewer"}))
    assert len(await read_mails()) == 1

    for answer in (
        await ada.post(path, json={"email": "eve@example.com", "role": "viewer"}),
        await ada.post(f"{path}/{invitation['id']}/send"),
    ):
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "86400")
    assert len(await read_mails()) == 1
    assert [each["email"] for each in (await ada.get(path)).json()] == ["bob@example.com"]


async def test_an_invitation_is_accepted_once_and_recorded(
    ada: Caller, eve: Caller, project: Json, path: str, invite: Invite, list_changes: ListChanges
) -> None:
    token = await invite(environments={"production": "viewer"})
    answers = await asyncio.gather(*(accept(eve, token) for _ in range(4)))
    assert sorted(each.status_code for each in answers) == [200, 400, 400, 400]
    accepted = next(each for each in answers if each.status_code == 200)
    assert accepted.json() == {
        "project_id": project["id"],
        "role": "editor",
        "environments": {"production": "viewer"},
    }
    assert (await eve.get(project_path(project))).status_code == 200
    assert (await ada.get(path)).json() == []
    changes = (await list_changes())[-3:]
    assert [each["action"] for each in changes] == ["invitation.created", "invitation.accepted", "member.added"]
    assert token not in str(changes)
    listed = await ada.get(f"{project_path(project)}/changes?action=member.added")
    assert listed.json()["items"][0]["after"]["role"] == "editor"


async def test_a_role_in_an_environment_that_was_deleted_is_left_out(
    ada: Caller, eve: Caller, project: Json, invite: Invite
) -> None:
    token = await invite(role="viewer", environments={"staging": "admin"})
    await ada.delete(environment_path(await ada.get_environment(project, "staging")))
    assert (await accept(eve, token)).json()["environments"] == {}


async def test_a_repeated_invitation_with_an_idempotency_key_is_mailed_once(
    ada: Caller, path: str, read_mails: ReadMails
) -> None:
    headers = {"idempotency-key": "once"}
    body = {"email": "bob@example.com", "role": "viewer"}
    first, second = [await ada.post(path, json=body, headers=headers) for _ in range(2)]
    assert first.json() == second.json()
    assert len(await read_mails()) == 1
    (listed,) = (await ada.get(path)).json()
    assert listed["sent_at"]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_REGISTRATION": "closed"}, {"FLAGSTAFF_REGISTRATION": "open"}])
async def test_registering_through_the_link_makes_a_member_also_when_registration_is_closed(
    client: Caller, ada: Caller, project: Json, invite: Invite
) -> None:
    token = await invite("bob@example.com")
    body = {"email": "bob@example.com", "password": PASSWORD}
    for wrong in ({**body, "invitation": "x"}, {**body, "email": "linus@example.com", "invitation": token}):
        assert field_errors(await client.post("/auth/register", json=wrong))["invitation"].startswith(INVALID)
    account = created(await client.post("/auth/register", json={**body, "invitation": token}))
    assert account == {"id": account["id"], "email": "bob@example.com"}
    members = (await ada.get(f"{project_path(project)}/members")).json()
    assert [(each["email"], each["role"]) for each in members[1:]] == [("bob@example.com", "editor")]
    again = await client.post("/auth/register", json={**body, "invitation": token})
    assert field_errors(again)["invitation"].startswith(INVALID)


async def test_a_mail_contains_nothing_that_the_inviter_wrote(ada: Caller, eve: Caller, read_mails: ReadMails) -> None:
    project = await ada.create_project(name="Win a prize at evil.example")
    created(await ada.post(f"{project_path(project)}/invitations", json={"email": "b@example.com", "role": "viewer"}))
    (mail,) = await read_mails()
    assert "evil.example" not in str(mail)
    assert mail["subject"] == "You are invited to a project on Flagstaff"
    assert (await eve.get(member_path(project, eve).rpartition("/")[0])).status_code == 404


async def test_whoever_has_the_link_sees_what_it_is_to_and_it_stays_open(
    client: Caller, ada: Caller, eve: Caller, project: Json, invite: Invite
) -> None:
    token = await invite(role="viewer")
    for _ in range(2):
        opened = await client.post("/auth/invitation", json={"token": token})
        assert opened.status_code == 200
        assert opened.json() == {
            "project_id": project["id"],
            "project": project["name"],
            "inviter": "ada@example.com",
            "email": "eve@example.com",
            "role": "viewer",
            "expires_at": opened.json()["expires_at"],
        }
    assert (await accept(eve, token)).status_code == 200
    assert "token" in field_errors(await client.post("/auth/invitation", json={"token": token}))


async def test_a_link_that_cannot_be_accepted_shows_nothing(
    flagstaff: Flagstaff,
    client: Caller,
    ada: Caller,
    eve: Caller,
    project: Json,
    path: str,
    invite: Invite,
    clock: Clock,
) -> None:
    token = await invite()
    for body, name in (({}, "token"), ({"token": "x"}, "token"), ({"token": "\x00"}, "token"), ({"token": 1}, "token")):
        assert name in field_errors(await client.post("/auth/invitation", json=body))
    clock.advance(days=8)
    refused = field_errors(await client.post("/auth/invitation", json={"token": token}))
    assert refused["token"].startswith(INVALID)


async def test_the_mail_names_the_member_who_invites_but_not_the_project(
    flagstaff: Flagstaff, ada: Caller, sign_up: SignUp, read_mails: ReadMails
) -> None:
    project = await ada.create_project(name="Win a prize")
    stranger = await sign_up("evil.example/prize?")
    await join(flagstaff, project, stranger, "owner")
    invitations = f"{project_path(project)}/invitations"
    for caller, email, who in ((ada, "bob@example.com", "ada@example.com"), (stranger, "joe@example.com", "A member")):
        created(await caller.post(invitations, json={"email": email, "role": "viewer"}))
        mail = newest_to(await read_mails(), "invitation")
        assert mail["to"] == email
        assert f"{who} has invited you to join a project" in str(mail)
        assert "prize" not in str(mail)
