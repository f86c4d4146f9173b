"""Selects evaluations of a segment by a filter."""

from collections.abc import Collection, Generator, Mapping, Sequence

from flagstaff.evaluation.history.filters import Check, EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import Layout
from flagstaff.history.store.columns import StoredColumns

Checks = Mapping[int, Collection[Check] | None]
"""For each layout, what the recorded bytes of its evaluations must pass; None if none of them can match."""


def find_checks(layouts: Mapping[int, Layout], wanted: FlagFilter | None) -> Generator[None, None, Checks]:
    """The checks for the filter's flag, in small steps."""
    checks: dict[int, Collection[Check] | None] = {}
    for layout_id, layout in layouts.items():
        checks[layout_id] = (yield from wanted.search(layout)) if wanted else ()
    return checks


def matching_offsets(
    columns: StoredColumns, layout: Layout, wanted: EvaluationFilter, checks: Collection[Check]
) -> Sequence[int]:
    """The offsets of evaluations that match, regardless of their time."""
    offsets: Sequence[int] = range(len(columns.times))
    if wanted.user_id is not None:
        users = columns.users
        offsets = [offset for offset in offsets if users[offset] == wanted.user_id]
    if wanted.user_email is not None:
        wanted_email = wanted.user_email.lower()
        emails = [email and email.lower() for email in columns.emails]
        offsets = [offset for offset in offsets if emails[offset] == wanted_email]
    for column, passes in checks:
        passed = columns.recorded[column :: layout.width].translate(passes)
        offsets = [offset for offset in offsets if passed[offset]]
    return offsets
