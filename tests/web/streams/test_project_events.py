"""The stream that notifies the dashboard at once of changes in a project."""

import asyncio
from contextlib import AsyncExitStack
from uuid import uuid4

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.audit.event_streams import MOST_STREAMS
from flagstaff.concurrency.slots import AT_ONCE
from tests.support.api import Caller, Json, created, environment_path, flag_path, project_path
from tests.support.clock import Clock
from tests.support.event_streams import EventStream, keep_alive
from tests.support.members import join
from tests.support.sessions import PASSWORD
from tests.web.conftest import RequestReset, SignUp
from tests.web.streams.conftest import Streamer


def events_path(project: Json) -> str:
    return f"{project_path(project)}/events"


async def follow(streamer: Streamer, caller: Caller, project: Json, **headers: str) -> EventStream:
    return await streamer.open(events_path(project), authorization=caller.headers["authorization"], **headers)


@pytest.mark.parametrize("token", [None, "Bearer x", "Bearer fst_x"])
async def test_without_a_valid_token_no_stream_opens(streamer: Streamer, project: Json, token: str | None) -> None:
    headers = {"authorization": token} if token else {}
    assert (await streamer.client.get(events_path(project), headers=headers)).status_code == 401


async def test_strangers_get_no_stream(streamer: Streamer, project: Json, sign_up: SignUp) -> None:
    eve = await sign_up("eve@example.com")
    refused = await streamer.client.get(events_path(project), headers={"authorization": eve.headers["authorization"]})
    assert refused.status_code == 404


@pytest.mark.parametrize(("permission", "status"), [("project:read", 200), ("flags:read", 403)])
async def test_a_token_opens_a_stream_only_with_the_permission(
    streamer: Streamer, ada: Caller, project: Json, permission: str, status: int
) -> None:
    body = {"name": "Watcher", "permissions": [permission], "current_password": PASSWORD}
    made = created(await ada.post(f"{project_path(project)}/tokens", json=body))
    headers = {"authorization": f"Bearer {made['token']}"}
    async with streamer.client.stream("GET", events_path(project), headers=headers) as answer:
        assert answer.status_code == status


@pytest.mark.both_databases
@pytest.mark.parametrize("way", ["removed", "revoked", "logged out", "session ended", "reset", "deactivated"])
async def test_a_stream_ends_within_a_second_after_its_follower_may_not_follow_any_more(
    flagstaff: Flagstaff,
    streamer: Streamer,
    ada: Caller,
    project: Json,
    sign_up: SignUp,
    request_reset: RequestReset,
    way: str,
) -> None:
    eve = await sign_up("eve")
    member = await join(flagstaff, project, eve, "admin")
    stays = await follow(streamer, ada, project)
    if way == "revoked":
        path = f"{project_path(project)}/tokens"
        body = {"name": "Watcher", "permissions": ["project:read"], "current_password": PASSWORD}
        made = created(await eve.post(path, json=body))
        stream = await streamer.open(events_path(project), authorization=f"Bearer {made['token']}")
    else:
        stream = await follow(streamer, eve, project)
    for each in (stream, stays):
        assert (await each.next())["event"] == "revision"
    (session,) = (await eve.get("/api/me/sessions")).json()
    begun = asyncio.get_running_loop().time()
    answer = await {
        "removed": lambda: ada.delete(member),
        "revoked": lambda: eve.delete(f"{project_path(project)}/tokens/{made['id']}"),
        "logged out": lambda: eve.post("/auth/logout"),
        "session ended": lambda: ada.delete(f"/api/admin/accounts/{eve.account['id']}/sessions/{session['id']}"),
        "reset": lambda: reset(eve, request_reset),
        "deactivated": lambda: ada.put(f"/api/admin/accounts/{eve.account['id']}", json={"active": False}),
    }[way]()
    assert answer.status_code in (200, 204)
    assert await stream.is_over()
    assert asyncio.get_running_loop().time() - begun < 5  # a shared machine may take longer than a second
    assert len(flagstaff.serving.streams) == 1
    async with asyncio.timeout(30):
        environment = await ada.get_environment(project)
        await ada.create_flag(environment)
        assert (await stays.next())["event"] == "revision"


async def reset(caller: Caller, request_reset: RequestReset) -> httpx.Response:
    body = {"token": await request_reset(caller.account["email"]), "newPassword": PASSWORD}
    return await caller.post("/auth/reset-password", json=body)


async def test_a_project_without_environments_has_no_stream(streamer: Streamer, ada: Caller, project: Json) -> None:
    authorization = {"authorization": ada.headers["authorization"]}
    for environment in (await ada.get(f"{project_path(project)}/environments")).json():
        assert (await ada.delete(environment_path({**environment, "project_id": project["id"]}))).status_code == 204
    for each in (project["id"], uuid4(), "x"):
        assert (await streamer.client.get(f"/api/projects/{each}/events", headers=authorization)).status_code == 404


@pytest.mark.both_databases
async def test_while_the_service_stops_no_stream_opens(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json
) -> None:
    stream = await follow(streamer, ada, project)
    await flagstaff.serving.streams.stop()
    assert await stream.is_over()
    authorization = {"authorization": ada.headers["authorization"]}
    assert (await streamer.client.get(events_path(project), headers=authorization)).status_code == 503


async def test_a_stream_tells_each_revision_in_any_encoding_that_is_accepted(
    streamer: Streamer, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    stream = await follow(streamer, ada, project, accept_encoding="gzip")
    assert stream.response.headers["content-type"] == "text/event-stream"
    assert "content-encoding" not in stream.response.headers
    first = await stream.next()
    assert first["event"] == "revision"
    assert first["id"] == str(first["data"])
    for _ in range(3):
        toggled = await ada.post(f"{flag_path(flag)}/toggle")
        revision = toggled.headers["flagstaff-revision"]
        assert await stream.next() == {"id": revision, "event": "revision", "data": int(revision)}


async def test_a_stream_tells_the_changes_of_all_environments(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json
) -> None:
    stream = await follow(streamer, ada, project)
    await stream.next()
    assert len(flagstaff.serving.streams) == 1
    for key in ("staging", "production"):
        path = environment_path(await ada.get_environment(project, key))
        made = await ada.post(f"{path}/flags", json={"name": "Here", "key": "here"})
        assert (await stream.next())["id"] == made.headers["flagstaff-revision"]


async def test_streams_that_are_open_tell_of_an_environment_that_is_made_later(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json
) -> None:
    streams = [await follow(streamer, ada, project) for _ in range(2)]
    for stream in streams:
        await stream.next()
    made = await ada.post(f"{project_path(project)}/environments", json={"name": "QA", "key": "qa"})
    path = environment_path({**created(made), "project_id": project["id"]})
    flag = await ada.post(f"{path}/flags", json={"name": "Here", "key": "here"})
    for stream in streams:
        assert [(await stream.next())["id"] for _ in range(2)] == [
            answer.headers["flagstaff-revision"] for answer in (made, flag)
        ]


async def test_changes_of_other_projects_are_not_told(
    streamer: Streamer, ada: Caller, project: Json, environment: Json
) -> None:
    stream = await follow(streamer, ada, project)
    await stream.next()
    await ada.create_flag(await ada.get_environment(await ada.create_project(name="Other")))
    made = await ada.post(f"{environment_path(environment)}/flags", json={"name": "Here", "key": "here"})
    assert (await stream.next())["id"] == made.headers["flagstaff-revision"]


async def test_a_viewer_of_the_project_may_follow_it(
    flagstaff: Flagstaff, streamer: Streamer, project: Json, sign_up: SignUp
) -> None:
    eve = await sign_up("eve@example.com")
    await join(flagstaff, project, eve, "viewer")
    assert (await (await follow(streamer, eve, project)).next())["event"] == "revision"


async def test_streams_leave_an_account_its_slots_for_reading(
    streamer: Streamer, ada: Caller, project: Json, environment: Json
) -> None:
    streams = [await follow(streamer, ada, project) for _ in range(AT_ONCE + 1)]
    assert [(await stream.next())["event"] for stream in streams] == ["revision"] * (AT_ONCE + 1)
    assert (await ada.get(environment_path(environment))).status_code == 200


async def test_an_account_opens_only_so_many_streams_and_another_when_one_has_ended(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json
) -> None:
    headers = {"authorization": ada.headers["authorization"]}
    async with AsyncExitStack() as others:
        for _ in range(MOST_STREAMS - 1):
            await others.enter_async_context(streamer.client.stream("GET", events_path(project), headers=headers))
        async with streamer.client.stream("GET", events_path(project), headers=headers) as last:
            assert last.status_code == 200
            refused = await streamer.client.get(events_path(project), headers=headers)
            assert refused.status_code == 429
            assert refused.headers["retry-after"]
        async with asyncio.timeout(20):
            while len(flagstaff.serving.streams) == MOST_STREAMS:
                await asyncio.sleep(0.001)
        async with streamer.client.stream("GET", events_path(project), headers=headers) as again:
            assert again.status_code == 200


async def test_a_stream_ends_after_five_minutes(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json, clock: Clock
) -> None:
    stream = await follow(streamer, ada, project)
    await stream.next()
    clock.advance(minutes=5)
    await keep_alive(flagstaff.serving.streams)
    assert await stream.is_over()


async def test_a_stream_ends_with_its_environment(
    streamer: Streamer, ada: Caller, project: Json, environment: Json
) -> None:
    stream = await follow(streamer, ada, project)
    await stream.next()
    assert (await ada.delete(environment_path(environment))).status_code == 204
    assert await stream.is_over()


async def test_a_stream_that_its_client_leaves_is_forgotten(
    flagstaff: Flagstaff, streamer: Streamer, ada: Caller, project: Json
) -> None:
    headers = {"authorization": ada.headers["authorization"]}
    async with streamer.client.stream("GET", events_path(project), headers=headers) as response:
        assert response.status_code == 200
        assert len(flagstaff.serving.streams) == 1
    async with asyncio.timeout(20):
        while len(flagstaff.serving.streams):
            await asyncio.sleep(0.001)
