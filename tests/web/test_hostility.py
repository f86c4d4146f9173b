"""Requests that try to break something. Each gets a clear 4xx and changes nothing; callers check that none is a 500.

Decisions of the parser are tested with a real parser: tests/processes/test_hostile_requests.py.
"""

import json
from typing import Any

import pytest

from tests.support.api import Caller, Json, field_errors, flag_path, project_path
from tests.web.conftest import ListChanges

JSON = {"content-type": "application/json"}
DEEP = 16_000

NOT_JSON: dict[str, bytes] = {
    "nothing": b"",
    "half an object": b'{"name": "x"',
    "a comma too many": b'{"name": "x",}',
    "single quotes": b"{'name': 'x'}",
    "a comment": b'{"name": "x"} // x',
    "two values": b'{"name": "x"}{"name": "x"}',
    "a bare word": b"name",
    "a NUL": b'{"name": "x\0"}',
    "a raw line end in a string": b'{"name": "x\ny"}',
    "Latin-1": '{"name": "é"}'.encode("latin-1"),
    "half a character": b'{"name": "\xf0\x9f"}',
    "deep arrays": b"[" * DEEP,
    "deep objects": b'{"name":' * (DEEP // 8),
    "deep and closed": b'{"name":' + b"[" * (DEEP // 3) + b"]" * (DEEP // 3) + b"}",
    "a number of 10,000 digits": b'{"name": ' + b"1" * 10_000 + b"}",
    "random bytes": bytes(range(256)),
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
}
NOT_OBJECTS: list[bytes] = [b"null", b"true", b"5", b"1e999", b"-0", b"NaN", b'"name"', b"[]", b'[{"name": "x"}]']
BAD_TEXTS: list[Any] = [None, True, 0, 1.5, [], {}, ["x"], {"x": "y"}, "a\0b", "\ud800", "\udfff\ud800", "x" * 15_000]
BAD_NUMBERS = ["-1", "101", "50.5", "5e-1", '"50"', "true", "null", "[]", "{}", "1e999", "-1e999", "NaN", "Infinity"]
BAD_NUMBERS += ["9" * 19, "-" + "9" * 19, "9" * 4_000, "18446744073709551616"]


@pytest.fixture
async def flag(ada: Caller) -> Json:
    """A flag of Ada's in an environment of a project."""
    return await ada.create_flag()


@pytest.fixture
def writes(flag: Json) -> list[tuple[str, str]]:
    """Every operation that takes a body, with real ids."""
    project = f"/api/projects/{flag['project_id']}"
    environment = f"{project}/environments/{flag['environment_id']}"
    return [
        ("POST", "/auth/register"),
        ("POST", "/auth/login"),
        ("POST", "/auth/forgot-password"),
        ("POST", "/auth/reset-password"),
        ("POST", "/api/projects"),
        ("PUT", project),
        ("POST", f"{project}/environments"),
        ("PUT", environment),
        ("POST", f"{environment}/flags"),
        ("PUT", flag_path(flag)),
        ("POST", f"{flag_path(flag)}/rules"),
    ]


NO_LIMITS = {f"FLAGSTAFF_{name}_RATE_LIMIT": "off" for name in ("REGISTER", "LOGIN", "RESET")}


@pytest.mark.parametrize("environ", [NO_LIMITS])
async def test_anything_but_a_json_object_is_refused_everywhere(
    ada: Caller, writes: list[tuple[str, str]], list_changes: ListChanges
) -> None:
    before = await list_changes()

    for method, path in writes:
        for name, body in NOT_JSON.items():
            answer = await ada.request(method, path, content=body, headers=JSON)
            assert answer.status_code == 400, (path, name)
        for body in NOT_OBJECTS:
            answer = await ada.request(method, path, content=body, headers=JSON)
            assert answer.status_code == 400, (path, body)
    assert await list_changes() == before


@pytest.mark.both_databases
async def test_json_that_is_not_called_so_is_refused(ada: Caller, flag: Json) -> None:
    project = f"/api/projects/{flag['project_id']}"
    for media_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
        "*/*",
    ):
        for method, path in (("POST", "/api/projects"), ("PUT", project)):
            headers = {"content-type": media_type}
            answer = await ada.request(method, path, content=b'{"name": "x"}', headers=headers)
            assert answer.status_code == 400, media_type
            assert "application/json" in answer.json()["errors"][0]["message"]
    assert len((await ada.get("/api/projects")).json()) == 1


async def test_bad_texts_are_refused_in_every_text_field(ada: Caller, flag: Json, list_changes: ListChanges) -> None:
    before = await list_changes()
    project = f"/api/projects/{flag['project_id']}"
    environments = f"{project}/environments"
    flags = f"{environments}/{flag['environment_id']}/flags"
    for value in BAD_TEXTS:
        for method, path, body in (
            ("POST", "/api/projects", {"name": value}),
            ("PUT", project, {"name": value}),
            ("POST", environments, {"name": value, "key": "x"}),
            ("POST", environments, {"name": "x", "key": value}),
            ("POST", flags, {"name": value, "key": "x"}),
            ("POST", flags, {"name": "x", "key": value}),
            ("PUT", flag_path(flag), {"name": value}),
            ("PUT", flag_path(flag), {"key": value}),
            ("POST", f"{flag_path(flag)}/rules", {"rule_type": value, "rule_value": "x"}),
            ("POST", f"{flag_path(flag)}/rules", {"rule_type": "user_id", "rule_value": value}),
            ("POST", "/auth/register", {"email": value, "password": "correct horse"}),
            ("POST", "/auth/register", {"email": "x@example.com", "password": value}),
        ):
            answer = await ada.request(method, path, content=json.dumps(body).encode(), headers=JSON)
            assert answer.status_code == 400, (path, str(body)[:80])
    assert await list_changes() == before


@pytest.mark.both_databases
async def test_bad_numbers_are_refused_as_rollouts_and_priorities(ada: Caller, flag: Json) -> None:
    for number in BAD_NUMBERS:
        body = f'{{"rollout_percentage": {number}, "name": "changed"}}'.encode()
        answer = await ada.put(flag_path(flag), content=body, headers=JSON)
        assert answer.status_code == 400, number
        if number in ("-1", "101"):
            continue  # a priority may have this value
        body = f'{{"rule_type": "user_id", "rule_value": "x", "priority": {number}}}'.encode()
        assert (await ada.post(f"{flag_path(flag)}/rules", content=body, headers=JSON)).status_code == 400, number
    assert (await ada.get(flag_path(flag))).json() == flag
    assert (await ada.get(f"{flag_path(flag)}/rules")).json() == []


@pytest.mark.both_databases
async def test_numbers_and_texts_are_not_booleans(ada: Caller, flag: Json) -> None:
    values: tuple[Any, ...] = (0, 1, "true", "on", None, [], {})
    for value in values:
        assert (await ada.put(flag_path(flag), json={"enabled": value, "name": "changed"})).status_code == 400
    assert (await ada.get(flag_path(flag))).json() == flag


@pytest.mark.both_databases
async def test_odd_field_names_are_refused_and_reported(ada: Caller, flag: Json) -> None:
    for name in ("", "\0", "é", "__proto__", "name\u0000", "Name", " name", "x" * 100_000, "name.x", "0", "{method}"):
        answer = await ada.put(flag_path(flag), json={name: "changed"})
        assert answer.status_code == 400
        assert name in [each["field"] for each in answer.json()["errors"]] or not name
    assert (await ada.put(flag_path(flag), content=b'{"\\ud800": 1}', headers=JSON)).status_code == 400
    assert (await ada.get(flag_path(flag))).json() == flag


@pytest.mark.both_databases
async def test_odd_addresses_lead_nowhere(ada: Caller, flag: Json) -> None:
    project = f"/api/projects/{flag['project_id']}"
    for path in (
        "//api/projects",
        "/api//projects",
        "/api/projects//",
        f"{project}/",
        f"{project}/environments/",
        f"{project}%2Fenvironments/x",
        f"/api/projects/%7B{flag['project_id']}%7D",
        f"{project}%20",
        f"{project}%0A",
        f"{project}%00",
        f"{project};x=y",
        "/api/projects/%FF%FE",
        "/api/projects/%ED%A0%80",
        "/api/projects/%",
        "/api/projects/%zz",
        "/api/projects/" + "a" * 60_000,
        "/api" + "/x" * 5_000,
        "/API/projects",
        "/api/projects/1 OR 1=1",
        "/api/projects/' OR ''='",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
    ):
        answer = await ada.get(path)
        assert answer.status_code == 404, path


@pytest.mark.both_databases
async def test_query_parameters_that_do_not_exist_are_refused_by_name(ada: Caller, flag: Json) -> None:
    for query, names in (
        ("x", ["x"]),
        ("=", [""]),
        ("id=1&id=2", ["id"]),
        ("%00=%FF", ["\0"]),
        ("%FF%ED%A0%80", ["\ufffd" * 4]),
        ("a" * 20_000, ["a" * 20_000]),
        ("[]={}&__proto__[x]=y", ["[]", "__proto__[x]"]),
        ("limit=-1", ["limit"]),
    ):
        assert list(field_errors(await ada.get(f"{flag_path(flag)}?{query}"))) == names
    for query in ("", "&&&"):
        answer = await ada.get(f"{flag_path(flag)}?{query}")
        assert (answer.status_code, answer.json()) == (200, flag)


@pytest.mark.both_databases
async def test_text_that_looks_like_a_program_is_only_text(ada: Caller) -> None:
    for text in (
        "'; DROP TABLE projects; --",
        "{{7*7}}",
        "${jndi:ldap://x}",
        "%s%n%x",
        "<script>alert(1)</script>",
        "\\u0000",
    ):
        project = await ada.create_project(name=text, description=text)
        assert (project["name"], project["description"]) == (text, text)
        assert (await ada.get(project_path(project))).json() == project
