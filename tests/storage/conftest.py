"""Fixtures for most storage tests."""

from dataclasses import dataclass

import pytest

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


@pytest.fixture
async def stored(database: Database) -> Stored:
    """One of each resource but a rule, in the database."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment)
    await store_all(database, account, project, environment, flag)
    return Stored(account, project, environment, flag)
