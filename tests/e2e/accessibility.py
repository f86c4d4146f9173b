"""Checks of pages: axe finds no violation, and nothing is wider than the window. The sample values are hard to fit."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from playwright.async_api import expect

from tests.e2e.people import Person, load_all

AXE = Path(__file__).parents[2] / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]
UNBROKEN = "Donaudampfschifffahrtsgesellschaftskapitaenskajuetenfenster"
VARIANTS = [
    {"key": "blue", "weight": 900, "value": {"colour": "#00f", "label": "Buy now"}},
    {"key": "green", "weight": 100, "value": {"colour": "#0a0", "label": "Order", "note": UNBROKEN * 2}},
]
# Only violations: axe would also return every rule that passes, and passing these on takes four times as long as the
# check.
VIOLATIONS = """async (rules) =>
  (await axe.run(document, { runOnly: rules, resultTypes: ["violations"] })).violations"""
# The outermost elements that extend beyond the right edge of the window.
WIDER_THAN_THE_WINDOW = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("body *")]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 5)
    .map((each) => each.outerHTML.slice(0, 160))"""


async def open_and_check(person: Person, path: str, heading: str) -> None:
    """Open a page in the loaded dashboard, wait for its content and check it in both colour schemes."""
    await person.turn_to(path)
    await person.sees_heading(heading)
    await check_in_both_schemes(person, path)


async def check_in_both_schemes(person: Person, place: str) -> None:
    """Check the current page in the light scheme, and its colours in the dark scheme as well."""
    await check(person, place)
    await _show_in(person, "dark")
    await check(person, f"{place}, dark", rules=OF_COLOURS)
    await _show_in(person, "light")


async def check(person: Person, place: str, *, rules: Sequence[str] = RULES) -> None:
    """Check the current page with axe when it has loaded everything. `rules` are ids or tags of axe's rules.

    The page is scrolled to its top, because axe measures only the part of a control that the header does not cover.
    """
    await load_all(person.page)
    await person.page.evaluate("scrollTo(0, 0)")
    await person.page.evaluate("Promise.allSettled(document.getAnimations().map((each) => each.finished))")
    if not await person.page.evaluate("'axe' in window"):
        await person.page.evaluate(AXE.read_text())
    violations = await person.page.evaluate(VIOLATIONS, list(rules))
    told = [
        f"{each['id']}: {node['html'][:160]} {node['failureSummary'][:300]}"
        for each in violations
        for node in each["nodes"]
    ]
    assert not told, f"{place}:\n" + "\n".join(told)


async def stays_within(person: Person, path: str | None = None) -> None:
    """Check that nothing on a page is wider than the window. Open the page first, unless it is already open."""
    page = person.page
    if path is not None:
        await page.goto(path)
        await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await load_all(page)
    wide = await page.evaluate(WIDER_THAN_THE_WINDOW)
    assert not wide, f"{path}: {wide}"


async def _show_in(person: Person, scheme: Literal["light", "dark"]) -> None:
    """Set the colour scheme that the person's system prefers and the page follows."""
    await person.page.emulate_media(color_scheme=scheme)
    await expect(person.page.locator("html")).to_have_attribute("data-mantine-color-scheme", scheme)
