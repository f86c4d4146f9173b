"""Finds and uses the controls of a project's pages that need a permission, and compares them with what is sent."""

import asyncio
import re
from contextlib import suppress
from typing import Any

from playwright.async_api import Page, Request, expect
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from flagstaff.assembly.openapi import PERMISSION
from tests.e2e.people import POLL_SECONDS, Person, environment_page, flag_page, load_all
from tests.support.api import Json
from tests.support.description import described

CONTROLS = """() => [...document.querySelectorAll("main [data-needs]")].map((each) => ({
  needs: each.dataset.needs,
  within: each.dataset.within ?? null,
  disabled: each.getAttribute("aria-disabled") === "true",
  barred: each.disabled === true, // for another reason than the role
  reason: each.getAttribute("aria-description"),
  name: each.getAttribute("aria-label") ?? each.textContent,
}))"""
# Presses every control of the page, including those that appear meanwhile. Returns the dialogs and menus that opened.
PRESS_ALL = """async (leftOut) => {
  const opened = [];
  new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => {
    const found = node.nodeType === 1 && (node.matches("[role=dialog], [role=menu]") ? node
      : node.querySelector("[role=dialog], [role=menu]"));
    if (!found) return;
    const label = document.getElementById(found.getAttribute("aria-labelledby") ?? "");
    opened.push(found.textContent || (label?.textContent ?? "")); // what it shows may still be loaded
  }))).observe(document.body, { childList: true, subtree: true });
  const pressed = new Set();
  const name = (each) => each.getAttribute("aria-label") ?? each.textContent;
  for (;;) {
    const next = [...document.querySelectorAll("main button, main [role=radiogroup] input")]
      .find((each) => each.role !== "tab" && name(each) !== leftOut && !pressed.has(name(each) + each.value));
    if (!next) return { opened, pressed: pressed.size };
    pressed.add(name(next) + next.value);
    next.click();
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
}"""


def pages(project: Json) -> list[tuple[str, str | None]]:
    """Return each page of a project, with the key of its environment."""
    whole: list[tuple[str, str | None]] = [
        (f"/projects/{project['id']}/{page}", None)
        for page in (
            "flags",
            "segments",
            "audit",
            "compare",
            "playground",
            "user?id=ada",
            "members",
            "sdk-keys",
            "tokens",
            "webhooks",
            "settings",
            "erasures",
        )
    ]
    for key, flag in zip(("production", "staging"), project["flags"], strict=True):
        here = environment_page({"project_id": project["id"], "id": flag["environment_id"]})
        whole += [
            (f"{here}{page}", key) for page in ("", "/archived", "/history", "/changes", "/applications", "/cleanup")
        ]
        whole += [(f"{flag_page(flag)}?tab={tab}", key) for tab in ("overview", "history", "changes", "code")]
    return whole


def flags_page(project: Json) -> str:
    """Return the path of the list of the flags in production."""
    return environment_page({"project_id": project["id"], "id": project["flags"][0]["environment_id"]})


async def open_page(page: Page, path: str) -> list[Any]:
    """Load the dashboard at a page; return its controls that need a permission."""
    await page.goto(path)
    return await _controls(page)


async def turn_to(person: Person, path: str) -> list[Any]:
    """Open a page in the loaded dashboard; return its controls that need a permission."""
    await person.turn_to(path)
    return await _controls(person.page)


async def _controls(page: Page) -> list[Any]:
    await expect(page.get_by_role("heading", level=1)).to_be_visible()
    await load_all(page)
    found: list[Any] = await page.evaluate(CONTROLS)
    return found


def required_by(request: Request) -> str:
    """Return the permission that the operation of a request requires."""
    path = request.url.partition("/api/")[2].partition("?")[0]
    for template, operations in described()["paths"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template.removeprefix("/api/")))
        if re.fullmatch(pattern, path) and request.method.lower() in operations:
            required: str = operations[request.method.lower()][PERMISSION]
            return required
    raise AssertionError(request.url)


async def use(page: Page, place: int, choice: int, sent: list[str]) -> int:
    """Use a control, or a choice of its menu, until a request is sent; return how many choices there are.

    Keys are pressed, because a message about the request before can cover what a mouse would press.
    """
    control = page.locator("main [data-needs]").nth(place)
    choices, submit = 1, page.get_by_role("dialog").locator("[type=submit]")
    if await control.get_attribute("role") == "radiogroup":
        await control.locator("label").last.click()
    else:
        await control.press("Enter")
    if await control.get_attribute("aria-haspopup") == "menu":
        items = page.get_by_role("menuitem")
        await expect(items.first).to_be_visible()
        choices = await items.count()
        await items.nth(choice).press("Enter")
    async with asyncio.timeout(60):
        is_pressed = False
        while not sent:
            if not is_pressed and await submit.count():
                # The button of a dialog that asks the server first may be gone again.
                with suppress(PlaywrightTimeoutError):
                    name = page.get_by_role("dialog").get_by_label("Type the name to confirm")
                    if await name.count():
                        await name.fill(await page.get_by_role("dialog").locator(".mono").inner_text())
                    await submit.press("Enter", timeout=2_000)
                    is_pressed = True
            await asyncio.sleep(POLL_SECONDS)
    return choices
