"""The options that exports have in common, and what each does with them."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime, tzinfo
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from flagstaff.assembly.bootstrap import open_database
from flagstaff.cli.history.directory import open_directory
from flagstaff.cli.history.manifest import ExportedFile, Manifest
from flagstaff.cli.history.parts import Form, Run, Stretch
from flagstaff.cli.progress import spell_size
from flagstaff.history.exported_rows import ExportedPlace
from flagstaff.history.history_exports import HistoryExports
from flagstaff.history.store.following import Position
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field
from flagstaff.values.moments import format_moment, parse_moment
from flagstaff.values.zones import parse_zone


class FileFormat(StrEnum):
    """The format of exported files."""

    JSONL = "jsonl"
    PARQUET = "parquet"


ProjectOption = Annotated[UUID, typer.Option(help="The project's id.")]
DirectoryOption = Annotated[Path, typer.Option(help="The directory for the files: a new one, or one to continue.")]
FormatOption = Annotated[
    FileFormat, typer.Option("--format", help="`jsonl` for JSON lines; `parquet` needs flagstaff[parquet].")
]
EnvironmentOption = Annotated[str | None, typer.Option(help="The environment's key; by default, all of them.")]
ZoneOption = Annotated[
    str, typer.Option("--tz", metavar="ZONE", help="The time zone of the days of files, --from and --to.")
]
SinceOption = Annotated[str | None, typer.Option("--from", metavar="TIME", help="Only at or after this time.")]
UntilOption = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only before this time.")]


def run_export(
    project: UUID,
    environment: str | None,
    directory: Path,
    options: Mapping[str, Any],
    form: Form,
    read: Callable[[HistoryExports, ExportedPlace, UUID | None], Callable[[Position], AsyncIterator[Stretch]]],
    *,
    zone: tzinfo,
    flag_key: str | None = None,
) -> None:
    """Write the records, and say how many; raises Error INTERNAL if some were damaged.

    `read` gets the id of the flag that the key stands for in the environment, if there is one.
    """

    async def run() -> tuple[Sequence[ExportedFile], int]:
        async with open_database(Settings.load(os.environ)) as database:
            exports = HistoryExports(database)
            places = await exports.list_places(project, environment)
            with open_directory(directory, options) as opened:
                before, damaged = len(opened.manifest.files), 0
                for place in places:
                    _name_earlier_environments(opened.manifest, place)
                    flag_id = flag_key and await _choose_flag(exports, opened.manifest, place, flag_key)
                    found = read(exports, place, flag_id or None)
                    damaged += await Run(found, opened, place, form, zone).write()
                return opened.manifest.files[before:], damaged

    files, damaged = asyncio.run(run())
    records, size = sum(each.records for each in files), spell_size(sum(each.bytes for each in files))
    typer.echo(f"Wrote {records} {form.what} in {len(files)} files, {size}, to {directory}.")
    if damaged:
        raise Error(
            Code.INTERNAL,
            f"{damaged} damaged segment(s) of the history could not be read, and the {form.what} in them are in no "
            "file. The lines history_row_damaged name them. Later runs leave them out without a message.",
        )


async def _choose_flag(exports: HistoryExports, manifest: Manifest, place: ExportedPlace, key: str) -> UUID | None:
    """The flag that the key stands for: the same one in all runs. The others that had the key are named."""
    own, flags = await exports.list_flags(place.environment_id, key)
    chosen = manifest.flags.get(place.environment_id, own)
    if chosen is None:
        return None
    manifest.flags[place.environment_id] = chosen
    for flag_id, results in flags.items():
        if flag_id != chosen:
            typer.echo(
                f"In {place.environment}, another flag with the key {key} has {results} results, which are not "
                f"exported here. Export them to another directory with --flag-id {flag_id}.",
                err=True,
            )
    return chosen


def _name_earlier_environments(manifest: Manifest, place: ExportedPlace) -> None:
    """Say which files are of deleted environments that had the same key."""
    known = {each.environment_id for each in manifest.files if each.environment == place.environment}
    for environment_id in known - {place.environment_id, None}:
        typer.echo(
            f"Earlier files of {place.environment} are of the deleted environment {environment_id}, which had its "
            f"key. The present one is {place.environment_id}; manifest.json has the id of each file.",
            err=True,
        )


def parse_time_zone(given: str) -> tzinfo:
    """The time zone of the options. Raises Error INVALID."""
    try:
        return parse_zone(given)
    except ValueError as error:
        raise invalid_field("--tz", str(error)) from None


def parse_period(since: str | None, until: str | None, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """The period that the options choose. Raises Error INVALID."""
    begun, ended = _parse_moment("--from", since, zone), _parse_moment("--to", until, zone)
    if begun and ended and begun >= ended:
        raise invalid_field("--from", "must be before --to")
    return begun, ended


def _parse_moment(option: str, given: str | None, zone: tzinfo) -> datetime | None:
    if given is None:
        return None
    try:
        return parse_moment(given, zone)
    except ValueError as error:
        raise invalid_field(option, str(error)) from None


def time_options(begun: datetime | None, ended: datetime | None, tz: str) -> Mapping[str, Any]:
    """The times and their zone, as the manifest has them."""
    return {
        "from": begun and format_moment(begun),
        "to": ended and format_moment(ended),
        "tz": None if tz == "UTC" else tz,
    }


def find_form(file_format: FileFormat, *, of_events: bool) -> Form:
    """Return the form of files. Raises Error UNAVAILABLE if a package is missing."""
    what = "events" if of_events else "evaluations"
    if file_format is FileFormat.JSONL:
        from flagstaff.cli.history import json_lines  # noqa: PLC0415 - only what is needed, here and below

        return Form(what, json_lines.EventLines if of_events else json_lines.EvaluationLines, json_lines.SUFFIX)
    try:
        from flagstaff.cli.history import parquet  # noqa: PLC0415
    except ImportError as error:
        raise Error(
            Code.UNAVAILABLE, "Parquet needs the package pyarrow. Install it with: pip install 'flagstaff[parquet]'"
        ) from error
    return Form(what, parquet.EventParquet if of_events else parquet.EvaluationParquet, parquet.SUFFIX)
