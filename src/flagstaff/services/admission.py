"""Admits accounts to projects with the links of invitations, also while they are being registered."""

from datetime import datetime

from flagstaff.domain.accounts import email_identity
from flagstaff.domain.changes import Actor, Scope, change_of
from flagstaff.domain.errors import Code, Error, invalid_field
from flagstaff.domain.invitations import Invitation
from flagstaff.domain.members import Member
from flagstaff.domain.permissions import may_grant
from flagstaff.services.tokens import hash_token
from flagstaff.storage import accounts, invitations, members, projects
from flagstaff.storage.changes import record
from flagstaff.storage.database import Connection, Transaction


async def find_invitation(
    connection: Connection, token: str, email: str, now: datetime, *, field: str = "token"
) -> Invitation:
    """The invitation of an address with this link.

    Possession of the link shows that the account can read the address's mail, which is not verified otherwise.

    Raises:
        Error: INVALID at `field`, with one text for every reason: a link is unknown, used, revoked, replaced, expired
            or another address's, or its inviter may no longer give the role or is deactivated.
    """
    invitation = await invitations.find_invitation(connection, hash_token(token), now)
    if invitation is None or email_identity(invitation.email) != email_identity(email):
        raise _invalid_invitation(field)
    inviter = await members.find_member(connection, invitation.project_id, invitation.inviter_id)
    if inviter is None or not may_grant(inviter, invitation.role):
        raise _invalid_invitation(field)
    account = await accounts.find_account(connection, inviter.account_id)
    if account is None or not account.is_active:
        raise _invalid_invitation(field)
    return invitation


async def admit(transaction: Transaction, actor: Actor, token: str, now: datetime, *, field: str = "token") -> Member:
    """Make the actor a member by an invitation, which ends.

    Raises:
        Error: INVALID as `find_invitation`; CONFLICT if the actor is a member already.
    """
    assert actor.account_id is not None
    assert actor.email is not None
    connection = transaction.connection
    found = await find_invitation(connection, token, actor.email, now, field=field)
    await projects.find_project_for_update(connection, found.project_id)
    # If several requests use one link at once, the lock lets one pass; the others find no invitation.
    invitation = await find_invitation(connection, token, actor.email, now, field=field)
    if await members.find_member(connection, invitation.project_id, actor.account_id):
        raise Error(Code.CONFLICT, "You are a member of this project already.")
    present = await members.find_environment_ids(connection, invitation.project_id, invitation.environments)
    roles = {key: role for key, role in invitation.environments.items() if key in present}
    member = Member(invitation.project_id, actor.account_id, actor.email, invitation.role, roles, now)
    await members.save_member(connection, member)
    await invitations.delete_invitation(connection, invitation.id)
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
