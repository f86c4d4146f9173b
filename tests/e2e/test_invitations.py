"""The page that the link in an invitation opens: accepting with an account, and registering through the link."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Request, Response, expect

from tests.e2e.accessibility import check_in_both_schemes
from tests.e2e.contexts import Contexts
from tests.e2e.people import PASSWORD, Person, invite
from tests.support.api import Json
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

HEADING = "You are invited to Web shop"
UNUSABLE = "This link has been used, replaced or revoked, or has expired. Ask for a new invitation."


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's."""
    return await ada.api.create_project(name="Web shop")


@pytest_asyncio.fixture(loop_scope="session")
async def eve(ada: Person, contexts: Contexts, people: AsyncExitStack) -> Person:
    """Another person, without an account and with a browser of her own."""
    return await people.enter_async_context(Person(contexts, ada.url))


async def open_link(person: Person, token: str) -> None:
    """Open the link of an invitation."""
    await person.page.goto(f"/invitation?token={token}")
    await person.sees_heading(HEADING)


async def test_without_a_token_the_page_says_what_to_do(ada: Person) -> None:
    await ada.page.goto("/invitation")
    await ada.sees("To open this page, use the link in the invitation email.")
    await ada.page.goto("/invitation?token=")
    await ada.sees("To open this page, use the link in the invitation email.")


async def test_an_invitation_for_another_address_is_refused_and_the_account_can_be_changed(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await eve.sign_up()
    await open_link(eve, await invite(ada, project, f"not-{eve.email}", sqlite.data_directory))
    await expect(eve.page.get_by_role("alert")).to_contain_text(
        f"This invitation was sent to not-{eve.email}, and you are signed in as {eve.email}."
    )
    await expect(eve.page.get_by_role("button", name="Accept the invitation")).to_have_count(0)
    await check_in_both_schemes(eve, "an invitation for another address")
    await eve.press("Use another account")
    await expect(eve.page.get_by_label("Email")).to_have_value(f"not-{eve.email}")
    assert await eve.stored_session() is None
    await eve.fill(Password=PASSWORD)
    await eve.press("Create account and join")
    await eve.sees_heading("Overview")


async def test_a_used_or_revoked_or_unknown_link_is_refused(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await eve.sign_up()
    token = await invite(ada, project, eve.email, sqlite.data_directory)
    (invitation,) = (await ada.api.get(f"/api/projects/{project['id']}/invitations")).json()
    await ada.api.delete(f"/api/projects/{project['id']}/invitations/{invitation['id']}")
    for refused in (token, "unknown"):
        await eve.page.goto(f"/invitation?token={refused}")
        await eve.sees(UNUSABLE)


async def test_registering_with_an_address_that_was_not_invited_creates_no_account(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await open_link(eve, await invite(ada, project, f"not-{eve.email}", sqlite.data_directory))
    await eve.fill(Email=eve.email, Password=PASSWORD)
    await eve.press("Create account and join")
    await expect(eve.page.get_by_role("alert")).to_contain_text(f"This link cannot be used by {eve.email}.")
    assert (await ada.api.post("/auth/login", json={"email": eve.email, "password": PASSWORD})).status_code == 401


async def test_a_signed_in_account_accepts_and_the_token_is_never_in_the_address_or_sent_on(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await eve.sign_up()
    token = await invite(ada, project, eve.email, sqlite.data_directory, role="viewer")
    sent: list[Request] = []

    def note(response: Response) -> None:
        sent.append(response.request)

    eve.page.on("response", note)  # the headers of a request that was given up are never known
    await open_link(eve, token)
    assert eve.page.url == f"{ada.url}/invitation"
    await eve.sees(f"{ada.email} has invited you as a viewer.")
    await eve.press("Accept the invitation")
    await eve.sees_heading("Overview")
    documents = [each for each in sent if each.is_navigation_request()]
    others = [each for each in sent if each not in documents]
    assert len(documents) == 1
    assert others
    for each in others:
        assert token not in each.url
        assert token not in (await each.all_headers()).get("referer", "")
    assert token not in await eve.page.evaluate("JSON.stringify([localStorage, sessionStorage, history.state])")
    members = (await ada.api.get(f"/api/projects/{project['id']}/members")).json()
    assert [(each["email"], each["role"]) for each in members][1:] == [(eve.email, "viewer")]
    await eve.page.goto(f"/invitation?token={token}")
    await eve.sees(UNUSABLE)


async def test_a_person_who_is_signed_out_signs_in_through_the_link(
    ada: Person, eve: Person, project: Json, sqlite: Store
) -> None:
    await eve.sign_up()
    await eve.page.evaluate("localStorage.clear()")
    await open_link(eve, await invite(ada, project, eve.email, sqlite.data_directory))
    await eve.page.get_by_role("link", name="Sign in").click()
    await eve.sees_heading("Sign in")
    await eve.fill(Email=eve.email, Password=PASSWORD)
    await eve.press("Sign in")
    await eve.sees(f"You are signed in as {eve.email}.")
    await eve.press("Accept the invitation")
    await eve.sees_heading("Overview")


async def test_a_new_person_registers_through_the_link_though_registration_is_closed(
    contexts: Contexts, sqlite_template: Path, data_directory: Path
) -> None:
    store = sqlite_store(sqlite_template, data_directory)
    async with ServerProcess(store) as started, Person(contexts, started.url) as ada:
        await ada.sign_up()
        project = await ada.api.create_project(name="Web shop")
        token = await invite(ada, project, "grace@example.com", store.data_directory)
    async with (
        ServerProcess(store, {"FLAGSTAFF_REGISTRATION": "closed"}) as closed,
        Person(contexts, closed.url) as grace,
    ):
        await open_link(grace, token)
        await expect(grace.page.get_by_label("Email")).to_have_value("grace@example.com")
        await grace.fill(Password="short")
        await grace.press("Create account and join")
        await expect(grace.page.get_by_label("Password").first).to_have_attribute("aria-invalid", "true")
        await grace.fill(Password=PASSWORD)
        await grace.press("Create account and join")
        await grace.sees_heading("Overview")
