"""`flagstaff history export-events`: writes the events of metrics to files."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated
from uuid import UUID

import typer

from flagstaff.cli.history.choices import (
    DirectoryOption,
    EnvironmentOption,
    FileFormat,
    FormatOption,
    ProjectOption,
    SinceOption,
    UntilOption,
    ZoneOption,
    find_form,
    parse_period,
    parse_time_zone,
    run_export,
    time_options,
)
from flagstaff.cli.history.parts import Stretch
from flagstaff.history.exported_rows import ExportedPlace
from flagstaff.history.history_exports import HistoryExports
from flagstaff.history.store.following import Position
from flagstaff.metrics.events import EventFilter


def export_events(  # noqa: PLR0913 - an option each
    *,
    project: ProjectOption,
    directory: DirectoryOption,
    file_format: FormatOption = FileFormat.JSONL,
    environment: EnvironmentOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    tz: ZoneOption = "UTC",
    user_id: Annotated[str | None, typer.Option(help="Only of this user.")] = None,
    user_email: Annotated[str | None, typer.Option(help="Only of this user without an id, ignoring case.")] = None,
    metric: Annotated[str | None, typer.Option(metavar="KEY", help="Only of this metric.")] = None,
) -> None:
    """Write recorded events to files, one or more for each environment and day.

    Run the same command again to add newer events; it continues where it ended, even if it was killed.
    """
    zone = parse_time_zone(tz)
    begun, ended = parse_period(since, until, zone)
    wanted = EventFilter(user_id, user_email, metric, begun, ended)
    form = find_form(file_format, of_events=True)
    options = {
        "records": "events",
        "format": file_format.value,
        "project": str(project),
        "environment": environment,
        **time_options(begun, ended, tz),
        "user_id": user_id,
        "user_email": user_email,
        "metric": metric,
    }

    def read(
        exports: HistoryExports, place: ExportedPlace, _: UUID | None
    ) -> Callable[[Position], AsyncIterator[Stretch]]:
        return lambda position: exports.read_events(place.environment_id, position, wanted)

    run_export(project, environment, directory, options, form, read, zone=zone)
