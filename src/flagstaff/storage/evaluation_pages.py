"""Reading the evaluation history page by page, newest first. A request examines a bounded number of evaluations.

A page that stops at that bound has fewer items than asked for, perhaps none, and still says where to go on.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.accounts import email_identity
from flagstaff.evaluation.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.layout import RULE_BASE, Layout
from flagstaff.evaluation.records import RecordedEvaluation
from flagstaff.storage import dialect, tables
from flagstaff.storage.evaluation_ids import LAST_ID, evaluated_at, first_id_at, minute_of, next_id
from flagstaff.storage.evaluations import decode_layout, user_hash

SEGMENTS_EXAMINED = 100  # for a flag: every evaluation in them
SEGMENTS_SEARCHED = 5000  # for a user: their hashes
SEGMENTS_FOUND = 50  # for a user: every evaluation in those that hold the hash

_rows = tables.evaluations.c
_segments = tables.segments.c


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """Evaluations, newest first; the next page lists those with an id below `next_before`, unless that is None."""

    items: Sequence[RecordedEvaluation]
    next_before: bytes | None


@dataclass(frozen=True, slots=True)
class _Span:
    """Ids from `first` up to, but without, `end`."""

    first: bytes
    end: bytes


async def list_evaluations(
    connection: AsyncConnection, number: int, wanted: EvaluationFilter, *, limit: int, before: bytes | None
) -> EvaluationPage:
    """A page of the evaluations of the environment with this number."""
    await dialect.read_in_index_order(connection)
    whole = _Span(
        first=b"" if wanted.since is None else first_id_at(wanted.since),
        end=min(before or LAST_ID, LAST_ID if wanted.until is None else first_id_at(wanted.until)),
    )
    spans, rest = await _spans(connection, number, wanted, whole)
    condition = await _condition(connection, number, wanted, spans)
    rows: dict[bytes, Any] = {}
    settled: list[Any] = []
    for place, span in enumerate(spans):
        query = (
            sa.select(_rows.id, _rows.layout_id, _rows.user_id, _rows.user_email, _rows.recorded)
            .where(_rows.environment == number, _rows.id >= span.first, _rows.id < span.end, condition)
            .order_by(_rows.id.desc())
            .limit(limit + 1)
        )
        rows.update({row.id: row for row in await connection.execute(query)})
        # Spans may overlap: what is older than the end of a span to come may not be the next in order.
        end = max((later.end for later in spans[place + 1 :]), default=b"")
        settled = sorted((row for row in rows.values() if row.id >= end), key=lambda row: row.id, reverse=True)
        if len(settled) > limit:
            settled = settled[:limit]
            rest = settled[-1].id
            break
    layouts = await get_layouts(connection, {row.layout_id for row in settled})
    return EvaluationPage([_evaluation(row, layouts[row.layout_id]) for row in settled], rest)


async def _spans(
    connection: AsyncConnection, number: int, wanted: EvaluationFilter, whole: _Span
) -> tuple[list[_Span], bytes | None]:
    """Where to look, newest first, and the end of what is then left for another request."""
    hashes = _hashes(wanted)
    if not hashes and not wanted.flag:
        return [whole], None
    rest = await _end_of_segments(connection, number, whole, skipped=SEGMENTS_SEARCHED if hashes else SEGMENTS_EXAMINED)
    searched = _Span(whole.first if rest is None else rest, whole.end)
    if not hashes:
        return [searched], rest
    holding = [dialect.contains_bytes(connection, _segments.hashes, value) for value in hashes]
    query = sa.select(_segments.first_id, _segments.last_id).where(_overlapping(number, searched), *holding)
    # The few segments that reach beyond the end are not bounded: they might be all that a bound lets through.
    beyond = (await connection.execute(query.where(_segments.last_id >= searched.end))).all()
    within = query.where(_segments.last_id < searched.end).order_by(_segments.last_id.desc())
    found = list(await connection.execute(within.limit(SEGMENTS_FOUND + 1)))
    if len(found) > SEGMENTS_FOUND:
        rest = next_id(found.pop().last_id)
        searched = _Span(rest, whole.end)
    spans = [
        _Span(max(searched.first, row.first_id), min(searched.end, next_id(row.last_id))) for row in [*beyond, *found]
    ]
    return [span for span in spans if span.first < span.end], rest


def _hashes(wanted: EvaluationFilter) -> list[bytes]:
    """What the segments with a wanted user's evaluations hold."""
    texts = (wanted.user_id, None if wanted.user_email is None else email_identity(wanted.user_email))
    return [user_hash(text) for text in texts if text is not None]


async def _end_of_segments(connection: AsyncConnection, number: int, span: _Span, *, skipped: int) -> bytes | None:
    """The end of the ids in all of a span's segments but the newest ones; None if there are no more than those."""
    within = sa.and_(_overlapping(number, span), _segments.last_id < span.end)
    query = sa.select(_segments.last_id).where(within).order_by(_segments.last_id.desc())
    last_id = (await connection.execute(query.offset(skipped).limit(1))).scalar_one_or_none()
    return None if last_id is None else next_id(last_id)


def _overlapping(number: int, span: _Span) -> sa.ColumnElement[bool]:
    return sa.and_(_segments.environment == number, _segments.last_id >= span.first, _segments.first_id < span.end)


async def _condition(
    connection: AsyncConnection, number: int, wanted: EvaluationFilter, spans: Sequence[_Span]
) -> sa.ColumnElement[bool]:
    conditions: list[sa.ColumnElement[bool]] = []
    if wanted.user_id is not None:
        conditions.append(_rows.user_id == wanted.user_id)
    if wanted.user_email is not None:
        # Databases differ beyond ASCII, so an address that is not must at least be found as it was given.
        given, same = wanted.user_email, sa.func.lower(_rows.user_email) == sa.func.lower(wanted.user_email)
        conditions.append(sa.or_(_rows.user_email.in_({given, email_identity(given)}), same))
    if wanted.flag and spans:
        layouts = await _layouts_in(connection, number, _Span(min(s.first for s in spans), max(s.end for s in spans)))
        conditions.append(_flag_condition(wanted.flag, layouts))
    return sa.and_(sa.true(), *conditions)


def _flag_condition(wanted: FlagFilter, layouts: dict[int, Layout]) -> sa.ColumnElement[bool]:
    """Which rows hold an outcome of the wanted flag. Layouts in which that is the same question are asked at once."""
    questions: dict[tuple[int, int, int] | None, list[int]] = {}
    for layout_id, layout in layouts.items():
        found = wanted.find(layout)
        if found is None:
            continue
        position, flag = found
        if wanted.enabled is None or (position is None and flag.default.enabled == wanted.enabled):
            questions.setdefault(None, []).append(layout_id)
        elif position is not None:
            off = [byte for byte in range(RULE_BASE) if not flag.outcome(byte).enabled]
            if off:  # neighbours: from the percentage to the byte of a user without a bucket
                questions.setdefault((position, off[0], off[-1]), []).append(layout_id)
            elif wanted.enabled:
                questions.setdefault(None, []).append(layout_id)
    conditions = []
    for question, layout_ids in questions.items():
        condition: sa.ColumnElement[bool] = _rows.layout_id.in_(layout_ids)
        if question:
            position, first, last = question
            byte = sa.func.substr(_rows.recorded, position + 1, 1)
            is_off = byte.between(bytes((first,)), bytes((last,)))
            condition = sa.and_(condition, sa.not_(is_off) if wanted.enabled else is_off)
        conditions.append(condition)
    return sa.or_(sa.false(), *conditions)


async def _layouts_in(connection: AsyncConnection, number: int, span: _Span) -> dict[int, Layout]:
    columns = tables.summaries.c
    query = sa.select(columns.layout_id).where(
        columns.environment == number, columns.minute.between(_minute(span.first), _minute(span.end))
    )
    return await get_layouts(connection, set((await connection.execute(query.distinct())).scalars()))


def _minute(value: bytes) -> int:
    # The ids' bounds lie beyond what a column of minutes can be compared with.
    return min(minute_of(value), 2**31 - 1)


async def get_layouts(connection: AsyncConnection, layout_ids: Collection[int]) -> dict[int, Layout]:
    """Layouts by their ids."""
    columns = tables.layouts.c
    query = sa.select(columns.id, columns.content).where(columns.id.in_(layout_ids))
    return {layout_id: decode_layout(content) for layout_id, content in await connection.execute(query)}


def _evaluation(row: Any, layout: Layout) -> RecordedEvaluation:
    return RecordedEvaluation(
        id=UUID(bytes=row.id),
        evaluated_at=evaluated_at(row.id),
        user_id=row.user_id,
        user_email=row.user_email,
        layout=layout,
        recorded=row.recorded,
    )
