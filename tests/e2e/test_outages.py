"""A server that is killed while the dashboard is open, and comes back."""

import re
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from playwright.async_api import Locator, Request, Route, expect

from tests.e2e.accessibility import AXE, check_in_both_schemes, stays_within
from tests.e2e.conftest import UNLIMITED
from tests.e2e.people import Person, environment_page, flag_page, load_all
from tests.e2e.test_propagation import poll, until_known, words
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store

SILENCE = "00:14"  # longer than the time between two keep-alives of the stream, and between two checks for them


@pytest_asyncio.fixture(loop_scope="session")
async def server(chromium: str, sqlite_template: Path, tmp_path: Path) -> AsyncIterator[ServerProcess]:
    """A server of this test's own."""
    async with ServerProcess(sqlite_store(sqlite_template, tmp_path / "data"), UNLIMITED) as process:
        yield process


def banner(ada: Person) -> Locator:
    """Return the message that the server cannot be reached, which screen readers announce as well."""
    return ada.page.get_by_role("banner").get_by_role("status").filter(has_text="Not connected since")


async def open_list(ada: Person) -> None:
    """Open a list of flags, and wait for the parts whose code is loaded last."""
    flag = await ada.api.create_flag()
    await ada.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await ada.sees_heading("Flags")
    await expect(ada.page.get_by_role("button", name="Views")).to_be_visible()
    await expect(ada.page.get_by_role("region", name="First steps")).to_be_visible()


async def test_a_page_says_since_when_it_is_not_connected_and_how_old_it_is_and_withdraws_what_it_claimed(
    ada: Person, server: ServerProcess
) -> None:
    flag = await ada.api.create_flag()
    key = (await create_key(ada.api, {"id": flag["project_id"]}))["key"]
    await poll(ada, key, "one")
    await until_known(ada, flag, 1)
    async with ada.following():
        await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await expect(words(ada)).to_contain_text("Received by the only SDK instance.")
    await expect(ada.page.get_by_role("status").filter(has_text="Last known at")).to_have_count(0)
    await load_all(ada.page)
    await server.kill()

    await expect(banner(ada)).to_have_text(re.compile(r"Not connected since \d\d:\d\d:\d\d\."))
    await ada.sees("What you see is")
    await expect(ada.page.get_by_text(re.compile(r"What you see is \d+ seconds? old\. Trying again…"))).to_be_visible()
    await expect(words(ada)).to_contain_text("it is not known which applications have received this state")
    await expect(ada.page.get_by_role("status").filter(has_text="Last known at")).to_contain_text("On for everyone")
    if AXE.is_file():
        await check_in_both_schemes(ada, "a flag's page during an outage")
    await ada.page.set_viewport_size({"width": 390, "height": 800})
    await stays_within(ada)

    await server.start()
    await expect(banner(ada)).to_have_count(0)
    await expect(words(ada)).to_contain_text("Received by the only SDK instance.")
    await expect(ada.page.get_by_role("status").filter(has_text="Last known at")).to_have_count(0)


async def test_a_server_that_hangs_is_noticed_without_a_press(ada: Person, server: ServerProcess) -> None:
    flag = await ada.api.create_flag()
    await ada.clock.install()
    async with ada.following():
        await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    server.signal(signal.SIGSTOP)
    try:
        await ada.clock.fast_forward(SILENCE)
        await expect(banner(ada)).to_be_visible()
    finally:
        server.signal(signal.SIGCONT)
    await expect(banner(ada)).to_have_count(0)


async def test_one_failed_request_is_no_outage(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.route("**/changes?*", lambda route: route.abort())
    await ada.page.goto(flag_page(flag) + "?tab=changes")
    await ada.sees("The server cannot be reached.")
    await expect(banner(ada)).to_have_count(0)


async def test_a_change_whose_answer_is_lost_may_have_been_made_and_the_message_says_so(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(flag_page(flag))
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await ada.page.get_by_role("dialog").get_by_label("Description").fill("mine")

    async def lose_the_answer(route: Route) -> None:
        if route.request.method == "PUT":
            await route.fetch()
            await route.abort()
        else:
            await route.continue_()

    await ada.page.route(f"**/api{flag_page(flag)}", lose_the_answer)
    await ada.press("Save")
    await ada.sees("The change may have been made: check before you try again.")
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json()["description"] == "mine"


async def test_a_refused_change_is_not_held_up_by_loads_that_are_repeated(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.without_events()  # a sign of life by the stream would end the outage, and begin the loads again
    await ada.page.goto(f"/projects/{flag['project_id']}/sdk-keys")
    await ada.press("New SDK key")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Name").fill("Shop")

    def is_load(request: Request) -> bool:
        return request.method == "GET" and request.url.endswith("/sdk-keys")

    async def fail(route: Route) -> None:
        if not is_load(route.request):  # which is never answered
            await route.abort()

    await ada.page.route("**/api/**", fail)
    async with ada.page.expect_request(is_load):
        await dialog.get_by_role("button", name="Create SDK key").click()
    await expect(dialog).to_contain_text("The server cannot be reached.")
    await expect(dialog.get_by_role("button", name="Create SDK key")).to_be_focused()


async def test_a_draft_survives_an_outage(ada: Person, server: ServerProcess) -> None:
    flag = await ada.api.create_flag()
    description = ada.page.get_by_role("dialog").get_by_label("Description")
    await ada.page.goto(flag_page(flag))
    await load_all(ada.page)
    await ada.press("Actions")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await description.fill("typed for an hour")
    await server.kill()
    await ada.press("Save")
    await ada.sees("The server cannot be reached.")
    await server.start()
    await expect(banner(ada)).to_have_count(0)
    await expect(description).to_have_value("typed for an hour")
    await ada.press("Save")
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    assert (await ada.api.get(f"/api{flag_page(flag)}")).json()["description"] == "typed for an hour"


async def test_what_others_changed_during_an_outage_shows_after_it_by_itself(
    ada: Person, server: ServerProcess
) -> None:
    flag = await ada.api.create_flag(enabled=True)
    async with ada.following():
        await ada.page.goto(flag_page(flag))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).to_be_checked()
    await load_all(ada.page)  # code that could not be loaded would be an error of the whole page
    await server.kill()
    await expect(banner(ada)).to_be_visible()
    await ada.page.route("**/api/**", lambda route: route.abort())
    await server.start()
    await ada.api.put(f"/api{flag_page(flag)}", json={"enabled": False})
    await expect(switch).to_be_checked()  # the browser is still cut off
    await ada.page.unroute("**/api/**")
    await expect(switch).not_to_be_checked()
    await expect(banner(ada)).to_have_count(0)


async def test_a_page_with_an_error_opens_by_itself_when_the_server_is_back(ada: Person, server: ServerProcess) -> None:
    await open_list(ada)
    await server.kill()
    await ada.page.get_by_role("link", name="History").first.click()  # the code of this page has not been loaded
    await ada.sees("The server cannot be reached.")
    await server.start()
    await ada.sees_heading("Evaluation history")


async def test_data_that_could_not_be_loaded_is_loaded_when_the_server_is_back(
    ada: Person, server: ServerProcess
) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(flag_page(flag) + "?tab=changes")
    await ada.sees("created")
    await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await load_all(ada.page)  # code that could not be loaded would be an error of the whole page
    await ada.page.get_by_role("tab", name="Changes").hover()
    await server.kill()
    await expect(banner(ada)).to_be_visible()
    await ada.page.get_by_role("tab", name="Changes").click()
    await ada.sees("The server cannot be reached.")
    await server.start()
    await expect(ada.page.get_by_role("tabpanel").get_by_text("created")).to_be_visible()


async def test_a_page_that_is_opened_while_the_server_is_away_says_so_and_opens_when_it_is_back(
    ada: Person, server: ServerProcess
) -> None:
    await open_list(ada)
    opened = ada.page.url
    await server.kill()

    await ada.page.get_by_role("link", name="Segments").first.click()
    await ada.sees("The server cannot be reached.")
    await ada.press("Try again")
    await ada.sees("The server cannot be reached.")
    assert ada.page.url != opened

    await server.start()
    await ada.sees_heading("Segments")


async def test_a_page_whose_requests_failed_though_the_server_was_there_is_shown_by_itself(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.route(f"**/api{flag_page(flag)}", lambda route: route.abort())
    await ada.page.goto(flag_page(flag))
    await ada.sees("The server cannot be reached. Check the connection and try again.")
    await expect(banner(ada)).to_have_count(0)
    await ada.page.unroute(f"**/api{flag_page(flag)}")
    await ada.sees_heading("New checkout")
