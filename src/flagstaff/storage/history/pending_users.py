"""The users of segments that have not been counted yet: of each day and layout, and who of them had a flag on or off.

Users are identified as in rollouts: by the user id, or else by the email without regard to case. Users with neither
are left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, repeat
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.accounts import email_identity
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.pacing import Turns
from flagstaff.storage import tables
from flagstaff.storage.history.layouts import get_layouts
from flagstaff.storage.history.segments import StoredColumns, unpack
from flagstaff.storage.history.sketches import coupon

log = structlog.get_logger(__name__)

Evaluation = tuple[str | None, str | None, bytes]  # the user id, the email, the recorded bytes

MICROSECONDS_A_DAY = 86_400 * 10**6
MOST_KNOWN = 100_000  # a few megabytes

_ON = bytes(each.enabled for each in Outcome).ljust(256, b"\0")
_OFF = bytes(not each.enabled for each in Outcome).ljust(256, b"\0")
_segments = tables.segments.c
_environments = tables.recorded_environments.c

IS_PENDING = sa.and_(_segments.environment == _environments.number, _segments.id > _environments.counted_segment)
_pending = (
    sa.select(_segments.first_time)
    .join_from(tables.recorded_environments, tables.segments, IS_PENDING)
    .where(_environments.number == sa.bindparam("number"))
    .order_by(_segments.id)
    .limit(sa.bindparam("limit"))
)
_pending_query = _pending.add_columns(
    _environments.environment_id, _segments.id, _segments.layout_id, _segments.version, _segments.content
).where(_segments.id > sa.bindparam("after"))


class KnownEvaluations:
    """Hashes of evaluations that this process has counted, so that users who come back cost little.

    An evaluation is the same if the day, the layout, the user and the result are. What is forgotten is counted again,
    which changes nothing.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._met: set[int] = set()

    def unknown(self, place: tuple[int, int, int], evaluations: Sequence[Evaluation]) -> Iterator[Evaluation]:
        """Those of the evaluations in an environment, day and layout that are not known."""
        hashes = [*map(hash, zip(repeat(place), evaluations, strict=False))]
        self._met.update(hashes)
        return compress(evaluations, [each not in self._known for each in hashes])

    def keep(self) -> None:
        """Remember what was met: it has been counted and committed."""
        if len(self._known) + len(self._met) > MOST_KNOWN:
            self._known.clear()
        self._known |= self._met
        self._met.clear()

    def drop(self) -> None:
        """Forget what was met but not committed."""
        self._met.clear()


@dataclass(frozen=True, slots=True)
class PendingUsers:
    """The users of evaluations of one layout on one day: their coupons in order, and the recorded bytes, joined."""

    layout: Layout
    coupons: Sequence[int]
    recorded: bytes

    def with_flag(self, position: int) -> tuple[Sequence[int], Sequence[int]]:
        """The coupons, in order, of those who had a recorded flag on, and of those who had it off."""
        flag = self.layout.recorded[position]
        outcomes = self.recorded[position :: self.layout.width].translate(flag.outcomes_by_byte)
        on, off = (compress(self.coupons, outcomes.translate(state)) for state in (_ON, _OFF))
        return [*on], [*off]


async def read_pending(connection: AsyncConnection, number: int, *, after: int = 0, limit: int) -> Sequence[Any]:
    """The oldest pending segments of an environment, at most `limit` of those with ids above `after`."""
    wanted = {"number": number, "after": after, "limit": limit}
    return (await connection.execute(_pending_query, wanted)).all()


async def list_pending_times(connection: AsyncConnection, number: int, *, limit: int) -> Sequence[int]:
    """When the oldest pending segments of an environment begin, in microseconds since 1970."""
    return (await connection.execute(_pending, {"number": number, "limit": limit})).scalars().all()


async def gather_users(
    connection: AsyncConnection, number: int, segments: Sequence[Any], known: KnownEvaluations, turns: Turns
) -> dict[tuple[int, int], PendingUsers]:
    """The users of pending segments, by day (counted from 1970) and layout. Known evaluations are left out."""
    layouts = await get_layouts(connection, {each.layout_id for each in segments})
    coupons: dict[str, int] = {}
    found: defaultdict[tuple[int, int], set[tuple[int, bytes]]] = defaultdict(set)
    for segment in segments:
        place = segment.first_time // MICROSECONDS_A_DAY, segment.layout_id
        for user, email, recorded in _read(segment, (number, *place), layouts[segment.layout_id], known):
            identifier = user or email_identity(email or "")
            if identifier:
                if identifier not in coupons:
                    coupons[identifier] = coupon(segment.environment_id.bytes, identifier)
                found[place].add((coupons[identifier], recorded))
        await turns.give()
    gathered = {}
    for place, evaluations in found.items():
        in_order = sorted(evaluations, key=itemgetter(0))
        recorded = b"".join([each for _, each in in_order])
        gathered[place] = PendingUsers(layouts[place[1]], [each for each, _ in in_order], recorded)
        await turns.give()
    return gathered


def _read(segment: Any, place: tuple[int, int, int], layout: Layout, known: KnownEvaluations) -> Iterator[Evaluation]:
    """The unknown evaluations of a segment; none if it is damaged, which must not stop the counting of the others."""
    try:
        columns = unpack(segment.version, segment.content)
        return known.unknown(place, [*zip(columns.users, columns.emails, _split(columns, layout.width), strict=True)])
    except ValueError as error:
        log.error("history_row_damaged", table=tables.segments.name, id=segment.id, error=str(error))  # noqa: TRY400
        return iter(())


def _split(columns: StoredColumns, width: int) -> Sequence[bytes]:
    """The recorded bytes of each evaluation. Raises ValueError if they do not fit the layout."""
    if len(columns.recorded) != width * len(columns.times):
        raise ValueError("an evaluation does not fit its layout")
    if width == 0:
        return [b""] * len(columns.times)
    return [columns.recorded[start : start + width] for start in range(0, len(columns.recorded), width)]
