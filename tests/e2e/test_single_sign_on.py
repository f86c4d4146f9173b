"""Signing in at a real identity provider in a browser, which comes back to the dashboard."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.conftest import UNLIMITED
from tests.e2e.people import Person
from tests.support.oidc import SECRET, IdentityProvider
from tests.support.ports import free_port
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store

BEGIN = """async () => {
    const request = {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"return_to": "/account"}'};
    const {authorization_url, binding} = await (await fetch('/auth/sso/acme/begin', request)).json();
    sessionStorage.setItem('flagstaff.sign-in', binding);
    return authorization_url;
}"""


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def provider(port: int) -> Iterator[IdentityProvider]:
    """The provider, which knows Ada."""
    with IdentityProvider(f"http://127.0.0.1:{port}") as started:
        yield started


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(
    chromium: str,
    provider: IdentityProvider,
    port: int,
    sqlite_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[ServerProcess]:
    """A server that trusts it."""
    await provider.set(people={"ada": {"email": "ada@acme.com", "email_verified": True}})
    acme = {"key": "acme", "name": "Acme", "issuer": provider.issuer, "client_id": "flagstaff", "client_secret": SECRET}
    started = ServerProcess(
        sqlite_store(sqlite_template, tmp_path_factory.mktemp("sso") / "data"),
        {**UNLIMITED, "FLAGSTAFF_PORT": str(port), "FLAGSTAFF_OIDC_PROVIDERS": json.dumps([acme])},
    )
    started.port, started.url = port, f"http://127.0.0.1:{port}"
    async with started:
        yield started


async def sign_in_at_provider(visitor: Person) -> None:
    await visitor.page.goto("/sign-in")
    await visitor.page.goto(await visitor.page.evaluate(BEGIN))
    await visitor.page.locator("input[name=login]").fill("ada")
    await visitor.page.locator("input[name=password]").fill("any")
    await visitor.page.locator("button[type=submit]").click()


async def test_whoever_comes_back_from_the_provider_is_signed_in_where_they_wanted_to_go(visitor: Person) -> None:
    await sign_in_at_provider(visitor)

    await visitor.sees_heading("Your account")
    await expect(visitor.page).to_have_url(f"{visitor.url}/account")
    await visitor.sees("ada@acme.com")
    assert "code=" not in await visitor.page.evaluate("window.location.href")


async def test_an_answer_that_this_tab_has_not_asked_for_is_refused(visitor: Person) -> None:
    await visitor.page.goto("/sso/callback?state=x&code=y")

    await visitor.sees("This sign-in was not begun in this tab, or the provider has refused it. Sign in again.")
    await expect(visitor.page).to_have_url(f"{visitor.url}/sso/callback")


async def test_a_made_up_answer_is_refused_with_the_reason(visitor: Person) -> None:
    await visitor.page.goto("/sign-in")
    await visitor.page.evaluate("sessionStorage.setItem('flagstaff.sign-in', 'x')")
    await visitor.page.goto("/sso/callback?state=x&code=y")

    await visitor.sees("was begun in another browser")
