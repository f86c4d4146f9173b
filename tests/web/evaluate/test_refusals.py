"""POST /sdk/v1/evaluate: every response except 200."""

import json
from typing import Any

import pytest

from flagstaff.http.operations import CONTEXT_BODY
from tests.support.api import Caller, Json, environment_path, field_errors, project_path

URL = "/sdk/v1/evaluate"
# Never `Bearer`, which would ask for a token.
CHALLENGE = 'SDK-Key header="X-SDK-Key"'
TOO_LONG = "must be at most 1,024 characters long"

INVALID: list[tuple[Any, dict[str, str]]] = [
    ({}, {"environment": "is required"}),
    ({"context": {}}, {"environment": "is required"}),
    ({"environment": None}, {"environment": "must be a string"}),
    ({"environment": 1}, {"environment": "must be a string"}),
    ({"environment": "production", "context": []}, {"context": "must be an object or null"}),
    ({"environment": "production", "context": "ada"}, {"context": "must be an object or null"}),
    (
        {"environment": "production", "context": {"user_id": 42}},
        {"context.user_id": "must be a string or null"},
    ),
    (
        {"environment": "production", "context": {"user_email": ["a@b.c"]}},
        {"context.user_email": "must be a string or null"},
    ),
    ({"environment": "production", "context": {"user_id": "u" * 1025}}, {"context.user_id": TOO_LONG}),
    ({"environment": "production", "context": {"user_email": "ü" * 1025}}, {"context.user_email": TOO_LONG}),
    (
        {"environment": "production", "context": {"user_id": "a\x00b"}},
        {"context.user_id": "must not contain the NUL character"},
    ),
    (
        {"environment": "production", "context": {"custom_attributes": None}},
        {"context.custom_attributes": "must be an object"},
    ),
    (
        {"environment": "production", "context": {"custom_attributes": [1]}},
        {"context.custom_attributes": "must be an object"},
    ),
    ({"environment": "production", "contxt": {}}, {"contxt": "is not a known field; did you mean context?"}),
    (
        {"contxt": {}, "x": 1, "environment": 1},
        {
            "contxt": "is not a known field; did you mean context?",
            "x": "is not a known field; known fields are environment, context",
            "environment": "must be a string",
        },
    ),
    (
        {"context": {"user_id": [], "user_email": {}, "custom_attributes": "x", "other": 1}},
        {
            "environment": "is required",
            "context.user_id": "must be a string or null",
            "context.user_email": "must be a string or null",
            "context.custom_attributes": "must be an object",
        },
    ),
    ([], {"body": "must be an object"}),
    (None, {"body": "must be an object"}),
]

MALFORMED = [
    b"",
    b"{",
    b'{"environment":"production"',
    b'{"environment":"production"}}',
    b'{"environment":"production"} {"environment":"production"}',
    b'{"environment":"\xff"}',
    b'{"environment":"production","context":{"user_id":"\\ud800"}}',
    b'{"environment":"production","context":{"user_id":"\xed\xa0\x80"}}',
    b"\x00",
    b'{"environment":"production","context":{"custom_attributes":' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}}",
    b'{"environment":"production","context":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b"[" * 200_000,
    b"environment=production",
]


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project of Ada's with one flag in production."""
    made = await ada.create_project()
    await ada.create_flag(await ada.get_environment(made))
    return made


async def test_a_missing_wrong_or_doubled_key_is_refused(client: Caller, project: Json) -> None:
    key = project["sdk_key"]
    wrong: list[list[tuple[str, str]]] = [
        [],
        [("x-sdk-key", "")],
        [("x-sdk-key", "sdk_unknown")],
        [("x-sdk-key", key[:-1])],
        [("x-sdk-key", key + "x")],
        [("x-sdk-key", key.upper())],
        [("x-sdk-key", f"Bearer {key}")],
        [("x-sdk-key", project["id"])],
        [("authorization", f"Bearer {key}")],
        [("x-sdk-key", key), ("x-sdk-key", key)],
        [("x-sdk-key", key), ("x-sdk-key", "other")],
        [("x-sdk-key", "größe".encode().decode("latin-1"))],
    ]
    for headers in wrong:
        answer = await client.post(
            URL,
            json={"environment": "production"},
            headers=[(name.encode(), value.encode("latin-1")) for name, value in headers],
        )
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, CHALLENGE), headers


async def test_a_bearer_token_opens_nothing_here(ada: Caller, project: Json) -> None:
    assert (await ada.post(URL, json={"environment": "production"})).status_code == 401


@pytest.mark.both_databases
async def test_a_rotated_key_is_refused_at_once(ada: Caller, client: Caller, project: Json) -> None:
    assert (await client.evaluate(project["sdk_key"])).status_code == 200
    fresh = (await ada.post(f"{project_path(project)}/regenerate-key")).json()
    assert (await client.evaluate(project["sdk_key"])).status_code == 401
    assert (await client.evaluate(fresh["sdk_key"])).status_code == 200


@pytest.mark.both_databases
async def test_a_deleted_projects_key_is_refused_at_once(ada: Caller, client: Caller, project: Json) -> None:
    assert (await client.evaluate(project["sdk_key"])).status_code == 200
    await ada.delete(project_path(project))
    assert (await client.evaluate(project["sdk_key"])).status_code == 401


async def test_the_environment_must_be_the_projects_and_match_exactly(
    ada: Caller, client: Caller, project: Json
) -> None:
    await ada.create_environment(await ada.create_project(), key="only-elsewhere")
    production = await ada.get_environment(project)
    for key in ("Production", "PRODUCTION", " production", "production ", "", "qa", "only-elsewhere", production["id"]):
        answer = await client.evaluate(project["sdk_key"], key)
        assert answer.status_code == 404, key


@pytest.mark.both_databases
async def test_a_deleted_environment_is_not_found_at_once(ada: Caller, client: Caller, project: Json) -> None:
    assert (await client.evaluate(project["sdk_key"], "staging")).status_code == 200
    await ada.delete(environment_path(await ada.get_environment(project, "staging")))
    assert (await client.evaluate(project["sdk_key"], "staging")).status_code == 404
    assert (await client.evaluate(project["sdk_key"])).status_code == 200


async def test_each_invalid_field_is_named_with_what_is_wrong(client: Caller, project: Json) -> None:
    for body, expected in INVALID:
        answer = await client.post(URL, content=json.dumps(body), headers={"x-sdk-key": project["sdk_key"]})
        assert field_errors(answer) == expected, body


async def test_malformed_json_is_refused(client: Caller, project: Json) -> None:
    for body in MALFORMED:
        answer = await client.post(URL, content=body, headers={"x-sdk-key": project["sdk_key"]})
        assert field_errors(answer).keys() <= {"body", "context", "environment"}, body[:60]


async def test_a_field_that_is_given_twice_must_be_right_both_times(client: Caller, project: Json) -> None:
    body = b'{"environment":1,"environment":"production"}'
    answer = await client.post(URL, content=body, headers={"x-sdk-key": project["sdk_key"]})
    assert field_errors(answer) == {"body": "has a field twice"}


async def test_any_content_type_will_do(client: Caller, project: Json) -> None:
    for content_type in ("text/plain", "application/x-www-form-urlencoded", ""):
        headers = {"x-sdk-key": project["sdk_key"], "content-type": content_type}
        answer = await client.post(URL, content=b'{"environment":"production"}', headers=headers)
        assert answer.status_code == 200, content_type


async def test_a_key_is_required_before_the_body_is_checked(client: Caller, project: Json) -> None:
    assert (await client.post(URL, content=b"{", headers={"x-sdk-key": "sdk_unknown"})).status_code == 401


async def test_a_body_over_256_kib_is_too_large_announced_or_not(client: Caller, project: Json) -> None:
    body = b'{"environment":"production"}'.ljust(CONTEXT_BODY)
    headers = {"x-sdk-key": project["sdk_key"]}

    async def unannounced() -> Any:
        yield body
        yield b" "

    assert (await client.post(URL, content=body, headers=headers)).status_code == 200
    assert (await client.post(URL, content=body + b" ", headers=headers)).status_code == 413
    assert (await client.post(URL, content=unannounced(), headers=headers)).status_code == 413


async def test_it_accepts_only_post(client: Caller, project: Json) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        answer = await client.request(method, URL, headers={"x-sdk-key": project["sdk_key"]})
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST"), method


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "5/hour"}])
async def test_beyond_the_limit_it_is_429_whatever_the_key_and_only_for_that_client(
    client: Caller, ada: Caller, project: Json, call_from: Any
) -> None:
    for _ in range(5):
        assert (await client.evaluate("sdk_unknown")).status_code == 401
    for key in ("sdk_unknown", project["sdk_key"]):
        answer = await client.evaluate(key)
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= 3_600
    assert (await call_from("198.51.100.7").evaluate(project["sdk_key"])).status_code == 200


async def test_the_limit_is_200_a_minute_unless_it_is_set(client: Caller, project: Json) -> None:
    statuses = [(await client.evaluate(project["sdk_key"])).status_code for _ in range(201)]
    assert statuses == [200] * 200 + [429]
