"""A session from registration to deletion, during which no secret reaches the log."""

import io
import json

import pytest

from tests.support.api import Caller, created, project_path
from tests.web.conftest import RequestReset

PASSWORD, NEW_PASSWORD, WRONG_PASSWORD = "hunter2-first", "hunter2-second", "hunter2-wrong"


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_SECRET_KEY": "hunter2" * 8}])
async def test_no_secret_of_a_journey_is_logged(
    log_stream: io.StringIO, client: Caller, request_reset: RequestReset
) -> None:
    secrets = {"hunter2"}

    async def log_in(password: str) -> None:
        answer = await client.post("/auth/login", json={"email": "ada@example.com", "password": password})
        if answer.status_code == 200:
            client.headers["authorization"] = f"Bearer {answer.json()['token']}"
            secrets.update(answer.json()["token"].split("."))

    credentials = {"email": "ada@example.com", "password": PASSWORD}
    created(await client.post("/auth/register", json=credentials))
    await client.post("/auth/register", json=credentials)
    await client.post("/auth/register", json={**credentials, "passwort": NEW_PASSWORD})
    await log_in(WRONG_PASSWORD)
    await log_in(PASSWORD)
    token = await request_reset()
    secrets.add(token)
    for _ in range(2):
        await client.post("/auth/reset-password", json={"token": token, "newPassword": NEW_PASSWORD})
    await client.get("/api/me")
    await log_in(NEW_PASSWORD)
    project = await client.create_project()
    flag = await client.create_flag(await client.get_environment(project))
    await client.create_rule(flag)
    await client.evaluate(project["sdk_key"], context={"user_id": "ada"})
    renewed = (await client.post(f"{project_path(project)}/regenerate-key")).json()
    secrets.update((project["sdk_key"], renewed["sdk_key"]))
    await client.evaluate(project["sdk_key"])
    await client.evaluate(renewed["sdk_key"], "nowhere")
    await client.get(f"/reset-password?token={token}")
    await client.put(project_path(project), json={**renewed, "description": None, "name": "Market"})
    await client.delete(project_path(project))

    log = log_stream.getvalue()
    paths = {json.loads(line).get("path") for line in log.splitlines()}
    assert {"/auth/login", "/auth/reset-password", project_path(project)} <= paths
    for secret in secrets:
        assert secret not in log


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_ACCESS_LOG": "off"}])
async def test_the_access_log_can_be_switched_off(log_stream: io.StringIO, ada: Caller) -> None:
    await ada.get("/api/projects")

    assert "flagstaff.access" not in log_stream.getvalue()


async def test_each_request_leaves_one_line_with_its_id(log_stream: io.StringIO, ada: Caller) -> None:
    answer = await ada.get("/api/me?token=x", headers={"x-request-id": "mine-1"})

    (line,) = (entry for entry in map(json.loads, log_stream.getvalue().splitlines()) if entry["event"] == "request")
    assert answer.headers["x-request-id"] == line["request_id"] == "mine-1"
    assert (line["method"], line["path"], line["status"], line["client"]) == ("GET", "/api/me", 400, "192.0.2.1")
