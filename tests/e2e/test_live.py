"""Pages show others' changes without a reload, through the stream of events or, without it, by polling."""

import asyncio
import contextlib

import pytest
from playwright.async_api import Browser, CDPSession, Error, Page, expect

from flagstaff.http.dashboard.pages import DIRECTORY
from tests.e2e.people import CHANGES, POLL_SECONDS, Person, environment_page, flag_page
from tests.support.api import Json, flag_path

POLL = "00:15"  # longer than between two requests of a page for what has changed
# What the worker sends first, apart from signs of life, to a page that follows a project with a token.
FOLLOW = """({ url, ...given }) => new Promise((resolve) => {
  const { port } = new SharedWorker(url, { type: "module" });
  port.onmessage = ({ data }) => data === "sign" || resolve(data);
  port.postMessage(given);
})"""
SILENCE = "00:16"  # longer than a page waits for a sign of its worker
WINDOWS = 8  # more than the six connections that a browser opens to a server with HTTP/1.1


def environment_of(flag: Json) -> Json:
    return {"project_id": flag["project_id"], "id": flag["environment_id"]}


async def open_windows(ada: Person, *flags: Json, script: str = "") -> list[Page]:
    """Windows, all of them visible, that show the environments of these flags and follow their changes."""
    windows = []
    for flag in flags:
        window = await ada.context.new_page()
        await window.add_init_script(script)
        async with window.expect_response(CHANGES):
            await window.goto(environment_page(environment_of(flag)))
        await expect(window.get_by_role("switch", name="New checkout")).not_to_be_checked()
        windows.append(window)
    return windows


async def worker_of(window: Page, devtools: CDPSession) -> str:
    """Return the id of the worker of a window's browser. Those of earlier tests may still be ending."""
    own = await window.context.new_cdp_session(window)
    here = (await own.send("Target.getTargetInfo"))["targetInfo"]["browserContextId"]
    async with asyncio.timeout(60):
        while True:
            targets = (await devtools.send("Target.getTargets"))["targetInfos"]
            workers = [
                each["targetId"]
                for each in targets
                if each["type"] == "shared_worker" and each["browserContextId"] == here
            ]
            if len(workers) == 1:
                return str(workers[0])
            await asyncio.sleep(POLL_SECONDS)


async def until_streams(ada: Person, number: int) -> None:
    """Wait until the server has so many open streams."""
    async with asyncio.timeout(120):  # a page that had to wait too long for its stream tries again after half a minute
        while f"flagstaff_streams {number}.0\n" not in (await ada.api.get("/metrics")).text:
            await asyncio.sleep(POLL_SECONDS)


async def test_a_flag_that_others_switch_changes_in_the_list(ada: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    async with ada.following():
        await ada.page.goto(environment_page(environment_of(flag)))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    for _ in range(2):
        await ada.api.post(f"{flag_path(flag)}/toggle")
        await expect(switch).to_be_checked()
        await ada.api.post(f"{flag_path(flag)}/toggle")
        await expect(switch).not_to_be_checked()


async def test_flags_that_others_create_come_and_go_until_the_page_is_left_with_its_stream(
    ada: Person,
) -> None:
    flag = await ada.api.create_flag()
    async with ada.following():
        await ada.page.goto(environment_page(environment_of(flag)))
    await ada.sees("New checkout")
    other = await ada.api.create_flag(environment_of(flag), name="Dark mode", key="dark-mode")
    await ada.sees("Dark mode")
    await ada.api.delete(flag_path(other))
    await expect(ada.page.get_by_text("Dark mode")).to_have_count(0)
    await until_streams(ada, 1)
    await ada.page.get_by_role("link", name="Projects").first.click()
    await until_streams(ada, 0)


async def test_rules_that_others_add_show_on_the_flag_page(ada: Person) -> None:
    flag = await ada.api.create_flag()
    async with ada.following():
        await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await ada.api.create_rule(flag, rule_value="grace-hopper")
    await ada.sees("grace-hopper")


async def test_what_others_switch_in_any_environment_shows_where_all_are_shown(ada: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    project = {"id": flag["project_id"]}
    staging = {**await ada.api.get_environment(project, "staging"), "project_id": project["id"]}
    other = await ada.api.create_flag(staging, enabled=False)
    page = ada.page
    async with ada.following():
        await page.goto(f"/projects/{project['id']}/flags")
    switches = page.get_by_role("switch")
    await expect(switches).to_have_count(2)
    for each in (flag, other):
        await ada.api.post(f"{flag_path(each)}/toggle")
    await expect(page.get_by_role("switch", checked=True)).to_have_count(2)
    async with ada.following():
        await page.goto(flag_page(flag))
    tile = page.get_by_role("navigation").get_by_role("link", name="Staging")
    await expect(tile).to_contain_text("On")
    await ada.api.post(f"{flag_path(other)}/toggle")
    await expect(tile).to_contain_text("Off")


async def test_without_the_stream_changes_show_within_seconds(ada: Person) -> None:
    await ada.clock.install()
    await ada.without_events()
    flag = await ada.api.create_flag(enabled=False)
    async with ada.following():
        async with ada.page.expect_event("requestfailed", lambda request: "/api/events?" in request.url):
            await ada.page.goto(environment_page(environment_of(flag)))
        await ada.clock.fast_forward(POLL)
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await ada.clock.fast_forward(POLL)
    await expect(switch).to_be_checked()


async def test_a_change_that_could_not_be_read_when_the_stream_told_of_it_shows_within_seconds(ada: Person) -> None:
    await ada.clock.install()
    flag = await ada.api.create_flag(enabled=False)
    async with ada.following():
        await ada.page.goto(environment_page(environment_of(flag)))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    await ada.page.route(CHANGES, lambda route: route.abort(), times=1)
    async with ada.page.expect_event("requestfailed", lambda request: "/changes?" in request.url):
        await ada.api.post(f"{flag_path(flag)}/toggle")
    await ada.clock.fast_forward(POLL)
    await expect(switch).to_be_checked()


async def test_eight_windows_of_two_projects_share_one_connection(ada: Person) -> None:
    flags = [await ada.api.create_flag(enabled=False) for _ in range(2)]
    windows = await open_windows(ada, *flags * (WINDOWS // 2))
    await until_streams(ada, 1)
    for flag in flags:
        await ada.api.post(f"{flag_path(flag)}/toggle")
    for window in windows:
        await expect(window.get_by_role("switch", name="New checkout")).to_be_checked()
    for window in windows:
        await window.close()
    await until_streams(ada, 0)


async def test_a_browser_without_shared_workers_follows_changes_in_each_window(ada: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    windows = await open_windows(ada, flag, flag, script="delete window.SharedWorker")
    await until_streams(ada, 2)
    await ada.api.post(f"{flag_path(flag)}/toggle")
    for window in windows:
        await expect(window.get_by_role("switch", name="New checkout")).to_be_checked()


@pytest.mark.parametrize("dies", ["window", "worker"])
async def test_the_other_windows_go_on_when_one_or_their_worker_dies(ada: Person, browser: Browser, dies: str) -> None:
    await ada.clock.install()
    flag = await ada.api.create_flag(enabled=False)
    first, *others = await open_windows(ada, flag, flag, flag)
    await until_streams(ada, 1)
    devtools = await browser.new_browser_cdp_session()
    if dies == "window":
        with contextlib.suppress(Error):  # nobody answers
            await first.goto("chrome://crash")
        await first.close()
    else:
        await devtools.send("Target.closeTarget", {"targetId": await worker_of(first, devtools)})
    await ada.api.post(f"{flag_path(flag)}/toggle")
    for window in others:
        await window.clock.fast_forward(SILENCE)
        await expect(window.get_by_role("switch", name="New checkout")).to_be_checked()
    await until_streams(ada, 1)


async def test_a_page_with_another_token_is_not_told_by_the_connection_of_the_first(ada: Person, eve: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    (window,) = await open_windows(ada, flag)
    await until_streams(ada, 1)
    (script,) = (each.name for each in (DIRECTORY / "assets").glob("eventsWorker-*.js"))
    given = {"url": f"/assets/{script}", "server": ada.url, "projectId": flag["project_id"]}
    assert await window.evaluate(FOLLOW, {**given, "token": ada.token}) == "event"
    assert await window.evaluate(FOLLOW, {**given, "token": eve.token}) == "failed"
    assert await window.evaluate(FOLLOW, {**given, "token": "none"}) == "failed"
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await expect(window.get_by_role("switch", name="New checkout")).to_be_checked()
