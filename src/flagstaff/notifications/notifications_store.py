"""Notifications in the database: what waits to be mailed to members, and how many mails they got."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from uuid_utils.compat import uuid7

from flagstaff.database import tables
from flagstaff.database.long_lists import write_many
from flagstaff.notifications.notifications import HELD_FOR, MAILS_PER_HOUR, URGENT, Kind
from flagstaff.notifications.unsubscribing import Recipient

_waiting, _mails = tables.notifications.c, tables.notification_mails.c
_is_known = _waiting.kind.in_(list(Kind))  # a later release, which serves from the same database, may know others
_members, _accounts, _projects = tables.members.c, tables.accounts.c, tables.projects.c
satisfied = (
    sa.select(_mails.account_id)
    .where(_mails.sent_at > sa.bindparam("hour_ago", type_=tables.Moment))
    .group_by(_mails.account_id)
    .having(sa.func.count() >= MAILS_PER_HOUR)
)
"""Those who have got as many mails in an hour as they may get. They must not stand before others."""


class Waiting(NamedTuple):
    """A thing to tell a member, and why: a change, by its number, or a comment that mentions the member."""

    id: int
    kind: Kind
    change: int
    comment_id: UUID | None = None


class Address(NamedTuple):
    """The address to which an account gets its mails, and whether a second factor is demanded of it."""

    email: str
    demands_second_factor: bool


async def count_waiting(connection: AsyncConnection, project_id: UUID) -> dict[UUID, int]:
    """Count what waits to be mailed about a project, by account."""
    query = sa.select(_waiting.account_id, sa.func.count()).where(_waiting.project_id == project_id)
    return {row[0]: row[1] for row in await connection.execute(query.group_by(_waiting.account_id))}


async def add_waiting(connection: AsyncConnection, rows: list[dict[str, Any]]) -> None:
    """Insert what members are to be told. Each row has a project, an account, a kind, a change and a time."""
    await write_many(connection, tables.notifications.insert(), rows)


async def list_ready(
    connection: AsyncConnection, gathered_before: datetime, now: datetime, hour_ago: datetime, most: int
) -> list[Recipient]:
    """The members for whom something has waited long enough, who may get a mail, and whom no process is telling.

    Those whose mail was not taken before stand behind the others, whom they would keep waiting each time. Among those
    whose mail is new, the urgent ones come first.
    """
    is_urgent = sa.func.max(sa.case((_waiting.kind.in_(list(URGENT)), 1), else_=0))
    held_until = sa.func.max(sa.func.coalesce(sa.type_coerce(_waiting.held_until, sa.BigInteger), 0))
    query = (
        sa.select(_waiting.account_id, _waiting.project_id)
        .where(_is_known, _waiting.account_id.not_in(satisfied))
        .group_by(_waiting.account_id, _waiting.project_id)
        .having(
            sa.func.min(_waiting.created_at) <= gathered_before,
            sa.func.sum(sa.case((_is_free(now), 0), else_=1)) == 0,
        )
        .order_by(sa.case((held_until > 0, 1), else_=0), is_urgent.desc(), held_until, sa.func.min(_waiting.id))
        .limit(most)
    )
    return [Recipient(*row) for row in await connection.execute(query, {"hour_ago": hour_ago})]


def _is_free(now: datetime) -> sa.ColumnElement[bool]:
    """Whether no process holds a row. What is held for longer than any process holds it was held by a wrong clock."""
    held_until = _waiting.held_until
    return sa.or_(held_until.is_(None), held_until < now, held_until > now + 2 * HELD_FOR)


async def take(connection: AsyncConnection, member: Recipient, now: datetime, until: datetime) -> list[Waiting]:
    """Hold what a member is to be told, and return it, oldest first."""
    update = (
        tables.notifications.update()
        .where(
            _waiting.account_id == member.account_id,
            _waiting.project_id == member.project_id,
            _is_known,
            _is_free(now),
        )
        .values(held_until=until)
        .returning(_waiting.id, _waiting.kind, _waiting.change, _waiting.comment_id)
    )
    rows = (await connection.execute(update)).all()
    return sorted(
        (Waiting(row.id, Kind(row.kind), row.change, row.comment_id) for row in rows), key=lambda each: each.id
    )


async def delete_waiting(connection: AsyncConnection, ids: Collection[int]) -> None:
    """Delete what was told."""
    await connection.execute(tables.notifications.delete().where(_waiting.id.in_(ids)))


async def delete_waiting_since(connection: AsyncConnection, before: datetime) -> None:
    """Delete what was tried and has waited since before a time: no mail server has taken it."""
    await connection.execute(
        tables.notifications.delete().where(_waiting.created_at < before, _waiting.held_until.is_not(None))
    )


async def delete_of_member(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> None:
    """Delete what waits to be told to a member."""
    await connection.execute(
        tables.notifications.delete().where(_waiting.project_id == project_id, _waiting.account_id == account_id)
    )


async def find_address(connection: AsyncConnection, member: Recipient) -> Address | None:
    """The address of a member whose account is active and has verified it: others write what such a mail says."""
    query = (
        sa.select(_accounts.email, _projects.demands_second_factor)
        .join_from(tables.members, tables.accounts, _accounts.id == _members.account_id)
        .join(tables.projects, _projects.id == _members.project_id)
        .where(
            _members.account_id == member.account_id,
            _members.project_id == member.project_id,
            _accounts.deactivated_at.is_(None),
            _accounts.email_verified_at.is_not(None),
        )
    )
    row = (await connection.execute(query)).one_or_none()
    return Address(*row) if row is not None else None


async def count_mails(connection: AsyncConnection, account_id: UUID, since: datetime) -> int:
    """Count the mails that an account got since a time."""
    query = sa.select(sa.func.count()).where(_mails.account_id == account_id, _mails.sent_at > since)
    return int((await connection.execute(query)).scalar_one())


async def record_mail(connection: AsyncConnection, account_id: UUID, now: datetime) -> UUID:
    """Count a mail to an account; return the id of the count."""
    mail_id = uuid7()
    await connection.execute(
        tables.notification_mails.insert(), {"id": mail_id, "account_id": account_id, "sent_at": now}
    )
    return mail_id


async def forget_mail(connection: AsyncConnection, mail_id: UUID) -> None:
    """Count a mail no more: no mail server has taken it."""
    await connection.execute(tables.notification_mails.delete().where(_mails.id == mail_id))


async def purge_mails(connection: AsyncConnection, before: datetime) -> None:
    """Forget the mails that count no more."""
    await connection.execute(tables.notification_mails.delete().where(_mails.sent_at <= before))
