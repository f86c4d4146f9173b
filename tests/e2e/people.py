"""People who use the dashboard, each with their own browser, and the API for steps that a test is not about."""

import asyncio
import json
import re
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import httpx
from playwright.async_api import BrowserContext, CDPSession, ConsoleMessage, Locator, Page, WebError, expect

from tests.e2e.contexts import EMPTY_PAGE, Contexts
from tests.support.api import Caller, Json, check_manners
from tests.support.clients import no_certificates, open_client
from tests.support.mailbox import leads_to, read_outbox, reset_token

PASSWORD = "correct horse battery staple"
POLL_SECONDS = 0.05
CHANGES = "**/changes?limit=20"  # what a page reads of the audit trail when its stream is opened, and at each event
SCROLL_THROUGH = """async () => {
  for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight) {
    scrollTo(0, top);
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  }
  scrollTo(0, 0);
}"""
BROWSER_SECONDS = 60  # to open or close a browser context, on a busy machine


class ApiCaller(Caller):
    """The API of a server in another process."""

    def __init__(self, url: str, token: str) -> None:
        httpx.AsyncClient.__init__(
            self,
            base_url=url,
            verify=no_certificates(),
            headers={"authorization": f"Bearer {token}"},
            event_hooks={"response": [check_manners]},
            timeout=30,
        )


class Person:
    """A person. On exit, the context manager fails if a page threw an error or violated its policy."""

    context: BrowserContext
    page: Page
    api: ApiCaller

    def __init__(self, contexts: Contexts, url: str, *, is_first_visit: bool = False, **options: Any) -> None:
        """`options` are those of a browser context, such as `color_scheme`. By default, people prefer reduced motion.

        On a first visit, the browser has no files of the dashboard.
        """
        self.url = url
        self.email = f"ada-{uuid4().hex[:12]}@example.com"
        self.token = ""
        self._contexts = contexts
        self._options = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce", **options}
        self._is_changed = is_first_visit
        self._is_page_changed = False
        self._faults: list[str] = []

    async def __aenter__(self) -> Self:
        async with asyncio.timeout(BROWSER_SECONDS):
            self.page = await self._contexts.open(self.url, self._options, is_new=self._is_changed)
            self.context = self.page.context
            self.context.set_default_timeout(60_000)
            self.context.on("weberror", self._note_error)
            self.context.on("console", self._note)
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        if hasattr(self, "api"):
            await self.api.aclose()
        async with asyncio.timeout(BROWSER_SECONDS):
            await self._contexts.close(
                self.page,
                self.url,
                self._options,
                is_changed=self._is_changed,
                is_page_changed=self._is_page_changed,
            )
        self.context.remove_listener("weberror", self._note_error)
        self.context.remove_listener("console", self._note)
        assert kind is not None or not self._faults, self._faults

    @property
    def clock(self) -> Any:
        """The clock of this browser. The browser context is not used again afterwards."""
        self._is_changed = True
        return self.page.clock

    def _note_error(self, error: WebError) -> None:
        self._faults.append(str(error.error))

    def _note(self, message: ConsoleMessage) -> None:
        # A refused call is not an error of the page; every other error on the console is.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self._faults.append(message.text)

    async def run_before_pages(self, script: str) -> None:
        """Run a script before whatever this browser's page loads. The page is not used again afterwards."""
        self._is_page_changed = True
        await self.page.add_init_script(script)

    async def open_devtools(self) -> CDPSession:
        """Return a session of this page's developer tools. The page is not used again afterwards."""
        self._is_page_changed = True
        return await self.context.new_cdp_session(self.page)

    async def without_events(self) -> None:
        """Keep pages from learning of changes by a stream, also by the one that the browser's pages share."""
        await self.run_before_pages("delete window.SharedWorker")
        await self.page.route("**/api/events?*", lambda route: route.abort())

    def following(self) -> AbstractAsyncContextManager[object]:
        """Wait until the page follows changes: it has read those that were there when its stream was opened."""
        return self.page.expect_response(CHANGES)

    async def sign_up(self) -> None:
        """Create an account through the API and sign this browser in."""
        async with open_client(base_url=self.url, timeout=30) as client:
            credentials = {"email": self.email, "password": PASSWORD}
            (await client.post("/auth/register", json=credentials)).raise_for_status()
            self.token = (await client.post("/auth/login", json=credentials)).raise_for_status().json()["token"]
        self.api = ApiCaller(self.url, self.token)
        await self.use_token(self.token)

    async def use_token(self, token: str) -> None:
        """Store a token as this browser's session, without asking the server."""
        if self.page.url != f"{self.url}{EMPTY_PAGE}":
            await self.page.goto(EMPTY_PAGE)
        await self.page.evaluate(
            "session => localStorage.setItem('flagstaff.session', JSON.stringify(session))",
            {"token": token, "email": self.email},
        )

    async def turn_to(self, path: str) -> None:
        """Open a page in the loaded dashboard, as a link does. This takes a third of the time of loading it.

        The dashboard may still show data from before the latest calls of the API, and it reads the token of a link only
        when it is loaded. A page without controls is opened in between, so that no control of the previous page can be
        mistaken for one of this page.
        """
        between = self.page.get_by_role("heading", name="Page not found", exact=True)
        await self.page.evaluate("history.pushState({}, '', '/nowhere')")
        await expect(between).to_be_visible()
        await self.page.evaluate("path => history.pushState({}, '', path)", path)
        await expect(between).to_have_count(0)
        await expect(self.page.get_by_role("heading", level=1)).to_be_visible()

    async def stored_session(self) -> str | None:
        """Return the session in local storage."""
        stored: str | None = await self.page.evaluate("localStorage.getItem('flagstaff.session')")
        return stored

    async def fill(self, **fields: str) -> None:
        """Fill in fields by their labels; `user_id` is the label that starts with “User id”."""
        for label, value in fields.items():
            await self.page.get_by_label(label.replace("_", " "), exact=False).first.fill(value)

    async def copy(self, button: Locator, key: str | None = None) -> str:
        """Press a button that copies a text, by mouse or with this key; return the text when the clipboard has it.

        The page may write and read the clipboard only after `grant_permissions`.
        """
        await self.page.evaluate("navigator.clipboard.writeText('')")
        await (button.click() if key is None else button.press(key))
        copied = await self.page.wait_for_function("async () => await navigator.clipboard.readText()")
        return str(await copied.json_value())

    async def press(self, button: str) -> None:
        """Press the button with exactly this name."""
        await self.page.get_by_role("button", name=button, exact=True).click()

    async def turn_on(self, switch: Locator) -> None:
        """Turn on a flag of a critical environment, such as production, by its switch."""
        await switch.click()
        await self.confirm_turning_on()

    async def confirm_turning_on(self) -> None:
        """Confirm the question that precedes turning on a flag in a critical environment, such as production."""
        await self.page.get_by_role("dialog").get_by_role("button", name="Turn on", exact=True).click()

    async def sees(self, text: str) -> None:
        """Wait until a text is visible."""
        await expect(self.page.get_by_text(text).first).to_be_visible()

    async def sees_heading(self, name: str) -> None:
        """Wait for a heading."""
        await expect(self.page.get_by_role("heading", name=name, exact=True)).to_be_visible()


async def point_at(element: Locator, share: float, y: float, *, is_pressed: bool = False) -> None:
    """Move the mouse to a place in an element: a share of its width, and a distance from its top.

    The element is looked for now, because what has loaded meanwhile may have moved it.
    """
    box = await element.bounding_box()
    assert box is not None
    # While a button of the mouse is pressed, whatever follows the mouse may cover the element.
    await element.hover(position={"x": box["width"] * share, "y": y}, force=is_pressed)


async def load_all(page: Page) -> None:
    """Scroll through the current page until it has loaded everything. Parts below the window load later."""
    await expect(page.locator("h1").first).to_be_attached()  # before its code has been loaded, nothing says what lacks
    unloaded = page.locator(".mantine-Skeleton-root")
    async with asyncio.timeout(60):
        while await unloaded.count():
            await page.evaluate(SCROLL_THROUGH)


async def evaluate_and_record(ada: Person, environment: Json, *contexts: Json) -> None:
    """Evaluate for several users, and wait until the history has these evaluations beside the earlier ones."""
    evaluations = f"/api{environment_page(environment)}/evaluations"

    async def recorded() -> set[str]:
        return {each["id"] for each in (await ada.api.get(evaluations)).json()["items"]}

    earlier = await recorded()
    project = (await ada.api.get(f"/api/projects/{environment['project_id']}")).json()
    for context in contexts:
        (await ada.api.evaluate(project["sdk_key"], environment["key"], context)).raise_for_status()
    async with asyncio.timeout(60):
        while len(await recorded() - earlier) < len(contexts):
            await asyncio.sleep(POLL_SECONDS)


async def invite(
    ada: Person, project: Json, email: str, data_directory: Path, *, role: str = "editor", **values: object
) -> str:
    """Invite an address to a project; return the token in the mail, which is in the outbox of the server."""
    body = {"email": email, "role": role, **values}
    (await ada.api.post(f"/api/projects/{project['id']}/invitations", json=body)).raise_for_status()
    return await mailed_token(email, data_directory, "invitation")


async def mailed_token(email: str, data_directory: Path, page: str) -> str:
    """Wait for a mail to an address, and return the token of its link to a page."""
    async with asyncio.timeout(60):
        while not (
            mails := [each for each in read_outbox(data_directory) if each["To"] == email and leads_to(each, page)]
        ):
            await asyncio.sleep(POLL_SECONDS)
    return reset_token(mails[-1], page)


async def send_shown_call(page: Page, **context: str) -> None:
    """Send the curl command that a flag's page shows under “Use in code”, for another user."""
    command = await page.get_by_role("tabpanel").locator("pre").inner_text()
    url, key, body = (_find(pattern, command) for pattern in (r"(http\S+)", r"X-SDK-Key: ([^']+)", r"-d '(.+)'"))
    async with open_client(timeout=30) as client:
        given = {**json.loads(body), "context": context}
        (await client.post(url, headers={"X-SDK-Key": key}, json=given)).raise_for_status()


def _find(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match is not None, text
    return match[1]


def environment_page(environment: Json) -> str:
    """Return the path of an environment's flags."""
    return f"/projects/{environment['project_id']}/environments/{environment['id']}"


def flag_page(flag: Json) -> str:
    """Return the path of a flag."""
    return f"/projects/{flag['project_id']}/environments/{flag['environment_id']}/flags/{flag['id']}"
