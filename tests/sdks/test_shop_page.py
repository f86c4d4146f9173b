"""The page of docs/openfeature.md, in Chromium with OpenFeature's released packages, keeps what the guide promises."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import BrowserContext, Page, async_playwright

from tests.e2e.browser import ARGUMENTS, MISSING, find_or_install
from tests.sdks.test_browsers import opened, origin, sqlite
from tests.support.api import Json, flag_path
from tests.support.debian import leave_out
from tests.support.documented_code import DOCS
from tests.support.middlebox import Middlebox, Trouble
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.shop_page import ShopPage, documented_server
from tests.support.stores import Store

__all__ = ["origin", "sqlite"]  # fixtures

USER = "user-42"
STREAM = 'query: new URLSearchParams({ stream: "sse" })'
CACHE = '  cacheMode: "disabled",\n'
# Writes down what the page has shown, in the order in which it did.
WATCH = """new MutationObserver(() => {
  const seen = document.documentElement.dataset, now = document.body?.dataset.checkout;
  if (now && !(seen.seen ?? "").endsWith(now)) seen.seen = `${seen.seen ?? ""} ${now}`;
}).observe(document, { subtree: true, attributeFilter: ["data-checkout"] });"""


class Shop(NamedTuple):
    """A flag of a project, and keys of its environment."""

    owner: RemoteCaller
    flag: Json
    browser_key: str
    server_key: str

    async def kill(self) -> None:
        """Turn the flag off."""
        answer = await self.owner.post(f"{flag_path(self.flag)}/toggle")
        assert answer.status_code == 200, answer.text

    async def show_to(self, **changes: object) -> None:
        """Change for whom the flag is on."""
        answer = await self.owner.put(flag_path(self.flag), json=changes)
        assert answer.status_code == 200, answer.text


@asynccontextmanager
async def opened_shop(server: ServerProcess) -> AsyncIterator[Shop]:
    """A shop whose flag is on for everyone."""
    async with RemoteCaller(server.url) as owner:
        await owner.sign_up()
        flag = await owner.create_flag(key="new-checkout")
        project = {"id": flag["project_id"]}
        keys = [(await create_key(owner, project, kind=kind))["key"] for kind in ("browser", "server")]
        yield Shop(owner, flag, *keys)


@asynccontextmanager
async def browsing(*, violates: bool = False) -> AsyncIterator[BrowserContext]:
    """A browser, with whether its pages violate their policy."""
    chromium = find_or_install()
    if chromium is None:
        leave_out(MISSING)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        context = await browser.new_context()
        await context.add_init_script(WATCH)
        messages: list[str] = []
        context.on("console", lambda message: messages.append(message.text))
        yield context
        await browser.close()
        assert any("Content Security Policy" in each for each in messages) is violates, messages


async def until_shown(page: Page, checkout: str) -> None:
    """Wait until the page shows a checkout: `old` or `new`."""
    await page.wait_for_selector(f"body[data-checkout={checkout}]", state="attached")


async def seen(page: Page) -> list[str]:
    """What the page has shown since it was opened."""
    return (await page.get_attribute("html", "data-seen") or "").split()


@pytest.mark.parametrize("way", [STREAM, "pollInterval: 200"])
async def test_a_page_sees_a_kill(sqlite: Store, tmp_path: Path, way: str) -> None:
    assert "`pollInterval: 30_000`" in (DOCS / "openfeature.md").read_text()
    async with (
        ServerProcess(sqlite) as server,
        opened_shop(server) as shop,
        ShopPage(tmp_path, server.url, shop.browser_key, changes={STREAM: way}) as site,
        browsing() as browser,
    ):
        page = await browser.new_page()
        response = await page.goto(site.url)
        assert response is not None
        assert response.headers["content-security-policy"] == site.policy
        await until_shown(page, "new")
        await shop.kill()
        await until_shown(page, "old")


async def test_a_policy_without_the_address_of_the_flags_keeps_them_from_the_page(
    sqlite: Store, tmp_path: Path
) -> None:
    other = "http://127.0.0.1:9"
    async with (
        ServerProcess(sqlite) as server,
        opened_shop(server) as shop,
        ShopPage(tmp_path, server.url, shop.browser_key, policy_url=other) as site,
        browsing(violates=True) as browser,
    ):
        page = await browser.new_page()
        async with page.expect_console_message(lambda message: "Content Security Policy" in message.text):
            await page.goto(site.url)
        await page.close()


@pytest.mark.parametrize(("cache", "shown"), [(CACHE, ["old"]), ("", ["new", "old"])])
async def test_a_page_does_not_begin_with_a_feature_that_was_killed_since_unless_it_keeps_flags(
    sqlite: Store, tmp_path: Path, cache: str, shown: list[str]
) -> None:
    async with (
        ServerProcess(sqlite) as server,
        opened_shop(server) as shop,
        ShopPage(tmp_path, server.url, shop.browser_key, changes={CACHE: cache}) as site,
        browsing() as browser,
    ):
        page = await browser.new_page()
        await page.goto(site.url)
        await until_shown(page, "new")
        await page.goto("about:blank")
        await shop.kill()
        await page.goto(site.url)
        await until_shown(page, "old")
        assert await seen(page) == shown


async def test_a_page_shows_the_defaults_until_it_has_its_flags(sqlite: Store, tmp_path: Path) -> None:
    async with (
        ServerProcess(sqlite) as server,
        opened_shop(server) as shop,
        Middlebox(server.port) as box,
        ShopPage(tmp_path, box.url, shop.browser_key) as site,
        browsing() as browser,
    ):
        box.trouble = Trouble.LIMITED
        page = await browser.new_page()
        await page.goto(site.url)
        await page.wait_for_selector("body:not([hidden])[data-checkout=old]")
        box.trouble = None
        await until_shown(page, "new")


async def test_half_of_the_anonymous_visitors_have_a_feature_and_each_keeps_the_answer(
    sqlite: Store, tmp_path: Path
) -> None:
    async with ServerProcess(sqlite) as server, opened_shop(server) as shop, browsing() as browser:
        await shop.show_to(rollout_percentage=50)
        async with ShopPage(tmp_path, server.url, shop.browser_key) as site:
            page, found = await browser.new_page(), set()
            for _ in range(40):
                await browser.clear_cookies()
                shown = []
                for _ in range(2):
                    await page.goto(site.url)
                    await page.wait_for_selector("body[data-checkout]")
                    shown += await seen(page)
                assert shown[0] == shown[1]
                found.add(shown[0])
                if len(found) == 2:
                    break
            assert found == {"old", "new"}


async def test_without_a_targeting_key_half_of_the_visitors_are_none(sqlite: Store, tmp_path: Path) -> None:
    changes = {"{ targetingKey: visitor() }": "{}"}
    async with ServerProcess(sqlite) as server, opened_shop(server) as shop, browsing() as browser:
        await shop.show_to(rollout_percentage=50)
        async with ShopPage(tmp_path, server.url, shop.browser_key, changes=changes) as site:
            page = await browser.new_page()
            async with page.expect_response("**/ofrep/v1/evaluate/flags?*") as response:
                await page.goto(site.url)
            (flag,) = (await (await response.value).json())["flags"]
            assert flag["value"] is False


async def test_who_signs_in_or_out_never_sees_the_flags_of_the_user_before(sqlite: Store, tmp_path: Path) -> None:
    async with (
        ServerProcess(sqlite) as server,
        opened_shop(server) as shop,
        Middlebox(server.port) as box,
        ShopPage(tmp_path, box.url, shop.browser_key) as site,
        browsing() as browser,
    ):
        await shop.show_to(fallthrough="off")
        await shop.owner.create_rule(shop.flag, rule_value=USER)
        page = await browser.new_page()
        await page.goto(site.url)
        await until_shown(page, "old")
        await page.click("#sign-in")
        await until_shown(page, "new")
        box.trouble = Trouble.LIMITED
        await page.click("#sign-out")
        await until_shown(page, "old")
        assert box.troubled > 0
        await page.click("#sign-in")
        box.trouble = None
        await until_shown(page, "new")
        assert await seen(page) == ["old", "new", "old", "new"]


async def test_the_client_alone_keeps_the_flags_of_the_user_before_when_a_request_is_refused(
    sqlite: Store, origin: str
) -> None:
    async with (
        ServerProcess(sqlite) as server,
        opened_shop(server) as shop,
        Middlebox(server.port) as box,
        opened(origin) as page,
    ):
        await shop.show_to(fallthrough="off")
        await shop.owner.create_rule(shop.flag, rule_value=USER)
        user, options = {"targetingKey": USER}, {"stream": True}
        await page.evaluate("([...given]) => openFeature(...given)", [box.url, shop.browser_key, user, options])
        box.trouble = Trouble.LIMITED
        await page.evaluate("setContext({ targetingKey: 'somebody' })")
        assert await page.evaluate("client.getBooleanValue('new-checkout', false)") is True
        assert await page.evaluate("client.providerStatus") == "READY"


async def test_a_page_with_flags_from_its_server_shows_them_before_any_request(sqlite: Store, tmp_path: Path) -> None:
    async with ServerProcess(sqlite) as server, opened_shop(server) as shop, browsing() as browser:
        functions = documented_server(server.url, shop.server_key)

        def make_block() -> str:
            return functions["data_block"](functions["flags_for"]({"targetingKey": USER, "note": "</script><b>"}))

        asked: list[str] = []
        browser.on("request", lambda request: asked.append(request.url))
        async with ShopPage(tmp_path, server.url, shop.browser_key, make_block=make_block) as site:
            page = await browser.new_page()
            async with page.expect_response("**/ofrep/v1/streams?*"):
                await page.goto(site.url)
            await until_shown(page, "new")
            assert [each for each in asked if "/evaluate/" in each] == []
            await shop.kill()
            await until_shown(page, "old")


async def test_a_page_fetches_its_flags_if_its_server_could_not(sqlite: Store, tmp_path: Path) -> None:
    async with ServerProcess(sqlite) as server, opened_shop(server) as shop, browsing() as browser:
        functions = documented_server(server.url, "no key")
        block = functions["data_block"](functions["flags_for"]({}))
        async with ShopPage(tmp_path, server.url, shop.browser_key, make_block=lambda: block) as site:
            page = await browser.new_page()
            await page.goto(site.url)
            await until_shown(page, "new")
