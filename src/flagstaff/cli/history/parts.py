"""The files of one environment's export that are being written: a few days at once."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any, BinaryIO, NamedTuple, Protocol

import typer

from flagstaff.cli.history.directory import ExportDirectory
from flagstaff.cli.history.manifest import ExportedFile
from flagstaff.cli.progress import spell_size
from flagstaff.history.exported_rows import ExportedPlace
from flagstaff.history.store.following import Position
from flagstaff.values.errors import Error

PART_RECORDS = 500_000
PART_BYTES = 128 * 1024**2
DAYS_AT_ONCE = 2
"""Of so many days, files are open at once: around midnight, instances write evaluations of two days in turns."""


class Writer(Protocol):
    """A writer of one of the formats."""

    def add(self, place: ExportedPlace, segment: Any) -> None:
        """Write what a segment has of an environment."""

    def close(self) -> None:
        """Write what is missing."""


class Form(NamedTuple):
    """The form of an export's files: what the records are called, how they are written, and the ending of names."""

    what: str
    open_writer: Callable[[BinaryIO], Writer]
    suffix: str


class Segment(Protocol):
    """Evaluations or events that are stored together."""

    @property
    def position(self) -> Position:
        """The position after them."""

    @property
    def size(self) -> int:
        """Their number."""

    def by_day(self, zone: tzinfo) -> Mapping[str, "Segment"]:
        """Group the evaluations by their day in a time zone."""


class Stretch(Protocol):
    """One reading: segments, the position after them, and how many were left out because they are damaged."""

    @property
    def position(self) -> Position:
        """The position."""

    @property
    def segments(self) -> Sequence[Segment]:
        """The segments."""

    @property
    def damaged(self) -> int:
        """The number of damaged segments."""


@dataclass(slots=True)
class _Part:
    """A file that is being written: records of one day."""

    day: str
    file: BinaryIO
    writer: Writer
    closing: ExitStack
    records: int = 0


@dataclass(slots=True)
class Run:
    """Writes what one environment has after its position. A file has a day of the zone."""

    read: Callable[[Position], AsyncIterator[Stretch]]
    directory: ExportDirectory
    place: ExportedPlace
    form: Form
    zone: tzinfo
    _parts: dict[str, _Part] = field(default_factory=dict)  # by their days
    _position: Position = field(default_factory=Position)

    async def write(self) -> int:
        """Write everything, in parts; return how many segments were left out because they are damaged."""
        begun = self._position = self.directory.manifest.position(self.place.environment_id)
        damaged = 0
        with ExitStack() as closing:
            try:
                async for stretch in self.read(begun):
                    for segment in stretch.segments:
                        self._add(segment.by_day(self.zone), closing)
                        self._position = segment.position
                    self._position = stretch.position
                    damaged += stretch.damaged
            except Error:  # what was read before is complete
                self._end_last_parts(begun)
                raise
            self._end_last_parts(begun)
        return damaged

    def _end_last_parts(self, begun: Position) -> None:
        if self._parts or self._position != begun:
            self._end_parts()

    def _add(self, days: Mapping[str, Segment], closing: ExitStack) -> None:
        """Write a segment. Parts end before it or after it: the position cannot be within."""
        has_full = any(each.records >= PART_RECORDS or each.file.tell() >= PART_BYTES for each in self._parts.values())
        if has_full or (self._parts and len(self._parts.keys() | days.keys()) > DAYS_AT_ONCE):
            self._end_parts()
        for day, segment in days.items():
            part = self._parts.get(day) or self._begin_part(day, closing)
            part.writer.add(self.place, segment)
            part.records += segment.size

    def _begin_part(self, day: str, closing: ExitStack) -> _Part:
        of_part = closing.enter_context(ExitStack())
        file = of_part.enter_context(self.directory.new_file(len(self._parts)))
        writer = self.form.open_writer(file)
        of_part.callback(_abandon, writer)
        part = self._parts[day] = _Part(day, file, writer, of_part)
        return part

    def _end_parts(self) -> None:
        """Keep all parts, and the position after all that was read: what was read is in one of them."""
        parts, self._parts = self._parts, {}
        kept = dict[int, ExportedFile]()
        for number, part in enumerate(parts.values()):
            part.writer.close()
            size = part.file.tell()
            part.closing.close()
            name = self.directory.next_name(part.day, self.place.environment, self.form.suffix, number)
            kept[number] = ExportedFile(
                name, self.place.environment, part.day, part.records, size, self.place.environment_id
            )
        self.directory.keep(kept, self.place.environment_id, self._position)
        for file in kept.values():
            typer.echo(f"Wrote {file.name}: {file.records} {self.form.what}, {spell_size(file.bytes)}.", err=True)


def _abandon(writer: Writer) -> None:
    """Close a writer whose file is deleted; does nothing after it was closed."""
    with suppress(OSError, ValueError):
        writer.close()
