"""GET /unleash/api/client/features."""

from collections import OrderedDict, defaultdict
from datetime import timedelta
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.clock import Clock
from tests.support.local_sdk import Engine
from tests.support.sdk_keys import KeyMaker
from tests.web.unleash.conftest import CLIENT, HEADERS, Ask

PATH = f"{CLIENT}/features"
NODE = "unleash-node-sdk:6.12.1"
STREAMING = {"FLAGSTAFF_UNLEASH_FETCH_MODE": "streaming"}


async def test_a_wrong_key_is_refused_in_the_form_that_clients_read(client: Caller, environment: Json) -> None:
    for headers in ({}, {"authorization": "nonsense"}, {"authorization": f"{'0' * 32}:production.{'x' * 43}"}):
        response = await client.get(PATH, headers=headers)
        assert response.status_code == 401
        assert response.json()["name"] == "AuthenticationRequired"
        assert "features" not in response.json()


@pytest.mark.both_databases
async def test_a_revoked_key_is_refused_at_once(fetch: Ask, keys: KeyMaker, project: Json) -> None:
    assert (await fetch()).status_code == 200
    await keys.revoke_all(project)
    assert (await fetch()).status_code == 401


async def test_an_expired_key_is_refused(client: Caller, keys: KeyMaker, environment: Json, clock: Clock) -> None:
    key = await keys.create(environment, expires_at=clock() + timedelta(days=1))
    assert (await client.get(PATH, headers={"authorization": key})).status_code == 200
    clock.advance(days=2)
    assert (await client.get(PATH, headers={"authorization": key})).status_code == 401


async def test_the_key_of_a_project_is_refused_with_a_hint(client: Caller, project: Json) -> None:
    response = await client.get(PATH, headers={"authorization": project["sdk_key"]})
    assert response.status_code == 401
    assert "key of an environment" in response.json()["message"]


async def test_a_browser_key_is_refused_with_its_kind_and_environment(
    client: Caller, keys: KeyMaker, environment: Json
) -> None:
    response = await client.get(PATH, headers={"authorization": await keys.create(environment, kind="browser")})
    assert response.status_code == 403
    assert {"browser", "production"} <= set(response.json()["message"].replace(".", " ").split())


@pytest.mark.parametrize("path", ["/unleash/api", "/unleash/api/client/feature", "/unleash/api/admin/projects"])
async def test_other_paths_are_not_found(client: Caller, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 404
    assert response.json()["name"] == "NotFoundError"


async def test_other_methods_are_refused(client: Caller) -> None:
    response = await client.post(PATH, json={})
    assert response.status_code == 405
    assert response.headers["allow"] == "GET"


async def test_a_query_of_any_number_of_fields_is_refused(fetch: Ask) -> None:
    assert (await fetch("&".join(f"a{number}=1" for number in range(200)))).status_code == 400


async def test_the_features_are_those_of_the_keys_environment(fetch: Ask, ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, fallthrough="off")
    await ada.create_rule(flag)
    staging = await ada.get_environment({"id": environment["project_id"]}, "staging")
    await ada.create_flag(staging, key="elsewhere")
    response = await fetch()
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    document: dict[str, Any] = response.json()
    assert document["version"] == 2
    assert document["segments"] == []
    assert document["query"] == {"environment": "production"}
    (feature,) = document["features"]
    assert feature["project"] == environment["project_id"].replace("-", "")
    engine = Engine([feature])
    assert engine.ask("new-checkout", {"userId": "ada"}).enabled
    assert not engine.ask("new-checkout", {"userId": "eve"}).enabled


async def test_a_key_may_follow_the_word_bearer(fetch: Ask, sdk_key: str) -> None:
    assert (await fetch(authorization=f"Bearer {sdk_key}")).status_code == 200


async def test_a_client_that_has_the_state_gets_a_304(fetch: Ask, ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    tag = (await fetch()).headers["etag"]
    assert tag.startswith('"')
    for known in (tag, f"W/{tag}", f'"other", W/{tag}'):
        response = await fetch(if_none_match=known)
        assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", tag)
    await ada.post(f"{flag_path(flag)}/toggle")
    changed = await fetch(if_none_match=tag)
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag
    assert changed.json()["features"][0]["enabled"] is False


async def test_a_client_that_does_not_ask_for_it_gets_no_304(fetch: Ask) -> None:
    assert [(await fetch()).status_code for _ in range(2)] == [200, 200]


async def test_a_prefix_chooses_flags_and_has_a_tag_of_its_own(fetch: Ask, ada: Caller, environment: Json) -> None:
    for key in ("pay-card", "pay-cash", "search"):
        await ada.create_flag(environment, key=key)
    whole, part = await fetch(), await fetch("namePrefix=pay-&project=x&tag=simple:y")
    assert [each["name"] for each in part.json()["features"]] == ["pay-card", "pay-cash"]
    assert part.headers["etag"] != whole.headers["etag"]
    assert (await fetch("namePrefix=pay-", if_none_match=part.headers["etag"])).status_code == 304


async def test_every_change_is_in_the_next_answer(fetch: Ask, ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, fallthrough="off")
    segment = await ada.create_segment({"id": environment["project_id"]})

    async def is_on(plan: str) -> bool:
        engine = Engine((await fetch()).json()["features"])
        return engine.ask("new-checkout", {"properties": {"plan": plan}}).enabled

    assert not await is_on("gold")
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    assert await is_on("gold")
    conditions = [{"attribute": "plan", "operator": "in", "values": ["gold"]}]
    path = f"/api/projects/{environment['project_id']}/segments/{segment['id']}"
    assert (await ada.put(path, json={"conditions": conditions})).status_code == 200
    assert (await is_on("gold"), await is_on("free")) == (True, False)
    await ada.delete(flag_path(flag))
    assert (await fetch()).json()["features"] == []


async def test_what_a_client_holds_is_noted(
    fetch: Ask, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch, ada: Caller, environment: Json
) -> None:
    noted: list[Any] = []
    monkeypatch.setattr(flagstaff.applications.collector, "record_poll", lambda *given: noted.append(given))
    tag = (await fetch()).headers["etag"]
    await fetch(if_none_match=tag, unleash_interval="undefined")
    (_, client, revision), (_, later, same_revision) = noted
    assert (client.application, client.instance, client.connection) == ("shop", "shop-1", "c-1")
    assert (client.sdk, client.interval_seconds) == ("unleash-client-python:6.9.1", 15.0)
    assert later.interval_seconds is None
    assert revision == same_revision == int(tag.strip('"').rpartition(":")[2])


async def test_no_client_is_moved_to_the_stream(fetch: Ask) -> None:
    for sdk in (HEADERS["unleash-sdk"], NODE):
        answer = await fetch(unleash_sdk=sdk)
        assert "fetch-mode" not in answer.headers
        assert answer.headers["etag"]


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [STREAMING])
async def test_with_the_setting_each_client_is_moved_once_by_an_answer_without_a_tag(
    fetch: Ask, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch
) -> None:
    for connection in ("one", "two"):
        answers = [await fetch(unleash_sdk=NODE, unleash_connection_id=connection) for _ in range(3)]
        assert [each.headers.get("fetch-mode") for each in answers] == ["streaming", None, None]
        assert ["etag" in each.headers for each in answers] == [False, True, True]
        assert len({each.content for each in answers}) == 1
    collector = flagstaff.applications.collector
    await collector.write()
    monkeypatch.setattr(collector, "_known", defaultdict(OrderedDict))  # as in another process
    assert "fetch-mode" not in (await fetch(unleash_sdk=NODE, unleash_connection_id="one")).headers
    assert "fetch-mode" in (await fetch(unleash_sdk=NODE, unleash_connection_id="three")).headers


@pytest.mark.parametrize("environ", [STREAMING])
async def test_with_the_setting_clients_that_cannot_be_moved_are_not(
    fetch: Ask, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch
) -> None:
    unmoved = [
        await fetch(),  # of another language
        await fetch(unleash_sdk=NODE, unleash_connection_id=""),
        await fetch(unleash_sdk=NODE, unleash_connection_id="", unleash_instanceid=""),
    ]
    monkeypatch.setattr("flagstaff.serving.reports_collector.CONNECTIONS_MAX", 2)
    unmoved.append(await fetch(unleash_sdk=NODE, unleash_connection_id="one too many"))
    assert ["fetch-mode" in each.headers for each in unmoved] == [False] * 4
    assert all("etag" in each.headers for each in unmoved)


async def test_the_current_state_is_served_while_the_database_is_away(
    fetch: Ask, flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    await ada.create_flag(environment)
    before = await fetch()
    await flagstaff.database.close()
    after = await fetch()
    assert (after.status_code, after.content) == (200, before.content)


async def test_a_deleted_environment_ends_its_keys(fetch: Ask, ada: Caller, environment: Json) -> None:
    assert (await fetch()).status_code == 200
    assert (await ada.delete(environment_path(environment))).status_code == 204
    assert (await fetch()).status_code == 401
