"""Selects evaluations of a segment by a filter."""

from collections.abc import Sequence

from flagstaff.domain.accounts import email_identity
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.storage.history.columns import StoredColumns


def can_match(layout: Layout, wanted: FlagFilter | None) -> bool:
    """Whether evaluations with this layout can match the filter's flag."""
    if wanted is None:
        return True
    found = wanted.find(layout)
    if found is None:
        return False
    position, flag = found
    return position is not None or wanted.enabled in (None, flag.default.enabled)


def matching_offsets(columns: StoredColumns, layout: Layout, wanted: EvaluationFilter) -> Sequence[int]:
    """The offsets of evaluations that match, regardless of their time; the layout must be one that can match."""
    offsets: Sequence[int] = range(len(columns.times))
    if wanted.user_id is not None:
        users = columns.users
        offsets = [offset for offset in offsets if users[offset] == wanted.user_id]
    if wanted.user_email is not None:
        wanted_email = email_identity(wanted.user_email)
        emails = [email and email_identity(email) for email in columns.emails]
        offsets = [offset for offset in offsets if emails[offset] == wanted_email]
    if wanted.flag and wanted.flag.enabled is not None:
        offsets = _with_flag(offsets, columns, layout, wanted.flag)
    return offsets


def _with_flag(offsets: Sequence[int], columns: StoredColumns, layout: Layout, wanted: FlagFilter) -> Sequence[int]:
    found = wanted.find(layout)
    assert found is not None
    position, flag = found
    if position is None:
        return offsets
    recorded = columns.recorded[position :: layout.width]
    outcomes = recorded.translate(flag.outcomes_by_byte)
    answers = {outcome for outcome in Outcome if outcome.enabled == wanted.enabled}
    return [offset for offset in offsets if outcomes[offset] in answers]
