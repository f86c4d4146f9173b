"""A flag, and paths where it must not be found."""

from typing import NamedTuple
from uuid import uuid4

import pytest

from tests.support.api import Caller, Json, environment_path, flag_path


class Elsewhere(NamedTuple):
    """A caller and a path where they must not find a resource."""

    why: str
    caller: Caller
    path: str


@pytest.fixture
async def flag(ada: Caller, environment: Json) -> Json:
    """A flag of Ada's with every field set."""
    return await ada.create_flag(environment, description="Two steps.", rollout_percentage=25)


@pytest.fixture
async def environments_elsewhere(ada: Caller, eve: Caller, environment: Json) -> list[Elsewhere]:
    """Return paths where an environment's flags are not found."""
    other_project = await ada.create_project()
    wrong = [
        Elsewhere("another account's", eve, environment_path(environment)),
        Elsewhere("in another project", ada, environment_path({**environment, "project_id": other_project["id"]})),
        Elsewhere("no such environment", ada, environment_path({**environment, "id": uuid4()})),
        Elsewhere("no such project", ada, environment_path({**environment, "project_id": uuid4()})),
        Elsewhere("no UUID as environment", ada, environment_path({**environment, "id": "production"})),
        Elsewhere("no UUID as project", ada, environment_path({**environment, "project_id": "shop"})),
    ]
    return [each._replace(path=f"{each.path}/flags") for each in wrong]


@pytest.fixture
async def elsewhere(ada: Caller, eve: Caller, flag: Json) -> list[Elsewhere]:
    """Return paths where the flag is not found."""
    other = await ada.create_project()
    staging = await ada.get_environment({"id": flag["project_id"]}, "staging")
    eves = await eve.get_environment(await eve.create_project())
    return [
        Elsewhere("another account's", eve, flag_path(flag)),
        Elsewhere("under another environment", ada, flag_path({**flag, "environment_id": staging["id"]})),
        Elsewhere("under another project", ada, flag_path({**flag, "project_id": other["id"]})),
        Elsewhere("under the caller's own project", eve, flag_path({**flag, "project_id": eves["project_id"]})),
        Elsewhere(
            "under the caller's own environment",
            eve,
            flag_path({**flag, "project_id": eves["project_id"], "environment_id": eves["id"]}),
        ),
        Elsewhere("no such flag", ada, flag_path({**flag, "id": uuid4()})),
        Elsewhere("no UUID", ada, flag_path({**flag, "id": flag["key"]})),
    ]
