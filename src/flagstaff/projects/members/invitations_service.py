"""Invitations to a project: created, mailed, revoked and accepted."""

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.sessions.tokens import hash_token
from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import Permission, require_grant
from flagstaff.projects import projects_store
from flagstaff.projects.access import open_membership
from flagstaff.projects.admission import admit, open_link
from flagstaff.projects.members import invitations_store, members_store
from flagstaff.projects.members.environment_roles import require_environment_roles
from flagstaff.projects.members.invitations import (
    INVITATION_LIFETIME,
    MAILS_COUNTED_FOR,
    MAILS_PER_ACCOUNT,
    MAILS_PER_ADDRESS,
    Invitation,
    OpenedInvitation,
)
from flagstaff.values.emails import email_identity
from flagstaff.values.errors import Code, Error, invalid_field


@dataclass(frozen=True, slots=True)
class Invitations:
    """The use cases of invitations. All raise Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    now: Callable[[], datetime]
    mail_invitation: Callable[
        [str, str, str], Awaitable[None]
    ]  # called with the email, the token and the sender's email

    async def create_invitation(
        self, actor: Actor, project_id: UUID, *, email: str, role: Role, environments: dict[str, Role]
    ) -> Invitation:
        """Create an invitation; `send` mails it.

        Raises:
            Error: FORBIDDEN if the actor may not give the role; INVALID for the actor's own address or an environment
                that does not exist; CONFLICT for a member's address or one that has been invited; LIMITED.
        """
        assert actor.account_id is not None
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, own = await open_membership(connection, actor, project_id, Permission.MEMBERS_WRITE, for_update=True)
            require_grant(own, role)
            if email_identity(email) == email_identity(own.email):
                raise invalid_field("email", "is your own address")
            await require_environment_roles(connection, project_id, role, environments)
            if any(
                email_identity(each.email) == email_identity(email)
                for each in await members_store.list_members(connection, project_id)
            ):
                raise Error(Code.CONFLICT, "This address belongs to a member of the project.")
            await self._require_mails_left(connection, actor.account_id)
            invitation = Invitation(
                id=uuid7(),
                project_id=project_id,
                email=email,
                role=role,
                environments=environments,
                inviter_id=actor.account_id,
                created_at=now,
                expires_at=now + INVITATION_LIFETIME,
                sent_at=None,
            )
            await invitations_store.delete_expired(connection, project_id, now)
            await invitations_store.create_invitation(connection, invitation)
            change = change_of(actor, "invitation.created", now, Scope(project_id), after=invitation)
            await record(transaction, change)
        return invitation

    async def list_invitations(self, actor: Actor, project_id: UUID) -> list[Invitation]:
        """The invitations of a project that can be accepted, newest first."""
        async with self.database.read() as connection:
            await open_membership(connection, actor, project_id, Permission.MEMBERS_READ)
            return await invitations_store.list_invitations(connection, project_id, self.now())

    async def get_invitation(self, actor: Actor, project_id: UUID, invitation_id: UUID) -> Invitation:
        """One invitation that can be accepted."""
        async with self.database.read() as connection:
            await open_membership(connection, actor, project_id, Permission.MEMBERS_READ)
            return await invitations_store.get_invitation(connection, project_id, invitation_id, self.now())

    async def delete_invitation(
        self, actor: Actor, project_id: UUID, invitation_id: UUID, precondition: Precondition[Invitation] = ANY_STATE
    ) -> None:
        """Revoke an invitation; raises Error FORBIDDEN if the actor may not give its role."""
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, own = await open_membership(connection, actor, project_id, Permission.MEMBERS_WRITE, for_update=True)
            invitation = await invitations_store.get_invitation(connection, project_id, invitation_id, now)
            require_grant(own, invitation.role)
            await precondition.require(connection, invitation, invitation_id, project_id)
            await invitations_store.delete_invitation(connection, invitation_id)
            change = change_of(actor, "invitation.deleted", now, Scope(project_id), before=invitation)
            await record(transaction, change)

    async def renew_invitation(
        self, actor: Actor, project_id: UUID, invitation_id: UUID, precondition: Precondition[Invitation] = ANY_STATE
    ) -> Invitation:
        """Record that an invitation is sent again; `send` mails it. Raises Error FORBIDDEN, LIMITED."""
        assert actor.account_id is not None
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, own = await open_membership(connection, actor, project_id, Permission.MEMBERS_WRITE, for_update=True)
            invitation = await invitations_store.get_invitation(connection, project_id, invitation_id, now)
            require_grant(own, invitation.role)
            await precondition.require(connection, invitation, invitation_id, project_id)
            await self._require_mails_left(connection, actor.account_id)
            change = change_of(actor, "invitation.sent", now, Scope(project_id), before=invitation, after=invitation)
            await record(transaction, change)
        return invitation

    async def send(self, actor: Actor, invitation: Invitation) -> None:
        """Mail an invitation with a new link, which replaces the previous one and is valid for seven days.

        Sends nothing if the invitation is gone, or if the address or the actor has had as many mails in a day as are
        allowed. To be called after the response: that takes as long whether or not the address has an account.
        """
        assert actor.account_id is not None
        assert actor.email is not None
        token, now = secrets.token_urlsafe(32), self.now()
        since = now - MAILS_COUNTED_FOR
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            # Waits for the transaction that has created the invitation, if it has not been committed yet.
            await projects_store.find_project_for_update(connection, invitation.project_id)
            found = await invitations_store.list_invitations(connection, invitation.project_id, now)
            if invitation.id not in {each.id for each in found}:
                return
            await invitations_store.forget_mails_before(connection, since)
            if await invitations_store.count_mails_to(connection, invitation.email, since) >= MAILS_PER_ADDRESS:
                return
            if await invitations_store.count_mails_of(connection, actor.account_id, since) >= MAILS_PER_ACCOUNT:
                return
            await invitations_store.record_mail(connection, actor.account_id, invitation.email, now)
            await invitations_store.set_link(
                connection,
                invitation.id,
                token_hash=hash_token(token),
                sent_at=now,
                expires_at=now + INVITATION_LIFETIME,
            )
        await self.mail_invitation(invitation.email, token, actor.email)

    async def open_link(self, *, token: str) -> OpenedInvitation:
        """The invitation with a link from a mail; raises Error INVALID for a link that is not valid."""
        async with self.database.read() as connection:
            invitation = await open_link(connection, token, self.now())
            project = await projects_store.find_project(connection, invitation.project_id)
            inviter = await accounts_store.find_account(connection, invitation.inviter_id)
        assert project is not None
        assert inviter is not None
        return OpenedInvitation(invitation, project.name, inviter.email)

    async def accept_invitation(self, actor: Actor, *, token: str) -> Member:
        """Make the actor a member; raises Error INVALID for a link that is not valid for the actor's address."""
        async with self.database.transaction() as transaction:
            return await admit(transaction, actor, token, self.now())

    async def _require_mails_left(self, connection: Connection, account_id: UUID) -> None:
        """Raise Error LIMITED if an account has had as many invitations mailed as it may."""
        since = self.now() - MAILS_COUNTED_FOR
        if await invitations_store.count_mails_of(connection, account_id, since) >= MAILS_PER_ACCOUNT:
            raise Error(
                Code.LIMITED,
                f"You have sent {MAILS_PER_ACCOUNT} invitations within 24 hours. Try again tomorrow.",
                retry_after_seconds=int(MAILS_COUNTED_FOR.total_seconds()),
            )
