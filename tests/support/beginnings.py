"""Databases in which Ada has registered and may have a project, created once and cloned for each test."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.settings import Settings
from tests.support.api import Caller, Json
from tests.support.clock import Clock
from tests.support.postgres import PostgresServer
from tests.support.sessions import register
from tests.support.stores import TEMPLATE, Store, execute, postgresql_store, sqlite_store

Template = Path | PostgresServer

# The settings that affect whether and how Ada can register and sign in.
_DECISIVE = {f"FLAGSTAFF_{name}" for name in ("SECRET_KEY", "REGISTRATION", "DEMAND_SECOND_FACTOR", "OIDC_PROVIDERS")}


@dataclass(frozen=True)
class Beginning:
    """The resources of Ada in a database: in the folder or, on PostgreSQL, in the database with this name.

    The environment is the project's `production`.
    """

    token: str
    account: Json
    project: Json
    environment: Json
    data_directory: Path
    database: str


class Beginnings:
    """The databases of a test session, by template and by whether Ada has a project."""

    def __init__(self, passwords: Passwords, folders: pytest.TempPathFactory) -> None:
        self._passwords = passwords
        self._folders = folders
        self._made: dict[tuple[Template, bool], Beginning] = {}

    def get(self, template: Template, *, with_project: bool) -> Beginning:
        """A database made from the template."""
        key = (template, with_project)
        if key not in self._made:
            self._made[key] = asyncio.run(self._make(template, with_project=with_project))
        return self._made[key]

    async def _make(self, template: Template, *, with_project: bool) -> Beginning:
        folder = self._folders.mktemp("beginning", numbered=True)
        database = f"template_{uuid4().hex}"
        if isinstance(template, Path):
            store = sqlite_store(template, folder)
        else:
            await execute(template, f"CREATE DATABASE {database} TEMPLATE {TEMPLATE}")
            store = Store(template.url(database), folder)
        service = Flagstaff(Settings.load(service_environ(store)), now=Clock(), passwords=self._passwords)
        try:
            await service.start()
            account, token = await register(service, "ada")
            async with Caller(service.edge.asgi, token=token) as ada:
                project = await ada.create_project() if with_project else {}
                environment = await ada.get_environment(project) if with_project else {}
        finally:
            await service.stop()
        return Beginning(token, account, project, environment, folder, database)


def is_as_usual(environ: Mapping[str, str]) -> bool:
    """Return whether Ada begins in the same way with these settings as without them."""
    return not environ.keys() & _DECISIVE


def service_environ(store: Store) -> dict[str, str]:
    """The settings of a service on a store."""
    return {**store.environ, "FLAGSTAFF_SECRET_KEY": "k" * 32}


@asynccontextmanager
async def clone(template: Template, data_directory: Path, beginning: Beginning | None) -> AsyncIterator[Store]:
    """Yield a separate database: a clone of the beginning's, or an empty one without a beginning."""
    if beginning is not None:
        shutil.copytree(beginning.data_directory, data_directory, dirs_exist_ok=True)
    if isinstance(template, Path):
        yield Store(None, data_directory) if beginning else sqlite_store(template, data_directory)
        return
    name = beginning.database if beginning else TEMPLATE
    async with postgresql_store(template, data_directory, template=name) as made:
        yield made
