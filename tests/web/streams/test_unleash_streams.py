"""GET /unleash/api/client/streaming and /unleash/api/client/delta."""

from random import Random
from typing import Any
from uuid import UUID

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.clock import Clock
from tests.support.event_streams import EventStream
from tests.support.sdk_keys import KeyMaker
from tests.support.snapshots import until
from tests.web.streams.conftest import Streamer

STREAMING, DELTA = "/unleash/api/client/streaming", "/unleash/api/client/delta"
PATHS = pytest.mark.parametrize("path", [STREAMING, DELTA])
NAMES = {"unleash_appname": "checkout", "unleash_connection_id": "pod-1", "unleash_sdk": "unleash-python:6.9.1"}


async def get(streamer: Streamer, path: str, sdk_key: str | None, **headers: str) -> httpx.Response:
    given = {} if sdk_key is None else {"authorization": sdk_key}
    return await streamer.client.get(path, headers={**given, **headers})


async def open_stream(streamer: Streamer, sdk_key: str, **headers: str) -> tuple[EventStream, Any]:
    """Open a stream; return it with its first event."""
    stream = await streamer.open(STREAMING, authorization=sdk_key, **{**NAMES, **headers})
    first = await stream.next()
    assert first["event"] == "unleash-connected"
    (hydration,) = first["data"]["events"]
    assert (hydration["type"], str(hydration["eventId"])) == ("hydration", first["id"])
    return stream, hydration


@PATHS
async def test_a_key_is_needed(streamer: Streamer, path: str) -> None:
    for sdk_key in (None, "", "x", "p:production.x"):
        answer = await get(streamer, path, sdk_key)
        assert (answer.status_code, answer.json()["name"]) == (401, "AuthenticationRequired")


@PATHS
async def test_the_key_of_a_project_is_refused_with_what_to_do(streamer: Streamer, project: Json, path: str) -> None:
    answer = await get(streamer, path, project["sdk_key"])
    assert answer.status_code == 401
    assert "key of an environment" in answer.json()["message"]


@PATHS
async def test_a_browser_key_is_refused(streamer: Streamer, environment: Json, keys: KeyMaker, path: str) -> None:
    answer = await get(streamer, path, await keys.create(environment, kind="browser"))
    assert (answer.status_code, answer.json()["name"]) == (403, "NoAccessError")


@PATHS
async def test_they_are_asked_by_get_only(streamer: Streamer, sdk_key: str, path: str) -> None:
    answer = await streamer.client.post(path, headers={"authorization": sdk_key})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")


async def test_a_client_that_opens_its_stream_again_and_again_is_refused_for_a_while(
    streamer: Streamer, environment: Json, keys: KeyMaker, sdk_key: str
) -> None:
    async def status(**headers: str) -> int:
        given = {name.replace("_", "-"): value for name, value in {**NAMES, **headers}.items()}
        async with streamer.client.stream("GET", STREAMING, headers={"authorization": sdk_key, **given}) as answer:
            return answer.status_code

    assert [await status() for _ in range(21)] == [200] * 20 + [429]
    refused = await get(streamer, STREAMING, sdk_key, **{name.replace("_", "-"): each for name, each in NAMES.items()})
    assert (refused.json()["name"], int(refused.headers["retry-after"]) > 0) == ("RateLimitError", True)
    assert await status(unleash_connection_id="pod-2") == 200
    sdk_key = await keys.create(environment)
    assert await status() == 200


async def test_clients_that_do_not_name_their_connections_are_limited_by_key_and_address(
    streamer: Streamer, flagstaff: Flagstaff, ada: Caller, project: Json, sdk_key: str
) -> None:
    limit = flagstaff.limits.requests.unnamed_streams
    (key,) = (await ada.get(f"/api/projects/{project['id']}/sdk-keys")).json()
    assert limit is not None
    assert not any(limit.hit((UUID(key["id"]), "127.0.0.1")) for _ in range(999))
    await streamer.open(STREAMING, authorization=sdk_key)
    assert (await get(streamer, STREAMING, sdk_key)).status_code == 429
    await open_stream(streamer, sdk_key)


async def test_a_client_that_has_missed_the_last_event_gets_a_stream_that_ends_with_its_first(
    ada: Caller, streamer: Streamer, flagstaff: Flagstaff, environment: Json, sdk_key: str
) -> None:
    """It is behind a proxy that passes nothing on before the end of a response."""
    flag = await ada.create_flag(environment)

    async def hear(**headers: str) -> tuple[EventStream, str]:
        await until(lambda: not len(flagstaff.serving.streams))
        stream, hydration = await open_stream(streamer, sdk_key, **headers)
        return stream, str(hydration["eventId"])

    silent, first = await hear()
    await ada.post(f"{flag_path(flag)}/toggle")
    await silent.next()
    await silent.response.aclose()
    deaf, _ = await hear()
    assert await deaf.rest() == ["event: fetch-mode", "data: polling", ""]
    for heard in (first, "x"):
        short, second = await hear(last_event_id=heard)
        assert await short.rest() == []
    odd, third = await hear(last_event_id="9" * 5_000)
    await odd.response.aclose()
    stream, fourth = await hear(last_event_id=second)
    assert second == third == fourth
    await ada.post(f"{flag_path(flag)}/toggle")
    assert int((await stream.next())["id"]) > int(fourth)


async def test_a_stream_begins_with_all_features(
    ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    await ada.create_flag(environment, key="one")
    await ada.create_flag(environment, key="two", enabled=False)
    stream, hydration = await open_stream(streamer, sdk_key)
    assert {each["name"]: each["enabled"] for each in hydration["features"]} == {"one": True, "two": False}
    assert hydration["segments"] == []
    assert stream.response.headers["transfer-encoding"] == "chunked"  # the client for Python needs it


async def test_a_stream_gets_the_features_that_each_change_alters(
    ada: Caller, streamer: Streamer, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment, key="one")
    await ada.create_flag(environment, key="other")
    stream, _ = await open_stream(streamer, sdk_key)
    toggled = await ada.post(f"{flag_path(flag)}/toggle")
    updated = await stream.next()
    revision = int(toggled.headers["flagstaff-revision"])
    assert (updated["event"], int(updated["id"])) == ("unleash-updated", revision)
    (event,) = updated["data"]["events"]
    assert (event["type"], event["eventId"]) == ("feature-updated", revision)
    assert (event["feature"]["name"], event["feature"]["enabled"]) == ("one", False)
    deleted = await ada.delete(flag_path(flag))
    (event,) = (await stream.next())["data"]["events"]
    assert event == {
        "type": "feature-removed",
        "eventId": int(deleted.headers["flagstaff-revision"]),
        "featureName": "one",
        "project": environment["project_id"].replace("-", ""),
    }


async def test_a_changed_segment_alters_the_features_that_name_it(
    ada: Caller, streamer: Streamer, project: Json, environment: Json, sdk_key: str
) -> None:
    condition = {"attribute": "plan", "operator": "in", "values": ["gold"]}
    segment = await ada.create_segment(project, conditions=[condition])
    flag = await ada.create_flag(environment, key="segmented", fallthrough="off")
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    await ada.create_flag(environment, key="other")
    stream, _ = await open_stream(streamer, sdk_key)
    changed = {"conditions": [{**condition, "values": ["silver"]}]}
    await ada.put(f"/api/projects/{project['id']}/segments/{segment['id']}", json=changed)
    (event,) = (await stream.next())["data"]["events"]
    assert event["feature"]["name"] == "segmented"
    assert "silver" in str(event["feature"])


async def test_what_alters_no_feature_is_not_told(
    ada: Caller, streamer: Streamer, project: Json, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    staging = await ada.create_flag(await ada.get_environment(project, "staging"))
    stream, _ = await open_stream(streamer, sdk_key)
    await ada.put(f"/api/projects/{project['id']}", json={"name": "Renamed"})
    await ada.post(f"{flag_path(staging)}/toggle")
    revision = (await ada.post(f"{flag_path(flag)}/toggle")).headers["flagstaff-revision"]
    assert (await stream.next())["id"] == revision


async def test_delta_answers_all_features_to_a_client_whose_state_it_does_not_know(
    ada: Caller, streamer: Streamer, project: Json, environment: Json, sdk_key: str, keys: KeyMaker
) -> None:
    await ada.create_flag(environment)
    staging = await ada.get_environment(project, "staging")
    elsewhere = await get(streamer, DELTA, await keys.create(staging))
    revision = elsewhere.json()["events"][0]["eventId"]
    for tag in (None, elsewhere.headers["etag"], f'"{revision}"', '"x:1"', "*", ""):
        answer = await get(streamer, DELTA, sdk_key, **({} if tag is None else {"if-none-match": tag}))
        assert [each["type"] for each in answer.json()["events"]] == ["hydration"], tag


async def test_delta_answers_what_has_changed_since_the_state_of_a_client(
    ada: Caller, streamer: Streamer, project: Json, environment: Json, sdk_key: str
) -> None:
    flag = await ada.create_flag(environment)
    gone = await ada.create_flag(environment, key="gone")
    await ada.create_flag(environment, key="untouched")
    tag = (await get(streamer, DELTA, sdk_key)).headers["etag"]
    assert (await get(streamer, DELTA, sdk_key, **{"if-none-match": f"W/{tag}"})).status_code == 304
    await ada.post(f"{flag_path(flag)}/toggle")
    await get(streamer, DELTA, sdk_key)  # by another client
    revision = int((await ada.delete(flag_path(gone))).headers["flagstaff-revision"])
    answer = await get(streamer, DELTA, sdk_key, **{"if-none-match": tag})
    updated, removed = sorted(answer.json()["events"], key=lambda event: event["type"], reverse=True)
    assert (updated["type"], updated["feature"]["name"], updated["eventId"]) == (
        "feature-updated",
        "new-checkout",
        revision,
    )
    assert removed == {
        "type": "feature-removed",
        "eventId": revision,
        "featureName": "gone",
        "project": project["id"].replace("-", ""),
    }
    assert answer.headers["etag"].endswith(f':{revision}"')


async def test_delta_answers_that_nothing_has_changed_when_no_feature_has(
    ada: Caller, streamer: Streamer, project: Json, environment: Json, sdk_key: str
) -> None:
    await ada.create_flag(environment)
    tag = (await get(streamer, DELTA, sdk_key)).headers["etag"]
    await ada.put(f"/api/projects/{project['id']}", json={"name": "Renamed"})
    assert (await get(streamer, DELTA, sdk_key, **{"if-none-match": tag})).status_code == 304


async def test_the_changes_lead_to_the_state_that_a_new_client_gets(
    ada: Caller, streamer: Streamer, project: Json, environment: Json, sdk_key: str
) -> None:
    """Makes random changes by the API. Clients ask after some of them, also about a state before the last one."""
    random = Random(14)
    condition = {"attribute": "plan", "operator": "in", "values": ["gold"]}
    segment = await ada.create_segment(project, conditions=[condition])
    flags: list[Json] = []
    seen: list[tuple[str, Json]] = []
    for number in range(40):
        match random.randrange(5) if flags else 0:
            case 0:
                flags.append(await ada.create_flag(environment, key=f"flag-{number}", fallthrough="off"))
            case 1:
                await ada.post(f"{flag_path(random.choice(flags))}/toggle")
            case 2:
                await ada.create_rule(random.choice(flags), rule_type="segment", rule_value="beta")
            case 3:
                changed = {"conditions": [{**condition, "values": [str(number)]}]}
                await ada.put(f"/api/projects/{project['id']}/segments/{segment['id']}", json=changed)
            case 4:
                await ada.delete(flag_path(flags.pop(random.randrange(len(flags)))))
        if random.random() < 0.5:
            answer = await get(streamer, DELTA, sdk_key)
            present = features_after({}, answer.json())
            for tag, state in random.sample(seen, min(3, len(seen))):
                told = await get(streamer, DELTA, sdk_key, **{"if-none-match": tag})
                after = state if told.status_code == 304 else features_after(state, told.json())
                assert after == present
            seen.append((answer.headers["etag"], present))
    assert len(seen) > 10


def features_after(state: Json, told: Json) -> Json:
    """Return the features of a client by name, as its SDK applies the events."""
    features = dict(state)
    for event in told["events"]:
        match event["type"]:
            case "hydration":
                features = {each["name"]: each for each in event["features"]}
            case "feature-updated":
                features[event["feature"]["name"]] = event["feature"]
            case "feature-removed":
                features.pop(event["featureName"], None)
    return features


async def test_a_stream_ends_when_its_key_is_revoked(
    streamer: Streamer, project: Json, sdk_key: str, keys: KeyMaker
) -> None:
    stream, _ = await open_stream(streamer, sdk_key)
    await keys.revoke_all(project)
    assert await stream.is_over()
    assert (await get(streamer, STREAMING, sdk_key)).status_code == 401


async def test_a_stream_ends_when_its_environment_is_deleted(
    ada: Caller, streamer: Streamer, project: Json, keys: KeyMaker
) -> None:
    canary = {**(await ada.create_environment(project)), "project_id": project["id"]}
    stream, _ = await open_stream(streamer, await keys.create(canary))
    assert (await ada.delete(environment_path(canary))).status_code == 204
    assert await stream.is_over()


async def test_an_instance_with_a_stream_is_listed_with_the_revision_that_it_was_sent(
    flagstaff: Flagstaff, ada: Caller, streamer: Streamer, environment: Json, sdk_key: str, clock: Clock
) -> None:
    flag = await ada.create_flag(environment)
    stream, hydration = await open_stream(streamer, sdk_key)

    async def listed() -> Any:
        await flagstaff.applications.collector.write()
        answer = (await ada.get(f"{environment_path(environment)}/connections")).json()
        (connection,) = answer["connections"]
        return connection

    connection = await listed()
    assert (connection["application"], connection["connection"], connection["streams"]) == ("checkout", "pod-1", True)
    assert (connection["revision"], connection["is_current"]) == (hydration["eventId"], True)
    clock.advance(seconds=1)
    await ada.post(f"{flag_path(flag)}/toggle")
    told = int((await stream.next())["id"])
    while (connection := await listed())["revision"] < told:
        pass
    assert connection["is_current"]
