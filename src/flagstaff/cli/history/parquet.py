"""Evaluations as Parquet, with `flags` as a list. Imported only when it is asked for: pyarrow is optional and large."""

from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO
from uuid import UUID

import msgspec
import pyarrow as pa
from pyarrow import parquet

from flagstaff.evaluation.history.decisions import DecisionForms
from flagstaff.evaluation.history.layout import Decision
from flagstaff.history.exported_columns import EVALUATIONS, EVENTS, FLAGS, Column, Kind
from flagstaff.history.exported_rows import ExportedPlace, evaluation_values, event_values, flag_values
from flagstaff.history.store.followed_events import FollowedEvents
from flagstaff.history.store.following import FollowedSegment

SUFFIX = "parquet"
_GROUP_ROWS = 50_000
_GROUP_FLAGS = 500_000  # results of flags in a row group, which is collected in memory

_TYPES = {
    Kind.ID: pa.string(),
    Kind.TEXT: pa.string(),
    Kind.MOMENT: pa.timestamp("us", tz="UTC"),
    Kind.INTEGER: pa.int64(),
    Kind.NUMBER: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.OBJECT: pa.string(),
}


def _fields(columns: Sequence[Column]) -> list[pa.Field]:
    return [pa.field(column.name, _TYPES[column.kind], nullable=column.nullable) for column in columns]


_FLAG = pa.struct(_fields(FLAGS))
_FLAGS = pa.list_(pa.field("element", _FLAG, nullable=False))
SCHEMA = pa.schema([*_fields(EVALUATIONS), pa.field("flags", _FLAGS, nullable=False)])
EVENT_SCHEMA = pa.schema(_fields(EVENTS))
_encode = msgspec.json.Encoder().encode


class EvaluationParquet:
    """Writes a file of evaluations, one row group after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._writer = parquet.ParquetWriter(file, SCHEMA, compression="zstd")
        self._forms = DecisionForms(self._number)
        self._numbers: dict[Decision, int] = {}
        self._begin_group()

    def _begin_group(self) -> None:
        self._rows: list[list[Any]] = []
        self._offsets, self._flags = [0], list[int]()

    def add(self, place: ExportedPlace, segment: FollowedSegment) -> None:
        """Write evaluations of an environment."""
        for each in segment.evaluations():
            self._rows.append([_convert(value) for value in evaluation_values(place, each)])
            self._flags += self._forms.of_layout(each.layout)(each.recorded)
            self._offsets.append(len(self._flags))
            if len(self._flags) >= _GROUP_FLAGS or len(self._rows) >= _GROUP_ROWS:
                self._end_group()

    def close(self) -> None:
        """Write what is missing. Leaves the file underneath open."""
        if self._rows:
            self._end_group()
        self._writer.close()

    def _end_group(self) -> None:
        columns = [
            pa.array(values, type=field.type)
            for values, field in zip(zip(*self._rows, strict=True), SCHEMA, strict=False)
        ]
        known = pa.array([_result(decision) for decision in self._numbers], type=_FLAG)
        flags = pa.ListArray.from_arrays(
            pa.array(self._offsets, type=pa.int32()),
            known.take(pa.array(self._flags, type=pa.int32())),
            type=SCHEMA.field("flags").type,
        )
        self._writer.write_batch(pa.RecordBatch.from_arrays([*columns, flags], schema=SCHEMA))
        self._begin_group()
        self._numbers.clear()
        self._forms.forget()

    def _number(self, decision: Decision) -> int:
        """The place of a decision among the row group's decisions."""
        return self._numbers.setdefault(decision, len(self._numbers))


class EventParquet:
    """Writes a file of events, one row group after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._writer = parquet.ParquetWriter(file, EVENT_SCHEMA, compression="zstd")
        self._rows: list[list[Any]] = []

    def add(self, place: ExportedPlace, segment: FollowedEvents) -> None:
        """Write events of an environment."""
        self._rows += ([_convert(value) for value in event_values(place, each)] for each in segment.events)
        if len(self._rows) >= _GROUP_ROWS:
            self._end_group()

    def close(self) -> None:
        """Write what is missing. Leaves the file underneath open."""
        if self._rows:
            self._end_group()
        self._writer.close()

    def _end_group(self) -> None:
        columns = zip(zip(*self._rows, strict=True), EVENT_SCHEMA, strict=True)
        arrays = [pa.array(values, type=field.type) for values, field in columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=EVENT_SCHEMA))
        self._rows = []


def _convert(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    return _encode(value).decode() if isinstance(value, Mapping) else value


def _result(decision: Decision) -> dict[str, Any]:
    named = zip(FLAGS, flag_values(decision), strict=True)
    return {column.name: _convert(value) for column, value in named}
