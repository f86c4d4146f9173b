"""`flagstaff history export`: writes evaluations to files, also while the server runs."""

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
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.history.exported_rows import ExportedPlace
from flagstaff.history.history_exports import HistoryExports
from flagstaff.history.store.following import Position
from flagstaff.values.errors import invalid_field

_NEEDS_FLAG = "requires --flag or --flag-id, which name the flag"


def export(  # noqa: PLR0913 - an option each
    *,
    project: ProjectOption,
    directory: DirectoryOption,
    file_format: FormatOption = FileFormat.JSONL,
    environment: EnvironmentOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    tz: ZoneOption = "UTC",
    user_id: Annotated[str | None, typer.Option(help="Only for this user.")] = None,
    user_email: Annotated[str | None, typer.Option(help="Only for this user, ignoring case.")] = None,
    flag: Annotated[
        str | None, typer.Option(metavar="KEY", help="Only of the flag that has this key, or had it last.")
    ] = None,
    flag_id: Annotated[UUID | None, typer.Option(help="Only of the flag with this id, which may be deleted.")] = None,
    enabled: Annotated[
        bool | None, typer.Option("--enabled/--disabled", help="Only with this flag on, or off; needs a flag.")
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Only with this variant of the flag; needs a flag.")] = None,
    rule_id: Annotated[UUID | None, typer.Option(help="Only where this rule matched.")] = None,
) -> None:
    """Write recorded evaluations to files, one or more for each environment and day.

    Run the same command again to add newer evaluations; it continues where it ended, even if it was killed.
    """
    for name, given in (("--enabled", enabled), ("--variant", variant)):
        if given is not None and flag is None and flag_id is None:
            raise invalid_field(name, _NEEDS_FLAG)
    zone = parse_time_zone(tz)
    begun, ended = parse_period(since, until, zone)
    form = find_form(file_format, of_events=False)
    options = {
        "format": file_format.value,
        "project": str(project),
        "environment": environment,
        **time_options(begun, ended, tz),
        "user_id": user_id,
        "user_email": user_email,
        "flag": flag,
        "flag_id": None if flag_id is None else str(flag_id),
        "enabled": enabled,
        "variant": variant,
        "rule_id": None if rule_id is None else str(rule_id),
    }

    def read(
        exports: HistoryExports, place: ExportedPlace, chosen: UUID | None
    ) -> Callable[[Position], AsyncIterator[Stretch]]:
        of_flag = FlagFilter(flag_id or chosen, flag, enabled, rule_id, variant)
        wanted = EvaluationFilter(user_id, user_email, None if of_flag == FlagFilter() else of_flag, begun, ended)
        return lambda position: exports.read(place.environment_id, position, wanted)

    key = flag if flag_id is None else None
    run_export(project, environment, directory, options, form, read, zone=zone, flag_key=key)
