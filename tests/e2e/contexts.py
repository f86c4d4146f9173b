"""Browser contexts. Those for one server are used again.

A context keeps the dashboard's files. In a new context, loading a page takes 50% more processor time.
"""

from collections.abc import Mapping
from typing import Any

from playwright.async_api import Browser, Page


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

    async def close(self, page: Page, url: str, options: Mapping[str, Any], *, is_changed: bool) -> None:
        """Close all pages of a context. It is used again unless it was changed in a way that would remain."""
        context = page.context
        if is_changed or url != self._kept_for:
            await context.close()
            return
        for each in context.pages:
            await each.close()
        await context.unroute_all()
        await context.clear_cookies()
        await context.clear_permissions()
        empty = await context.new_page()
        devtools = await context.new_cdp_session(empty)
        await devtools.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
        await devtools.detach()
        assert await empty.evaluate("/native code/.test(setTimeout)"), "Use Person.clock: a clock cannot be set back."
        self._spare.setdefault(_key(url, options), []).append(empty)


def _key(url: str, options: Mapping[str, Any]) -> str:
    return repr((url, sorted(options.items())))
