"""Roles in projects that follow from a person's groups at the provider."""

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.accounts_store import set_deactivated
from tests.support.api import Caller, Json
from tests.support.members import join
from tests.support.oidc import IdentityProvider
from tests.support.tokens import issue
from tests.web.conftest import ListChanges
from tests.web.single_sign_on.conftest import ADA, SignIn

pytestmark = pytest.mark.both_databases


PROJECT, GONE = uuid4(), uuid4()


def rule(group: str, role: str, project_id: UUID = PROJECT) -> Json:
    return {"group": group, "project_id": str(project_id), "role": role}


@pytest.fixture
def values() -> Json:
    rules = [
        rule("staff", "viewer"),
        rule("engineers", "editor"),
        rule("leads", "admin"),
        rule("staff", "editor", GONE),
    ]
    return {"domains": ["acme.com"], "roles": rules}


@pytest.fixture
async def project(eve: Caller, flagstaff: Flagstaff) -> Json:
    """A project of Eve's that the rules name."""
    created = await eve.create_project()
    client = flagstaff.identity.single_sign_on.clients["acme"]
    rules = (replace(each, project_id=UUID(created["id"])) for each in client.provider.roles if each.project_id != GONE)
    client.provider = replace(client.provider, roles=(*rules, client.provider.roles[-1]))
    return created


@pytest.fixture
def belong(provider: IdentityProvider) -> Any:
    async def set_groups(*groups: str) -> None:
        await provider.set(people={"ada": {**ADA, "groups": list(groups)}})

    return set_groups


async def role_of(owner: Caller, project: Json) -> str | None:
    listed = (await owner.get(f"/api/projects/{project['id']}/members")).json()
    return next((each["role"] for each in listed if each["email"] == "ada@acme.com"), None)


async def test_without_a_group_of_a_rule_nobody_becomes_a_member(
    eve: Caller, project: Json, sign_in: SignIn, belong: Any
) -> None:
    for groups in ((), ("strangers", "Engineers")):
        await belong(*groups)
        assert (await sign_in()).status_code == 200
        assert await role_of(eve, project) is None


@pytest.mark.parametrize("groups", [5, {"engineers": True}, [5, None, ["engineers"]], None, "engineers,staff"])
async def test_groups_of_another_form_are_none(
    eve: Caller, project: Json, sign_in: SignIn, provider: IdentityProvider, groups: Any
) -> None:
    await provider.set(people={"ada": {**ADA, "groups": groups}})
    assert (await sign_in()).status_code == 200
    assert await role_of(eve, project) is None


async def test_the_highest_role_of_the_groups_counts_and_changes_and_ends_with_them(
    eve: Caller, project: Json, sign_in: SignIn, belong: Any, list_changes: ListChanges
) -> None:
    for groups, role in (
        (("staff",), "viewer"),
        (("leads", "staff"), "admin"),
        (("staff", "engineers"), "editor"),
        (("engineers",), "editor"),
        ((), None),
    ):
        await belong(*groups)
        assert (await sign_in()).status_code == 200
        assert await role_of(eve, project) == role
    actions = [change["action"] for change in await list_changes() if change["action"].startswith("member.")]
    assert actions == ["member.added", "member.updated", "member.updated", "member.removed"]


async def test_tokens_for_the_project_end_with_the_groups_and_do_not_come_back_with_them(
    flagstaff: Flagstaff, eve: Caller, project: Json, sign_in: SignIn, belong: Any, callers: AsyncExitStack
) -> None:
    await belong("leads")
    lead = await callers.enter_async_context(Caller(flagstaff.edge.asgi, token=(await sign_in()).json()["token"]))
    project_path = f"/api/projects/{project['id']}"
    machine = await issue(flagstaff, callers, f"{project_path}/tokens", lead, "project:read", current_password=None)
    assert (await machine.get(project_path)).status_code == 200

    for groups in ((), ("leads",)):
        await belong(*groups)
        await sign_in()
        assert (await machine.get(project_path)).status_code == 401
    assert (await eve.get(f"{project_path}/tokens")).json() == []


async def test_a_member_by_invitation_or_an_owner_keeps_the_role(
    flagstaff: Flagstaff, eve: Caller, project: Json, sign_in: SignIn, belong: Any
) -> None:
    await belong("staff")
    first = await sign_in()
    account_id = (await flagstaff.identity.accounts.find_account("ada@acme.com")).id  # type: ignore[union-attr]
    ada = Caller(
        flagstaff.edge.asgi, token=first.json()["token"], account={"id": str(account_id), "email": "ada@acme.com"}
    )
    async with ada:
        await eve.delete(f"/api/projects/{project['id']}/members/{account_id}")
        await join(flagstaff, project, ada, "admin")
        for groups in (("staff",), ()):
            await belong(*groups)
            await sign_in()
            assert await role_of(eve, project) == "admin"


async def test_a_deactivated_account_gets_neither_a_session_nor_a_role(
    flagstaff: Flagstaff, eve: Caller, project: Json, sign_in: SignIn, belong: Any
) -> None:
    await sign_in()
    account = await flagstaff.identity.accounts.find_account("ada@acme.com")
    assert account is not None
    async with flagstaff.database.transaction() as transaction:
        await set_deactivated(transaction.connection, account.id, flagstaff.identity.single_sign_on.now())
    await belong("engineers")

    assert (await sign_in()).status_code == 403
    assert await role_of(eve, project) is None
