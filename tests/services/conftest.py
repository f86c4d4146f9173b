"""What tests of services share."""

import pytest

from flagstaff.database.database import Database
from flagstaff.projects.projects import Environment
from tests.support.builders import make_account, make_environment, make_project, store_all


@pytest.fixture
async def environments(database: Database) -> list[Environment]:
    """Two environments of a project: production and staging."""
    account = make_account()
    project = make_project(account.id)
    made = [make_environment(project.id, key=key) for key in ("production", "staging")]
    await store_all(database, account, project, *made)
    return made
