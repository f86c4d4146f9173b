"""Evaluations as rows of the table, in ClickHouse's format JSONEachRow."""

from collections.abc import Generator, Iterable
from typing import NamedTuple
from uuid import UUID

import msgspec

from flagstaff.evaluation.history.decisions import DecisionForms
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.store.following import FollowedSegment

_encode = msgspec.json.Encoder().encode


class _Form(NamedTuple):
    """A flag's entries in the maps of a row; empty where it has none."""

    flag: bytes
    reason: bytes
    variant: bytes
    rule: bytes


class Rows:
    """Encodes evaluations. What most of them share is encoded once."""

    def __init__(self) -> None:
        self._forms = DecisionForms(_form)

    def encode(
        self, project_id: UUID, environment_id: UUID, environment: str, segments: Iterable[FollowedSegment]
    ) -> Generator[None, None, list[bytes]]:
        """A line for each evaluation of an environment. Yields after each."""
        place = {"project_id": project_id, "environment_id": environment_id, "environment": environment}
        start = _encode(place)[:-1] + b","
        rows = []
        for segment in segments:
            for each in segment.evaluations():
                flags, reasons, variants, rules = _columns(self._forms.of_layout(each.layout)(each.recorded))
                maps = b',"flags":{%b},"reasons":{%b},"variants":{%b},"rules":{%b}}\n' % (
                    b",".join(flags),
                    b",".join(reasons),
                    b",".join(filter(None, variants)),
                    b",".join(filter(None, rules)),
                )
                rows.append(start + _call(each)[1:-1] + maps)
                yield
        return rows


def _call(each: RecordedEvaluation) -> bytes:
    attributes = "" if each.attributes is None else _encode(each.attributes).decode()
    return _encode(
        {
            "id": each.id,
            "evaluated_at": each.evaluated_at.strftime("%Y-%m-%d %H:%M:%S.%f"),
            "user_id": each.user_id,
            "user_email": each.user_email,
            "attributes": attributes,
        }
    )


def _form(decision: Decision) -> _Form:
    key = _encode(decision.flag.key) + b":"
    return _Form(
        key + (b"true" if decision.outcome.enabled else b"false"),
        key + _encode(decision.reason),
        key + _encode(decision.variant) if decision.variant is not None else b"",
        key + _encode(decision.rule_id) if decision.rule_id is not None else b"",
    )


def _columns(forms: Iterable[_Form]) -> tuple[list[bytes], list[bytes], list[bytes], list[bytes]]:
    found = list(forms)
    return (
        [each.flag for each in found],
        [each.reason for each in found],
        [each.variant for each in found],
        [each.rule for each in found],
    )
