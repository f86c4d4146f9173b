"""Reads flags that are old enough to be cleaned up, and when each was changed last."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import collect
from flagstaff.database import tables
from flagstaff.database.windows import Listing
from flagstaff.insight.cleanup import CARE, FlagToClean
from flagstaff.values.lists import Window

_ABOUT_CARE = frozenset({*CARE, "updated_at"})
_SKIPPED_MAX = 3  # changes of a flag that are looked behind

_flags, _changes = tables.flags.c, tables.changes.c
_old = Listing(
    sa.select(
        _flags.id,
        _flags.key,
        _flags.name,
        _flags.enabled,
        _flags.owner,
        _flags.tags,
        _flags.keep,
        _flags.created_at,
        _flags.updated_at,
    ).where(
        _flags.environment_id == sa.bindparam("environment"),
        sa.not_(tables.is_archived),
        _flags.keep == sa.bindparam("keep"),
        _flags.created_at <= sa.bindparam("created_by", type_=tables.Moment),
    ),
    (_flags.key,),
)
_newest = (
    sa.select(sa.func.max(_changes.id))
    .where(
        _changes.flag_id.in_(sa.bindparam("flags", expanding=True)),
        _changes.id.not_in(sa.bindparam("skipped", expanding=True)),
    )
    .group_by(_changes.flag_id)
)
_moments = sa.select(_changes.id, _changes.flag_id, _changes.at, _changes.action).where(_changes.id.in_(_newest))
_contents = sa.select(_changes.id, _changes.flag_id, _changes.before, _changes.after).where(
    _changes.id.in_(sa.bindparam("numbers", expanding=True))
)


async def list_old_flags(
    connection: AsyncConnection, environment_id: UUID, created_by: datetime, window: Window, *, keep: bool
) -> list[FlagToClean]:
    """The flags of an environment that are not archived and were created by a time, in the order of their keys."""
    values = {"environment": environment_id, "created_by": created_by, "keep": keep}
    rows = await _old.rows(connection, window, values)
    return await collect(map(_from_row, rows))


async def find_last_changes(
    connection: AsyncConnection, flag_ids: Collection[UUID], since: datetime
) -> dict[UUID, datetime]:
    """Return the last change of each of these flags or of its rules, from the audit trail.

    Changes only of the owner, the tags or the mark to keep it do not count, if they are among the last few. What was
    not changed since `since` is not looked at more closely.
    """
    found: dict[UUID, datetime] = {}
    open_ids, skipped = list(flag_ids), list[int]()
    for _ in range(_SKIPPED_MAX + 1):
        if not open_ids:
            break
        rows = (await connection.execute(_moments, {"flags": open_ids, "skipped": skipped})).all()
        found |= {row.flag_id: row.at for row in rows}
        unclear = [row.id for row in rows if row.at >= since and row.action == "flag.updated"]
        of_care = await _find_changes_of_care(connection, unclear)
        skipped += of_care
        open_ids = list(of_care.values())
    return found


async def _find_changes_of_care(connection: AsyncConnection, numbers: Sequence[int]) -> dict[int, UUID]:
    """Return the changes, of those given, that alter only how people care for the flag, with the flag's id."""
    if not numbers:
        return {}
    rows = await connection.execute(_contents, {"numbers": numbers})
    # Each parses the JSON of a row, which can take a millisecond.
    read = await collect((row.id, row.flag_id, row.before, row.after) for row in rows)
    return {number: flag_id for number, flag_id, before, after in read if _differ_only_in_care(before, after)}


def _differ_only_in_care(before: dict[str, Any] | None, after: dict[str, Any] | None) -> bool:
    if before is None or after is None:
        return False
    return all(before.get(name) == after.get(name) for name in {*before, *after} - _ABOUT_CARE)


def _from_row(row: Sequence[Any]) -> FlagToClean:
    flag_id, key, name, enabled, owner, tags, keep, created_at, updated_at = row
    return FlagToClean(flag_id, key, name, enabled, owner, tuple(tags), keep, created_at, updated_at)
