"""Reminders to the owners of stale flags."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.hooks.notices import NoticeType
from flagstaff.notifications.notifications_store import satisfied
from flagstaff.notifications.unsubscribing import Recipient

_reminders, _members, _accounts = tables.stale_reminders.c, tables.members.c, tables.accounts.c
_remind = dialect.upsert(
    tables.stale_reminders,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["project_id", "account_id"], set_={"sent_at": insert.excluded.sent_at}
    ),
)


class StaleFlag(NamedTuple):
    """A flag that may be removed, with its environment."""

    environment_id: UUID
    environment_key: str
    flag_id: UUID
    key: str


async def list_to_remind(
    connection: AsyncConnection, before: datetime, hour_ago: datetime, most: int
) -> list[Recipient]:
    """The members who own stale flags and were not told since a time, those first who were never told."""
    sent_at = sa.func.coalesce(sa.type_coerce(_reminders.sent_at, sa.BigInteger), 0)
    query = (
        _of_owners(_members.account_id, _members.project_id)
        .outerjoin(
            tables.stale_reminders,
            sa.and_(_reminders.project_id == _members.project_id, _reminders.account_id == _members.account_id),
        )
        .where(
            _accounts.deactivated_at.is_(None),
            sa.or_(_reminders.sent_at.is_(None), _reminders.sent_at <= before),
            _members.account_id.not_in(satisfied),
        )
        .group_by(_members.account_id, _members.project_id, sent_at)
        .order_by(sent_at)
        .limit(most)
    )
    return [Recipient(*row) for row in await connection.execute(query, {"hour_ago": hour_ago})]


async def was_reminded(connection: AsyncConnection, member: Recipient, since: datetime) -> bool:
    """Return whether a member was told of stale flags after a time."""
    query = sa.select(_reminders.sent_at).where(
        _reminders.project_id == member.project_id,
        _reminders.account_id == member.account_id,
        _reminders.sent_at > since,
    )
    return (await connection.execute(query)).first() is not None


async def list_stale(connection: AsyncConnection, member: Recipient, most: int) -> list[StaleFlag]:
    """The flags of a member that may be removed."""
    flags, environments = tables.flags.c, tables.environments.c
    query = (
        _of_owners(environments.id, environments.key, flags.id, flags.key)
        .where(_members.account_id == member.account_id, _members.project_id == member.project_id)
        .order_by(environments.position, environments.created_at, flags.key)
        .limit(most)
    )
    return [StaleFlag(*row) for row in await connection.execute(query)]


async def record_reminder(connection: AsyncConnection, member: Recipient, now: datetime) -> None:
    """Note that a member was told of stale flags."""
    row = {"project_id": member.project_id, "account_id": member.account_id, "sent_at": now}
    await connection.execute(_remind(connection), row)


async def forget_reminder(connection: AsyncConnection, member: Recipient) -> None:
    """Let a member be told of stale flags again: no mail server has taken the mail."""
    await connection.execute(
        tables.stale_reminders.delete().where(
            _reminders.project_id == member.project_id, _reminders.account_id == member.account_id
        )
    )


def _of_owners(*columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Stale flags, joined with the members who own them."""
    flags, environments, noticed = tables.flags.c, tables.environments.c, tables.noticed_flags.c
    return (
        sa.select(*columns)
        .select_from(tables.noticed_flags)
        .join(tables.flags, sa.and_(flags.environment_id == noticed.environment_id, flags.key == noticed.flag_key))
        .join(tables.environments, environments.id == flags.environment_id)
        .join(tables.members, _members.project_id == environments.project_id)
        .join(tables.accounts, _accounts.id == _members.account_id)
        .where(
            noticed.type == NoticeType.FLAG_STALE.value,
            sa.not_(tables.is_archived),
            sa.not_(flags.keep),
            sa.func.lower(sa.func.trim(flags.owner)) == sa.func.lower(_accounts.email),
        )
    )
