"""Evaluations and events as rows of their tables, in ClickHouse's format JSONEachRow."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from flagstaff.evaluation.history.decisions import DecisionForms
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.exported_columns import EVALUATIONS, EVENTS, Column, Kind
from flagstaff.history.exported_rows import ExportedPlace, evaluation_values, event_values
from flagstaff.history.store.followed_events import FollowedEvents
from flagstaff.history.store.following import FollowedSegment

_encode = msgspec.json.Encoder().encode


class _Form(NamedTuple):
    """A flag's entries in the maps of a row; empty where it has none."""

    flag: bytes
    flag_id: bytes
    reason: bytes
    variant: bytes
    rule: bytes


class Rows:
    """Encodes evaluations. What most of them share is encoded once."""

    def __init__(self) -> None:
        self._forms = DecisionForms(_form)

    def encode(self, place: ExportedPlace, segments: Iterable[FollowedSegment]) -> list[bytes]:
        """A line for each evaluation of an environment."""
        rows = []
        for segment in segments:
            for each in segment.evaluations():
                flags, flag_ids, reasons, variants, rules = _columns(self._forms.of_layout(each.layout)(each.recorded))
                maps = b',"flags":{%b},"flag_ids":{%b},"reasons":{%b},"variants":{%b},"rules":{%b}}\n' % (
                    b",".join(flags),
                    b",".join(flag_ids),
                    b",".join(reasons),
                    b",".join(filter(None, variants)),
                    b",".join(filter(None, rules)),
                )
                rows.append(_call(place, each)[:-1] + maps)
        return rows


def encode_events(place: ExportedPlace, segments: Iterable[FollowedEvents]) -> list[bytes]:
    """A line for each event of an environment."""
    rows = []
    for segment in segments:
        for each in segment.events:
            named = zip(EVENTS, event_values(place, each), strict=True)
            rows.append(_encode({column.name: _convert(column, value) for column, value in named}) + b"\n")
    return rows


def _call(place: ExportedPlace, each: RecordedEvaluation) -> bytes:
    named = zip(EVALUATIONS, evaluation_values(place, each), strict=True)
    return _encode({column.name: _convert(column, value) for column, value in named})


def _convert(column: Column, value: Any) -> Any:
    if column.kind is Kind.OBJECT:
        return "" if value is None else _encode(value).decode()
    return value.strftime("%Y-%m-%d %H:%M:%S.%f") if column.kind is Kind.MOMENT else value


def _form(decision: Decision) -> _Form:
    key = _encode(decision.flag.key) + b":"
    return _Form(
        key + (b"true" if decision.outcome.enabled else b"false"),
        key + _encode(decision.flag.id),
        key + _encode(decision.reason),
        key + _encode(decision.variant) if decision.variant is not None else b"",
        key + _encode(decision.rule_id) if decision.rule_id is not None else b"",
    )


def _columns(forms: Iterable[_Form]) -> tuple[list[bytes], ...]:
    found = list(forms)
    return (
        [each.flag for each in found],
        [each.flag_id for each in found],
        [each.reason for each in found],
        [each.variant for each in found],
        [each.rule for each in found],
    )
