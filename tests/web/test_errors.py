"""The form of all errors. Callers check the common form on every response of every test."""

import io
import json
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest
import sqlalchemy as sa

from flagstaff.api.schemas import FIELDS_MAX
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.operations import CONTEXT_BODY, SMALL_BODY
from tests.support.api import BASE_URL, Caller, Json


async def test_an_address_that_does_not_exist_is_not_found(client: Caller, ada: Caller) -> None:
    for path in (
        "/nowhere",
        "/auth",
        "/auth/",
        "/auth/register/",
        "/sdk/v1",
        "/sdk/v1/evaluate/",
        "/health/x",
        "/Docs",
    ):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["detail"]) == (404, "There is no resource at this path."), path
    for path in ("/api", "/api/", "/api/nowhere", "/api/projects/", "/api/me/"):
        assert (await client.get(path)).status_code == 401, "who has no token learns nothing"
        assert (await ada.get(path)).status_code == 404, path


async def test_a_wrong_method_is_answered_with_all_allowed_methods(ada: Caller) -> None:
    project_id = uuid4()
    for path, allowed in (
        ("/auth/login", "POST"),
        ("/api/me", "GET"),
        ("/api/projects", "GET, POST"),
        (f"/api/projects/{project_id}", "DELETE, GET, PUT"),
        (f"/api/projects/{project_id}/regenerate-key", "POST"),
        (f"/api/projects/{project_id}/environments", "GET, POST"),
        (f"/api/projects/{project_id}/environments/{uuid4()}", "DELETE, GET, PUT"),
        ("/sdk/v1/evaluate", "POST"),
        ("/health", "GET, HEAD"),
    ):
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "BREW"} - {
            *allowed.split(", ")
        }:
            answer = await ada.request(method, path)
            assert (answer.status_code, answer.headers.get("allow")) == (405, allowed), (method, path)


async def test_a_body_that_is_announced_too_long_is_refused_unread(client: Caller, flagstaff: Flagstaff) -> None:
    async def never_ending() -> AsyncIterator[bytes]:
        pytest.fail("the body was read")
        yield b""  # type: ignore[unreachable]

    bounds = {"/auth/register": SMALL_BODY, "/sdk/v1/evaluate": CONTEXT_BODY, "/nowhere": SMALL_BODY}
    for path, bound in bounds.items():
        headers = {"content-length": str(bound + 1), "content-type": "application/json"}
        answer = await client.post(path, content=never_ending(), headers=headers)
        detail = f"The body is larger than {bound // 1024} KiB, the most that this path accepts."
        assert (answer.status_code, answer.json()["detail"]) == (413, detail)


async def test_a_streamed_body_is_refused_as_soon_as_it_is_too_long(client: Caller, project: Json) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 16 * 1024

    for path in ("/auth/register", "/sdk/v1/evaluate"):
        headers = {"content-type": "application/json", "x-sdk-key": project["sdk_key"]}
        answer = await client.post(path, content=endless(), headers=headers)
        assert answer.status_code == 413
        assert sent <= 20
        sent = 0


async def test_a_body_of_exactly_the_bound_is_read(client: Caller) -> None:
    body = b'{"email": "x", "password": "x"}'.ljust(SMALL_BODY)

    assert (
        await client.post("/auth/login", content=body, headers={"content-type": "application/json"})
    ).status_code == 401


async def test_the_first_twenty_of_many_invalid_fields_are_reported(client: Caller) -> None:
    answer = await client.post("/auth/login", json={f"emai{number}": 1 for number in range(FIELDS_MAX)})

    assert answer.status_code == 400
    assert len(answer.json()["errors"]) == 20


@pytest.mark.both_databases
async def test_a_crash_reports_only_its_request_id(ada: Caller, flagstaff: Flagstaff, log_stream: io.StringIO) -> None:
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(
            sa.text("ALTER TABLE projects RENAME COLUMN description TO no_description")
        )
    transport = httpx.ASGITransport(flagstaff.edge.asgi)
    async with httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=ada.headers) as bare:
        answer = await bare.get("/api/projects", headers={"x-request-id": "mine-1"})

    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": "urn:flagstaff:error:internal",
        "title": "Internal Server Error",
        "status": 500,
        "detail": "An internal error occurred. The server's log has details under this request's id.",
        "request_id": "mine-1",
    }
    (failure,) = (entry for entry in map(json.loads, log_stream.getvalue().splitlines()) if entry["level"] == "error")
    assert (failure["event"], failure["request_id"]) == ("request_failed", "mine-1")
    assert "FROM projects" in failure["exception"]


async def test_a_harmless_request_id_is_kept_and_another_replaced(client: Caller) -> None:
    for given, kept in (
        ("abc-1_2.3", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("a b", False),
        ("a\tb", False),
        ("é", False),
        ("<script>", False),
    ):
        answer = await client.get("/nowhere", headers={b"x-request-id": given.encode()})
        assert (answer.headers["x-request-id"] == given) == kept


async def test_each_request_has_its_own_id(client: Caller) -> None:
    ids = {(await client.get("/health")).headers["x-request-id"] for _ in range(5)}

    assert len(ids) == 5
