"""Finds the users of an environment's latest evaluations, each with the newest of theirs."""

from collections.abc import AsyncGenerator, Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.tables import microseconds, moment
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.store.columns import unpack
from flagstaff.history.store.ids import END
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.pages import evaluation_at
from flagstaff.projects.sdk_keys import KeyKind

_FETCHED_AT_ONCE = 8

_segments = tables.segments.c
_last_place = sa.tuple_(_segments.last_time, _segments.id)
_newest = (
    sa.select(
        _segments.id,
        _segments.layout_id,
        _segments.first_time,
        _segments.last_time,
        _segments.version,
        _segments.content,
    )
    .where(
        _segments.environment == sa.bindparam("environment"),
        _segments.last_time.between(sa.bindparam("since"), sa.bindparam("time", type_=sa.BigInteger)),
        _last_place < sa.tuple_(sa.bindparam("time", type_=sa.BigInteger), sa.bindparam("id", type_=sa.BigInteger)),
    )
    .order_by(_segments.last_time.desc(), _segments.id.desc())
    .limit(_FETCHED_AT_ONCE)
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Evaluations that are each the newest of its user so far, with the user: the id, or else the email.

    Almost always they are the newest of all; where instances wrote at the same time, a later stretch may have a newer
    one of the same user. After this stretch, the history has been examined back to `since`.
    """

    since: datetime
    evaluations: Iterator[tuple[str, RecordedEvaluation]]


async def newest_of_each_user(
    connection: AsyncConnection, number: int, since: datetime, counts: Callable[[KeyKind | None], bool] | None = None
) -> AsyncGenerator[Stretch, None]:
    """The users of an environment's evaluations since a moment, from the newest on, in stretches of some hundred.

    The user is the one of rollouts; evaluations without an identifier are left out, and so are those with a kind of SDK
    key that does not count.
    """
    start = microseconds(since)
    seen: dict[str, int] = {}
    layouts: dict[int, Layout] = {}
    place = END[:2]
    while True:
        given = {"environment": number, "since": start, "time": place[0], "id": place[1]}
        found = (await connection.execute(_newest, given)).all()
        layouts |= await get_layouts(connection, {segment.layout_id for segment in found} - layouts.keys())
        is_last = len(found) < _FETCHED_AT_ONCE
        # All other segments end before or with the next one; what is not read yet ends before or with this one.
        ends = [segment.last_time + 1 for segment in found[1:]]
        ends += [start if is_last else segment.last_time + 1 for segment in found[-1:]]
        for segment, examined in zip(found, ends, strict=True):
            newest = _newest_in(segment, layouts[segment.layout_id], start, seen, counts)
            yield Stretch(moment(max(start, examined)), newest)
        if is_last:
            return
        place = (found[-1].last_time, found[-1].id)


def _newest_in(
    segment: Any, layout: Layout, since: int, seen: dict[str, int], counts: Callable[[KeyKind | None], bool] | None
) -> Iterator[tuple[str, RecordedEvaluation]]:
    columns = unpack(segment.version, segment.content)
    users, emails, times, origins = columns.users, columns.emails, columns.times, columns.origins
    since = max(since, segment.first_time)  # from which it answers: see hide_evaluations
    for offset in reversed(range(len(times))):
        if counts is not None and not counts(None if origins is None else origins.kind_at(offset)):
            continue
        user, time = users[offset] or (emails[offset] or "").lower(), times[offset] // 1000
        if user and time >= since and time > seen.get(user, -1):
            seen[user] = time
            yield user, evaluation_at((time, segment.id, offset), columns, layout)
