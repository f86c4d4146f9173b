"""Invitations in the database, and the mails that were sent for them."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.permissions.members import Role
from flagstaff.projects.members.invitations import Invitation
from flagstaff.values.emails import email_identity
from flagstaff.values.errors import not_found

_columns = tables.invitations.c
_mails = tables.invitation_mails.c
_INVITATIONS = Resource(
    Invitation,
    tables.invitations,
    reads={"role": Role, "environments": lambda stored: {key: Role(role) for key, role in stored.items()}},
    writes={"environments": dict},
)
_invitation = _INVITATIONS.select()


async def create_invitation(connection: AsyncConnection, invitation: Invitation) -> None:
    """Insert an invitation, still without a link; raises Error CONFLICT if the address has one in the project."""
    values = {**_INVITATIONS.row(invitation), "email_identity": email_identity(invitation.email)}
    with unique_or(
        "This address has been invited already. Send the invitation again, or delete it first.",
        tables.invitations.c.project_id,
        tables.invitations.c.email_identity,
    ):
        await connection.execute(tables.invitations.insert().values(values))


async def list_invitations(connection: AsyncConnection, project_id: UUID, now: datetime) -> list[Invitation]:
    """The invitations of a project that have not expired, newest first."""
    query = _invitation.where(_columns.project_id == project_id, _columns.expires_at > now)
    rows = await connection.execute(query.order_by(_columns.created_at.desc(), _columns.id.desc()))
    return [_INVITATIONS.read(row) for row in rows]


async def list_of_account(
    connection: AsyncConnection, project_id: UUID, account_id: UUID, email: str
) -> list[Invitation]:
    """The invitations of a project that an account has made, and the one to its address."""
    its = sa.or_(_columns.inviter_id == account_id, _columns.email_identity == email_identity(email))
    return [
        _INVITATIONS.read(row)
        for row in await connection.execute(_invitation.where(_columns.project_id == project_id, its))
    ]


async def get_invitation(
    connection: AsyncConnection, project_id: UUID, invitation_id: UUID, now: datetime
) -> Invitation:
    """The invitation with this id in a project; raises Error NOT_FOUND, also if it has expired."""
    query = _invitation.where(
        _columns.id == invitation_id, _columns.project_id == project_id, _columns.expires_at > now
    )
    row = (await connection.execute(query)).one_or_none()
    if row is None:
        raise not_found("invitation")
    return _INVITATIONS.read(row)


async def find_invitation(connection: AsyncConnection, token_hash: bytes, now: datetime) -> Invitation | None:
    """The invitation with the link of this hash, unless it has expired."""
    query = _invitation.where(_columns.token_hash == token_hash, _columns.expires_at > now)
    row = (await connection.execute(query)).one_or_none()
    return _INVITATIONS.read(row) if row else None


async def set_link(
    connection: AsyncConnection, invitation_id: UUID, *, token_hash: bytes, sent_at: datetime, expires_at: datetime
) -> None:
    """Give an invitation a new link, of which only the hash is stored; the previous one ends."""
    values = {"token_hash": token_hash, "sent_at": sent_at, "expires_at": expires_at}
    await connection.execute(tables.invitations.update().where(_columns.id == invitation_id).values(values))


async def delete_invitation(connection: AsyncConnection, invitation_id: UUID) -> None:
    """Delete an invitation."""
    await connection.execute(tables.invitations.delete().where(_columns.id == invitation_id))


async def delete_expired(connection: AsyncConnection, project_id: UUID, now: datetime) -> None:
    """Delete the invitations of a project that have expired."""
    expired = (_columns.project_id == project_id, _columns.expires_at <= now)
    await connection.execute(tables.invitations.delete().where(*expired))


async def count_mails_of(connection: AsyncConnection, account_id: UUID, since: datetime) -> int:
    """Count the mails that were sent for an account's invitations since a moment."""
    query = sa.select(sa.func.count()).where(_mails.account_id == account_id, _mails.sent_at > since)
    return int((await connection.execute(query)).scalar_one())


async def count_mails_to(connection: AsyncConnection, email: str, since: datetime) -> int:
    """Count the mails with invitations that were sent to an address since a moment."""
    query = sa.select(sa.func.count()).where(_mails.email_identity == email_identity(email), _mails.sent_at > since)
    return int((await connection.execute(query)).scalar_one())


async def record_mail(connection: AsyncConnection, account_id: UUID, email: str, now: datetime) -> None:
    """Store that a mail is sent to an address for an invitation of an account."""
    values = {"id": uuid7(), "account_id": account_id, "email_identity": email_identity(email), "sent_at": now}
    await connection.execute(tables.invitation_mails.insert().values(values))


async def forget_mails_before(connection: AsyncConnection, moment: datetime) -> None:
    """Delete what is stored about mails that were sent before a moment."""
    await connection.execute(tables.invitation_mails.delete().where(_mails.sent_at < moment))
