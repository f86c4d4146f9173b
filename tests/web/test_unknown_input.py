"""Input that an operation does not read is refused: its caller believes that the operation does something else.

Every operation of the management API and of accounts is called, as the OpenAPI document describes it. The protocols of
applications and of mail programs ignore what they do not know.
"""

import re
from typing import Any

import pytest
import sqlalchemy as sa

from flagstaff.assembly.api import create_api
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.http.fields import MAX_FIELD_ERRORS
from tests.support.api import Caller, Json, field_errors
from tests.support.description import described
from tests.support.operations import list_operations
from tests.support.sdk_keys import KeyMaker
from tests.web.conftest import SignUp
from tests.web.test_matrix import BODIES, Operation, Place, make_place, operations, success_of

JSON = {"content-type": "application/json"}
UNKNOWN = "01a21f4e-f430-731a-8000-000000010000"
OF_MAIL_PROGRAMS = "/auth/unsubscribe"
IN_BACKGROUND = {"environment_looks", "instances", "notification_mails", "notification_positions", "notifications"}
IN_BACKGROUND |= {"releases", "counted_releases"}
NO_LIMITS = {f"FLAGSTAFF_{name}_RATE_LIMIT": "off" for name in ("REGISTER", "LOGIN", "RESET", "API")}
NO_OBJECTS = [b"{not json", b"[]", b'"text"', b"0", b"enabled=false", b"\xff", "{}".encode("utf-16")]

pytestmark = pytest.mark.parametrize("environ", [NO_LIMITS])


def managing() -> list[Operation]:
    """Return the operations of the management API and of accounts."""
    return [
        (method, path, operation)
        for path, methods in described()["paths"].items()
        for method, operation in methods.items()
        if path.startswith(("/api/", "/auth/")) and path != OF_MAIL_PROGRAMS
    ]


def parameters_of(operation: Operation) -> list[str]:
    return [each["name"] for each in operation[2].get("parameters", ()) if each["in"] == "query"]


def reads_body(operation: Operation) -> bool:
    return "requestBody" in operation[2]


def takes_key(operation: Operation) -> bool:
    return any(each["name"] == "Idempotency-Key" for each in operation[2].get("parameters", ()))


@pytest.fixture
async def place(flagstaff: Flagstaff, ada: Caller, sign_up: SignUp) -> Place:
    """Ada's project with one of every resource, and a session of hers that can be ended."""
    made = await make_place(flagstaff, ada, await sign_up("grace"))
    sessions = (await ada.get("/api/me/sessions")).json()
    made.ids["session_id"] = sessions[0]["id"]
    return made


async def state_of(flagstaff: Flagstaff) -> dict[str, list[Any]]:
    """Return all rows that operations write, and nothing else does."""
    written = [each for each in tables.metadata.sorted_tables if each.schema is None and each.name not in IN_BACKGROUND]
    assert tables.changes in written
    async with flagstaff.database.read() as connection:
        return {each.name: [*(await connection.execute(sa.select(each)))] for each in written}


async def refuse(place: Place, operation: Operation, **request: Any) -> dict[str, str]:
    """Call an operation; return the errors of its refusal."""
    method, path, description = operation
    ids = {name: place.ids.get(name, UNKNOWN) for name in re.findall("{(.*?)}", path)}
    if reads_body(operation) and "content" not in request:
        request["json"] = BODIES.get(description["operationId"], {})
    answer = await place.owner.request(method.upper(), path.format(**ids), **request)
    assert "400" in description["responses"], path
    return field_errors(answer)


async def test_no_operation_ignores_a_parameter_that_it_does_not_have(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)

    for each in managing():
        errors = await refuse(place, each, params={"dry_run": "true"})

        known = ", ".join(parameters_of(each))
        advice = f"known fields are {known}" if known else "this operation has none"
        assert errors["dry_run"] == f"is not a known field; {advice}", each[1]
    assert await state_of(flagstaff) == before


async def test_a_parameter_that_is_misspelled_is_refused_with_the_one_that_it_resembles(place: Place) -> None:
    tried = 0
    for each in managing():
        for name in parameters_of(each):
            if len(name) > 1:
                errors = await refuse(place, each, params={f"{name}x": "1"})
                assert errors[f"{name}x"] == f"is not a known field; did you mean {name}?", each[1]
                tried += 1
    assert tried > 100


async def test_a_parameter_that_is_sent_twice_is_refused(place: Place) -> None:
    for each in managing():
        for name in parameters_of(each):
            if (each[1], name) == ("/api/events", "project_id"):
                continue  # a list, whose items are repeated
            errors = await refuse(place, each, params=[(name, "1"), (name, "2")])
            assert errors == {name: "is given more than once; give it once"}, each[1]


async def test_a_parameter_or_a_part_of_a_path_with_nul_is_refused_wherever_it_goes(place: Place) -> None:
    for each in managing():
        for name in parameters_of(each):
            assert (await refuse(place, each, params={name: "a\0b"}))[name] == "must not contain the NUL character", (
                each[1]
            )
        method, path, _ = each
        for name in re.findall("{(.*?)}", path):
            ids = {**dict.fromkeys(re.findall("{(.*?)}", path), UNKNOWN), **place.ids, name: "a%00b"}
            answer = await place.owner.request(method.upper(), path.format(**ids))
            assert answer.status_code in (400, 404), (each[1], name, answer.text)


async def test_no_operation_ignores_members_of_a_body_that_it_does_not_read(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)
    message = "is not a known field; this operation has none"

    for each in managing():
        if not reads_body(each):
            assert await refuse(place, each, json={"dry_run": True}) == {"dry_run": message}, each[1]
            assert await refuse(place, each, content=b'{"enabled":0,"x":[]}') == {"enabled": message, "x": message}
    assert await state_of(flagstaff) == before


async def test_where_no_body_is_read_one_that_is_no_json_object_is_refused(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)

    for each in managing():
        if not reads_body(each):
            for body in NO_OBJECTS:
                errors = await refuse(place, each, content=body, headers=JSON)
                assert errors == {"body": "must be empty or {}, because this operation reads no body"}, (each[1], body)
    too_deep = {"body": "must not be nested more than 512 levels deep"}
    assert await refuse(place, managing()[-1], content=b"[" * 16_000) == too_deep
    assert await state_of(flagstaff) == before


@pytest.mark.parametrize("content", [b"", b" \n", b"{}"])
async def test_where_no_body_is_read_an_empty_one_and_an_empty_object_are_accepted(
    place: Place, content: bytes
) -> None:
    for each in operations():
        answer = await place.call(place.owner, each, content=None if reads_body(each) else content)
        assert answer.status_code == success_of(each[2]), (each[1], answer.text)


async def test_no_post_that_changes_something_ignores_an_idempotency_key(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)
    facts = {(method, path): operation for method, path, operation in list_operations(create_api().routes)}
    tried = set()

    for each in managing():
        fact = facts[each[0].upper(), each[1]]
        if each[0] == "post" and not fact.reads and not takes_key(each):
            errors = await refuse(place, each, headers={"idempotency-key": "1"})
            assert errors == {"Idempotency-Key": "is not accepted here; send the request without it"}, each[1]
            tried.add(each[2]["operationId"])
    assert {"create_sdk_key", "create_token", "create_webhook", "rotate_webhook_secret", "log_in"} <= tried
    assert await state_of(flagstaff) == before


async def test_what_can_be_repeated_anyway_accepts_an_idempotency_key(place: Place) -> None:
    for each in operations():
        answer = await place.call(place.owner, each, headers={"idempotency-key": each[1]} if each[0] != "post" else {})
        assert answer.status_code == success_of(each[2]), (each[1], answer.text)


async def test_everything_that_is_not_read_is_named_at_once(ada: Caller, place: Place) -> None:
    headers = {"if-match": "*", "idempotency-key": "1"}
    refused = await ada.post("/auth/logout", params={"dry_run": "true"}, headers=headers, json={"all": True})
    assert list(field_errors(refused)) == ["If-Match", "Idempotency-Key", "dry_run", "all"]
    assert (await ada.get("/api/me")).status_code == 200


async def test_a_body_with_the_same_name_twice_is_refused_everywhere(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)
    twice = {"name": "is given more than once; give it once"}

    for each in managing():
        for body in (b'{"name": "a", "name": "a"}', b'{"x": [{"y": {}}, {"name": 1, "z": 2, "\\u006eame": null}]}'):
            assert await refuse(place, each, content=body, headers=JSON) == twice, each[1]
    assert await state_of(flagstaff) == before


async def test_a_body_that_is_not_in_utf_8_is_refused_everywhere(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)

    for each in managing():
        if reads_body(each):
            for body in (
                '{"name": "é"}'.encode("latin-1"),
                b'{"name": "\xed\xa0\x80"}',
                '{"name": "a"}'.encode("utf-16"),
            ):
                assert await refuse(place, each, content=body, headers=JSON) == {"body": "is not UTF-8"}, each[1]
    assert await state_of(flagstaff) == before


async def test_a_constant_that_json_does_not_have_is_refused_everywhere(place: Place) -> None:
    for each in managing():
        if reads_body(each):
            for name in ("NaN", "Infinity", "-Infinity"):
                errors = await refuse(place, each, content=f'{{"x": [{name}]}}'.encode(), headers=JSON)
                assert errors == {"body": f"is not valid JSON: {name} is not a number"}, each[1]


async def test_a_name_that_is_not_valid_unicode_is_reported_without_what_is_invalid(ada: Caller) -> None:
    for path, body in (("/api/projects", b'{"a\\ud800": 1, "a\\ud800": 2}'), ("/auth/logout", b'{"a\\ud800": 1}')):
        refused = await ada.post(path, content=body, headers=JSON)
        assert list(field_errors(refused)) == ["a?"]


async def test_at_most_twenty_unknown_parameters_are_named(ada: Caller) -> None:
    refused = await ada.get("/api/me", params={f"p{number}": "" for number in range(MAX_FIELD_ERRORS + 5)})
    assert len(field_errors(refused)) == MAX_FIELD_ERRORS


async def test_an_account_learns_nothing_without_a_token(client: Caller, place: Place) -> None:
    for method, path, _ in operations():
        answer = await client.request(method.upper(), path.format(**place.ids), params={"dry_run": "true"})
        assert answer.status_code == 401, path


async def test_the_protocols_of_applications_ignore_parameters_that_they_do_not_know(
    client: Caller, keys: KeyMaker, environment: Json, ada: Caller
) -> None:
    await ada.create_flag(environment)
    key, browser = await keys.create(environment), await keys.create(environment, "browser")
    unknown = {"appName": "shop", "namePrefix": "new", "project": "default", "flagConfigEtag": "1", "dry_run": "true"}
    for method, path, headers, body in (
        ("POST", "/sdk/v1/evaluate", {"x-sdk-key": key}, {"environment": "production"}),
        ("POST", "/sdk/v1/evaluate/new-checkout", {"x-sdk-key": key}, {"environment": "production"}),
        ("POST", "/sdk/v1/events", {"x-sdk-key": key}, {"environment": "production", "events": []}),
        ("POST", "/ofrep/v1/evaluate/flags", {"authorization": f"Bearer {key}"}, {"context": {}}),
        ("POST", "/ofrep/v1/evaluate/flags/new-checkout", {"authorization": f"Bearer {key}"}, {"context": {}}),
        ("GET", "/unleash/api/client/features", {"authorization": key}, None),
        ("GET", "/unleash/api/frontend", {"authorization": browser}, None),
    ):
        answer = await client.request(method, path, params=unknown, headers=headers, json=body)
        assert answer.is_success, (path, answer.text)
