"""Selects evaluations of a segment by a filter."""

from collections.abc import Mapping, Sequence

from flagstaff.evaluation.history.filters import Checks, EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import Layout
from flagstaff.history.store.columns import StoredColumns

_EVERY = Checks()


def find_checks(layouts: Mapping[int, Layout], wanted: FlagFilter | None) -> dict[int, Checks | None]:
    """The checks for the filter's flag by layout; None where no evaluation can match."""
    checks: dict[int, Checks | None] = {}
    for layout_id, layout in layouts.items():
        checks[layout_id] = wanted.search(layout) if wanted else _EVERY
    return checks


def matching_offsets(columns: StoredColumns, layout: Layout, wanted: EvaluationFilter, checks: Checks) -> Sequence[int]:
    """The offsets of evaluations that match, regardless of their time. Raises ValueError for damaged columns."""
    offsets: Sequence[int] = range(len(columns.times))
    if wanted.user_id is not None:
        users = columns.users
        offsets = [offset for offset in offsets if users[offset] == wanted.user_id]
    if wanted.user_email is not None:
        wanted_email = wanted.user_email.lower()
        emails = [email and email.lower() for email in columns.emails]
        offsets = [offset for offset in offsets if emails[offset] == wanted_email]
    if isinstance(columns.recorded, list):
        columns.check(layout)  # the tests below look into each evaluation's bytes
        return [offset for offset in offsets if _passes(columns, offset, checks)]
    for column, passes in checks.of_all:
        passed = columns.recorded[column :: layout.width].translate(passes)
        offsets = [offset for offset in offsets if passed[offset]]
    return offsets


def _passes(columns: StoredColumns, offset: int, checks: Checks) -> bool:
    place = columns.places[offset]
    if checks.place is None:
        return True
    if place not in (None, checks.place):
        return False
    row = columns.rows[offset]
    return all(passes[row[column]] for column, passes in (checks.of_all if place is None else checks.of_one))
