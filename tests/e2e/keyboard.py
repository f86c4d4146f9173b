"""Uses pages by keyboard only: every element is reached by tabbing, and the focus must be visible on the way."""

from playwright.async_api import Locator, Page, expect

MOST_STOPS = 90
# Waits until the page has been redrawn and has done what it put off. Returns whether an element has the focus, whether
# it has left the page, and what is wrong with the current focus, or null. Fields are not checked for an outline,
# because they show the focus by their frame.
STOP = """(target) => new Promise((resolve) => {
  const stop = () => resolve([target === document.activeElement, !target.isConnected, fault()]);
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(stop, 0)));
  const fault = () => {
    const at = document.activeElement;
    if (at === document.body) return null;
    const box = at.getBoundingClientRect();
    const where = at.getAttribute("aria-label") || at.outerHTML.slice(0, 120);
    if (box.bottom <= 0 || box.top >= innerHeight || box.right <= 0 || box.left >= innerWidth)
      return `out of sight: ${where}`;
    if (at.matches("input, textarea, select")) return null;
    const { outlineStyle, outlineWidth } = getComputedStyle(at);
    if (outlineStyle === "none" || parseFloat(outlineWidth) < 1) return `not to be seen: ${where}`;
    const over = document.elementFromPoint(box.left + box.width / 2, box.top + Math.min(box.height, 40) / 2);
    return at.contains(over) || over?.contains(at) ? null : `covered: ${where}`;
  };
})"""

NEXT_TURN = "() => new Promise((resolve) => setTimeout(resolve, 0))"


class Keyboard:
    """The keyboard of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    async def press(self, *keys: str) -> None:
        """Press keys, one after the other.

        Before each key, the page does what it has put off with a timer of zero, as Mantine does to choose an option. A
        browser on a busy machine handles keys first, and people do not press them within a millisecond.
        """
        for key in keys:
            await self._page.evaluate(NEXT_TURN)
            await self._page.keyboard.press(key)

    async def type(self, text: str) -> None:
        """Replace the text of the focused field by typing."""
        await self.press("ControlOrMeta+a")
        await self._page.keyboard.type(text)

    async def go_to(self, target: Locator, key: str = "Tab") -> None:
        """Tab until the target has the focus, backwards with `Shift+Tab`. The focus must be visible at every stop."""
        await expect(target).to_be_visible()
        element = await target.element_handle()
        if await element.evaluate("element => element === document.activeElement"):
            return
        await self._page.evaluate(NEXT_TURN)
        for _ in range(MOST_STOPS):
            await self._page.keyboard.press(key)
            is_reached, is_gone, fault = await element.evaluate(STOP)
            assert fault is None, fault
            if is_gone:  # the page has drawn it anew
                element = await target.element_handle()
                is_reached = await element.evaluate("element => element === document.activeElement")
            if is_reached:
                return
        raise AssertionError(f"never reached by {MOST_STOPS} tabs: {target}")

    async def use(self, target: Locator, key: str = "Enter") -> None:
        """Go to the target and press the key there."""
        await self.go_to(target)
        await self.press(key)

    async def write(self, target: Locator, text: str) -> None:
        """Go to a field and type into it."""
        await self.go_to(target)
        await self.type(text)
