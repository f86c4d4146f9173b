"""Reads what cuts the buckets of a flag: its rules with a percentage, and the flags that it needs with theirs."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag
from flagstaff.releases.buckets import Cuts, RuleShare, find_cuts, may_change_cuts, needed_by
from flagstaff.releases.releases import Release

_rules = tables.rules.c
_shares = sa.select(_rules.flag_id, _rules.rollout_percentage, _rules.updated_at).where(
    _rules.flag_id.in_(sa.bindparam("flags", expanding=True)), _rules.enabled, _rules.rollout_percentage < 100
)
_CHANGES_MAX = 200
_changes = tables.changes.c
_made_since = (
    sa.select(_changes.at, _changes.action, _changes.flag_id, _changes.before, _changes.after, _changes.release)
    .where(_changes.flag_id.in_(sa.bindparam("flags", expanding=True)), _changes.at >= sa.bindparam("since"))
    .order_by(_changes.at.desc(), _changes.id.desc())
    .limit(_CHANGES_MAX)
)


_made_after = (
    sa.select(_changes.id, _changes.at, _changes.action, _changes.flag_id, _changes.before, _changes.after)
    .add_columns(_changes.release)
    .where(_changes.flag_id.in_(sa.bindparam("flags", expanding=True)), _changes.id > sa.bindparam("known"))
    .order_by(_changes.id)
    .limit(_CHANGES_MAX)
)
_last_made = sa.select(sa.func.max(_changes.id)).where(_changes.flag_id.in_(sa.bindparam("flags", expanding=True)))


async def read_cuts(
    connection: Connection, release: Release, since: datetime | None = None, known: int | None = None
) -> Cuts | None:
    """The cuts of a release's flag as it is now; None if the flag was deleted.

    With `since`, also the last change of them from this time on, and with the number of the last change that is known,
    or -1 if none is, whether they were changed more than once after it.
    """
    flag = await flags_store.find_flag(connection, release.project_id, release.environment_id, release.flag_id)
    if flag is None:
        return None
    needed: dict[str, Flag] = {}
    found = [flag]
    is_complete = True
    while keys := set(needed_by(found, needed)):  # a prerequisite cannot need the flag itself, so this ends
        found = [*await flags_store.find_flags_by_key(connection, release.environment_id, keys)]
        needed |= {each.key: each for each in found}
        is_complete = is_complete and keys <= needed.keys()
    ids = [flag.id, *(each.id for each in needed.values())]
    shares = [RuleShare(*row) for row in await connection.execute(_shares, {"flags": ids})]
    cuts = replace(find_cuts(flag, needed, shares), flags=frozenset(ids) if is_complete else None)
    if known is not None:
        cuts = await _find_passed(connection, release, ids, cuts, known)
    return cuts if since is None else replace(cuts, settled_at=await _find_settled(connection, release, ids, since))


async def _find_passed(
    connection: Connection, release: Release, flags: Collection[UUID], cuts: Cuts, known: int
) -> Cuts:
    """The cuts, with the times between which others have changed them more than once since a known change."""
    if known < 0:
        last = (await connection.execute(_last_made, {"flags": [*flags]})).scalar() or 0
        return replace(cuts, last_change=last)
    rows = (await connection.execute(_made_after, {"flags": [*flags], "known": known})).all()
    times = [
        row.at
        for row in rows
        if may_change_cuts(row.action.partition(".")[0], row.before, row.after, is_own=row.flag_id == release.flag_id)
        and (row.release is None or row.release["id"] != str(release.id))
    ]
    passed = (min(times), max(times)) if len(times) > 1 else None
    return replace(cuts, passed=passed, last_change=rows[-1].id if rows else known)


async def _find_settled(
    connection: Connection, release: Release, flags: Collection[UUID], since: datetime
) -> datetime | None:
    """The time of the last change of what cuts the buckets, as the audit trail has it; None if there is none.

    Of a change that a step of the release itself made, it is the time at which the step began.
    """
    rows = (await connection.execute(_made_since, {"flags": [*flags], "since": since})).all()
    for row in rows:
        is_own = row.flag_id == release.flag_id
        if may_change_cuts(row.action.partition(".")[0], row.before, row.after, is_own=is_own):
            is_step = row.release is not None and row.release["id"] == str(release.id)
            began: datetime = min((each.at for each in release.segments), key=lambda at: abs(at - row.at))
            return began if is_step else row.at
    return rows[-1].at if len(rows) == _CHANGES_MAX else None
