"""Deletes accounts from the database, and notes which the audit trail has yet to forget."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import DELETED_ACCOUNT
from flagstaff.changes.redaction import redacted_state, without_address
from flagstaff.database import tables
from flagstaff.database.windows import containing
from flagstaff.values.emails import email_identity

_members, _invitations = tables.members.c, tables.invitations.c
_pending = tables.deleted_accounts.c


class Forgotten(NamedTuple):
    """A deleted account whose address the trail may still have after the change `examined`, up to `until`."""

    id: UUID
    sealed: bytes
    examined: int
    until: int


async def list_projects(connection: AsyncConnection, account_id: UUID, most: int) -> Sequence[UUID]:
    """The projects that have an account as a member, or an invitation by it, by their ids."""
    found = sa.union(
        sa.select(_members.project_id).where(_members.account_id == account_id),
        sa.select(_invitations.project_id).where(_invitations.inviter_id == account_id),
    )
    query = found.order_by("project_id").limit(most)
    return (await connection.execute(query)).scalars().all()


async def hold_account(connection: AsyncConnection, account_id: UUID) -> None:
    """Lock an account that is to be deleted: from now on no row can refer to it."""
    await connection.execute(
        sa.select(tables.accounts.c.id).where(tables.accounts.c.id == account_id).with_for_update()
    )


async def hold_invitations(connection: AsyncConnection, account_id: UUID, email: str) -> None:
    """Lock the invitations by an account and to its address, in the order of their ids, as all that lock several do.

    Those to the address are in projects that are not locked: others have made them, as many as they like.
    """
    its = sa.or_(_invitations.inviter_id == account_id, _invitations.email_identity == email_identity(email))
    locked = sa.select(_invitations.id).where(its).order_by(_invitations.id).with_for_update().subquery()
    await connection.execute(sa.select(sa.func.count()).select_from(locked))


async def delete_invitations_to(connection: AsyncConnection, email: str) -> None:
    """Delete the invitations to an address, without entries in the trails of their projects, as those that expire."""
    await connection.execute(tables.invitations.delete().where(_invitations.email_identity == email_identity(email)))


async def delete_account(connection: AsyncConnection, account_id: UUID, sealed: bytes) -> None:
    """Delete an account with all that is its own. `sealed` is its address, which the trail is to forget."""
    comments, releases = tables.comments, tables.releases
    await connection.execute(
        comments.update().where(comments.c.author_id == account_id).values(author_email=DELETED_ACCOUNT)
    )
    await connection.execute(
        releases.update().where(releases.c.author_id == account_id).values(author_email=DELETED_ACCOUNT)
    )
    await connection.execute(tables.accounts.delete().where(tables.accounts.c.id == account_id))
    newest = sa.select(sa.func.coalesce(sa.func.max(tables.changes.c.id), 0)).scalar_subquery()
    values = {"id": account_id, "sealed": sealed, "examined": 0, "until": newest}
    await connection.execute(tables.deleted_accounts.insert().values(values))


async def list_forgotten(connection: AsyncConnection) -> list[Forgotten]:
    """The deleted accounts that the trail has yet to forget."""
    query = sa.select(_pending.id, _pending.sealed, _pending.examined, _pending.until).order_by(_pending.id)
    return [Forgotten(*row) for row in await connection.execute(query)]


async def note_examined(connection: AsyncConnection, account_id: UUID, number: int) -> None:
    """Note up to which change the trail was examined."""
    await connection.execute(tables.deleted_accounts.update().where(_pending.id == account_id).values(examined=number))


async def forget(connection: AsyncConnection, account_id: UUID, email: str | None) -> None:
    """Replace an address in the reasons of releases, and forget the account: the trail has nothing of it any more."""
    if email is not None:
        columns, redact = tables.releases.c, without_address(email)
        query = sa.select(columns.id, columns.reason).where(
            sa.func.lower(columns.reason).like(containing(email.lower()), escape="\\")
        )
        for release_id, reason in (await connection.execute(query)).all():
            update = tables.releases.update().where(columns.id == release_id, columns.reason == reason)
            await connection.execute(update.values(reason=redacted_state(reason, redact)))
    await connection.execute(tables.deleted_accounts.delete().where(_pending.id == account_id))
