"""A project that demands a second factor of its members: the switch, and what members without one see."""

from contextlib import AsyncExitStack

import pyotp
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check, stays_within
from tests.e2e.contexts import Contexts
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, Person, environment_page, flag_page, invite
from tests.e2e.second_factors import enrol_app
from tests.support.api import Json
from tests.support.stores import Store

SWITCH = "Require a second factor of every member"


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project of ada's."""
    return await ada.api.create_project(name="Web shop")


@pytest_asyncio.fixture(loop_scope="session")
async def eve(ada: Person, project: Json, sqlite: Store, contexts: Contexts, people: AsyncExitStack) -> Person:
    """An editor of the project without a second factor."""
    eve = await people.enter_async_context(Person(contexts, ada.url))
    await eve.sign_up()
    token = await invite(ada, project, eve.email, sqlite.data_directory)
    (await eve.api.post("/api/invitations/accept", json={"token": token})).raise_for_status()
    return eve


def switch_of(person: Person) -> Locator:
    return person.page.get_by_role("switch", name=SWITCH)


async def demand(ada: Person, project: Json, *, is_demanded: bool = True) -> None:
    body = {"demands_second_factor": is_demanded}
    (await ada.api.put(f"/api/projects/{project['id']}/security", json=body)).raise_for_status()


async def set_up_app(person: Person) -> None:
    """Enrol an app on the page of the account."""
    dialog = person.page.get_by_role("dialog")
    await person.press("Set up an authenticator app")
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Continue").click()
    secret = (await person.page.get_by_test_id("totp-secret").inner_text()).replace(" ", "")
    await dialog.get_by_label("Code", exact=True).fill(pyotp.TOTP(secret).now())
    await dialog.get_by_role("button", name="Confirm").click()
    await person.press("I have stored them")


async def test_whoever_has_no_second_factor_cannot_demand_one_and_is_led_to_their_own(
    ada: Person, project: Json
) -> None:
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await ada.sees("Set up a second factor for your own account first")
    await expect(switch_of(ada)).to_be_disabled()
    await check(ada, "settings without a second factor")
    await ada.page.get_by_role("link", name="Set up a second factor").click()
    await ada.sees("You need a second factor to continue.")
    await set_up_app(ada)
    await ada.press("Go back to the page")
    await ada.sees_heading("Project settings")
    await expect(switch_of(ada)).to_be_enabled()


async def test_an_editor_sees_the_demand_but_cannot_change_it(ada: Person, eve: Person, project: Json) -> None:
    await enrol_app(ada)
    await enrol_app(eve)
    await demand(ada, project)
    await eve.page.goto(f"/projects/{project['id']}/settings")
    await expect(switch_of(eve)).to_be_checked()
    await expect(switch_of(eve)).to_be_disabled()
    await eve.sees("This requires the permission project:write in the whole project, which your role does not have.")
    await check(eve, "settings of an editor")


async def test_an_owner_demands_it_by_keyboard_after_a_warning_and_takes_it_back(ada: Person, project: Json) -> None:
    await enrol_app(ada)
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await expect(switch_of(ada)).to_be_enabled()
    keyboard = Keyboard(ada.page)
    await keyboard.use(switch_of(ada), "Space")
    await ada.sees("Members without a second factor lose access immediately")
    await check(ada, "the warning")
    await keyboard.press("Escape")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    await expect(switch_of(ada)).to_be_focused()
    await expect(switch_of(ada)).not_to_be_checked()
    await keyboard.press("Space")
    await keyboard.use(ada.page.get_by_role("button", name="Require a second factor"))
    await ada.sees("The project now requires a second factor.")
    await expect(switch_of(ada)).to_be_checked()
    await expect(switch_of(ada)).to_be_focused()
    answer = await ada.api.get(f"/api/projects/{project['id']}/security")
    assert answer.json() == {"demands_second_factor": True}
    await keyboard.press("Space")
    await ada.sees("The project no longer requires a second factor.")
    await expect(switch_of(ada)).not_to_be_checked()


async def test_a_member_without_one_is_led_to_set_it_up_and_comes_back_to_the_page(
    ada: Person, eve: Person, project: Json
) -> None:
    await enrol_app(ada)
    await demand(ada, project)
    settings = f"/projects/{project['id']}/settings"
    await eve.page.goto(settings)
    await eve.sees("A second factor is required here")
    await check(eve, "the demand")
    await eve.page.set_viewport_size({"width": 320, "height": 640})
    await stays_within(eve)
    await eve.page.get_by_role("link", name="Set up a second factor").click()
    await eve.sees("You need a second factor to continue.")
    await set_up_app(eve)
    await check(eve, "the way back")
    await stays_within(eve)
    await eve.press("Go back to the page")
    await eve.sees_heading("Project settings")
    await expect(eve.page).to_have_url(f"{eve.url}{settings}")


async def test_a_page_that_is_open_when_the_demand_begins_shows_it_at_the_next_action(
    ada: Person, eve: Person, project: Json
) -> None:
    environment = await ada.api.get_environment(project)
    flag = await ada.api.create_flag(environment)
    await enrol_app(ada)
    await eve.page.goto(flag_page(flag))
    await expect(eve.page.get_by_role("switch").first).to_be_visible()
    await demand(ada, project)
    # A link of the navigation, because the page may know of the demand already and show it in place of the flag.
    await eve.page.get_by_role("navigation").get_by_role("link", name="All changes").click()
    await eve.sees("A second factor is required here")
    await eve.page.get_by_role("link", name="Set up a second factor").click()
    await set_up_app(eve)
    await eve.press("Go back to the page")
    await eve.sees_heading("Changes")
    await eve.page.goto(environment_page(environment))
    await eve.sees_heading("Flags")
