"""Administrators who change each other at the same time, and accounts that register at the same time."""

import asyncio
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.administration.administrators_store import lock_administrators, set_administrator
from flagstaff.projects.projects_store import find_project_for_update
from tests.support.administration import account_path, change
from tests.support.api import Caller, project_path
from tests.support.sessions import PASSWORD

pytestmark = pytest.mark.both_databases


async def test_two_administrators_who_demote_or_deactivate_each_other_at_once_leave_one(
    root: Caller, eve: Caller
) -> None:
    first, second = root, eve
    for values in [{"administrator": False}] * 3 + [{"active": False}]:
        await change(first, second, administrator=True)
        answers = await asyncio.gather(change(first, second, **values), change(second, first, **values))
        codes = [each.status_code for each in answers]
        assert sorted(codes) in ([200, 401], [200, 403]), codes
        first, second = (first, second) if codes[0] == 200 else (second, first)
        assert (await first.get("/api/admin/accounts")).status_code == 200


async def test_two_administrators_who_resign_at_once_leave_one(root: Caller, eve: Caller) -> None:
    await change(root, eve, administrator=True)
    answers = await asyncio.gather(*(change(each, each, administrator=False) for each in (root, eve)))
    assert sorted(each.status_code for each in answers) == [200, 409]


async def test_of_accounts_that_register_first_at_once_one_is_the_administrator(
    flagstaff: Flagstaff, client: Caller
) -> None:
    found = await asyncio.gather(
        *(flagstaff.identity.accounts.register(email=f"{number}@example.com", password=PASSWORD) for number in range(6))
    )
    assert sum(each.is_administrator for each in found) == 1


async def test_a_login_during_a_deactivation_leaves_no_session(root: Caller, eve: Caller, client: Caller) -> None:
    credentials = {"email": "eve@example.com", "password": PASSWORD}
    deactivation, *logins = await asyncio.gather(
        change(root, eve, active=False), *(client.post("/auth/login", json=credentials) for _ in range(4))
    )
    assert deactivation.status_code == 200
    assert {each.status_code for each in logins} <= {200, 403}
    for each in logins:
        headers = {"authorization": f"Bearer {each.json().get('token')}"}
        assert (await client.get("/api/me", headers=headers)).status_code == 401


async def test_an_administrator_who_is_demoted_while_a_project_is_locked_does_not_join_it(
    flagstaff: Flagstaff, root: Caller, eve: Caller
) -> None:
    await change(root, eve, administrator=True)
    project = await root.create_project()
    body = {"project_id": project["id"], "role": "owner"}
    async with flagstaff.database.transaction() as transaction:
        # A slow write to the project, which locks it while Eve's request arrives.
        await find_project_for_update(transaction.connection, UUID(project["id"]))
        joining = asyncio.create_task(eve.post("/api/admin/memberships", json=body))
        assert not (await asyncio.wait([joining], timeout=0.2))[0]
        await set_administrator(transaction.connection, UUID(eve.account["id"]), is_administrator=False)
    assert (await joining).status_code == 403
    assert len((await root.get(f"{project_path(project)}/members")).json()) == 1


async def test_an_administrator_who_is_demoted_meanwhile_ends_no_session_of_another_account(
    flagstaff: Flagstaff, root: Caller, eve: Caller, ada: Caller
) -> None:
    await change(root, eve, administrator=True)
    (session,) = (await root.get(account_path(ada))).json()["sessions"]
    async with flagstaff.database.transaction() as transaction:
        # A slow demotion, which locks the administrators, as every demotion does.
        await lock_administrators(transaction.connection)
        ending = asyncio.create_task(eve.delete(f"{account_path(ada)}/sessions/{session['id']}"))
        assert not (await asyncio.wait([ending], timeout=0.2))[0]
        await set_administrator(transaction.connection, UUID(eve.account["id"]), is_administrator=False)
    assert (await ending).status_code == 403
    assert (await ada.get("/api/me")).status_code == 200
