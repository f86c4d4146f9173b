"""Access tokens that are revoked while a request with them is carried out."""

import asyncio
from contextlib import AsyncExitStack
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.accounts_store import lock_account
from flagstaff.identity.sessions.sessions_store import end_sessions
from flagstaff.projects.access_tokens.access_tokens_store import count_account_tokens, delete_token
from flagstaff.projects.projects_store import find_project_for_update
from tests.support import tokens
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.sessions import PASSWORD

OWN = "/api/me/tokens"


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("kind", ["personal", "for the project"])
async def test_a_token_that_is_revoked_between_a_request_and_its_commit_writes_nothing(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, kind: str
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    path = OWN if kind == "personal" else f"{project_path(project)}/tokens"
    machine = await tokens.issue(flagstaff, callers, path, ada, "flags:toggle")
    async with flagstaff.database.transaction() as transaction:
        # A slow write locks the project while the machine's toggle arrives.
        await find_project_for_update(transaction.connection, UUID(project["id"]))
        toggle = asyncio.create_task(machine.post(f"{flag_path(flag)}/toggle"))
        done, _ = await asyncio.wait([toggle], timeout=0.2)
        assert not done
        await delete_token(transaction.connection, UUID(machine.account["id"]))
    assert (await toggle).status_code == 401
    assert (await ada.get(flag_path(flag))).json()["enabled"] is True


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["personal", "for the project"])
async def test_toggles_during_a_revocation_are_refused_or_before_it(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, kind: str
) -> None:
    flag = await ada.create_flag(await ada.get_environment(project))
    path = OWN if kind == "personal" else f"{project_path(project)}/tokens"
    machine = await tokens.issue(flagstaff, callers, path, ada, "flags:toggle")
    toggles = [asyncio.create_task(machine.post(f"{flag_path(flag)}/toggle")) for _ in range(8)]
    assert (await ada.delete(f"{path}/{machine.account['id']}")).status_code == 204
    present = (await ada.get(flag_path(flag))).json()
    assert {each.status_code for each in await asyncio.gather(*toggles)} <= {200, 401}
    assert (await ada.get(flag_path(flag))).json() == present, "nothing is written after the revocation has returned"


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["personal", "for the project"])
async def test_a_token_that_is_being_created_does_not_outlive_the_sessions_of_its_account(
    flagstaff: Flagstaff, ada: Caller, project: Json, kind: str
) -> None:
    path = OWN if kind == "personal" else f"{project_path(project)}/tokens"
    account_id = UUID(ada.account["id"])
    async with flagstaff.database.transaction() as transaction:
        # A slow deactivation, or a takeover by an identity provider, which has deleted the tokens of the account.
        await lock_account(transaction.connection, account_id)
        body = {"name": "x", "permissions": ["flags:read"], "current_password": PASSWORD}
        creating = asyncio.create_task(ada.post(path, json=body))
        done, _ = await asyncio.wait([creating], timeout=0.2)
        assert not done
        await end_sessions(transaction.connection, account_id)
    assert (await creating).status_code == 401
    async with flagstaff.database.read() as connection:
        assert await count_account_tokens(connection, account_id) == 0
