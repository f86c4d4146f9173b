"""What the fault suite says about pages: one that goes on showing a feature is found, and no other."""

from tests.faults.pages import Visitor
from tests.sdks.test_browsers import opened, origin

__all__ = ["origin"]  # a fixture


async def test_a_page_that_goes_on_showing_a_feature_is_found(origin: str) -> None:
    async with opened(origin) as page:
        await page.evaluate("window.client = { getBooleanValue: (key, fallback) => window.answer ?? fallback }")
        visitor = Visitor("A page", page, "client.getBooleanValue('checkout', {default})")
        await page.evaluate("window.answer = true")
        assert await visitor.sees(on=True) is None
        assert "does not show that the feature is off" in (await visitor.sees(on=False, seconds=0.2) or "")
        await page.evaluate("delete window.answer")  # a page without flags shows the default
        assert await visitor.sees(on=False, seconds=0.2) is not None
        await page.evaluate("window.answer = false")
        assert await visitor.sees(on=False) is None
