"""Roles in projects by the groups of a person at an identity provider.

Only memberships that groups gave are changed or ended by them: whoever was invited stays as invited.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import structlog

from flagstaff.accounts.single_sign_on import identities_store
from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.identity.accounts.accounts import Account
from flagstaff.permissions.members import Member, Role
from flagstaff.projects import projects_store
from flagstaff.projects.access_tokens import access_tokens_store
from flagstaff.projects.members import members_store
from flagstaff.settings.providers import ROLES, Provider

log = structlog.get_logger(__name__)


async def apply_groups(
    database: Database, provider: Provider, account: Account, groups: frozenset[str], now: datetime
) -> None:
    """Give an account the roles that its groups have by the provider's rules, and end those that they had before."""
    wanted = _highest_roles(provider, groups)
    async with database.read() as connection:
        given = await identities_store.list_given(connection, account.id, provider.issuer)
    for project_id in sorted({*wanted, *given}):
        # One transaction each, which locks the project first, as every write to a project does.
        async with database.transaction() as transaction:
            await _apply(transaction, provider, account, project_id, wanted.get(project_id), now)


def _highest_roles(provider: Provider, groups: Iterable[str]) -> dict[UUID, Role]:
    roles: dict[UUID, Role] = {}
    for name in ROLES:  # the lowest first
        for rule in provider.roles:
            if rule.role == name and rule.group in groups:
                roles[rule.project_id] = Role(name)
    return roles


async def _apply(
    transaction: Transaction, provider: Provider, account: Account, project_id: UUID, role: Role | None, now: datetime
) -> None:
    connection, actor, scope = transaction.connection, Actor(account.id, account.email), Scope(project_id)
    if await projects_store.find_project_for_update(connection, project_id) is None:
        log.warning("group_rule_without_project", provider=provider.key, project_id=str(project_id))
        return
    member = await members_store.find_member(connection, project_id, account.id)
    is_given = project_id in await identities_store.list_given(connection, account.id, provider.issuer)
    if member is None:
        if role is not None:
            member = Member(project_id, account.id, account.email, role, {}, now)
            await members_store.save_member(connection, member)
            await identities_store.record_given(connection, project_id, account.id, provider.issuer)
            await record(transaction, change_of(actor, "member.added", now, scope, after=member))
    elif not is_given or member.role in (role, Role.OWNER):
        return
    elif role is None:
        await access_tokens_store.delete_member_tokens(connection, project_id, account.id)
        await members_store.delete_member(connection, project_id, account.id)
        await record(transaction, change_of(actor, "member.removed", now, scope, before=member))
    else:
        updated = replace(member, role=role)
        await members_store.save_member(connection, updated)
        await record(transaction, change_of(actor, "member.updated", now, scope, before=member, after=updated))
