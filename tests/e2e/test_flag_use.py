"""“Use in code” on a flag's page: programs with the real key and URL, and the wait for the first evaluation."""

import pytest_asyncio
from playwright.async_api import Locator, Request, expect

from tests.e2e.accessibility import AXE, check, stays_within
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import Person, flag_page
from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.sdk_keys import create_key, keys_path
from tests.support.usage import SNIPPETS, render

NAMES = {
    "curl": "curl",
    "python": "Python",
    "node": "Node.js",
    "browser": "Browser",
    "go": "Go",
    "java": "Java",
    "rust": "Rust",
    "ruby": "Ruby",
    "php": "PHP",
    "dotnet": ".NET",
}
WAYS = {"http": "HTTP", "openfeature": "OpenFeature", "unleash": "Unleash SDK"}
PLACEHOLDER = "YOUR_SDK_KEY"
STRINGS = [{"key": "one", "weight": 1000, "value": "blue"}]


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag that is on."""
    return await ada.api.create_flag(key="new-checkout")


def program(ada: Person) -> Locator:
    """Return the shown program."""
    return ada.page.get_by_role("region", name="Program in")


def signs(ada: Person) -> Locator:
    """Return the part of the page about the flag's use."""
    return ada.page.get_by_role("region", name="Has it been used?")


async def choose(ada: Person, language: str, way: str | None = None) -> None:
    """Choose a language, and a protocol if there are several."""
    await ada.page.get_by_role("tab", name=NAMES[language], exact=True).click()
    if way is not None:
        await ada.page.get_by_text(WAYS[way], exact=True).click()


async def open_use(ada: Person, flag: Json) -> None:
    """Open the page at the tab."""
    await ada.page.goto(f"{flag_page(flag)}?tab=code")
    await ada.sees_heading("Use this flag")


async def test_every_program_is_shown_as_the_tests_run_it(ada: Person, flag: Json) -> None:
    project = (await ada.api.get(f"/api/projects/{flag['project_id']}")).json()
    flags = [flag, await ada.api.create_flag({**flag, "id": flag["environment_id"]}, key="text", variants=STRINGS)]
    for each, languages in zip(flags, (NAMES, ("python",)), strict=True):
        await open_use(ada, each)
        for language in languages:
            await choose(ada, language)
            for way in [way for way in WAYS if (SNIPPETS / f"{language}.{way}.snippet").exists()]:
                if language != "curl":
                    await choose(ada, language, way)
                is_own = way == "http" and language != "browser"
                install, code = render(
                    language,
                    way,
                    kind="string" if each["variants"] else "boolean",
                    has_variants=bool(each["variants"]),
                    address=ada.url,
                    key=project["sdk_key"] if is_own else PLACEHOLDER,
                    environment="production",
                    flag=each["key"],
                )
                await expect(program(ada).locator("code")).to_have_text(code)
                installed = ada.page.get_by_role("region", name="Install for")
                await (
                    expect(installed.locator("code")).to_have_text(install)
                    if install
                    else expect(installed).to_have_count(0)
                )


async def test_the_program_for_pages_says_that_streams_need_http2(ada: Person, flag: Json) -> None:
    await open_use(ada, flag)
    await choose(ada, "browser", "openfeature")
    await ada.sees("Streams need HTTP/2: with HTTP/1.1, those of six tabs take all connections of a browser")
    await expect(program(ada)).to_contain_text("without HTTP/2: pollInterval: 30_000")
    await choose(ada, "node")
    await expect(ada.page.get_by_text("Streams need HTTP/2")).to_have_count(0)


async def test_a_key_is_created_filled_in_copied_and_gone_with_the_page(ada: Person, flag: Json) -> None:
    page, project = ada.page, {"id": flag["project_id"]}
    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await open_use(ada, flag)
    await choose(ada, "python", "openfeature")
    await expect(program(ada)).to_contain_text(PLACEHOLDER)
    await page.get_by_role("button", name="Create a key and fill it in").dblclick()
    await expect(page.get_by_text("It is shown only here")).to_be_focused()
    await choose(ada, "go", "unleash")
    await expect(program(ada)).not_to_contain_text(PLACEHOLDER)
    copied = await ada.copy(program(ada).locator("..").get_by_role("button"))
    key = copied.partition('"Authorization": {"')[2].partition('"')[0]
    assert (await ada.api.evaluate(key, "production")).status_code == 200
    await page.get_by_role("tab", name="Overview").click()
    await page.get_by_role("tab", name="Use in code").click()
    await choose(ada, "python", "unleash")
    await expect(program(ada)).to_contain_text(key)
    await choose(ada, "browser")
    await expect(program(ada)).to_contain_text(PLACEHOLDER)  # a server's key must not be shown in a browser's program
    await ada.press("Create a key and fill it in")
    await expect(program(ada)).not_to_contain_text(PLACEHOLDER)
    kinds = [(each["kind"], each["environment"]) for each in (await ada.api.get(keys_path(project))).json()]
    assert kinds == [("browser", "production"), ("server", "production")]
    stored = await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, location.href])")
    assert key not in stored
    await page.reload()
    await choose(ada, "python", "unleash")
    await expect(program(ada)).to_contain_text(PLACEHOLDER)


async def test_the_page_waits_for_the_first_evaluation_and_shows_it(ada: Person, flag: Json) -> None:
    project = (await ada.api.get(f"/api/projects/{flag['project_id']}")).json()
    await open_use(ada, flag)
    status = signs(ada).get_by_role("status")
    await expect(status).to_have_text("Waiting for your first evaluation…")
    await ada.api.evaluate(project["sdk_key"], context={"user_id": "user-42"})
    await expect(status).to_have_text("Evaluated for user-42: on.")
    await signs(ada).get_by_role("link", name="Show it in the history").click()
    await expect(ada.page.get_by_role("cell", name="user-42", exact=True)).to_be_visible()
    await expect(ada.page.get_by_label("User id")).to_have_value("user-42")


async def test_an_application_that_evaluates_flags_itself_is_shown_when_it_fetches_them(
    ada: Person, flag: Json
) -> None:
    key = (await create_key(ada.api, {"id": flag["project_id"]}))["key"]
    headers = {"authorization": key, "unleash-appname": "shop", "unleash-sdk": "unleash-client-python:6.9.1"}
    await open_use(ada, flag)
    await choose(ada, "python", "unleash")
    status = signs(ada).get_by_role("status")
    await expect(status).to_have_text("Waiting for an application that fetches this flag…")
    async with open_client(base_url=ada.url, timeout=30) as client:
        assert (await client.get("/unleash/api/client/features", headers=headers)).status_code == 200
        await expect(status).to_have_text("shop (unleash-client-python:6.9.1) has fetched the flags.")
        link = signs(ada).get_by_role("link", name="Show applications")
        await expect(link).to_be_visible()
        await link.click()
    await ada.sees_heading("Applications")


async def test_the_wait_ends_after_some_minutes_and_goes_on_when_asked(ada: Person, flag: Json) -> None:
    await ada.clock.install()
    await ada.without_events()  # a jump in time opens a new stream, which loads everything again
    await open_use(ada, flag)
    status = signs(ada).get_by_role("status")
    await expect(status).to_have_text("Waiting for your first evaluation…")
    async with ada.page.expect_response("**/changes?limit=20"):  # the first poll requests this as well
        await ada.clock.fast_forward("00:06")
    asked: list[Request] = []
    ada.page.on("request", lambda request: asked.append(request))  # noqa: PLW0108 - no builtin is accepted
    await ada.clock.fast_forward("05:01")
    await expect(status).to_have_text("This page no longer looks for evaluations.")
    await hear_of_requests(ada)
    for request in asked:  # in the next jump, a request without a response would count as an outage
        await request.response()
    asked.clear()
    await ada.clock.fast_forward("01:00")
    await hear_of_requests(ada)
    assert asked
    assert not [request for request in asked if request.url.endswith("limit=1")]
    await signs(ada).get_by_role("button", name="Look again").click()
    await expect(status).to_have_text("Waiting for your first evaluation…")
    async with ada.page.expect_request("**/evaluations?limit=1"):
        await ada.clock.fast_forward("00:10")


async def hear_of_requests(person: Person) -> None:
    """Wait until every request that the page has sent has been reported. Requests are reported in order."""
    async with person.page.expect_request("**/health"):
        await person.page.evaluate("fetch('/health')")


async def test_languages_and_ways_are_chosen_by_keyboard(ada: Person, flag: Json) -> None:
    keyboard = Keyboard(ada.page)
    await open_use(ada, flag)
    await keyboard.go_to(ada.page.get_by_role("tab", name="curl"))
    await keyboard.press("ArrowRight")
    await expect(ada.page.get_by_role("tab", name="Python")).to_be_focused()
    await expect(program(ada)).to_contain_text("import requests")
    await keyboard.press("Tab")
    await expect(ada.page.get_by_role("radio", name="HTTP")).to_be_focused()
    await keyboard.press("ArrowRight")
    await expect(program(ada)).to_contain_text("OFREPProvider")
    await keyboard.use(ada.page.get_by_role("button", name="Create a key and fill it in"))
    await expect(ada.page.get_by_text("It is shown only here")).to_be_focused()


async def test_axe_finds_nothing_and_nothing_is_wider_than_a_phone(ada: Person, flag: Json) -> None:
    await open_use(ada, flag)
    await choose(ada, "java", "openfeature")
    if AXE.is_file():
        for scheme in ("light", "dark"):
            await ada.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            await check(ada, f"use in code, {scheme}")
    await ada.page.set_viewport_size({"width": 320, "height": 700})
    await stays_within(ada)
