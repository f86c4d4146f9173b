"""A segment, and paths where it must not be found."""

from uuid import uuid4

import pytest

from tests.support.api import Caller, Json, project_path
from tests.web.flags.conftest import Elsewhere

GOLD = {"attribute": "plan", "operator": "in", "values": ["gold"], "case_insensitive": False, "negate": False}


@pytest.fixture
async def segments_path(project: Json) -> str:
    """The path of the project's segments."""
    return f"{project_path(project)}/segments"


@pytest.fixture
async def segment(ada: Caller, project: Json) -> Json:
    """A segment of Ada's."""
    return await ada.create_segment(project, description="They test.", conditions=[GOLD])


@pytest.fixture
async def segment_path(segments_path: str, segment: Json) -> str:
    """The path of the segment."""
    return f"{segments_path}/{segment['id']}"


@pytest.fixture
async def projects_elsewhere(eve: Caller, ada: Caller, segments_path: str) -> list[Elsewhere]:
    """Return paths where a project's segments are not found."""
    return [
        Elsewhere("another account's", eve, segments_path),
        Elsewhere("no such project", ada, f"/api/projects/{uuid4()}/segments"),
        Elsewhere("no UUID as project", ada, "/api/projects/shop/segments"),
    ]


@pytest.fixture
async def elsewhere(ada: Caller, segment: Json, projects_elsewhere: list[Elsewhere]) -> list[Elsewhere]:
    """Return paths where the segment is not found."""
    other = await ada.create_project()
    path = f"{project_path({'id': segment['project_id']})}/segments"
    return [
        *(each._replace(path=f"{each.path}/{segment['id']}") for each in projects_elsewhere),
        Elsewhere("in another project", ada, f"{project_path(other)}/segments/{segment['id']}"),
        Elsewhere("no such segment", ada, f"{path}/{uuid4()}"),
        Elsewhere("no UUID", ada, f"{path}/{segment['key']}"),
    ]
