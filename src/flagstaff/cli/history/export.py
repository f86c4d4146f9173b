"""`flagstaff history export`: writes evaluations to files, also while the server runs."""

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO, Protocol
from uuid import UUID

import typer

from flagstaff.assembly.bootstrap import open_service
from flagstaff.cli.history.directory import ExportDirectory, open_directory
from flagstaff.cli.history.manifest import ExportedFile
from flagstaff.cli.progress import spell_size
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.history.history_exports import HistoryExports
from flagstaff.history.store.following import FollowedSegment, Position
from flagstaff.projects.projects import Environment
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field
from flagstaff.values.moments import format_moment, parse_moment

PART_RECORDS = 500_000
PART_BYTES = 128 * 1024**2

_NEEDS_FLAG = "requires --flag, which names the flag"

app = typer.Typer(name="history", help="The evaluation history.", no_args_is_help=True)


class FileFormat(StrEnum):
    """The format of exported evaluations."""

    JSONL = "jsonl"
    PARQUET = "parquet"


class Writer(Protocol):
    """A writer of one of the formats."""

    def add(self, environment: str, segment: FollowedSegment) -> None:
        """Write evaluations of the environment with this key."""

    def close(self) -> None:
        """Write what is missing."""


@app.command()
def export(  # noqa: PLR0913 - an option each
    *,
    project: Annotated[UUID, typer.Option(help="The project's id.")],
    directory: Annotated[Path, typer.Option(help="The directory for the files: a new one, or one to continue.")],
    file_format: Annotated[
        FileFormat, typer.Option("--format", help="`jsonl` for JSON lines; `parquet` needs flagstaff[parquet].")
    ] = FileFormat.JSONL,
    environment: Annotated[str | None, typer.Option(help="The environment's key; by default, all of them.")] = None,
    since: Annotated[str | None, typer.Option("--from", metavar="TIME", help="Only at or after this time.")] = None,
    until: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only before this time.")] = None,
    user_id: Annotated[str | None, typer.Option(help="Only for this user.")] = None,
    user_email: Annotated[str | None, typer.Option(help="Only for this user, ignoring case.")] = None,
    flag: Annotated[str | None, typer.Option(metavar="KEY", help="Only of this flag, which may be deleted.")] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enabled/--disabled", help="Only with this flag on, or off; needs --flag.")
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Only with this variant of the flag; needs --flag.")] = None,
    rule_id: Annotated[UUID | None, typer.Option(help="Only where this rule matched.")] = None,
) -> None:
    """Write recorded evaluations to files, one or more for each environment and day.

    Run the same command again to add newer evaluations; it continues where it ended, even if it was killed.
    """
    for name, given in (("--enabled", enabled), ("--variant", variant)):
        if given is not None and flag is None:
            raise invalid_field(name, _NEEDS_FLAG)
    of_flag = FlagFilter(None, flag, enabled, rule_id, variant)
    wanted = EvaluationFilter(
        user_id,
        user_email,
        None if of_flag == FlagFilter() else of_flag,
        _parse_moment("--from", since),
        _parse_moment("--to", until),
    )
    if wanted.since and wanted.until and wanted.since >= wanted.until:
        raise invalid_field("--from", "must be before --to")
    open_writer, suffix = _find_writer(file_format)
    options = {
        "format": file_format.value,
        "project": str(project),
        "environment": environment,
        "from": wanted.since and format_moment(wanted.since),
        "to": wanted.until and format_moment(wanted.until),
        "user_id": user_id,
        "user_email": user_email,
        "flag": flag,
        "enabled": enabled,
        "variant": variant,
        "rule_id": None if rule_id is None else str(rule_id),
    }

    async def run() -> tuple[Sequence[ExportedFile], int]:
        async with open_service(Settings.load(os.environ)) as flagstaff:
            exports = HistoryExports(flagstaff.database)
            environments = await exports.list_environments(project, environment)
            with open_directory(directory, options) as opened:
                before, damaged = len(opened.manifest.files), 0
                for each in environments:
                    damaged += await _Run(exports, opened, each, wanted, open_writer, suffix).write()
                return opened.manifest.files[before:], damaged

    files, damaged = asyncio.run(run())
    records, size = sum(each.records for each in files), spell_size(sum(each.bytes for each in files))
    typer.echo(f"Wrote {records} evaluations in {len(files)} files, {size}, to {directory}.")
    if damaged:
        raise Error(
            Code.INTERNAL,
            f"{damaged} damaged segment(s) of the history could not be read, and the evaluations in them are in no "
            "file. The lines history_row_damaged name them. Later runs leave them out without a message.",
        )


def _parse_moment(option: str, given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        return parse_moment(given)
    except ValueError as error:
        raise invalid_field(option, str(error)) from None


def _find_writer(file_format: FileFormat) -> tuple[Callable[[BinaryIO], Writer], str]:
    """Return the writer's class and the ending of its files. Raises Error UNAVAILABLE if a package is missing."""
    if file_format is FileFormat.JSONL:
        from flagstaff.cli.history import json_lines  # noqa: PLC0415 - only what is needed, here and below

        return json_lines.JsonLines, json_lines.SUFFIX
    try:
        from flagstaff.cli.history import parquet  # noqa: PLC0415
    except ImportError as error:
        raise Error(
            Code.UNAVAILABLE, "Parquet needs the package pyarrow. Install it with: pip install 'flagstaff[parquet]'"
        ) from error
    return parquet.Parquet, parquet.SUFFIX


@dataclass(slots=True)
class _Part:
    """A file that is being written: evaluations of one day."""

    day: str
    file: BinaryIO
    writer: Writer
    closing: ExitStack
    records: int = 0


@dataclass(slots=True)
class _Run:
    """Writes what one environment has after its position."""

    exports: HistoryExports
    directory: ExportDirectory
    environment: Environment
    wanted: EvaluationFilter
    open_writer: Callable[[BinaryIO], Writer]
    suffix: str
    _part: _Part | None = None
    _position: Position = field(default_factory=Position)

    async def write(self) -> int:
        """Write everything, in parts; return how many segments were left out because they are damaged."""
        begun = self._position = self.directory.manifest.position(self.environment.id)
        damaged = 0
        with ExitStack() as closing:
            try:
                async for stretch in self.exports.read(self.environment.id, begun, self.wanted):
                    for segment in stretch.segments:
                        self._add(segment, closing)
                        self._position = segment.position
                    self._position = stretch.position
                    damaged += stretch.damaged
            except Error:  # what was read before is complete
                self._end_last_part(begun)
                raise
            self._end_last_part(begun)
        return damaged

    def _end_last_part(self, begun: Position) -> None:
        if self._part or self._position != begun:
            self._end_part()

    def _add(self, segment: FollowedSegment, closing: ExitStack) -> None:
        day = next(segment.evaluations()).evaluated_at.date().isoformat()
        part = self._part
        if part and (part.day != day or part.records >= PART_RECORDS or part.file.tell() >= PART_BYTES):
            self._end_part()
        part = self._part = self._part or self._begin_part(day, closing)
        part.writer.add(self.environment.key, segment)
        part.records += len(segment.offsets)

    def _begin_part(self, day: str, closing: ExitStack) -> _Part:
        of_part = closing.enter_context(ExitStack())
        file = of_part.enter_context(self.directory.new_file())
        writer = self.open_writer(file)
        of_part.callback(_abandon, writer)
        return _Part(day, file, writer, of_part)

    def _end_part(self) -> None:
        """Keep the part, if there is one, and the position after all that was read."""
        part, self._part = self._part, None
        kept = None
        if part:
            part.writer.close()
            size = part.file.tell()
            part.closing.close()
            name = self.directory.next_name(part.day, self.environment.key, self.suffix)
            kept = ExportedFile(name, self.environment.key, part.day, part.records, size)
        self.directory.keep(kept, self.environment.id, self._position)
        if kept:
            typer.echo(f"Wrote {kept.name}: {kept.records} evaluations, {spell_size(kept.bytes)}.", err=True)


def _abandon(writer: Writer) -> None:
    """Close a writer whose file is deleted; does nothing after it was closed."""
    with suppress(OSError, ValueError):
        writer.close()
