"""The users of segments that have not been counted yet: of each day and layout, and who of them had a flag on or off.

Users are identified as in rollouts: by the user id, or else by the email without regard to case. Users with neither
are left out.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any, cast

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import ON_BY_OUTCOME, Layout
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.columns import StoredColumns, unpack
from flagstaff.history.store.distinct_users.sketches import Sketch, hash_users
from flagstaff.history.store.distinct_users.user_rows import FlagUsers
from flagstaff.history.store.layouts import get_layouts

log = structlog.get_logger(__name__)

MICROSECONDS_A_DAY = 86_400 * 10**6
USERS_AT_ONCE = 4000

_OFF = bytes(not each.enabled for each in Outcome).ljust(256, b"\0")
_segments = tables.segments.c
_environments = tables.recorded_environments.c

IS_PENDING = sa.and_(_segments.environment == _environments.number, _segments.id > _environments.counted_segment)
# A value and not a join, so that PostgreSQL begins there in its index, and does not read the whole history up to it.
_counted = (
    sa.select(_environments.counted_segment).where(_environments.number == sa.bindparam("number")).scalar_subquery()
)
_pending = (
    sa.select(_segments.first_time)
    .where(_segments.environment == sa.bindparam("number"), _segments.id > _counted)
    .order_by(_segments.id)
    .limit(sa.bindparam("limit"))
)
_pending_query = (
    _pending.join_from(tables.segments, tables.recorded_environments, _segments.environment == _environments.number)
    .add_columns(_environments.environment_id, _segments.id, _segments.layout_id, _segments.version, _segments.content)
    .where(_segments.id > sa.bindparam("after"))
)


@dataclass(frozen=True, slots=True)
class PendingUsers:
    """The users of evaluations of one layout on one day: their hashes in order, and the recorded bytes, joined."""

    layout: Layout
    hashes: Sequence[int]
    recorded: bytes

    def add_to(self, users: FlagUsers, position: int, everyone: Sketch) -> None:
        """Add the users to those of a recorded flag. Everyone is the sketch of all of them."""
        flag = self.layout.recorded[position]
        outcomes = self.recorded[position :: self.layout.width].translate(flag.outcomes_by_byte)
        for sketch, table in ((users.on, ON_BY_OUTCOME), (users.off, _OFF)):
            chosen = outcomes.translate(table)
            if 0 not in chosen:
                sketch.merge(everyone)
            elif 1 in chosen:
                stop = bisect_left(self.hashes, sketch.limit)
                sketch.add([*compress(islice(self.hashes, stop), chosen)])


async def read_pending(connection: AsyncConnection, number: int, *, after: int = 0, limit: int) -> Sequence[Any]:
    """The oldest pending segments of an environment, at most `limit` of those with ids above `after`."""
    wanted = {"number": number, "after": after, "limit": limit}
    return (await connection.execute(_pending_query, wanted)).all()


async def list_pending_times(connection: AsyncConnection, number: int, *, limit: int) -> Sequence[int]:
    """Return the times at which the oldest pending segments of an environment begin, in microseconds since 1970."""
    return (await connection.execute(_pending, {"number": number, "limit": limit})).scalars().all()


async def gather_users(
    connection: AsyncConnection, segments: Sequence[Any], turns: Turns
) -> list[tuple[int, PendingUsers]]:
    """The users of pending segments, with their day (counted from 1970), by layout and some thousand at a time."""
    layouts = await get_layouts(connection, {each.layout_id for each in segments})
    found: defaultdict[tuple[int, int], _Found] = defaultdict(_Found)
    gathered = []
    for segment in segments:
        place = day, layout_id = segment.first_time // MICROSECONDS_A_DAY, segment.layout_id
        try:
            found[place].add(segment, layouts[layout_id].width)
        except ValueError as error:  # it must not stop the counting of the others
            log.error("history_row_damaged", table=tables.segments.name, id=segment.id, error=str(error))  # noqa: TRY400
        if len(found[place].hashes) >= USERS_AT_ONCE:
            gathered.append((day, await found.pop(place).in_order(layouts[layout_id], turns)))
        await turns.give()
    for (day, layout_id), users in found.items():
        if users.hashes:
            gathered.append((day, await users.in_order(layouts[layout_id], turns)))
    return gathered


@dataclass(slots=True)
class _Found:
    """The hash of the user, and the recorded bytes, of each evaluation."""

    hashes: list[int] = field(default_factory=list)
    recorded: list[bytes] = field(default_factory=list)

    def add(self, segment: Any, width: int) -> None:
        """Add the evaluations of a segment. Raises ValueError if it is damaged."""
        columns = unpack(segment.version, segment.content)
        identifiers = _identifiers(columns)
        recorded = _split(columns.recorded, width, len(identifiers))
        if "" in identifiers:
            recorded = [*compress(recorded, identifiers)]
            identifiers = [*filter(None, identifiers)]
        self.hashes += hash_users(identifiers, segment.environment_id)
        self.recorded += recorded

    async def in_order(self, layout: Layout, turns: Turns) -> PendingUsers:
        """The same in the order of the hashes."""
        order = sorted(range(len(self.hashes)), key=self.hashes.__getitem__)
        await turns.give()
        hashes = [self.hashes[place] for place in order]
        await turns.give()
        recorded = b"".join([self.recorded[place] for place in order])
        await turns.give()
        return PendingUsers(layout, hashes, recorded)


def _identifiers(columns: StoredColumns) -> list[str]:
    """Return the user of each evaluation; empty where it is not known."""
    if all(columns.users):
        return cast("list[str]", columns.users)
    return [user or (email.lower() if email else "") for user, email in zip(columns.users, columns.emails, strict=True)]


def _split(recorded: bytes, width: int, size: int) -> Sequence[bytes]:
    """The recorded bytes of each evaluation. Raises ValueError if they do not fit the layout."""
    if len(recorded) != width * size:
        raise ValueError("an evaluation does not fit its layout")
    return [recorded[start : start + width] for start in range(0, len(recorded), width)] if width else [b""] * size
