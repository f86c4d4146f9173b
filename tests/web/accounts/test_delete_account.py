"""Deletion of accounts: what must be handed over first, what ends with them, and what the trail keeps."""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.accounts import account_deletions_service
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.projects.projects_store import find_project_for_update
from tests.support import tokens
from tests.support.administration import account_path, change
from tests.support.api import Caller, created, field_errors, project_path
from tests.support.clock import Clock
from tests.support.members import join, member_path
from tests.support.refused_changes import allow_to_rewrite, refuse_to_rewrite
from tests.support.releases import create_release, until_state
from tests.support.sessions import PASSWORD
from tests.support.two_factor import enrol
from tests.web.conftest import ListChanges, SignUp

pytestmark = pytest.mark.both_databases
DELETION = "/api/me/deletion"
NOBODY = "a deleted account"
CONFIRMED = {"current_password": PASSWORD}


@pytest.fixture
def beginning() -> None:
    """Nobody has registered yet, because the first account is the administrator."""


@pytest.fixture
async def root(sign_up: SignUp) -> Caller:
    """The administrator. Take it before other signed-in users, so that it is the first."""
    return await sign_up("root")


@pytest.fixture
async def ada(root: Caller, sign_up: SignUp) -> Caller:
    """The owner of the project."""
    assert root
    return await sign_up("ada")


@pytest.fixture
async def eve(root: Caller, sign_up: SignUp) -> Caller:
    """The account that is deleted."""
    assert root
    return await sign_up("eve")


async def find_rows(flagstaff: Flagstaff, email: str) -> dict[str, list[Any]]:
    """Every row of the configuration that has a text, by the name of its table."""
    found = {}
    async with flagstaff.database.read() as connection:
        for table in tables.metadata.sorted_tables:
            if table.schema is None:
                rows = (await connection.execute(sa.select(table))).all()
                found[table.name] = [row for row in rows if email in str(row)]
    return {name: rows for name, rows in found.items() if rows}


async def test_a_deletion_without_proof_or_with_a_wrong_one_is_refused_and_changes_nothing(
    flagstaff: Flagstaff, callers: AsyncExitStack, eve: Caller, client: Caller, list_changes: ListChanges
) -> None:
    machine = await tokens.issue(flagstaff, callers, "/api/me/tokens", eve, "project:read")
    before = await list_changes()
    assert (await client.post(DELETION, json=CONFIRMED)).status_code == 401
    assert (await machine.post(DELETION, json=CONFIRMED)).status_code == 403
    for body, name in (
        ({}, "current_password"),
        ({"current_password": "wrong"}, "current_password"),
        ({"code": "000000"}, "code"),
        ({**CONFIRMED, "code": "000000"}, "code"),
        ({**CONFIRMED, "sure": True}, "sure"),
    ):
        assert name in field_errors(await eve.post(DELETION, json=body)), body
    assert await list_changes() == before
    assert (await eve.get("/api/me")).status_code == 200


async def test_the_last_owner_is_told_which_projects_to_hand_over_or_to_delete(
    flagstaff: Flagstaff, root: Caller, eve: Caller, ada: Caller
) -> None:
    alone, shared = await eve.create_project(name="Alone"), await eve.create_project(name="Shared")
    await join(flagstaff, shared, ada, "admin")
    for answer in (await eve.post(DELETION, json=CONFIRMED), await root.delete(account_path(eve))):
        assert answer.status_code == 409
        for project in (alone, shared):
            assert f"{project['name']} ({project['id']}): eve@example.com is the last owner" in answer.json()["detail"]
    assert (await eve.delete(project_path(alone))).status_code == 204
    await join(flagstaff, shared, ada, "owner")
    assert (await eve.post(DELETION, json=CONFIRMED)).status_code == 204
    (kept,) = (await ada.get("/api/projects")).json()
    assert kept["id"] == shared["id"]
    assert [each["email"] for each in (await ada.get(f"{project_path(shared)}/members")).json()] == ["ada@example.com"]


async def test_an_owner_whose_co_owners_are_deactivated_is_the_last_one(
    flagstaff: Flagstaff, root: Caller, eve: Caller, ada: Caller
) -> None:
    project = await eve.create_project()
    await join(flagstaff, project, ada, "owner")
    assert (await change(root, ada, active=False)).status_code == 200
    refusals = [
        await eve.post(DELETION, json=CONFIRMED),
        await root.delete(account_path(eve)),
        await eve.delete(member_path(project, eve)),
        await eve.put(member_path(project, eve), json={"role": "admin"}),
    ]
    for refused in refusals:
        assert refused.status_code == 409
        assert "is the last owner of the project whose account is active" in refused.json()["detail"]
    assert (await change(root, ada, active=True)).status_code == 200
    assert (await eve.post(DELETION, json=CONFIRMED)).status_code == 204


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT": "1"}])
async def test_a_project_for_which_no_other_owner_has_room_must_be_deleted_first(
    flagstaff: Flagstaff, eve: Caller, ada: Caller
) -> None:
    project = await eve.create_project()
    await ada.create_project()
    await join(flagstaff, project, ada, "owner")
    refused = await eve.post(DELETION, json=CONFIRMED)
    assert refused.status_code == 409
    assert "FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT" in refused.json()["detail"]


async def test_the_last_administrator_cannot_be_deleted(root: Caller, ada: Caller) -> None:
    refused = await root.post(DELETION, json=CONFIRMED)
    assert refused.status_code == 409
    assert "the last administrator" in refused.json()["detail"]
    assert (await change(root, ada, administrator=True)).status_code == 200
    own = await root.delete(account_path(root))
    assert own.status_code == 409
    assert DELETION in own.json()["detail"]
    assert (await root.post(DELETION, json=CONFIRMED)).status_code == 204
    assert (await ada.get("/api/admin/accounts")).status_code == 200


async def test_an_account_in_more_projects_than_are_locked_at_once_is_refused(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_deletions_service, "PROJECTS_MAX", 1)
    for _ in range(2):
        await join(flagstaff, await ada.create_project(), eve, "viewer")
    refused = await eve.post(DELETION, json=CONFIRMED)
    assert refused.status_code == 409
    assert "more than 1 projects" in refused.json()["detail"]


async def test_invitations_of_others_do_not_keep_an_account_from_its_deletion_and_end_with_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(account_deletions_service, "PROJECTS_MAX", 1)
    await join(flagstaff, await ada.create_project(), eve, "viewer")
    others = [await ada.create_project() for _ in range(3)]
    for project, email in ((0, "EVE"), (1, "eve"), (2, "eve"), (2, "zoe")):
        invitation = {"email": f"{email}@example.com", "role": "viewer"}
        created(await ada.post(f"{project_path(others[project])}/invitations", json=invitation))
    columns = tables.invitations.c
    expired = tables.invitations.update().where(columns.project_id == UUID(others[0]["id"]))
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(expired.values(expires_at=columns.created_at))
    assert (await eve.post(DELETION, json=CONFIRMED)).status_code == 204
    left = (await find_rows(flagstaff, "@example.com"))["invitations"]
    assert [each.email for each in left] == ["zoe@example.com"]


async def test_accounts_that_have_invited_each_other_are_deleted_at_once(
    flagstaff: Flagstaff, root: Caller, sign_up: SignUp
) -> None:
    for number in range(5):
        first, second = await sign_up(f"one{number}"), await sign_up(f"two{number}")
        for own, other in ((first, second), (second, first)):
            project = await own.create_project()
            await join(flagstaff, project, root, "owner")
            invitation = {"email": other.account["email"], "role": "viewer"}
            created(await own.post(f"{project_path(project)}/invitations", json=invitation))
        answers = await asyncio.gather(*(each.post(DELETION, json=CONFIRMED) for each in (first, second)))
        assert [each.status_code for each in answers] == [204, 204]
    assert "invitations" not in await find_rows(flagstaff, "@example.com")


async def test_an_administrator_deletes_an_account_in_the_state_that_was_read(root: Caller, eve: Caller) -> None:
    assert (await root.delete(f"/api/admin/accounts/{uuid4()}")).status_code == 404
    assert (await root.delete(account_path(eve), headers={"if-match": '"0"'})).status_code == 412
    assert (await eve.get("/api/me")).status_code == 200
    tag = (await root.get(account_path(eve))).headers["etag"]
    assert (await root.delete(account_path(eve), headers={"if-match": tag})).status_code == 204
    assert (await eve.get("/api/me")).status_code == 401
    assert (await root.get(account_path(eve))).status_code == 404
    assert (await root.delete(account_path(eve))).status_code == 404


async def test_a_code_of_an_authenticator_app_confirms_a_deletion(eve: Caller, clock: Clock) -> None:
    app = await enrol(eve, clock)
    assert (await eve.post(DELETION, json={"code": app.next_code()})).status_code == 204


async def test_everything_of_an_account_ends_and_nothing_has_its_address(
    flagstaff: Flagstaff,
    callers: AsyncExitStack,
    root: Caller,
    ada: Caller,
    eve: Caller,
    client: Caller,
    list_changes: ListChanges,
) -> None:
    project = await ada.create_project()
    path = project_path(project)
    await join(flagstaff, project, eve, "admin")
    environment = await ada.get_environment(project)
    flag = created(await eve.post(f"{path}/environments/{environment['id']}/flags", json={"name": "F", "key": "f"}))
    created(await eve.post(f"{path}/environments/{environment['id']}/flags/{flag['id']}/comments", json={"text": "Hi"}))
    created(await eve.post(f"{path}/invitations", json={"email": "grace@example.com", "role": "viewer"}))
    other = await root.create_project()
    created(await root.post(f"{project_path(other)}/invitations", json={"email": "EVE@example.com", "role": "viewer"}))
    machine = await tokens.issue(flagstaff, callers, "/api/me/tokens", eve, "project:read")
    release = await create_release(eve, flag, {"after_seconds": 3600, "changes": {"enabled": True}})
    eve_id = eve.account["id"]
    assert await find_rows(flagstaff, "eve@example.com")

    assert (await eve.post(DELETION, json=CONFIRMED)).status_code == 204
    assert (await eve.get("/api/me")).status_code == 401
    assert (await machine.get("/api/projects")).status_code == 401
    assert (
        await client.post("/auth/login", json={"email": "eve@example.com", "password": PASSWORD})
    ).status_code == 401
    assert (await ada.get(f"{path}/invitations")).json() == []
    assert (await root.get(f"{project_path(other)}/invitations")).json() == []
    paused = await until_state(ada, release, "paused")
    assert paused["reason"].startswith("The account for which this release acts was deleted.")
    assert paused["author"] == {"id": eve_id, "email": NOBODY, "token": None}
    (comment,) = (await ada.get(f"{path}/environments/{environment['id']}/flags/{flag['id']}/comments")).json()
    assert comment["author"] == {"id": None, "email": NOBODY}

    await flagstaff.identity.forgetting.run_due()
    assert set(await find_rows(flagstaff, "eve@example.com")) == {"invitation_mails"}  # they are counted for a day
    assert await find_rows(flagstaff, "EVE@example.com") == {}
    rows = await list_changes()
    own = [each for each in rows if each["actor_id"] == UUID(eve_id)]
    assert {"flag.created", "member.removed", "account.deleted", "release.created"} <= {each["action"] for each in own}
    assert {each["actor_email"] for each in own} == {NOBODY}
    (registered,) = [
        each for each in rows if each["action"] == "account.registered" and each["resource_id"] == UUID(eve_id)
    ]
    assert registered["after"]["email"] == NOBODY
    (shown,) = (await ada.get(f"{path}/changes", params={"action": "member.removed"})).json()["items"]
    assert shown["actor"] == {"id": eve_id, "email": NOBODY, "token": None} | {
        name: shown["actor"][name] for name in shown["actor"] if name not in ("id", "email", "token")
    }
    created(await client.post("/auth/register", json={"email": "eve@example.com", "password": PASSWORD}))


async def test_an_account_whose_trail_the_database_refuses_to_rewrite_stops_no_other(
    flagstaff: Flagstaff, sign_up: SignUp, eve: Caller, list_changes: ListChanges
) -> None:
    zoe = await sign_up("zoe")
    registered = [each for each in await list_changes() if each["action"] == "account.registered"]
    (number,) = [each["id"] for each in registered if each["resource_id"] == UUID(eve.account["id"])]
    await refuse_to_rewrite(flagstaff.database, number)
    for caller in (eve, zoe):
        assert (await caller.post(DELETION, json=CONFIRMED)).status_code == 204
    with capture_logs():  # nothing renders the traceback, which holds the loop for minutes
        await flagstaff.identity.forgetting.run_due()
    assert "zoe@example.com" not in str(await list_changes())
    assert "eve@example.com" in str(await list_changes())
    await allow_to_rewrite(flagstaff.database)
    await replace(flagstaff.identity.forgetting).run_due()  # as another process does, or this one a minute later
    assert "eve@example.com" not in str(await list_changes())


async def test_the_trail_is_gone_through_in_parts_and_goes_on_after_a_kill(
    flagstaff: Flagstaff, root: Caller, eve: Caller, monkeypatch: pytest.MonkeyPatch, list_changes: ListChanges
) -> None:
    project = await root.create_project()
    await join(flagstaff, project, eve, "owner")
    for number in range(7):
        assert (await eve.put(project_path(project), json={"name": f"P{number}"})).status_code == 200
    await root.post(f"{project_path(project)}/environments", json={"name": "eve@example.com", "key": "not-hers"})
    monkeypatch.setattr("flagstaff.audit.redactions_store.EXAMINED_AT_ONCE", 2)
    monkeypatch.setattr("flagstaff.audit.redacting.WRITTEN_AT_ONCE", 1)
    assert (await eve.post(DELETION, json=CONFIRMED)).status_code == 204
    await asyncio.gather(*(flagstaff.identity.forgetting.run_due() for _ in range(3)))
    assert [each["actor_email"] for each in await list_changes()].count(NOBODY) >= 8
    assert "eve@example.com" not in str([each for each in await list_changes() if not each["environment_id"]])


async def test_two_last_owners_who_delete_themselves_at_once_leave_one(
    flagstaff: Flagstaff, root: Caller, sign_up: SignUp
) -> None:
    for number in range(3):
        first, second = await sign_up(f"first{number}"), await sign_up(f"second{number}")
        projects = [await first.create_project(), await second.create_project()]
        for project in projects:
            await join(flagstaff, project, first, "owner")
            await join(flagstaff, project, second, "owner")
        answers = await asyncio.gather(*(each.post(DELETION, json=CONFIRMED) for each in (first, second)))
        assert sorted(each.status_code for each in answers) == [204, 409]
    assert len((await root.get("/api/admin/projects")).json()) == 6


async def test_two_administrators_who_delete_each_other_or_themselves_at_once_leave_one(
    root: Caller, ada: Caller
) -> None:
    assert (await change(root, ada, administrator=True)).status_code == 200
    answers = await asyncio.gather(root.delete(account_path(ada)), ada.delete(account_path(root)))
    codes = [each.status_code for each in answers]
    assert codes.count(204) == 1
    assert set(codes) - {204} <= {401, 403, 409}


async def create_place_for(flagstaff: Flagstaff, owner: Caller, editor: Caller) -> tuple[UUID, str]:
    """A project with an editor, and the path of flags there."""
    project = await owner.create_project()
    await join(flagstaff, project, editor, "editor")
    environment = await owner.get_environment(project)
    return UUID(project["id"]), f"{project_path(project)}/environments/{environment['id']}/flags"


async def test_an_account_that_writes_while_it_is_deleted_leaves_nothing(
    flagstaff: Flagstaff, root: Caller, ada: Caller, eve: Caller
) -> None:
    _, flags = await create_place_for(flagstaff, ada, eve)

    def write(number: int) -> Awaitable[Any]:
        headers = {"idempotency-key": f"key-{number}"} if number % 3 else {}
        return eve.post(flags, json={"name": "F", "key": f"f{number}"}, headers=headers)

    before, after = ([write(number) for number in numbers] for numbers in (range(8), range(8, 30)))
    deletion = asyncio.ensure_future(root.delete(account_path(eve)))
    answers = await asyncio.gather(*before, deletion, *after)
    assert (await deletion).status_code == 204
    assert {each.status_code for each in answers} <= {201, 204, 401, 404}
    assert (await eve.get("/api/me")).status_code == 401


async def test_a_write_with_a_key_and_the_deletion_of_its_account_do_not_wait_for_each_other(
    flagstaff: Flagstaff, root: Caller, ada: Caller, eve: Caller
) -> None:
    """The deletion comes first to the project, which both wait for, and the write has stored its key first."""
    if not flagstaff.database.is_postgresql:
        return  # SQLite has one writer
    project_id, flags = await create_place_for(flagstaff, ada, eve)

    async def until_waiting(count: int) -> None:
        query = sa.text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        waiting = 0
        while waiting < count:
            async with flagstaff.database.read() as connection:
                waiting = await connection.scalar(query)

    async with asyncio.TaskGroup() as tasks, flagstaff.database.transaction() as transaction:
        await find_project_for_update(transaction.connection, project_id)
        deletion = tasks.create_task(root.delete(account_path(eve)))
        await until_waiting(1)
        body, headers = {"name": "F", "key": "f"}, {"idempotency-key": "once"}
        write = tasks.create_task(eve.post(flags, json=body, headers=headers))
        await until_waiting(2)
    assert (deletion.result().status_code, write.result().status_code) == (204, 404)
