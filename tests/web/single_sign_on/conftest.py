"""An identity provider, and Flagstaff configured to trust it."""

import json
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.support.api import BASE_URL, Caller, Json
from tests.support.clock import Clock
from tests.support.oidc import SECRET, IdentityProvider

SignIn = Callable[..., Awaitable[httpx.Response]]
ADA = {"email": "ada@acme.com", "email_verified": True}


@pytest.fixture(scope="session")
def provider_process() -> Iterator[IdentityProvider]:
    """A provider for all tests."""
    with IdentityProvider(BASE_URL) as provider:
        yield provider


@pytest.fixture
async def provider(provider_process: IdentityProvider) -> IdentityProvider:
    """The provider without faults, with Ada as its only user."""
    await provider_process.set(people={"ada": ADA}, claims={}, nulls=[], signing="good", hang=False, large=False)
    return provider_process


@pytest.fixture
def values() -> Json:
    """The provider's settings that a test sets; parametrize it."""
    return {"domains": ["acme.com"]}


@pytest.fixture
def environ(provider: IdentityProvider, values: Json) -> dict[str, str]:
    configured = {
        "key": "acme",
        "name": "Acme",
        "issuer": provider.issuer,
        "client_id": "flagstaff",
        "client_secret": SECRET,
        "scopes": ["openid", "email", "groups"],
        **values,
    }
    return {"FLAGSTAFF_OIDC_PROVIDERS": json.dumps([configured]), "FLAGSTAFF_PUBLIC_URL": BASE_URL}


@pytest.fixture
def clock() -> Clock:
    """The real time, because the provider signs its tokens with it."""
    return Clock(datetime.now(UTC))


async def begin(client: Caller, **values: Any) -> Json:
    """Start a sign-in."""
    answer = await client.post("/auth/sso/acme/begin", json=values)
    assert answer.status_code == 200, answer.text
    begun: Json = answer.json()
    return begun


async def complete(client: Caller, begun: Json, answer: Json, **changed: Any) -> httpx.Response:
    """Send the provider's answer."""
    body = {name: answer[name] for name in ("state", "code", "iss") if name in answer}
    return await client.post("/auth/sso/complete", json={**body, "binding": begun["binding"], **changed})


@pytest.fixture
def sign_in(client: Caller, provider: IdentityProvider) -> SignIn:
    """Sign in as one of the provider's users."""

    async def sign(login: str = "ada", **values: Any) -> httpx.Response:
        begun = await begin(client, **values)
        return await complete(client, begun, await provider.answer(begun["authorization_url"], login))

    return sign
