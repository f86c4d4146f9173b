"""OFREP's errors: JSON that every provider understands, for every kind of error."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json
from tests.support.clock import Clock
from tests.support.sdk_keys import KeyMaker
from tests.web.ofrep.conftest import PATH, Ask


def refused(answer: httpx.Response, status: int, code: str, details: str = "") -> None:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["errorCode"] == code
    assert details in body["errorDetails"]
    assert "value" not in body
    assert "flags" not in body


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer "},
        {"authorization": "Bearer nobody"},
        {"authorization": "Basic YWRhOmFkYQ=="},
        {"x-api-key": "nobody"},
        {"x-sdk-key": "nobody"},
        {"authorization": "Bearer \xff"},
    ],
)
async def test_a_request_without_a_valid_key_is_refused(client: Caller, headers: dict[str, str]) -> None:
    for path in (PATH, f"{PATH}/checkout"):
        answer = await client.post(
            path, json={}, headers={name.encode(): value.encode("latin-1") for name, value in headers.items()}
        )
        refused(answer, 401, "GENERAL", "not valid")
        assert answer.headers["www-authenticate"] == "Bearer"


async def test_two_different_keys_are_refused(ask: Ask) -> None:
    refused(await ask(headers={"x-api-key": "another"}), 401, "GENERAL")


async def test_the_key_of_a_project_is_refused_with_the_way_to_another(client: Caller, project: Json) -> None:
    answer = await client.post(PATH, json={}, headers={"x-api-key": project["sdk_key"]})
    refused(answer, 401, "GENERAL", "POST /api/projects/{project_id}/sdk-keys")


@pytest.mark.both_databases
async def test_a_revoked_key_is_refused_at_once(keys: KeyMaker, project: Json, ask: Ask) -> None:
    assert (await ask()).status_code == 200
    await keys.revoke_all(project)
    refused(await ask(), 401, "GENERAL", "revoked")


async def test_an_expired_key_is_refused(keys: KeyMaker, environment: Json, client: Caller, clock: Clock) -> None:
    key = await keys.create(environment, expires_at=clock() + timedelta(hours=1))
    assert (await client.post(PATH, json={}, headers={"x-api-key": key})).status_code == 200
    clock.advance(hours=2)
    refused(await client.post(PATH, json={}, headers={"x-api-key": key}), 401, "GENERAL", "expired")


async def test_a_flag_that_does_not_exist_is_not_found_by_any_key(ask: Ask) -> None:
    for key in ("missing", "a/b", "a/b/", "ü", "%20", " ", "x" * 2000, "a?b", '"', "a\nb"):
        answer = await ask(flag=quote(key))
        refused(answer, 404, "FLAG_NOT_FOUND")
        assert answer.json()["key"] == key
    answer = await ask(flag="a/b%2Fc")
    assert answer.json()["key"] == "a/b/c"


@pytest.mark.parametrize("path", ["/ofrep/", "/ofrep/v1/configuration", "/ofrep/v2/evaluate/flags", f"{PATH}x"])
async def test_other_paths_do_not_exist(client: Caller, path: str) -> None:
    refused(await client.post(path, json={}), 404, "GENERAL", PATH)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_other_methods_are_refused(client: Caller, method: str) -> None:
    for path in (PATH, f"{PATH}/checkout"):
        answer = await client.request(method, path)
        assert answer.status_code == 405
        assert answer.headers["allow"] == "POST"
        if method != "HEAD":
            refused(answer, 405, "GENERAL", "POST")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"7", b'"x"', b"\xff", b"[" * 60_000])
async def test_a_body_that_is_no_json_object_cannot_be_parsed(ask: Ask, body: bytes) -> None:
    refused(await ask(content=body), 400, "PARSE_ERROR", "body")
    refused(await ask(flag="checkout", content=body), 400, "PARSE_ERROR", "body")


@pytest.mark.parametrize(
    ("context", "details"),
    [
        (7, "context must be an object or null"),
        ([], "context must be an object or null"),
        ({"targetingKey": 7}, "context.targetingKey must be a string or null"),
        ({"targetingKey": {}}, "context.targetingKey must be a string or null"),
        ({"targetingKey": "a" * 1025}, "context.targetingKey"),
        ({"targetingKey": "a\0b"}, "context.targetingKey"),
        ({"email": "a" * 1025}, "context.email"),
        ({"user_email": "a\0b"}, "context.user_email"),
    ],
)
async def test_an_invalid_context_is_refused_at_its_member(ask: Ask, context: Any, details: str) -> None:
    refused(await ask(context), 400, "INVALID_CONTEXT", details)
    answer = await ask(context, flag="checkout")
    refused(answer, 400, "INVALID_CONTEXT", details)
    assert answer.json()["key"] == "checkout"


async def test_half_a_character_in_the_targeting_key_cannot_be_parsed(ask: Ask) -> None:
    refused(await ask(content=b'{"context":{"targetingKey":"\\ud83d"}}'), 400, "PARSE_ERROR")


async def test_a_body_over_the_bound_is_refused(ask: Ask) -> None:
    refused(await ask(content=b" " * (64 * 1024 + 1)), 413, "GENERAL", "64 KiB")


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "2/hour"}])
async def test_a_key_beyond_its_limit_has_to_wait_for_whole_seconds(ask: Ask) -> None:
    assert (await ask()).status_code == 200
    assert (await ask(flag="missing")).status_code == 404
    answer = await ask()
    refused(answer, 429, "GENERAL")
    assert int(answer.headers["retry-after"]) >= 1


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "1/hour"}])
async def test_the_limit_of_an_address_does_not_apply(ask: Ask) -> None:
    for _ in range(3):
        assert (await ask()).status_code == 200


async def test_an_unexpected_error_is_answered_as_json(
    ask: Ask, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch, client: Caller
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault")

    monkeypatch.setattr("flagstaff.serving.ofrep.answers.read_request", fail)
    client.event_hooks["response"] = []  # which would refuse a 500
    answer = await ask(flag="checkout")
    refused(answer, 500, "GENERAL", "internal error")
    assert json.loads(answer.content)["key"] == "checkout"
