"""The dashboard below a path of a host that it shares with another application, through a real nginx."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.conftest import UNLIMITED
from tests.e2e.people import CHANGES, PASSWORD, POLL_SECONDS, ApiCaller, Person
from tests.e2e.test_single_sign_on import BUTTON, prove_at_provider
from tests.support.mailbox import leads_to, read_outbox
from tests.support.nginx import PATH_PREFIX, SharedNginx
from tests.support.oidc import SECRET, IdentityProvider
from tests.support.ports import free_port
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

PERSON = "ada@example.com"


@pytest.fixture
def store(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@pytest_asyncio.fixture(loop_scope="session")
async def server(chromium: str, store: Store, tmp_path: Path) -> AsyncIterator[ServerProcess]:
    """The server, whose URL is the proxy's."""
    port = free_port()
    url = f"http://127.0.0.1:{port}{PATH_PREFIX}"
    with IdentityProvider(url) as provider:
        acme = {"key": "acme", "name": "Acme", "issuer": provider.issuer, "client_id": "flagstaff"}
        await provider.set(people={PERSON: {"email": PERSON, "email_verified": True}})
        providers = json.dumps([{**acme, "client_secret": SECRET, "second_factor": True}])
        environ = {**UNLIMITED, "FLAGSTAFF_PUBLIC_URL": url, "FLAGSTAFF_OIDC_PROVIDERS": providers}
        started = ServerProcess(store, environ)
        started.url = url
        async with SharedNginx(tmp_path, port, started.port), started:
            yield started


async def mailed_link(store: Store, page: str) -> str:
    """Wait for a mail with a link to a page, and return the link."""
    async with asyncio.timeout(60):
        while not (mails := [each for each in read_outbox(store.data_directory) if leads_to(each, page)]):
            await asyncio.sleep(POLL_SECONDS)
    text = mails[-1].get_body(("plain",))
    assert text is not None
    (link,) = re.findall(rf"\S+/{page}\?token=\S+", text.get_content())
    return str(link)


async def test_a_person_works_below_the_prefix_and_never_leaves_it(visitor: Person, server: ServerProcess) -> None:
    page, url = visitor.page, server.url
    requested: list[str] = []
    page.on("request", lambda request: requested.append(request.url))

    await page.goto(f"{url}/account?next=%2F")
    await page.get_by_role("link", name="Create account").click()
    await visitor.fill(Email=visitor.email, Password=PASSWORD)
    await visitor.press("Create account")
    await expect(page).to_have_url(f"{url}/account?next=%2F")

    await page.goto(f"{url}/")
    await visitor.press("New project")
    await visitor.fill(Name="Web shop")
    await visitor.press("Create project")
    await visitor.sees_heading("No flags in Production yet")
    await visitor.press("New flag")
    await visitor.fill(Name="New checkout")
    await visitor.press("Create flag")
    await visitor.sees("Off for everyone.")
    assert page.url.startswith(f"{url}/projects/")
    await page.get_by_role("tab", name="Use in code").click()
    await expect(page.get_by_role("tabpanel").locator("pre")).to_contain_text(f"{url}/sdk/v1/evaluate")

    session = await page.evaluate(f"JSON.parse(localStorage.getItem('flagstaff.session{PATH_PREFIX}'))")
    assert await visitor.stored_session() is None  # the name of a server that has the host for itself
    flag = page.url.removeprefix(url).partition("?")[0]
    async with page.expect_response(CHANGES):
        await page.goto(url + flag.rpartition("/flags/")[0])
    switch = page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    async with ApiCaller(url, session["token"]) as api:
        (await api.post(f"/api{flag}/toggle")).raise_for_status()
    await expect(switch).to_be_checked()  # the page is told of changes

    await page.get_by_role("button", name="Account").click()
    async with page.expect_popup() as opened:
        await page.get_by_role("menuitem", name="API reference").click()
    docs = await opened.value
    await expect(docs.get_by_text("/sdk/v1/evaluate", exact=True).first).to_be_visible()
    assert docs.url == f"{url}/docs"
    await docs.close()
    await page.get_by_role("button", name="Account").click()
    async with page.expect_popup() as opened:
        await page.get_by_role("menuitem", name="Licenses").click()
    await expect((await opened.value).get_by_text("SIL OPEN FONT LICENSE").first).to_be_visible()
    host = url.removesuffix(PATH_PREFIX)
    assert [each for each in requested if each.startswith(host) and not each.startswith(url)] == []


async def test_people_come_back_below_the_prefix_from_a_provider_and_from_mails(
    visitor: Person, server: ServerProcess, store: Store
) -> None:
    page, url = visitor.page, server.url
    visitor.email = PERSON
    await page.goto(f"{url}/account/tokens")
    await expect(page).to_have_url(f"{url}/sign-in?next=%2Faccount%2Ftokens")
    await visitor.press(BUTTON)
    await prove_at_provider(visitor)
    await expect(page).to_have_url(f"{url}/account/tokens")

    await page.get_by_role("button", name="Account").click()
    await page.get_by_role("menuitem", name="Sign out").click()
    await visitor.press("Yes, sign me out")  # of the provider, which sends people back
    await visitor.sees_heading("Sign in")
    await page.goto(f"{url}/forgot-password")
    await visitor.fill(Email=visitor.email)
    await visitor.press("Send link")
    await visitor.sees("If the account exists, a reset link has been sent.")
    await page.goto(await mailed_link(store, "reset-password"))
    await visitor.sees_heading("Choose a new password")
    await expect(page).to_have_url(f"{url}/reset-password")
