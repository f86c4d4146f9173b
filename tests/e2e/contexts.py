"""Browser contexts and their pages. Those for one server are used again.

A context keeps the dashboard's files, and the process of a page keeps their compiled code. A new context makes loading
a page take 50% more processor time, and a new page a third more.
"""

from collections.abc import Mapping
from typing import Any

from playwright.async_api import Browser, Page

EMPTY_PAGE = "/favicon.svg"  # of the server, so that the next page begins in the same process


class Contexts:
    """The contexts of a browser. One person at a time uses a context, and finds no pages or data of others in it."""

    def __init__(self, browser: Browser) -> None:
        """Create contexts of this browser. None is used again until `keep_for` is called."""
        self.browser = browser
        self._kept_for: str | None = None
        self._spare: dict[str, list[Page]] = {}

    def keep_for(self, url: str) -> None:
        """Use the contexts for the server at this URL again while it runs."""
        self._kept_for = url

    async def open(self, url: str, options: Mapping[str, Any], *, is_new: bool) -> Page:
        """Return an empty page in a free context with these options. A `new` context has not been used before."""
        spare = self._spare.get(_key(url, options))
        if spare and not is_new:
            return spare.pop()
        context = await self.browser.new_context(base_url=url, **options)
        return await context.new_page()

    async def close(
        self, page: Page, url: str, options: Mapping[str, Any], *, is_changed: bool, is_page_changed: bool
    ) -> None:
        """Close all other pages of a context, and empty this one.

        The context or only its page is not used again if it was changed in a way that would remain.
        """
        context = page.context
        if is_changed or url != self._kept_for:
            await context.close()
            return
        for each in context.pages:
            if each is not page or is_page_changed:
                await each.close()
        await context.unroute_all()
        await context.clear_cookies()
        await context.clear_permissions()
        empty = await context.new_page() if is_page_changed else page
        await _restore(empty, url, options)
        self._spare.setdefault(_key(url, options), []).append(empty)


async def _restore(page: Page, url: str, options: Mapping[str, Any]) -> None:
    """Leave a page without content, data, history or settings of its own."""
    await page.unroute_all()
    await page.goto(f"{url}{EMPTY_PAGE}")
    await page.evaluate("sessionStorage.clear()")
    await page.emulate_media(
        color_scheme=options.get("color_scheme", "light"), reduced_motion=options.get("reduced_motion", "no-preference")
    )
    await page.set_viewport_size(options["viewport"])
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
    await devtools.send("Page.resetNavigationHistory")
    await devtools.detach()
    assert await page.evaluate("/native code/.test(setTimeout)"), "Use Person.clock: a clock cannot be set back."


def _key(url: str, options: Mapping[str, Any]) -> str:
    return repr((url, sorted(options.items())))
