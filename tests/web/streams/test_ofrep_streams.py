"""OFREP's event streams."""

import asyncio
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving.stream_tokens import PERIOD_SECONDS
from tests.support.api import Caller, Json, flag_path
from tests.support.clock import Clock
from tests.support.sdk_keys import KeyMaker
from tests.web.streams.conftest import Streamer

PATH = "/ofrep/v1/evaluate/flags"


async def ask(client: Caller, sdk_key: str, query: str = "?stream=sse", **headers: str) -> Any:
    named = {"authorization": f"Bearer {sdk_key}", **{name.replace("_", "-"): each for name, each in headers.items()}}
    return await client.post(f"{PATH}{query}", json={"context": {"targetingKey": "ada"}}, headers=named)


async def stream_path(client: Caller, sdk_key: str) -> str:
    (offer,) = (await ask(client, sdk_key)).json()["eventStreams"]
    path: str = offer["endpoint"]["requestUri"]
    return path


@pytest.mark.parametrize(
    "query", ["", "?token=", "?token=x", "?token=a.b.c.d", "?token=%00", "?" + "&".join("a=b" for _ in range(99))]
)
async def test_a_stream_needs_a_valid_token(streamer: Streamer, query: str) -> None:
    answer = await streamer.client.get(f"/ofrep/v1/streams{query}")
    assert answer.status_code == 401
    assert "Fetch the flags again" in answer.json()["errorDetails"]


async def test_a_stream_is_opened_by_get_only(streamer: Streamer) -> None:
    answer = await streamer.client.post("/ofrep/v1/streams")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


async def test_an_expired_token_is_refused(client: Caller, streamer: Streamer, sdk_key: str, clock: Clock) -> None:
    path = await stream_path(client, sdk_key)
    clock.advance(seconds=2 * PERIOD_SECONDS)
    assert (await streamer.client.get(path)).status_code == 401


async def test_only_clients_that_ask_are_offered_a_stream(client: Caller, sdk_key: str) -> None:
    for query in ("", "?stream=", "?stream=ws", "?xstream=sse", "?stream=sse2"):
        assert (await ask(client, sdk_key, query)).json().keys() == {"flags"}  # Kotlin's provider refuses other members
    answer = (await ask(client, sdk_key)).json()
    assert answer["flags"] == []
    (offer,) = answer["eventStreams"]
    assert offer["type"] == "sse"
    assert offer["inactivityDelaySec"] == 120
    assert list(offer["endpoint"]) == ["requestUri"]


async def test_the_same_clients_are_told_the_environment_and_its_revision(
    client: Caller, sdk_key: str, environment: Json, ada: Caller
) -> None:
    first = await ask(client, sdk_key)
    assert first.json()["metadata"] == {
        "flagSetId": environment["id"],
        "version": first.headers["flagstaff-revision"],
    }
    await ada.create_flag(environment, key="checkout")
    second = await ask(client, sdk_key)
    assert int(second.json()["metadata"]["version"]) > int(first.json()["metadata"]["version"])


async def test_a_change_of_what_the_user_does_not_get_keeps_the_tag(
    client: Caller, sdk_key: str, environment: Json, ada: Caller
) -> None:
    flag = await ada.create_flag(environment, key="checkout")
    first = await ask(client, sdk_key)
    tag = first.headers["etag"]
    assert tag.startswith('W/"')  # the revision in the answer may change
    await ada.put(flag_path(flag), json={"description": "Only for people"})
    unchanged = await ask(client, sdk_key, if_none_match=tag)
    assert (unchanged.status_code, unchanged.headers["etag"]) == (304, tag)
    assert int(unchanged.headers["flagstaff-revision"]) > int(first.headers["flagstaff-revision"])
    await ada.post(f"{flag_path(flag)}/toggle")
    assert (await ask(client, sdk_key, if_none_match=tag)).status_code == 200


@pytest.mark.both_databases
async def test_an_answer_with_a_new_token_has_another_tag(client: Caller, sdk_key: str, clock: Clock) -> None:
    tag = (await ask(client, sdk_key)).headers["etag"]
    assert (await ask(client, sdk_key, if_none_match=tag)).status_code == 304
    clock.advance(seconds=PERIOD_SECONDS)
    assert (await ask(client, sdk_key, if_none_match=tag)).status_code == 200


@pytest.mark.both_databases
async def test_a_stream_tells_to_fetch_again_at_once_and_after_each_change(
    client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    stream = await streamer.open(await stream_path(client, sdk_key))
    assert stream.response.headers["content-type"] == "text/event-stream"
    assert stream.response.headers["access-control-allow-origin"] == "*"
    first = await stream.next()
    assert first["data"]["type"] == "refetchEvaluation"
    for _ in range(3):
        toggled = await ada.post(f"{flag_path(flag)}/toggle")
        revision = toggled.headers["flagstaff-revision"]
        assert await stream.next() == {"id": revision, "data": {"type": "refetchEvaluation", "etag": revision}}


async def test_a_client_that_was_told_of_the_present_state_is_not_told_again(
    client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    path = await stream_path(client, sdk_key)
    first = await (await streamer.open(path)).next()
    again = await streamer.open(path, last_event_id=first["id"])
    revision = (await ada.post(f"{flag_path(flag)}/toggle")).headers["flagstaff-revision"]
    assert (await again.next())["id"] == revision
    late = await streamer.open(path, last_event_id=first["id"])
    assert (await late.next())["id"] == revision


async def test_a_stream_ends_when_its_key_is_revoked_and_opens_no_more(
    client: Caller, streamer: Streamer, project: Json, sdk_key: str, keys: KeyMaker
) -> None:
    path = await stream_path(client, sdk_key)
    stream = await streamer.open(path)
    await stream.next()
    await keys.revoke_all(project)
    assert await stream.is_over()
    assert (await streamer.client.get(path)).status_code == 401


@pytest.mark.both_databases
async def test_streams_end_when_the_service_stops_and_no_others_open(
    flagstaff: Flagstaff, client: Caller, streamer: Streamer, sdk_key: str
) -> None:
    path = await stream_path(client, sdk_key)
    streams = [await streamer.open(path) for _ in range(3)]
    await flagstaff.serving.streams.stop()
    assert [await stream.is_over() for stream in streams] == [True] * 3
    assert (await streamer.client.get(path)).status_code == 503


async def test_a_stream_that_its_client_leaves_is_forgotten(
    flagstaff: Flagstaff, client: Caller, streamer: Streamer, sdk_key: str
) -> None:
    path = await stream_path(client, sdk_key)
    async with streamer.client.stream("GET", path) as response:
        assert response.status_code == 200
        assert len(flagstaff.serving.streams) == 1
    async with asyncio.timeout(20):
        while len(flagstaff.serving.streams):
            await asyncio.sleep(0.001)
