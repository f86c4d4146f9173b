"""Unleash's frontend API: the flags that are on for one user, with the same decisions as evaluate's."""

import io
import json
from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path
from tests.web.frontend.conftest import PATH, Ask

METRICS, REGISTER = "/client/metrics", "/client/register"
NO_VARIANT = {"name": "disabled", "enabled": False, "feature_enabled": True}


def refused(answer: httpx.Response, status: int, name: str, message: str = "") -> None:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["name"] == name
    assert message in " ".join((body["message"], *(each["message"] for each in body["details"])))
    assert body.keys().isdisjoint({"toggles", "features", "events"})


@pytest.mark.parametrize("headers", [{}, {"authorization": "nobody"}, {"x-sdk-key": "nobody"}])
async def test_a_request_without_a_valid_key_is_refused(client: Caller, headers: dict[str, str]) -> None:
    refused(await client.get(PATH, headers=headers), 401, "AuthenticationRequired")
    for path in ("", METRICS, REGISTER):
        refused(await client.post(f"{PATH}{path}", json={}, headers=headers), 401, "AuthenticationRequired")


async def test_the_key_of_a_project_is_refused_with_the_way_to_another(client: Caller, project: Json) -> None:
    answer = await client.get(PATH, headers={"authorization": project["sdk_key"]})
    refused(answer, 401, "AuthenticationRequired", "POST /api/projects/{project_id}/sdk-keys")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [("PUT", "", "GET, POST"), ("HEAD", "", "GET, POST"), ("GET", METRICS, "POST"), ("GET", REGISTER, "POST")],
)
async def test_other_methods_are_refused(client: Caller, method: str, path: str, allowed: str) -> None:
    answer = await client.request(method, f"{PATH}{path}")
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)


async def test_other_paths_do_not_exist(client: Caller) -> None:
    for path in ("/", "/client", "s", "/client/features"):
        refused(await client.get(f"{PATH}{path}"), 404, "NotFoundError")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"", "not valid JSON"),
        (b"[]", "must be an object"),
        (b'{"context":7}', "context must be an object or null"),
        (b'{"context":{"properties":[]}}', "context.properties must be an object or null"),
        (b'{"context":{"userId":{}}}', "context.userId must be"),
        (b'{"context":{"userId":"a\\u0000"}}', "context.userId"),
        (b'{"context":{"properties":{"email":"\\u0000"}}}', "context.email"),
    ],
)
async def test_an_invalid_body_is_refused_at_its_field(post: Ask, body: bytes, message: str) -> None:
    refused(await post(content=body), 400, "BadDataError", message)


async def test_an_invalid_query_is_refused(get: Ask) -> None:
    refused(await get("userId=" + "a" * 1025), 400, "BadDataError", "context.userId")
    refused(await get("&".join(["a=b"] * 1001)), 400, "BadDataError", "at most 1000 fields")


async def test_a_body_over_the_bound_is_refused(post: Ask) -> None:
    for path, kibibytes in (("", 64), (METRICS, 1024), (REGISTER, 64)):
        answer = await post(path=path, content=b" " * (kibibytes * 1024 + 1))
        refused(answer, 413, "ContentTooLargeError", f"{kibibytes} KiB")


async def test_a_report_of_an_environment_of_5_000_flags_is_accepted_and_one_of_10_001_is_not(post: Ask) -> None:
    for flags, status in ((5_000, 200), (10_001, 400)):
        toggles = {f"flag-{number}".ljust(60, "x"): {"yes": 3, "no": 1} for number in range(flags)}
        report = {"appName": "shop", "bucket": {"start": "a", "stop": "b", "toggles": toggles}}
        answer = await post(path=METRICS, content=json.dumps(report).encode())
        assert answer.status_code == status
    refused(answer, 400, "BadDataError", "10,000 flags")


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "1/hour"}])
async def test_a_key_beyond_its_limit_has_to_wait(get: Ask) -> None:
    assert (await get()).status_code == 200
    answer = await get()
    refused(answer, 429, "RateLimitError")
    assert int(answer.headers["retry-after"]) >= 1


async def test_only_flags_that_are_on_are_answered(ada: Caller, environment: Json, get: Ask, post: Ask) -> None:
    await ada.create_flag(environment, key="off", enabled=False)
    assert (await get()).json() == {"toggles": []}
    await ada.create_flag(environment, key="on")
    rules = await ada.create_flag(environment, key="rules", fallthrough="off")
    await ada.create_rule(rules, rule_value="ada")
    plain = {"enabled": True, "impressionData": False, "variant": NO_VARIANT}
    for answer in (await get("userId=ada"), await post({"userId": "ada"})):
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert sorted(answer.json()["toggles"], key=str) == [{"name": "on", **plain}, {"name": "rules", **plain}]
    assert [each["name"] for each in (await get("userId=eve")).json()["toggles"]] == ["on"]


async def test_a_variant_has_its_value_as_text(ada: Caller, environment: Json, get: Ask) -> None:
    await ada.create_flag(environment, key="size", variants=[{"key": "big", "weight": 1, "value": 1.5}])
    (toggle,) = (await get()).json()["toggles"]
    payload = {"type": "number", "value": "1.5"}
    assert toggle["variant"] == {"name": "big", "enabled": True, "feature_enabled": True, "payload": payload}


@pytest.mark.parametrize(
    ("rule", "query", "context"),
    [
        ({"rule_value": "7"}, "userId=7", {"userId": 7}),
        (
            {"rule_type": "user_email", "rule_value": "ada@example.com"},
            "properties[email]=ADA%40example.com",
            {"properties": {"email": "ADA@example.com"}},
        ),
        (
            {"rule_type": "email_domain", "rule_value": "example.com"},
            "properties%5Buser_email%5D=ada@example.com",
            {"properties": {"user_email": "ada@example.com"}},
        ),
        (
            {"conditions": [{"attribute": "plan", "operator": "in", "values": ["pro"]}]},
            "properties[plan]=pro",
            {"properties": {"plan": "pro"}},
        ),
        (
            {"conditions": [{"attribute": "appName", "operator": "in", "values": ["shop"]}]},
            "appName=shop&properties[appName]=other",
            {"appName": "shop", "properties": {"appName": "other"}},
        ),
        (
            {"conditions": [{"attribute": "remoteAddress", "operator": "in_network", "values": ["192.0.2.0/24"]}]},
            "remoteAddress=192.0.2.7",
            {"remoteAddress": "192.0.2.7"},
        ),
        (
            {"conditions": [{"attribute": "environment", "operator": "in", "values": ["production"]}]},
            "environment=canary",
            {"environment": "canary"},
        ),
    ],
)
async def test_the_context_is_read_from_the_query_and_from_the_body(
    ada: Caller, environment: Json, get: Ask, post: Ask, rule: Json, query: str, context: Any
) -> None:
    flag = await ada.create_flag(environment, key="checkout", fallthrough="off")
    kind = {"rule_type": "attributes", "rule_value": None} if "conditions" in rule else {}
    await ada.create_rule(flag, **{**kind, **rule})
    for answer in (await get(query), await post(context)):
        assert [each["name"] for each in answer.json()["toggles"]] == ["checkout"], answer.text
    if "environment" not in query:
        for answer in (await get(), await post({"properties": None}), await post()):
            assert answer.json()["toggles"] == []


async def test_there_is_no_304_because_clients_store_a_tag_before_they_have_read_the_answer(
    ada: Caller, environment: Json, get: Ask, post: Ask
) -> None:
    await ada.create_flag(environment, key="checkout")
    tags = ["*", (await post({"userId": "ada"})).headers["etag"]]
    for _ in range(3):
        answer = await get("userId=ada", {"if-none-match": ", ".join(tags)})
        assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
        assert len(answer.json()["toggles"]) == 1
        assert answer.headers["etag"] not in tags
        tags.append(answer.headers["etag"])


async def test_answers_are_recorded(ada: Caller, environment: Json, get: Ask, flagstaff: Flagstaff) -> None:
    await ada.create_flag(environment, key="checkout")
    await get("userId=ada&properties[email]=ada@example.com")
    await flagstaff.history.recorder.stop(5)
    listed = (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"]
    assert [(each["user_id"], each["user_email"]) for each in listed] == [("ada", "ada@example.com")]


async def test_the_query_is_never_logged(get: Ask, client: Caller, log_stream: io.StringIO) -> None:
    await get("userId=ada&properties[email]=ada@example.com")
    await get("userId=" + "a" * 2000 + "&properties[email]=ada@example.com")
    await client.get(f"{PATH}?properties[email]=ada@example.com")
    await client.get(f"{PATH}/nothing?properties[email]=ada@example.com")
    lines = log_stream.getvalue().splitlines()
    logged = [line for line in lines if '"logger": "httpx"' not in line]  # the test's own client
    assert any(f"{PATH}/nothing" in line for line in logged)
    assert not any("ada@" in line or "properties" in line for line in logged)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (METRICS, {"appName": "shop", "instanceId": "browser", "bucket": None}),
        (
            METRICS,
            {
                "appName": "shop",
                "instanceId": "browser",
                "bucket": {
                    "start": "2026-11-22T10:00:00Z",
                    "stop": "2026-11-22T10:01:00Z",
                    "toggles": {"checkout": {"yes": 1, "no": 2, "variants": {"a": 1}}, "missing": {"yes": 1, "no": 0}},
                },
                "impactMetrics": [],
            },
        ),
        (REGISTER, {"appName": "shop", "sdkVersion": "x", "strategies": [], "started": "now", "interval": 15}),
    ],
)
async def test_reports_are_accepted(post: Ask, path: str, body: Json) -> None:
    answer = await post(path=path, json=body)
    assert (answer.status_code, answer.content) == (200, b"")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b'{"appName":7}',
        b'{"appName":"shop","bucket":7}',
        b'{"appName":"shop","bucket":{"start":1,"stop":2,"toggles":{"a":{"yes":-1,"no":0}}}}',
        b'{"appName":"shop","bucket":{"start":1,"stop":2,"toggles":{"a":{"yes":"1","no":0}}}}',
        b'{"appName":"shop","bucket":{"start":1,"stop":2,"toggles":[]}}',
        b'{"appName":"shop","bucket":{"start":1,"stop":2,"toggles":{"a":{"yes":1' + b"0" * 400 + b"}}}}",
        b"[" * 60_000,
    ],
)
async def test_an_invalid_report_is_refused(post: Ask, body: bytes) -> None:
    refused(await post(path=METRICS, content=body), 400, "BadDataError", "body")
