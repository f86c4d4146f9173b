"""Signing in at a real identity provider in a browser, and returning to the dashboard."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import uuid4

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import check, stays_within
from tests.e2e.conftest import UNLIMITED
from tests.e2e.contexts import Contexts
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, ApiCaller, Person, invite, mailed_token
from tests.e2e.second_factors import enrol_app, next_code
from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.oidc import SECRET, IdentityProvider
from tests.support.ports import free_port
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

BUTTON = "Continue with Acme"


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def provider(port: int) -> Iterator[IdentityProvider]:
    """The provider."""
    with IdentityProvider(f"http://127.0.0.1:{port}") as started:
        yield started


@pytest.fixture(scope="module")
def store(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The server's data directory, which contains its mails."""
    return sqlite_store(sqlite_template, tmp_path_factory.mktemp("sso") / "data")


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def server(chromium: str, provider: IdentityProvider, port: int, store: Store) -> AsyncIterator[ServerProcess]:
    """A server with this provider, and with one that cannot be reached and is required for accounts of its domain."""
    acme = {"key": "acme", "name": "Acme", "issuer": provider.issuer, "client_id": "flagstaff", "client_secret": SECRET}
    away = {"key": "away", "name": "Away", "issuer": f"http://127.0.0.1:{free_port()}", "client_id": "flagstaff"}
    providers = [acme, {**away, "domains": ["away.example"], "password_login": False}]
    environ = {**UNLIMITED, "FLAGSTAFF_PORT": str(port), "FLAGSTAFF_OIDC_PROVIDERS": json.dumps(providers)}
    started = ServerProcess(store, environ)
    started.port, started.url = port, f"http://127.0.0.1:{port}"
    async with started:
        yield started


@pytest_asyncio.fixture(loop_scope="session")
async def eve(provider: IdentityProvider, contexts: Contexts, server: ServerProcess, people: AsyncExitStack) -> Person:
    """A person whom only the provider knows."""
    eve = await people.enter_async_context(Person(contexts, server.url))
    eve.email = f"eve-{uuid4().hex[:12]}@example.com"
    await provider.set(people={eve.email: {"email": eve.email, "email_verified": True}})
    return eve


async def prove_at_provider(person: Person) -> None:
    """Fill in the provider's own page."""
    await person.page.locator("input[name=login]").fill(person.email)
    await person.page.locator("input[name=password]").fill("any")
    await person.page.locator("button[type=submit]").click()


async def sign_in_at_provider(person: Person, path: str = "/sign-in") -> None:
    await person.page.goto(path)
    await person.press(BUTTON)
    await prove_at_provider(person)


async def test_an_answer_that_this_tab_has_not_asked_for_is_refused(visitor: Person) -> None:
    await visitor.page.goto("/sso/callback?state=x&code=y")

    await visitor.sees("This sign-in was not started in this tab, or was already completed. Sign in again.")
    await expect(visitor.page).to_have_url(f"{visitor.url}/sso/callback")
    await check(visitor, "an answer without a sign-in")


async def test_a_made_up_answer_is_refused_with_the_reason_and_the_way_back_keeps_the_page(visitor: Person) -> None:
    await visitor.page.goto("/sign-in?next=%2Faccount")
    await visitor.press(BUTTON)
    await expect(visitor.page.locator("input[name=login]")).to_be_visible()
    await visitor.page.goto("/sso/callback?state=x&code=y")

    await visitor.sees("was begun in another browser")
    await visitor.page.get_by_role("link", name="Back to sign in").click()
    await expect(visitor.page).to_have_url(f"{visitor.url}/sign-in?next=%2Faccount")


async def test_whoever_cancels_at_the_provider_is_told_and_can_try_again(eve: Person) -> None:
    await eve.page.goto("/sign-in?next=%2Faccount")
    await eve.press(BUTTON)
    await eve.page.get_by_role("link", name="Cancel").click()

    await eve.sees("The sign-in at Acme was cancelled, or Acme does not let you in here.")
    assert "error" not in eve.page.url
    await eve.page.get_by_role("link", name="Back to sign in").click()
    await eve.press(BUTTON)
    await prove_at_provider(eve)
    await eve.sees_heading("Your account")


async def test_an_unverified_address_is_refused_in_words(eve: Person, provider: IdentityProvider) -> None:
    await provider.set(people={eve.email: {"email": eve.email, "email_verified": False}})
    await sign_in_at_provider(eve)

    await eve.sees("Acme has not verified your email address.")
    assert await eve.stored_session() is None


async def test_a_provider_that_cannot_be_reached_is_named_and_the_password_still_works(visitor: Person) -> None:
    await visitor.sign_up()
    await visitor.page.evaluate("localStorage.clear()")
    await visitor.page.goto("/sign-in")
    await visitor.press("Continue with Away")
    await visitor.sees("Away cannot be reached")
    await visitor.fill(Email=visitor.email, Password=PASSWORD)
    await visitor.press("Sign in")
    await visitor.sees_heading("Create your first project")


async def test_an_account_that_only_its_provider_opens_is_led_there(visitor: Person) -> None:
    for path, action in (("/sign-in", "Sign in"), ("/register", "Create account")):
        await visitor.page.goto(path)
        await visitor.fill(Email="grace@away.example", Password=PASSWORD)
        await visitor.press(action)
        await visitor.sees("Accounts of away.example sign in with Away, not with a password.")
        await expect(visitor.page.get_by_role("button", name="Continue with Away")).to_be_focused()
        await check(visitor, path)


async def test_whoever_comes_back_from_the_provider_is_signed_in_where_they_wanted_to_go(eve: Person) -> None:
    await sign_in_at_provider(eve, "/account")

    await eve.sees_heading("Your account")
    await expect(eve.page).to_have_url(f"{eve.url}/account")
    await eve.sees(eve.email)
    await eve.sees("You are signed in with Acme.")
    assert "code=" not in await eve.page.evaluate("window.location.href")


async def test_a_person_without_an_account_gets_one_by_keyboard(eve: Person) -> None:
    await eve.page.goto("/register")
    keyboard, page = Keyboard(eve.page), eve.page
    await keyboard.use(page.get_by_role("button", name=BUTTON))
    await prove_at_provider(eve)
    await eve.sees_heading("Create your first project")


async def test_signing_out_ends_the_session_at_the_provider_too(eve: Person) -> None:
    await sign_in_at_provider(eve)
    await eve.sees_heading("Create your first project")
    await eve.press("Account")
    await eve.page.get_by_role("menuitem", name="Sign out").click()
    await eve.page.get_by_role("button", name="Yes, sign me out").click()

    await eve.sees_heading("Sign in")
    await expect(eve.page).to_have_url(f"{eve.url}/sign-in")
    assert await eve.stored_session() is None
    await eve.press(BUTTON)
    await expect(eve.page.locator("input[name=login]")).to_be_visible()  # the provider asks again


async def test_a_second_factor_of_the_account_is_asked_for_on_the_way_back(eve: Person, store: Store) -> None:
    await sign_in_at_provider(eve)
    await eve.sees_heading("Create your first project")
    async with open_client(base_url=eve.url) as client:  # she sets a password, without which no app can be enrolled
        (await client.post("/auth/forgot-password", json={"email": eve.email})).raise_for_status()
        token = await mailed_token(eve.email, store.data_directory, "reset-password")
        reset = {"token": token, "newPassword": PASSWORD}
        (await client.post("/auth/reset-password", json=reset)).raise_for_status()
        credentials = {"email": eve.email, "password": PASSWORD}
        token = (await client.post("/auth/login", json=credentials)).raise_for_status().json()["token"]
    eve.api = ApiCaller(eve.url, token)
    secret, _ = await enrol_app(eve)
    await eve.page.evaluate("localStorage.clear()")
    await eve.page.goto("/sign-in?next=%2Faccount")
    await eve.press(BUTTON)  # the provider still knows her

    await eve.sees_heading("Confirm your sign-in")
    await eve.sees(eve.email)
    await check(eve, "the second step")
    await eve.fill(Code=next_code(secret))
    await eve.press("Sign in")
    await eve.sees_heading("Your account")
    await eve.sees("You are signed in with Acme.")


async def test_an_invitation_is_accepted_after_signing_in_at_the_provider(
    eve: Person, visitor: Person, store: Store
) -> None:
    await visitor.sign_up()
    project = await visitor.api.create_project(name="Web shop")
    token = await invite(visitor, project, eve.email, store.data_directory)
    await sign_in_at_provider(eve, f"/invitation?token={token}")

    await eve.sees(f"You are signed in as {eve.email}.")
    assert token not in eve.page.url
    await eve.press("Accept the invitation")
    await expect(eve.page.get_by_role("button", name="Project Web shop, switch project")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_the_buttons_fit_on_the_narrowest_phone(
    scheme: str, contexts: Contexts, server: ServerProcess, people: AsyncExitStack, visitor: Person, store: Store
) -> None:
    options: Json = {"color_scheme": scheme, "viewport": {"width": 320, "height": 640}, "reduced_motion": "reduce"}
    person = await people.enter_async_context(Person(contexts, server.url, **options))
    await visitor.sign_up()
    project = await visitor.api.create_project()
    token = await invite(visitor, project, f"grace-{scheme}@example.com", store.data_directory)
    for path in ("/sign-in", "/register", f"/invitation?token={token}"):
        await person.page.goto(path)
        await expect(person.page.get_by_role("button", name=BUTTON)).to_be_visible()
        await check(person, path)
        await stays_within(person)
