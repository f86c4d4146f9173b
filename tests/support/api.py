"""An HTTP client that calls the API as a person or an application, and creates resources in one line."""

from collections.abc import Mapping
from typing import Any

import httpx
from starlette.types import ASGIApp

Json = dict[str, Any]

BASE_URL = "http://flagstaff.test"
# Values for an id in a path that are not valid ids.
NO_IDS = (
    "x",
    "0",
    "%00",
    "null",
    "00000000-0000-7000-8000-00000000000g",
    "{01a1fb68-78d6-72a0-9594-54797a0c2450}",
    "a" * 64,
)
PROBLEM_KEYS = {"type", "title", "status", "detail", "request_id"}
_EXTENSIONS = {
    *("errors", "permission", "provider", "challenge", "methods", "passkey_options", "missing"),
    *("current", "changed_by", "changed_at", "works", "release_id", "email", "return_to", "logout_url"),
}
# Additional fields in errors of other protocols, by the start of their paths.
_PROTOCOLS = {"/ofrep/": {"key", "errorCode", "errorDetails"}, "/unleash/": {"name", "message", "details"}}


class Caller(httpx.AsyncClient):
    """An HTTP client that calls the application directly, and checks the common properties of every response."""

    def __init__(
        self, asgi: ASGIApp, *, peer: str = "192.0.2.1", token: str | None = None, account: Json | None = None
    ) -> None:
        """`peer` is the address that the server sees; `token` signs the caller in as `account`, an `{id, email}`."""
        super().__init__(
            transport=httpx.ASGITransport(app=asgi, client=(peer, 50_000)),
            base_url=BASE_URL,
            headers={"authorization": f"Bearer {token}"} if token else None,
            event_hooks={"response": [check_manners]},
        )
        self.token = token
        self.account = account or {}

    async def create_project(self, **values: Any) -> Json:
        """A new project."""
        return created(await self.post("/api/projects", json={"name": "Shop", **values}))

    async def get_environment(self, project: Json, key: str = "production") -> Json:
        """The environment of a project with this key."""
        listed = await self.get(f"{project_path(project)}/environments")
        (item,) = (each for each in listed.json() if each["key"] == key)
        return {**item, "project_id": project["id"]}

    async def create_environment(self, project: Json, **values: Any) -> Json:
        """A new environment of a project."""
        body = {"name": "Canary", "key": "canary", **values}
        return created(await self.post(f"{project_path(project)}/environments", json=body))

    async def create_flag(self, environment: Json | None = None, **values: Any) -> Json:
        """A new flag, which is on; without an environment, in the `production` of a new project."""
        environment = environment or await self.get_environment(await self.create_project())
        body = {"name": "New checkout", "key": "new-checkout", "enabled": True, **values}
        return created(await self.post(f"{environment_path(environment)}/flags", json=body))

    async def create_rule(self, flag: Json, **values: Any) -> Json:
        """A new rule of a flag, for the user `ada`."""
        body = {"rule_type": "user_id", "rule_value": "ada", **values}
        return created(await self.post(f"{flag_path(flag)}/rules", json=body))

    async def create_segment(self, project: Json, **values: Any) -> Json:
        """A new segment of a project, with the key `beta`."""
        body = {"name": "Beta testers", "key": "beta", "conditions": [], **values}
        return created(await self.post(f"{project_path(project)}/segments", json=body))

    async def evaluate(
        self, sdk_key: str, environment: str = "production", context: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """Evaluate as an application does."""
        body = {"environment": environment, "context": context}
        return await self.post("/sdk/v1/evaluate", json=body, headers={"x-sdk-key": sdk_key})


def project_path(project: Json) -> str:
    """The path of a project."""
    return f"/api/projects/{project['id']}"


def environment_path(environment: Json) -> str:
    """The path of an environment, as returned by its creation or `get_environment`."""
    return f"/api/projects/{environment['project_id']}/environments/{environment['id']}"


def flag_path(flag: Json) -> str:
    """The path of a flag."""
    return f"/api/projects/{flag['project_id']}/environments/{flag['environment_id']}/flags/{flag['id']}"


def created(response: httpx.Response) -> Json:
    """The body of a 201."""
    assert response.status_code == 201, response.text
    body: Json = response.json()
    return body


def field_errors(response: httpx.Response) -> dict[str, str]:
    """The invalid fields of a 400 with their messages."""
    assert response.status_code == 400, response.text
    return {each["field"]: each["message"] for each in response.json().get("errors", [])}


async def check_manners(response: httpx.Response) -> None:
    """Assert the properties that every response must have: an id, the common error format, and no crash."""
    await response.aread()
    assert response.status_code != 500, response.text
    assert response.headers.get_list("x-request-id"), response.headers
    assert response.headers["x-content-type-options"] == "nosniff"
    path = response.request.url.path
    assert len(response.headers.get_list("cache-control")) == 1, response.headers
    if path.startswith(("/sdk/", *_PROTOCOLS)):
        assert response.headers["cache-control"] in ("no-store", "no-store, no-transform", "private, no-cache")
        assert _vary(response) == ["Authorization", "Origin", "X-API-Key", "X-SDK-Key"]
        assert response.headers["access-control-allow-origin"] == "*"
    if response.status_code < 400:
        return
    protocol = next((each for each in _PROTOCOLS if path.startswith(each)), None)
    expected = "application/json" if protocol else "application/problem+json"
    assert response.headers["content-type"] == expected
    assert response.headers["cache-control"] == "no-store"
    if response.request.method == "HEAD":
        return
    problem = response.json()
    assert problem.keys() - _EXTENSIONS - _PROTOCOLS.get(protocol or "", set()) == PROBLEM_KEYS
    assert problem["status"] == response.status_code
    assert problem["request_id"] == response.headers["x-request-id"]
    assert all(each.keys() == {"field", "message"} for each in problem.get("errors", []))
    assert ("www-authenticate" in response.headers) == (response.status_code == 401)
    # A 503 for a change that is or may be stored has no Retry-After: repeating the request could undo it.
    may_be_stored = "change is stored" in problem["detail"] or "change was stored" in problem["detail"]
    may_retry = response.status_code == 429 or (response.status_code == 503 and not may_be_stored)
    assert ("retry-after" in response.headers) == may_retry


def _vary(response: httpx.Response) -> list[str]:
    """Return the names in `Vary`, without the one that a proxy adds when it compresses."""
    return [each for each in response.headers["vary"].split(", ") if each != "Accept-Encoding"]
