"""Writes an environment's flags to a file, also while the server runs."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from flagstaff.applications.flag_exports_service import ExportFormat, FlagExports
from flagstaff.assembly.bootstrap import open_database
from flagstaff.settings import Settings
from flagstaff.values.errors import invalid_field


def export(
    project: Annotated[UUID, typer.Option(help="The project's id.")],
    environment: Annotated[str, typer.Option(help="The environment's key.")],
    file_format: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="`unleash` for a bootstrap file of SDKs; `flagstaff` for the flags in Flagstaff's own form.",
        ),
    ] = ExportFormat.UNLEASH,
    output: Annotated[Path | None, typer.Option(help="The file to write; by default, standard output.")] = None,
) -> None:
    """Write an environment's flags as JSON, for SDKs that start while the server is away."""
    chunks = asyncio.run(_export(project, environment, file_format))
    if output is None:
        sys.stdout.buffer.writelines(chunks)
        return
    try:
        with output.open("wb") as file:
            file.writelines(chunks)
    except OSError as error:
        raise invalid_field("output", f"cannot be written: {error.strerror}") from error


async def _export(project: UUID, environment: str, file_format: ExportFormat) -> list[bytes]:
    async with open_database(Settings.load(os.environ)) as database:
        batches = await FlagExports(database).export_for_operator(project, environment, file_format)
        return [piece async for batch in batches for piece in batch]
