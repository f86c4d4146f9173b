"""JSON lines, compressed with gzip. A line has all columns."""

import gzip
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, BinaryIO

import msgspec

from flagstaff.evaluation.history.decisions import DecisionForms
from flagstaff.evaluation.history.layout import Decision
from flagstaff.history.exported_columns import EVALUATIONS, EVENTS, FLAGS, Column
from flagstaff.history.exported_rows import ExportedPlace, evaluation_values, event_values, flag_values
from flagstaff.history.store.followed_events import FollowedEvents
from flagstaff.history.store.following import FollowedSegment
from flagstaff.values.moments import format_moment
from flagstaff.values.numbers import number_text

SUFFIX = "jsonl.gz"
_LEVEL = 1  # a third of the time that the default takes
_encode = msgspec.json.Encoder().encode
# JSON has these as they are, but programs that split texts into lines would split at them.
_SEPARATORS = {char.encode(): f"\\u{ord(char):04x}".encode() for char in "\u2028\u2029"}


class EvaluationLines:
    """Writes a file of evaluations."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = _open(file)
        self._forms = DecisionForms(_form)

    def add(self, place: ExportedPlace, segment: FollowedSegment) -> None:
        """Write evaluations of an environment."""
        for each in segment.evaluations():
            call = _object(EVALUATIONS, evaluation_values(place, each))
            flags = b",".join(self._forms.of_layout(each.layout)(each.recorded))
            self._file.write(_line(b"".join((call[:-1], b',"flags":[', flags, b"]}"))))

    def close(self) -> None:
        """Write what is missing. Leaves the file underneath open."""
        self._file.close()


class EventLines:
    """Writes a file of events."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = _open(file)

    def add(self, place: ExportedPlace, segment: FollowedEvents) -> None:
        """Write events of an environment."""
        for each in segment.events:
            self._file.write(_line(_object(EVENTS, event_values(place, each))))

    def close(self) -> None:
        """Write what is missing. Leaves the file underneath open."""
        self._file.close()


def _open(file: BinaryIO) -> gzip.GzipFile:
    return gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file, mtime=0)


def _object(columns: Sequence[Column], values: Iterable[Any]) -> bytes:
    named = zip(columns, values, strict=True)
    return _encode({column.name: _convert(each) for column, each in named})


def _convert(value: Any) -> Any:
    if isinstance(value, datetime):
        return format_moment(value)
    return msgspec.Raw(number_text(value).encode()) if isinstance(value, float) else value


def _form(decision: Decision) -> bytes:
    return _object(FLAGS, flag_values(decision))


def _line(line: bytes) -> bytes:
    for separator, escaped in _SEPARATORS.items():
        line = line.replace(separator, escaped)
    return line + b"\n"
