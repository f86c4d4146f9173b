"""Cross-origin rules: any page may call what applications call; only Flagstaff's own and allowed pages the rest."""

import httpx
import pytest

from tests.support.api import Caller

SHOP = "https://shop.example.com"
ADMIN = "https://admin.example.com"
CALLED = (
    "/sdk/v1/evaluate",
    "/sdk/v1/evaluate/new-checkout",
    "/sdk/v1/events",
    "/ofrep/v1/evaluate/flags",
    "/ofrep/v1/evaluate/flags/a/b",
    "/ofrep/v1/streams",
    "/unleash/api/frontend",
    "/unleash/api/frontend/client/metrics",
    "/unleash/api/frontend/client/register",
    "/unleash/api/client/features",
)
OF_CLIENTS = {
    *("authorization", "content-type", "if-none-match", "x-api-key", "x-sdk-key", "flagstaff-min-revision"),
    *("unleash-appname", "unleash-connection-id", "unleash-sdk"),
}
OF_MONITORING = {"traceparent", "tracestate", "baggage", "sentry-trace"}


def allowing(answer: httpx.Response) -> dict[str, str]:
    """Return the headers that a browser checks."""
    return {
        name: value for name, value in answer.headers.items() if name.startswith("access-control-") or name == "vary"
    }


async def preflight(client: Caller, path: str, origin: str = SHOP, method: str = "POST") -> httpx.Response:
    headers = {"origin": origin, "access-control-request-method": method, "access-control-request-headers": "x-sdk-key"}
    return await client.options(path, headers=headers)


@pytest.mark.both_databases
async def test_no_other_page_may_call_api_or_auth(client: Caller, ada: Caller) -> None:
    for answer in (
        await ada.get("/api/me", headers={"origin": SHOP}),
        await client.post("/auth/login", json={}, headers={"origin": SHOP}),
        await preflight(client, "/api/projects"),
        await preflight(client, "/auth/login"),
        await preflight(client, "/sdk", origin="null"),
        await preflight(client, "/sdkx"),
    ):
        assert allowing(answer) == {}


@pytest.mark.both_databases
async def test_any_page_may_evaluate_and_read_errors_too(client: Caller, ada: Caller) -> None:
    project = await ada.create_project()
    body, key = {"environment": "production"}, {"x-sdk-key": project["sdk_key"]}

    for answer, status in (
        (await client.post("/sdk/v1/evaluate", json=body, headers={**key, "origin": SHOP}), 200),
        (await client.post("/sdk/v1/evaluate", json=body, headers={**key, "origin": "null"}), 200),
        (await client.post("/sdk/v1/evaluate", json=body, headers={"origin": SHOP}), 401),
        (await client.get("/sdk/v1/evaluate", headers={"origin": SHOP}), 405),
    ):
        assert answer.status_code == status
        assert answer.headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("path", CALLED)
async def test_a_page_may_send_what_its_client_and_its_monitoring_add(client: Caller, path: str) -> None:
    answer = await preflight(client, path)

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.headers["access-control-allow-methods"] == "GET, POST"
    allowed = set(answer.headers["access-control-allow-headers"].lower().split(", "))
    assert {"*", *OF_CLIENTS, *OF_MONITORING} <= allowed
    assert answer.headers["access-control-max-age"] == "86400"


@pytest.mark.parametrize("path", CALLED)
async def test_a_page_may_read_the_answer_and_the_headers_that_matter_to_it(client: Caller, path: str) -> None:
    for method in ("GET", "POST"):
        answer = await client.request(method, path, headers={"origin": SHOP})
        assert answer.headers["access-control-allow-origin"] == "*"
        exposed = set(answer.headers["access-control-expose-headers"].lower().split(", "))
        assert exposed == {"etag", "flagstaff-revision", "flagstaff-stale", "retry-after", "x-request-id"}
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.both_databases
async def test_a_preflight_is_not_an_evaluation_and_counts_against_no_limit(client: Caller, ada: Caller) -> None:
    project = await ada.create_project()
    for _ in range(250):
        await preflight(client, "/sdk/v1/evaluate")

    assert (await client.evaluate(project["sdk_key"])).status_code == 200


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_CORS_ORIGINS": f"{ADMIN}, http://localhost:5173"}])
class TestWithAllowedOrigins:
    """Tests of FLAGSTAFF_CORS_ORIGINS."""

    async def test_other_origins_stay_out(self, client: Caller) -> None:
        for origin in (
            SHOP,
            f"{ADMIN}.evil.example",
            ADMIN.upper(),
            f"{ADMIN}:443",
            "http://admin.example.com",
            "null",
            "*",
        ):
            for answer in (
                await client.get("/api/me", headers={"origin": origin}),
                await preflight(client, "/api/projects", origin),
            ):
                assert allowing(answer) == {"vary": "Origin"}, origin

    async def test_caches_are_told_that_answers_depend_on_the_origin(self, client: Caller) -> None:
        assert (await client.get("/health")).headers["vary"] == "Origin"

    async def test_the_allowed_ones_may_call(self, client: Caller, ada: Caller) -> None:
        for origin in (ADMIN, "http://localhost:5173"):
            answer = await ada.get("/api/me", headers={"origin": origin})
            assert answer.status_code == 200
            assert answer.headers["access-control-allow-origin"] == origin
            exposed = {name.strip().lower() for name in answer.headers["access-control-expose-headers"].split(",")}
            assert {"idempotency-replayed", "retry-after"} <= exposed
            assert answer.headers["vary"] == "Origin"
            assert (await client.get("/api/me", headers={"origin": origin})).headers[
                "access-control-allow-origin"
            ] == origin

    async def test_a_preflight_lets_tokens_and_every_method_pass(self, client: Caller) -> None:
        answer = await preflight(client, "/api/projects", ADMIN, "DELETE")

        assert answer.status_code == 204
        assert answer.headers["access-control-allow-origin"] == ADMIN
        assert set(answer.headers["access-control-allow-methods"].split(", ")) == {"GET", "POST", "PUT", "DELETE"}
        allowed = {name.strip().lower() for name in answer.headers["access-control-allow-headers"].split(",")}
        assert {"authorization", "content-type", "idempotency-key"} <= allowed
        assert "access-control-allow-credentials" not in answer.headers
