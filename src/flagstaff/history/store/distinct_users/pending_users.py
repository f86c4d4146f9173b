"""The users of segments that have not been counted yet: of each day and layout, and who of them had a flag on or off.

Users of a flag that was evaluated alone are counted by the flag's own layout.

Users are identified as in rollouts: by the user id, or else by the email without regard to case. Users with neither
are left out.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, islice
from typing import Any, NamedTuple, cast

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.evaluation import outcomes
from flagstaff.evaluation.history.layout import ON_BY_OUTCOME, RULE_BASE, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.columns import StoredColumns, check_fit, unpack
from flagstaff.history.store.distinct_users.sketches import Sketch, hash_users
from flagstaff.history.store.distinct_users.user_rows import REASON, RULE, VARIANT, FlagUsers
from flagstaff.history.store.layouts import get_layouts

log = structlog.get_logger(__name__)

MICROSECONDS_A_DAY = 86_400 * 10**6
USERS_AT_ONCE = 4000
BYTES_AT_ONCE = 4 * 10**6  # of segments; with a thousand flags a few hundred kilobytes each

_ONLY = [bytes(each == byte for each in range(256)) for byte in range(256)]
_OFF = bytes(not each.enabled for each in Outcome).ljust(256, b"\0")
RULE_OUTCOMES = frozenset(outcomes.RULE_OUTCOMES.values())
_segments = tables.segments.c
_environments = tables.recorded_environments.c

IS_PENDING = sa.and_(_segments.environment == _environments.number, _segments.id > _environments.counted_segment)
# A value and not a join, so that PostgreSQL begins there in its index, and does not read the whole history up to it.
_counted = (
    sa.select(_environments.counted_segment).where(_environments.number == sa.bindparam("number")).scalar_subquery()
)
_pending = (
    sa.select(_segments.id, _segments.first_time, _segments.size, sa.func.length(_segments.content).label("bytes"))
    .where(_segments.environment == sa.bindparam("number"), _segments.id > _counted)
    .order_by(_segments.id)
    .limit(sa.bindparam("limit"))
)
_contents_query = (
    sa.select(
        _environments.environment_id,
        _segments.id,
        _segments.first_time,
        _segments.layout_id,
        _segments.version,
        _segments.content,
    )
    .join_from(tables.segments, tables.recorded_environments, _segments.environment == _environments.number)
    .where(
        _segments.environment == sa.bindparam("number"),
        _segments.id.between(sa.bindparam("first"), sa.bindparam("last")),
    )
    .order_by(_segments.id)
)


@dataclass(frozen=True, slots=True)
class PendingUsers:
    """The users of evaluations of one layout on one day: their hashes in order, and the recorded bytes, joined."""

    layout: Layout
    hashes: Sequence[int]
    recorded: bytes

    def add_to(self, users: FlagUsers, position: int, everyone: Sketch) -> None:
        """Add the users to a recorded flag. Everyone is the sketch of all of them."""
        flag = self.layout.recorded[position]
        results = self.recorded[position :: self.layout.width].translate(flag.outcomes_by_byte)
        for sketch, table in ((users.on, ON_BY_OUTCOME), (users.off, _OFF)):
            chosen = results.translate(table)
            if 0 not in chosen:
                sketch.merge(everyone)
            elif 1 in chosen:
                stop = bisect_left(self.hashes, sketch.limit)
                sketch.add([*compress(islice(self.hashes, stop), chosen)])
        self._add_rules(users, flag, self.recorded[position :: self.layout.width])
        if flag.variants:
            variants = self.recorded[self.layout.variant_columns[position] :: self.layout.width]
            is_on = int.from_bytes(results.translate(ON_BY_OUTCOME))
            for place, variant in enumerate(flag.variants):
                if place in variants:
                    got = int.from_bytes(variants.translate(_ONLY[place])) & is_on
                    self._add_named(users, VARIANT + variant, got.to_bytes(len(variants)))

    def _add_rules(self, users: FlagUsers, flag: LayoutFlag, column: bytes) -> None:
        for byte in range(RULE_BASE, max(column, default=0) + 1):
            if byte not in column:
                continue
            decider, outcome = flag.decider(byte), flag.outcome(byte)
            if outcome in RULE_OUTCOMES:
                is_known = decider is not None and decider.rule_id is not None
                name = f"{RULE}{decider.rule_id}" if is_known and decider else REASON + outcome.reason(0)
                self._add_named(users, name, column.translate(_ONLY[byte]))

    def _add_named(self, users: FlagUsers, name: str, chosen: bytes) -> None:
        if 1 in chosen:
            sketch = users.of_name(name)
            stop = bisect_left(self.hashes, sketch.limit)
            sketch.add([*compress(islice(self.hashes, stop), chosen)])


class PendingSegment(NamedTuple):
    """A segment that was not counted yet: when it begins, in microseconds since 1970, its evaluations and its bytes."""

    id: int
    first_time: int
    size: int
    bytes: int


async def list_pending(connection: AsyncConnection, number: int, *, limit: int) -> Sequence[PendingSegment]:
    """The oldest pending segments of an environment, at most `limit`."""
    rows = await connection.execute(_pending, {"number": number, "limit": limit})
    return [PendingSegment(*row) for row in rows]


def parts_of(pending: Sequence[PendingSegment], *, evaluations: int) -> Iterator[Sequence[PendingSegment]]:
    """Split pending segments into parts of at most so many evaluations and `BYTES_AT_ONCE`, or of one segment."""
    part: list[PendingSegment] = []
    size = stored = 0
    for each in pending:
        size, stored = size + each.size, stored + each.bytes
        if part and (size > evaluations or stored > BYTES_AT_ONCE):
            yield part
            part, size, stored = [], each.size, each.bytes
        part.append(each)
    if part:
        yield part


async def gather_users(
    connection: AsyncConnection,
    number: int,
    part: Sequence[PendingSegment],
    turns: Turns,
    *,
    flag_key: str | None = None,
) -> list[tuple[int, PendingUsers]]:
    """The users of pending segments, with their day (counted from 1970), by layout and some thousand at a time.

    With a flag's key, evaluations of other flags alone are left out.
    """
    wanted = {"number": number, "first": part[0].id, "last": part[-1].id}
    segments = (await connection.execute(_contents_query, wanted)).all()
    layouts = await get_layouts(connection, {each.layout_id for each in segments})
    wanted_flags = None
    if flag_key is not None:
        wanted_flags = {key: {None, layout.find_place(flag_key)} for key, layout in layouts.items()}
    found: defaultdict[_Place, _Found] = defaultdict(_Found)
    gathered: list[tuple[int, PendingUsers]] = []
    for segment in segments:
        layout = layouts[segment.layout_id]
        try:
            touched = _add(found, segment, layout, wanted_flags and wanted_flags[segment.layout_id])
        except ValueError as error:  # it must not stop the counting of the others
            log.error("history_row_damaged", table=tables.segments.name, id=segment.id, error=str(error))  # noqa: TRY400
            continue
        many = [place for place in touched if len(found[place].hashes) >= USERS_AT_ONCE]
        gathered += [(each.day, await found.pop(each).in_order(each.layout_in(layouts), turns)) for each in many]
        await turns.give()
    left = [(place, users) for place, users in found.items() if users.hashes]
    return gathered + [(place.day, await users.in_order(place.layout_in(layouts), turns)) for place, users in left]


class _Place(NamedTuple):
    """The day and the layout of evaluations, and the flag's place in it if it was evaluated alone."""

    day: int
    layout_id: int
    flag: int | None

    def layout_in(self, layouts: Mapping[int, Layout]) -> Layout:
        layout = layouts[self.layout_id]
        return layout if self.flag is None else layout.alone(self.flag)


def _add(
    found: defaultdict[_Place, "_Found"], segment: Any, layout: Layout, wanted: Collection[int | None] | None
) -> Collection[_Place]:
    """Add the evaluations of a segment, and return their places. Raises ValueError if it is damaged."""
    columns = unpack(segment.version, segment.content)
    identifiers, rows, flags = _identifiers(columns), columns.rows, columns.places
    day = segment.first_time // MICROSECONDS_A_DAY
    if len(rows) != len(identifiers):
        raise ValueError("the columns differ in length")
    check_fit(rows, flags, layout)
    chosen = [*map(bool, identifiers)]
    if wanted is not None:
        chosen = [has_user and place in wanted for has_user, place in zip(chosen, flags, strict=True)]
    if not all(chosen):
        identifiers, rows, flags = (
            [*compress(identifiers, chosen)],
            [*compress(rows, chosen)],
            [*compress(flags, chosen)],
        )
    hashes = hash_users(identifiers, segment.environment_id)
    if columns.flags is None:
        one = found[_Place(day, segment.layout_id, None)]
        one.hashes += hashes
        one.recorded += rows
        return [_Place(day, segment.layout_id, None)]
    of_flag = {place: _Place(day, segment.layout_id, place) for place in set(flags)}
    for place, user, row in zip(flags, hashes, rows, strict=True):
        one = found[of_flag[place]]
        one.hashes.append(user)
        one.recorded.append(row)
    return of_flag.values()


@dataclass(slots=True)
class _Found:
    """The hash of the user, and the recorded bytes, of each evaluation."""

    hashes: list[int] = field(default_factory=list)
    recorded: list[bytes] = field(default_factory=list)

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
