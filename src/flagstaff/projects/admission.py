"""Admits accounts to projects with the links of invitations, also while they are being registered."""

from datetime import datetime

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Transaction
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.sessions.tokens import hash_token
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import may_grant
from flagstaff.projects import projects_store
from flagstaff.projects.members import invitations_store, members_store
from flagstaff.projects.members.invitations import Invitation
from flagstaff.values.emails import email_identity
from flagstaff.values.errors import Code, Error, invalid_field


async def open_link(connection: Connection, token: str, now: datetime, *, field: str = "token") -> Invitation:
    """The invitation with this link, whose inviter may still give its role; raises Error INVALID as `find_invitation`.

    Whoever has the link can read the mail of the address that was invited.
    """
    invitation = await invitations_store.find_invitation(connection, hash_token(token), now)
    if invitation is None:
        raise _invalid_invitation(field)
    inviter = await members_store.find_member(connection, invitation.project_id, invitation.inviter_id)
    if inviter is None or not may_grant(inviter, invitation.role):
        raise _invalid_invitation(field)
    account = await accounts_store.find_account(connection, inviter.account_id)
    if account is None or not account.is_active:
        raise _invalid_invitation(field)
    return invitation


async def find_invitation(
    connection: Connection, token: str, email: str, now: datetime, *, field: str = "token"
) -> Invitation:
    """The invitation of an address with this link.

    Possession of the link shows that the account can read the address's mail, which is not verified otherwise.

    Raises:
        Error: INVALID at `field`, with one text for every reason: a link is unknown, used, revoked, replaced, expired
            or another address's, or its inviter may no longer give the role or is deactivated.
    """
    invitation = await open_link(connection, token, now, field=field)
    if email_identity(invitation.email) != email_identity(email):
        raise _invalid_invitation(field)
    return invitation


async def admit(transaction: Transaction, actor: Actor, token: str, now: datetime, *, field: str = "token") -> Member:
    """Make the actor a member by an invitation, which ends. Its link shows that the actor reads the address's mail.

    Raises:
        Error: INVALID as `find_invitation`; CONFLICT if the actor is a member already.
    """
    assert actor.account_id is not None
    assert actor.email is not None
    connection = transaction.connection
    found = await find_invitation(connection, token, actor.email, now, field=field)
    await projects_store.find_project_for_update(connection, found.project_id)
    # If several requests use one link at once, the lock lets one pass; the others find no invitation.
    invitation = await find_invitation(connection, token, actor.email, now, field=field)
    if await members_store.find_member(connection, invitation.project_id, actor.account_id):
        raise Error(Code.CONFLICT, "You are a member of this project already.")
    present = await members_store.find_environment_ids(connection, invitation.project_id, invitation.environments)
    roles = {key: role for key, role in invitation.environments.items() if key in present}
    member = Member(invitation.project_id, actor.account_id, actor.email, invitation.role, roles, now)
    await members_store.save_member(connection, member)
    await accounts_store.set_email_verified(connection, actor.account_id, now)
    await invitations_store.delete_invitation(connection, invitation.id)
    scope = Scope(invitation.project_id)
    await record(transaction, change_of(actor, "invitation.accepted", now, scope, before=invitation))
    await record(transaction, change_of(actor, "member.added", now, scope, after=member))
    return member


def _invalid_invitation(field: str) -> Error:
    return invalid_field(
        field,
        "is not the token of a valid invitation to this account's address: it is unknown, has been used, replaced or "
        "revoked, or has expired; sign in with the address that was invited, or ask for a new invitation",
    )
