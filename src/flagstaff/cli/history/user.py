"""`flagstaff history user`: writes everything that is stored about one user to a file, also while the server runs."""

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from flagstaff.assembly.bootstrap import open_database, utc_now
from flagstaff.cli.history.users import USER_EMAIL, USER_ID, read_subject
from flagstaff.history.erased_users import Subject
from flagstaff.people.user_data_routes import write_user_data
from flagstaff.people.user_data_service import UserData
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error


def user(
    *,
    project: Annotated[UUID, typer.Option(help="The project's id.")],
    file: Annotated[Path, typer.Option(help="The file to write; it must not exist.")],
    user_id: Annotated[str | None, USER_ID] = None,
    user_email: Annotated[str | None, USER_EMAIL] = None,
) -> None:
    """Write everything that is stored about one user of the applications to a file, as JSON."""
    asyncio.run(_write(project, read_subject(user_id, user_email), file))
    typer.echo(f"Wrote {file}.")


async def _write(project: UUID, subject: Subject, file: Path) -> None:
    async with open_database(Settings.load(os.environ)) as database:
        data = UserData(database, utc_now)
        environments = await data.list_environments_of(project)
        start = {"project_id": project, "user_id": subject.user_id, "user_email": subject.user_email}
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise Error(Code.CONFLICT, f"{file} cannot be created: {error.strerror}.") from error
        with ExitStack() as closing:
            abandoned = closing.enter_context(ExitStack())
            abandoned.callback(file.unlink)
            written = closing.enter_context(open(descriptor, "wb"))  # noqa: ASYNC230, PTH123 - nothing else runs here
            async for part in write_user_data(data, start, environments, subject, data.now()):
                written.writelines(part)
            abandoned.pop_all()
