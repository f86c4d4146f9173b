"""Resolves ids in a path to resources and requires a permission to use them, or to be an administrator.

Everything in a project of which the actor is not a member is NOT_FOUND; what a member may not do is FORBIDDEN. A write
locks the project first (`for_update`), so that the writes to one project are serialized, also with changes of roles.
"""

from collections.abc import Mapping
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.changes_store import find_latest_change
from flagstaff.database.database import Connection
from flagstaff.database.revisions_store import forget_found, record_found
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.second_factors.second_factors_store import has_second_factor
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import LimitedMember, Permission, record_check, require
from flagstaff.projects import environments_store, projects_store
from flagstaff.projects.access_tokens import access_tokens_store
from flagstaff.projects.members import members_store
from flagstaff.projects.projects import Environment, Project
from flagstaff.values.errors import Code, Error, enrolment_required, not_found

Reach = Mapping[UUID, frozenset[str] | None]
"""The projects in which an access token may be used, with the keys of the environments; None means all."""


async def open_member(
    connection: Connection, actor: Actor, project_id: UUID, *, for_update: bool = False
) -> tuple[Project, Member]:
    """The project and the actor as its member, whatever its permissions; the caller requires them."""
    return await _find(connection, actor, project_id, for_update=for_update)


async def find_membership(connection: Connection, actor: Actor, project_id: UUID) -> Member | None:
    """The actor as a member of a project, or None if the project does not exist; raises Error NOT_FOUND."""
    if await projects_store.find_project(connection, project_id) is None:
        return None
    _, member = await open_member(connection, actor, project_id)
    return member


async def open_membership(
    connection: Connection, actor: Actor, project_id: UUID, permission: Permission, *, for_update: bool = False
) -> tuple[Project, Member]:
    """The project and the actor as its member, who must have the permission in the whole project.

    For an update the project is locked, which serializes writes to it.
    """
    project, member = await _find(connection, actor, project_id, for_update=for_update)
    return project, require(member, permission)


async def open_project(
    connection: Connection, actor: Actor, project_id: UUID, permission: Permission, *, for_update: bool = False
) -> None:
    """Open a project, in the whole of which the actor must have the permission."""
    await open_membership(connection, actor, project_id, permission, for_update=for_update)


async def open_environment(
    connection: Connection,
    actor: Actor,
    project_id: UUID,
    environment_id: UUID,
    permission: Permission,
    *,
    for_update: bool = False,
) -> Environment:
    """The environment, in which the actor must have the permission."""
    _, member = await _find(connection, actor, project_id, for_update=for_update)
    environment = await environments_store.get_environment(connection, project_id, environment_id)
    require(member, permission, environment.key)
    return environment


async def _find(connection: Connection, actor: Actor, project_id: UUID, *, for_update: bool) -> tuple[Project, Member]:
    if not for_update:
        return await _admit(connection, actor, project_id, await projects_store.find_project(connection, project_id))
    project = await projects_store.open_project_for_update(connection, project_id)
    if project is None and await _was_deleted(connection, project_id):
        record_found(connection, project_id, None)  # its keys may still be accepted somewhere
        raise not_found("project")
    try:
        return await _admit(connection, actor, project_id, project, for_update=True)
    except Error:
        forget_found(connection)  # whoever may not know the project must not learn from a wait that it exists
        raise


async def _was_deleted(connection: Connection, project_id: UUID) -> bool:
    change = await find_latest_change(connection, project_id, project_id)
    return change is not None and change.action == "project.deleted"


async def _admit(
    connection: Connection, actor: Actor, project_id: UUID, project: Project | None, *, for_update: bool = False
) -> tuple[Project, Member]:
    if project is not None and actor.release is not None:
        # The runner has required the permissions of its author, and a guard needs none. This owner has no account.
        return project, Member(project_id, project_id, "", Role.OWNER, {}, project.created_at)
    # A statement after the lock, so that it sees a role that changed while this transaction waited for the lock.
    member = await members_store.find_member(connection, project_id, actor.account_id) if actor.account_id else None
    if project is None or member is None:
        raise not_found("project")
    if for_update:
        await hold_token(connection, actor)
    limited = limit(actor, member, await find_reach(connection, actor))
    await require_second_factor(connection, project, member.account_id)
    record_check(project_id)
    return project, limited


async def hold_token(connection: Connection, actor: Actor) -> None:
    """Keep the access token that the actor uses, if any, from being revoked before the transaction ends.

    Raises:
        Error: UNAUTHENTICATED if it has been revoked.
    """
    if actor.token is not None and not await access_tokens_store.hold_token(connection, actor.token.id):
        raise Error(Code.UNAUTHENTICATED, "The access token has been revoked.")


async def hold_session(connection: Connection, actor: Actor) -> None:
    """Lock the actor's account, and with it the session that the actor uses, so that both last until the commit.

    A transaction that also locks a project locks the project first.

    Raises:
        Error: UNAUTHENTICATED if the session has ended, or the account has been deactivated.
    """
    assert actor.account_id is not None
    await accounts_store.lock_account(connection, actor.account_id)
    # A statement after the lock, so that it sees what ended while this transaction waited.
    if actor.session_id is not None:
        found = await accounts_store.find_token_account(connection, actor.account_id, actor.session_id)
        if found is None:
            raise Error(Code.UNAUTHENTICATED, "The session has ended. Log in again.")


async def find_reach(connection: Connection, actor: Actor) -> Reach | None:
    """Return the scope of the actor's access token; None means the whole scope of its account."""
    limits = actor.limits
    if limits is None:
        return None
    if limits.environment_ids is None:
        return None if limits.project_id is None else {limits.project_id: None}
    reach: dict[UUID, frozenset[str] | None] = {}
    for project_id, key in (await environments_store.find_places(connection, limits.environment_ids)).values():
        reach[project_id] = (reach.get(project_id) or frozenset()) | {key}
    return reach


def limit(actor: Actor, member: Member, reach: Reach | None) -> Member:
    """The actor as a member within the limits of its access token; raises Error NOT_FOUND outside of its reach."""
    if actor.limits is None:
        return member
    if reach is not None and member.project_id not in reach:
        raise not_found("project")
    return LimitedMember(
        project_id=member.project_id,
        account_id=member.account_id,
        email=member.email,
        role=member.role,
        environments=member.environments,
        created_at=member.created_at,
        permissions=actor.limits.permissions,
        only_in=reach[member.project_id] if reach is not None else None,
    )


async def require_second_factor(connection: Connection, project: Project, account_id: UUID) -> None:
    """Raise Error MFA_ENROLMENT_REQUIRED if a project demands a second factor that an account does not have."""
    if project.demands_second_factor and not await has_second_factor(connection, account_id):
        raise enrolment_required("This project")
