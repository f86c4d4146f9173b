"""`flagstaff history erase`: erases a user of the applications, also while the server runs."""

import asyncio
import os
from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

import typer

from flagstaff.assembly.bootstrap import Flagstaff, open_service
from flagstaff.cli.history.users import ONE_PROJECT, USER_EMAIL, USER_ID, read_subject
from flagstaff.history.erased_users import Subject
from flagstaff.people.erasures import REMAINS, Erasure, Stage
from flagstaff.people.erasures_service import Preview
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error
from flagstaff.values.moments import format_moment

_POLL_SECONDS = 1.0


def erase(
    *,
    user_id: Annotated[str | None, USER_ID] = None,
    user_email: Annotated[str | None, USER_EMAIL] = None,
    project: Annotated[UUID | None, ONE_PROJECT] = None,
    confirm: Annotated[
        str | None, typer.Option(help="The confirmation that this command has printed without this option.")
    ] = None,
) -> None:
    """Erase a user of the applications: first print what that would erase and a confirmation, and then do it.

    Evaluations and events lose their user and are kept, so that counts stay true.
    """
    subject = read_subject(user_id, user_email)
    asyncio.run(_preview(project, subject) if confirm is None else _erase(project, subject, confirm))


async def _preview(project: UUID | None, subject: Subject) -> None:
    async with open_service(Settings.load(os.environ)) as flagstaff:
        preview = await flagstaff.people.erasures.preview_everywhere(project, subject)
    _print_found(preview)
    _print_named_by(preview)
    _print_remains()
    typer.echo(
        f"Nothing is erased yet. Until {format_moment(preview.expires_at)}, repeat the command with:\n"
        f"  --confirm {preview.confirmation}"
    )


def _print_found(preview: Preview) -> None:
    for each in preview.found:
        if each.evaluations or each.events or each.release_users or each.more:
            least = "at least " if each.more else ""
            typer.echo(
                f"environment {each.environment_id}: {least}{each.evaluations} evaluations, "
                f"{each.events} events, {each.release_users} releases"
            )
            for name, count in each.attributes.most_common():
                typer.echo(f"  attribute {name}: {count} evaluations")
    if preview.changes or preview.more_changes:
        least = "at least " if preview.more_changes else ""
        typer.echo(f"audit trail: {least}{preview.changes} changes of rules and segments")
    elif not any(each.evaluations or each.events or each.release_users or each.more for each in preview.found):
        typer.echo("Nothing is stored about this user. What is on its way would be stored without the user.")


def _print_named_by(preview: Preview) -> None:
    for each in preview.named_by:
        where = f" in environment {each.environment_id}" if each.environment_id else ""
        of = f"a rule of {each.key}" if each.kind == "rule" else f"the segment {each.key}"
        typer.echo(f"stays until you change it: {of}{where}, with {', '.join(each.attributes)}")
    if preview.more_named_by:
        typer.echo("There may be more rules and segments that name the user.")


def _print_remains() -> None:
    typer.echo("What stays, and for how long:")
    for each in REMAINS:
        typer.echo(f"  {each.what}: {each.until}")


async def _erase(project: UUID | None, subject: Subject, confirmation: str) -> None:
    async with open_service(Settings.load(os.environ)) as flagstaff:
        requested = await flagstaff.people.erasures.request_everywhere(project, subject, confirmation)
        done = [await _finish(flagstaff, each) for each in requested]
    _print_done(done)


async def _finish(flagstaff: Flagstaff, erasure: Erasure) -> Erasure:
    """Do an erasure, unless a server does it, and wait until it is done; raises Error UNAVAILABLE if it has stopped."""
    while True:
        await flagstaff.people.eraser.run(erasure.id, at_once=True)
        found = await flagstaff.people.erasures.find(erasure)
        if found.stage is Stage.DONE:
            return found
        if found.problem is not None:
            raise Error(
                Code.UNAVAILABLE, f"{found.problem} A running server goes on with the erasure {found.id} by itself."
            )
        await asyncio.sleep(_POLL_SECONDS)


def _print_done(done: Sequence[Erasure]) -> None:
    for each in done:
        typer.echo(
            f"project {each.project_id}: erased {each.evaluations} evaluations, {each.events} events, "
            f"{each.release_users} releases, {each.changes} changes in the audit trail (erasure {each.id})"
        )
    _print_remains()
