"""A row of `flag_counts`: how often each kind of result occurred under a key in an hour or a day, and for which flag.

`counts` has all flags that had the key in the span, so that earlier releases read and extend it. `flag_id` is the first
of them. A flag that was created under the same key later in the span has its part in `others` as well; the first flag
has the rest. Rows of earlier releases do not name their flag: see recorded_flags.py.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec

from flagstaff.history.store.recorded_flags import UNNAMED
from flagstaff.history.store.summaries import Kind

HOUR, DAY = 60, 1440  # spans, in minutes
MOST_OTHERS = 32  # flags with one key in a span that are told apart, besides the first

_VERSION = 4  # rows of older versions have fewer outcomes, and no details

Kinds = dict[Kind, dict[int, int]]
"""Times by part of the span: by minute of the hour, by hour of the day."""


class Series(msgspec.Struct, array_like=True):
    """The counts of one kind of answer for a flag, by part of the span. New fields are added at the end."""

    outcome: int
    percentage: int
    times: dict[int, int]
    detail: str = ""

    @property
    def kind(self) -> Kind:
        """Return the kind that is counted."""
        return self.outcome, self.percentage, self.detail


_decoder = msgspec.msgpack.Decoder(list[Series])
_others_decoder = msgspec.msgpack.Decoder(dict[bytes, list[Series]])
_encoder = msgspec.msgpack.Encoder()


def decode_counts(version: int, content: bytes) -> list[Series]:
    """A row's counts of all its flags. Raises ValueError for an unknown version."""
    if not 1 <= version <= _VERSION:
        raise ValueError(f"flag counts of version {version} are unknown")
    return _decoder.decode(content)


@dataclass(slots=True)
class FlagCounts:
    """The counts of a row. `flag_id` is None if an earlier release has written it."""

    flag_id: UUID | None
    _all: dict[Kind, Series] = field(default_factory=dict)
    _others: dict[UUID, dict[Kind, Series]] = field(default_factory=dict)
    _stored_size: int = 0

    @classmethod
    def of_row(cls, row: Any) -> "FlagCounts":
        """The counts of a row with `version`, `counts`, `flag_id` and `others`. Raises ValueError if it is too new."""
        others = _others_decoder.decode(row.others) if row.others else {}
        return cls(
            row.flag_id,
            _by_kind(decode_counts(row.version, row.counts)),
            {UUID(bytes=flag_id): _by_kind(series) for flag_id, series in others.items()},
            len(row.counts) + len(row.others or b""),
        )

    def add(self, flag_id: UUID, kinds: Kinds) -> None:
        """Add counts of a flag."""
        _add(self._all, kinds)
        if flag_id == self.flag_id:
            return
        if flag_id not in self._others and len(self._others) >= MOST_OTHERS:
            flag_id = UNNAMED
        _add(self._others.setdefault(flag_id, {}), kinds)

    def by_flag(self) -> Iterator[tuple[UUID | None, Sequence[Series]]]:
        """Return the counts of each flag: the counts of `flag_id` first, which are the rest that the others leave."""
        if not self._others:
            yield self.flag_id, [*self._all.values()]
            return
        yield self.flag_id, [*_rest(self._all, self._others.values())]
        for flag_id, series in self._others.items():
            yield flag_id, [*series.values()]

    def encode(self) -> tuple[Mapping[str, object], int]:
        """Return the columns of the row, and by how many bytes they grew."""
        counts = _encoder.encode([*self._all.values()])
        parts = {flag_id.bytes: [*part.values()] for flag_id, part in self._others.items()}
        others = _encoder.encode(parts) if parts else None
        columns = {"version": _VERSION, "counts": counts, "flag_id": self.flag_id, "others": others}
        return columns, len(counts) + len(others or b"") - self._stored_size


def _by_kind(series: Iterable[Series]) -> dict[Kind, Series]:
    return {each.kind: each for each in series}


def _add(known: dict[Kind, Series], kinds: Kinds) -> None:
    for (outcome, percentage, detail), times in kinds.items():
        name = (int(outcome), percentage, detail)
        one = known.setdefault(name, Series(int(outcome), percentage, {}, detail))
        for part, count in times.items():
            one.times[part] = one.times.get(part, 0) + count


def _rest(counts: Mapping[Kind, Series], others: Iterable[Mapping[Kind, Series]]) -> Iterator[Series]:
    for kind, series in counts.items():
        left = dict(series.times)
        for other in others:
            for part, count in other[kind].times.items() if kind in other else ():
                left[part] = left.get(part, 0) - count
        times = {part: count for part, count in left.items() if count > 0}
        if times:
            yield Series(series.outcome, series.percentage, times, series.detail)
