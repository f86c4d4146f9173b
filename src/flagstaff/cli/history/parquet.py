"""Evaluations as Parquet, with `flags` as a list. Imported only when it is asked for: pyarrow is optional and large."""

from typing import BinaryIO

import msgspec
import pyarrow as pa
from pyarrow import parquet

from flagstaff.evaluation.history.decisions import DecisionForms
from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.store.following import FollowedSegment

SUFFIX = "parquet"
_GROUP_ROWS = 50_000
_GROUP_FLAGS = 500_000  # results of flags in a row group, which is collected in memory

_FLAG = pa.struct(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("enabled", pa.bool_(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("rule_id", pa.string()),
        pa.field("bucket", pa.int8()),
        pa.field("variant", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        pa.field("environment", pa.string(), nullable=False),
        pa.field("id", pa.string(), nullable=False),
        pa.field("evaluated_at", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("user_id", pa.string()),
        pa.field("user_email", pa.string()),
        pa.field("attributes", pa.string()),
        pa.field("flags", pa.list_(pa.field("element", _FLAG, nullable=False)), nullable=False),
    ]
)
_encode = msgspec.json.Encoder().encode


class Parquet:
    """Writes a file of evaluations, one row group after the other."""

    def __init__(self, file: BinaryIO) -> None:
        self._writer = parquet.ParquetWriter(file, SCHEMA, compression="zstd")
        self._forms = DecisionForms(self._number)
        self._numbers: dict[Decision, int] = {}
        self._begin_group()

    def _begin_group(self) -> None:
        self._rows: list[tuple[str, str, object, str | None, str | None, str | None]] = []
        self._offsets, self._flags = [0], list[int]()

    def add(self, environment: str, segment: FollowedSegment) -> None:
        """Write evaluations of the environment with this key."""
        for each in segment.evaluations():
            self._rows.append((environment, *_row(each)))
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
        """The place of a decision among those of the row group."""
        return self._numbers.setdefault(decision, len(self._numbers))


def _row(each: RecordedEvaluation) -> tuple[str, object, str | None, str | None, str | None]:
    attributes = None if each.attributes is None else _encode(each.attributes).decode()
    return str(each.id), each.evaluated_at, each.user_id, each.user_email, attributes


def _result(decision: Decision) -> dict[str, object]:
    says_more = decision.flag.says_more
    return {
        "key": decision.flag.key,
        "enabled": decision.outcome.enabled,
        "reason": decision.reason,
        "rule_id": str(decision.rule_id) if decision.rule_id else None,
        "bucket": decision.bucket if says_more else None,
        "variant": decision.variant,
    }
