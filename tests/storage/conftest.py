"""Fixtures for most storage tests."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from alembic.script import ScriptDirectory

from flagstaff.database import migration_scripts
from flagstaff.database.database import Database
from flagstaff.flags.flags import Flag
from flagstaff.identity.accounts.accounts import Account
from flagstaff.projects.projects import Environment, Project
from tests.support.builders import make_account, make_environment, make_flag, make_project, store_all


@dataclass(frozen=True)
class Stored:
    """An account, its project, the project's environment and the environment's flag."""

    account: Account
    project: Project
    environment: Environment
    flag: Flag


@pytest.fixture(scope="session", autouse=True)
def shared_scripts() -> Iterator[None]:
    """Let all migrations use the scripts that one has loaded: Alembic loads them three times for each.

    That took a sixth of the processor time of their tests. Commands in other processes still load them.
    """
    loaded = migration_scripts.scripts()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptDirectory, "from_config", lambda _: loaded)
        yield


@pytest.fixture
async def stored(database: Database) -> Stored:
    """One of each resource but a rule, in the database."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment)
    await store_all(database, account, project, environment, flag)
    return Stored(account, project, environment, flag)
