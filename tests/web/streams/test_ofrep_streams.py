"""OFREP's event streams."""

import asyncio
from typing import Any
from urllib.parse import parse_qs

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving.stream_tokens import PERIOD_SECONDS
from tests.support.api import Caller, Json, flag_path
from tests.support.clock import Clock
from tests.support.event_streams import keep_alive
from tests.support.sdk_keys import KeyMaker, create_key, keys_path
from tests.web.streams.conftest import Streamer

PATH = "/ofrep/v1/evaluate/flags"


async def ask(client: Caller, sdk_key: str, query: str = "?stream=sse", **headers: str) -> Any:
    named = {"authorization": f"Bearer {sdk_key}", **{name.replace("_", "-"): each for name, each in headers.items()}}
    return await client.post(f"{PATH}{query}", json={"context": {"targetingKey": "ada"}}, headers=named)


def address_in(answer: Any) -> str:
    """The path and the query of the stream that an answer offers."""
    (offer,) = answer.json()["eventStreams"]
    path: str = offer["endpoint"]["requestUri"]
    return path


async def stream_path(client: Caller, sdk_key: str) -> str:
    return address_in(await ask(client, sdk_key))


async def toggle(ada: Caller, flag: Json) -> str:
    """Toggle a flag; return the revision."""
    revision: str = (await ada.post(f"{flag_path(flag)}/toggle")).headers["flagstaff-revision"]
    return revision


def told(revision: str) -> dict[str, Any]:
    """The event that tells of a revision."""
    return {"id": revision, "data": {"type": "refetchEvaluation"}}


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


async def test_an_answer_with_a_new_token_has_another_tag(client: Caller, sdk_key: str, clock: Clock) -> None:
    tag = (await ask(client, sdk_key)).headers["etag"]
    assert (await ask(client, sdk_key, if_none_match=tag)).status_code == 304
    clock.advance(seconds=PERIOD_SECONDS)
    assert (await ask(client, sdk_key, if_none_match=tag)).status_code == 200


async def test_a_stream_tells_of_each_change_to_fetch_again_at_the_same_address(
    client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    stream = await streamer.open(await stream_path(client, sdk_key))
    assert stream.response.headers["content-type"] == "text/event-stream"
    assert stream.response.headers["access-control-allow-origin"] == "*"
    for _ in range(3):
        revision = await toggle(ada, flag)
        assert await stream.next() == told(revision)


async def test_a_client_is_not_told_of_the_flags_that_came_with_the_address(
    client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    path = await stream_path(client, sdk_key)
    streams = [await streamer.open(path) for _ in range(2)]
    revision = await toggle(ada, flag)
    assert [await stream.next() for stream in streams] == [told(revision)] * 2


async def test_a_client_that_connects_again_is_told_again_whatever_it_was_told_before(
    client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    path = await stream_path(client, sdk_key)
    revision = await toggle(ada, flag)
    assert await (await streamer.open(path)).next() == told(revision)
    assert await (await streamer.open(path, last_event_id=revision)).next() == told(revision)


@pytest.mark.parametrize("revision", ["", "x", "0", "99999999999999999999"])
async def test_a_client_is_told_at_once_if_its_address_does_not_name_the_present_revision(
    client: Caller, streamer: Streamer, sdk_key: str, revision: str
) -> None:
    path = await stream_path(client, sdk_key)
    present = parse_qs(path)["revision"][0]
    other = path.replace(f"revision={present}", f"revision={revision}" if revision else "")
    assert await (await streamer.open(other)).next() == told(present)


async def test_an_event_is_repeated_until_the_client_shows_that_it_has_the_flags(
    flagstaff: Flagstaff, client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    answer = await ask(client, sdk_key)
    stream = await streamer.open(address_in(answer))
    revision = await toggle(ada, flag)
    refetch = await ask(client, sdk_key, if_none_match=answer.headers["etag"])
    assert refetch.status_code == 200  # which the client may not have received
    for _ in range(6):
        await keep_alive(flagstaff.serving.streams)
    assert [await stream.next() for _ in range(4)] == [told(revision)] * 4

    assert (await ask(client, sdk_key, if_none_match=refetch.headers["etag"])).status_code == 304
    for _ in range(20):
        await keep_alive(flagstaff.serving.streams)
    later = await toggle(ada, flag)
    assert await stream.next() == told(later)


async def test_an_event_is_repeated_once_in_any_case(
    flagstaff: Flagstaff, client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    answer = await ask(client, sdk_key)
    path = address_in(answer)
    tabs = [await streamer.open(path) for _ in range(2)]
    tabs.append(await streamer.open(path.partition("&client=")[0]))  # an address of the release before
    revision = await toggle(ada, flag)
    tag = (await ask(client, sdk_key, if_none_match=answer.headers["etag"])).headers["etag"]
    assert (await ask(client, sdk_key, if_none_match=tag)).status_code == 304
    for _ in range(20):
        await keep_alive(flagstaff.serving.streams)
    later = await toggle(ada, flag)
    for stream in tabs:
        assert [await stream.next() for _ in range(3)] == [told(revision), told(revision), told(later)]


async def test_an_event_is_repeated_for_ten_minutes_at_most_and_not_after_the_next_one(
    flagstaff: Flagstaff, client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    answer = await ask(client, sdk_key)
    stream = await streamer.open(address_in(answer))
    first = await toggle(ada, flag)
    assert (await ask(client, sdk_key, if_none_match=answer.headers["etag"])).status_code == 200
    await keep_alive(flagstaff.serving.streams)
    second = await toggle(ada, flag)
    for _ in range(100):
        await keep_alive(flagstaff.serving.streams)
    third = await toggle(ada, flag)
    expected = [told(first), *[told(second)] * 31, told(third)]
    assert [await stream.next() for _ in expected] == expected


async def test_a_stream_ends_once_if_its_client_does_not_fetch_because_a_proxy_may_keep_events_back(
    flagstaff: Flagstaff, client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    path = await stream_path(client, sdk_key)
    stream = await streamer.open(path)
    for _ in range(4):
        await keep_alive(flagstaff.serving.streams)
    revision = await toggle(ada, flag)
    for _ in range(2):
        await keep_alive(flagstaff.serving.streams)
    assert [await stream.next() for _ in range(2)] == [told(revision)] * 2
    assert await stream.is_over()
    again = await streamer.open(path)
    for _ in range(6):
        await keep_alive(flagstaff.serving.streams)
    later = await toggle(ada, flag)
    assert [await again.next() for _ in range(5)] == [*[told(revision)] * 4, told(later)]
    for _ in range(2):
        await keep_alive(flagstaff.serving.streams)
    assert await again.next() == told(later)
    assert await again.is_over()


async def test_the_event_of_a_new_connection_is_repeated_too_and_nothing_is_repeated_before_an_event(
    flagstaff: Flagstaff, client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    answer = await ask(client, sdk_key)
    before = await toggle(ada, flag)
    late, up_to_date = await streamer.open(address_in(answer)), await streamer.open(await stream_path(client, sdk_key))
    assert (await ask(client, sdk_key, if_none_match=answer.headers["etag"])).status_code == 200
    for _ in range(4):
        await keep_alive(flagstaff.serving.streams)
    revision = await toggle(ada, flag)
    assert await up_to_date.next() == told(revision)
    assert [await late.next() for _ in range(4)] == [*[told(before)] * 3, told(revision)]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_CONNECTIONS": "8"}])
async def test_a_client_for_which_there_is_no_room_is_told_of_a_change_and_asks_again_later(
    flagstaff: Flagstaff, client: Caller, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    path = await stream_path(client, sdk_key)
    async with (
        streamer.client.stream("GET", path) as one,
        streamer.client.stream("GET", path) as other,
    ):
        assert (one.status_code, other.status_code) == (200, 200)
        waits = set()
        for _ in range(20):
            answer = await streamer.client.get(path)
            assert answer.headers["content-type"] == "text/event-stream"
            retry, events = answer.text.split("\n\n", 1)
            waits.add(int(retry.removeprefix("retry: ")))
            assert events == ""
        assert len(waits) > 10
        assert 15_000 <= min(waits) <= max(waits) <= 25_000
        revision = await toggle(ada, flag)
        events = (await streamer.client.get(path)).text.split("\n\n", 1)[1]
        assert events == f'id: {revision}\ndata: {{"type":"refetchEvaluation"}}\n\n'
        assert flagstaff.serving.streams.refused == 21
    async with asyncio.timeout(20):
        while len(flagstaff.serving.streams):
            await asyncio.sleep(0.001)
    stream = await streamer.open(path)
    assert await stream.next() == told(revision)


async def test_a_stream_ends_when_its_key_is_revoked_and_opens_no_more(
    client: Caller, streamer: Streamer, project: Json, sdk_key: str, keys: KeyMaker
) -> None:
    path = await stream_path(client, sdk_key)
    stream = await streamer.open(path)
    await keys.revoke_all(project)
    assert await stream.is_over()
    assert (await streamer.client.get(path)).status_code == 401


@pytest.mark.both_databases
async def test_a_stream_ends_when_its_page_is_not_allowed_any_more_and_opens_only_for_allowed_ones(
    client: Caller, ada: Caller, streamer: Streamer, project: Json
) -> None:
    shop, blog = "https://shop.example.com", "https://blog.example.com"
    key = await create_key(ada, project, kind="browser", allowed_origins=[shop, blog])
    path = await stream_path(client, key["key"])
    for origin, reason in (
        ("https://evil.example", "not for pages at the origin https://evil.example"),
        ("null", "hides"),
    ):
        refused = await streamer.client.get(path, headers={"origin": origin})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (403, "*")
        assert reason in refused.json()["errorDetails"]
    of_shop, of_blog, of_app = (
        await streamer.open(path, origin=shop),
        await streamer.open(path, origin=blog),
        await streamer.open(path),
    )
    changed = await ada.put(f"{keys_path(project)}/{key['id']}", json={"allowed_origins": [blog]})
    assert await of_shop.is_over()
    assert (await streamer.client.get(path, headers={"origin": shop})).status_code == 403
    for stream in (of_blog, of_app):
        assert await stream.next() == told(changed.headers["flagstaff-revision"])
    await ada.put(f"{keys_path(project)}/{key['id']}", json={"allowed_origins": []})
    await streamer.open(path, origin=shop)


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


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_BROWSER_RATE_LIMIT": "3/minute"}])
async def test_opening_a_page_counts_once_and_its_streams_count_by_themselves(
    streamer: Streamer, keys: KeyMaker, environment: Json
) -> None:
    key = await keys.create(environment, kind="browser")
    answers = [await ask(streamer.client, key) for _ in range(4)]  # type: ignore[arg-type]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    for answer in answers[:3]:
        for _ in range(10):
            async with streamer.client.stream("GET", address_in(answer)) as response:
                assert response.status_code == 200
    refused = await streamer.client.get(address_in(answers[0]))
    assert (refused.status_code, 0 < int(refused.headers["retry-after"]) <= 75) == (429, True)


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "3/minute"}])
async def test_an_address_that_a_page_has_kept_for_too_long_does_not_count_as_a_guess(
    client: Caller, streamer: Streamer, sdk_key: str, clock: Clock
) -> None:
    path = await stream_path(client, sdk_key)
    clock.advance(seconds=2 * PERIOD_SECONDS)
    assert [(await streamer.client.get(path)).status_code for _ in range(5)] == [401] * 5
    guess = path.replace("token=", "token=0")
    assert [(await streamer.client.get(guess)).status_code for _ in range(4)] == [401] * 3 + [429]
