"""Mentions that wait to be mailed."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.notifications.mentions import Mention
from flagstaff.notifications.notifications import DEFAULTS, WAITING_MAX, Kind
from flagstaff.notifications.notifications_store import add_waiting, count_waiting
from flagstaff.notifications.wanted_mails_store import list_wanted

NO_CHANGE = 0
"""Stands in the place of a change's number in the row of a mention."""

_comments, _changes, _flags, _releases = tables.comments.c, tables.changes.c, tables.flags.c, tables.releases.c
_flag_id = sa.func.coalesce(_comments.flag_id, _releases.flag_id, _changes.flag_id)
_MENTIONS = Resource(
    Mention,
    tables.comments,
    also={
        "comment_id": _comments.id,
        "at": _comments.created_at,
        "flag_id": _flags.id,
        "flag_key": sa.func.coalesce(_flags.key, _changes.flag_key),
        "is_on_release": _comments.release_id.is_not(None),
        "is_on_change": _comments.change.is_not(None),
    },
)
_mention = (
    _MENTIONS.select()
    .select_from(tables.comments)
    .outerjoin(tables.releases, _releases.id == _comments.release_id)
    .outerjoin(tables.changes, _changes.id == _comments.change)
    .outerjoin(tables.flags, _flags.id == _flag_id)
    .where(_comments.id.in_(sa.bindparam("comments", expanding=True)))
    .order_by(_comments.created_at, _comments.id)
)
_waiting = tables.notifications.c
_told = sa.select(_waiting.account_id).where(
    _waiting.project_id == sa.bindparam("project"), _waiting.comment_id == sa.bindparam("comment")
)


async def add_mentions(
    connection: AsyncConnection, project_id: UUID, comment_id: UUID, account_ids: Collection[UUID], now: datetime
) -> None:
    """Have members told that a comment mentions them, but those who do not want it or for whom too much waits.

    A member for whom a mention in this comment waits already is told once, however often the comment is edited.
    """
    if not account_ids:
        return
    chosen = await list_wanted(connection, project_id)
    waiting = await count_waiting(connection, project_id)
    told = set((await connection.execute(_told, {"project": project_id, "comment": comment_id})).scalars())
    rows: list[dict[str, object]] = [
        {
            "project_id": project_id,
            "account_id": each,
            "kind": Kind.MENTIONS.value,
            "change": NO_CHANGE,
            "comment_id": comment_id,
            "created_at": now,
        }
        for each in account_ids
        if each not in told and chosen.get(each, DEFAULTS)[Kind.MENTIONS] and waiting.get(each, 0) < WAITING_MAX
    ]
    if rows:
        await add_waiting(connection, rows)


async def delete_mentions(
    connection: AsyncConnection, project_id: UUID, comment_id: UUID, account_ids: Collection[UUID] | None = None
) -> None:
    """Delete what waits to be told of a comment that is deleted, or no longer mentions some accounts.

    Of a comment that goes with its flag, nothing is told.
    """
    of_comment = sa.and_(_waiting.project_id == project_id, _waiting.comment_id == comment_id)
    for_some = sa.true() if account_ids is None else _waiting.account_id.in_(account_ids)
    await connection.execute(tables.notifications.delete().where(of_comment, for_some))


async def list_mentions(connection: AsyncConnection, comment_ids: Sequence[UUID]) -> list[Mention]:
    """The mentions in these comments, but those that were deleted, oldest first."""
    if not comment_ids:
        return []
    return list(map(_MENTIONS.read, await connection.execute(_mention, {"comments": list(comment_ids)})))
