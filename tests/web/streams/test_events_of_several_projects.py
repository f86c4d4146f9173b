"""The stream that notifies all of a browser's pages at once of changes in several projects."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.audit.event_streams import MOST_PROJECTS
from tests.support.api import Caller, Json, created, environment_path, project_path
from tests.support.event_streams import EventStream
from tests.support.members import join
from tests.support.sessions import PASSWORD
from tests.web.conftest import SignUp
from tests.web.streams.conftest import Streamer


def path_of(project_ids: Sequence[object]) -> str:
    return "/api/events?" + "&".join(f"project_id={each}" for each in project_ids)


async def follow(streamer: Streamer, caller: Caller, *projects: Json) -> EventStream:
    path = path_of([each["id"] for each in projects])
    return await streamer.open(path, authorization=caller.headers["authorization"])


async def create_flag(caller: Caller, project: Json) -> int:
    """Create a flag in `production`; return the revision that it has made."""
    path = environment_path(await caller.get_environment(project))
    made = await caller.post(f"{path}/flags", json={"name": "Here", "key": f"flag-{uuid4().hex[:8]}"})
    return int(made.headers["flagstaff-revision"])


@pytest.fixture
async def other(ada: Caller) -> Json:
    """Another project of ada's."""
    return await ada.create_project(name="Other")


async def test_without_a_token_no_stream_opens(streamer: Streamer, project: Json) -> None:
    assert (await streamer.client.get(path_of([project["id"]]))).status_code == 401


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([], "is required"),
        (["x"], "must be a UUID"),
        ([uuid4()] * 2, "must not have a project twice"),
        ([uuid4() for _ in range(MOST_PROJECTS + 1)], f"must have at most {MOST_PROJECTS} items"),
    ],
)
async def test_projects_that_cannot_be_meant_are_refused(
    streamer: Streamer, ada: Caller, ids: Sequence[object], said: str
) -> None:
    headers = {"authorization": ada.headers["authorization"]}
    refused = await streamer.client.get(path_of(ids), headers=headers)
    assert refused.status_code == 400
    assert said in refused.text


async def test_there_is_no_stream_if_one_of_the_projects_is_not_found(
    flagstaff: Flagstaff, streamer: Streamer, project: Json, sign_up: SignUp
) -> None:
    eve = await sign_up("eve@example.com")
    headers = {"authorization": eve.headers["authorization"]}
    ids = [(await eve.create_project())["id"], project["id"]]
    assert (await streamer.client.get(path_of(ids), headers=headers)).status_code == 404
    await join(flagstaff, project, eve, "viewer")
    async with streamer.client.stream("GET", path_of(ids), headers=headers) as stream:
        assert stream.status_code == 200


@pytest.mark.parametrize(("permission", "status"), [("project:read", 404), ("flags:read", 403)])
async def test_a_token_opens_a_stream_of_its_own_project_alone_with_the_permission(
    streamer: Streamer, ada: Caller, project: Json, other: Json, permission: str, status: int
) -> None:
    body = {"name": "Watcher", "permissions": [permission], "current_password": PASSWORD}
    made = created(await ada.post(f"{project_path(project)}/tokens", json=body))
    headers = {"authorization": f"Bearer {made['token']}"}
    assert (await streamer.client.get(path_of([project["id"], other["id"]]), headers=headers)).status_code == status
    async with streamer.client.stream("GET", path_of([project["id"]]), headers=headers) as stream:
        assert stream.status_code == (200 if permission == "project:read" else 403)


async def test_a_stream_names_the_project_of_each_revision(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json, other: Json
) -> None:
    stream = await follow(streamer, ada, project, other)
    begun = [(await stream.next())["data"]["project_id"] for _ in range(2)]
    assert begun == [project["id"], other["id"]]
    assert len(flagstaff.serving.streams) == 1
    for each in (other, project):
        revision = await create_flag(ada, each)
        data = {"project_id": each["id"], "revision": revision}
        assert await stream.next() == {"id": str(revision), "event": "revision", "data": data}


async def test_the_stream_of_one_project_beside_it_has_its_own_form(
    streamer: Streamer, ada: Caller, project: Json, other: Json
) -> None:
    both = await follow(streamer, ada, project, other)
    path = f"{project_path(project)}/events"
    one = await streamer.open(path, authorization=ada.headers["authorization"])
    for stream, events in ((both, 2), (one, 1)):
        for _ in range(events):
            await stream.next()
    revision = await create_flag(ada, project)
    assert (await one.next())["data"] == revision
    assert (await both.next())["data"] == {"project_id": project["id"], "revision": revision}


async def test_a_stream_tells_of_an_environment_that_is_made_later(
    streamer: Streamer, ada: Caller, project: Json, other: Json
) -> None:
    stream = await follow(streamer, ada, project, other)
    for _ in range(2):
        await stream.next()
    made = await ada.post(f"{project_path(other)}/environments", json={"name": "QA", "key": "qa"})
    revision = int(made.headers["flagstaff-revision"])
    assert (await stream.next())["data"] == {"project_id": other["id"], "revision": revision}


@pytest.mark.both_databases
async def test_a_stream_ends_when_its_follower_has_left_one_of_the_projects(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json, other: Json, sign_up: SignUp
) -> None:
    eve = await sign_up("eve")
    await join(flagstaff, project, eve, "viewer")
    member = await join(flagstaff, other, eve, "viewer")
    stream = await follow(streamer, eve, project, other)
    await stream.next()
    assert (await ada.delete(member)).status_code == 204
    assert await stream.is_over()
    async with asyncio.timeout(20):
        while len(flagstaff.serving.streams):
            await asyncio.sleep(0.001)
