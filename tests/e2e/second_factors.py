"""Second factors of people: authenticator apps, which use the real time, and browsers' virtual authenticators."""

import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pyotp
from playwright.async_api import Locator, expect

from tests.e2e.conftest import UNLIMITED
from tests.e2e.people import PASSWORD, Person
from tests.support.api import Json
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store

TWO_FACTOR = "/api/me/two-factor"
JSQR = Path(__file__).parents[2] / "dashboard" / "node_modules" / "jsqr" / "dist" / "jsQR.js"
READ_QR_CODE = """async (png) => {
    const image = await createImageBitmap(await (await fetch(png)).blob());
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const { data, width, height } = canvas.getImageData(0, 0, image.width, image.height);
    return jsQR(data, width, height, { inversionAttempts: "dontInvert" })?.data ?? null;
}"""
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def next_code(secret: str) -> str:
    """Return the code of the next half minute. The server accepts it as well, and it differs from the one used now."""
    return pyotp.TOTP(secret).at(time.time(), counter_offset=1)


async def enrol_app(person: Person) -> tuple[str, list[str]]:
    """Enrol an app through the API; return its secret and the recovery codes."""
    begun = await person.api.post(f"{TWO_FACTOR}/totp", json={"current_password": PASSWORD})
    secret = begun.raise_for_status().json()["secret"]
    confirmed = await person.api.post(f"{TWO_FACTOR}/totp/confirm", json={"code": pyotp.TOTP(secret).now()})
    return secret, confirmed.raise_for_status().json()["recovery_codes"]


async def scan(person: Person, code: Locator) -> str:
    """Read a QR code from a screenshot. Like many cameras, the reader needs a dark code on a light background."""
    shot = base64.b64encode(await code.screenshot(animations="disabled")).decode()
    page = await person.context.new_page()  # an empty page, whose policy allows the script
    await page.evaluate(JSQR.read_text())
    text: str | None = await page.evaluate(READ_QR_CODE, f"data:image/png;base64,{shot}")
    await page.close()
    assert text is not None, "no QR code was found"
    return text


async def add_authenticator(person: Person) -> None:
    """Give a browser a virtual authenticator, which confirms everything."""
    cdp = await person.open_devtools()
    await cdp.send("WebAuthn.enable")
    await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})


def dialog_of(person: Person) -> Locator:
    """Return the open dialog."""
    return person.page.get_by_role("dialog")


async def open_account(person: Person) -> None:
    """Open the page of the account, and wait for its second factors."""
    await person.page.goto("/account")
    await expect(person.page.get_by_role("list", name="Two-factor authentication")).to_be_visible()


async def add_passkey(person: Person, name: str | None = None) -> None:
    """Open the dialog, fill it in and press the button."""
    await person.press("Add passkey")
    if name is not None:
        await dialog_of(person).get_by_label("Name").fill(name)
    await dialog_of(person).get_by_label("Current password").fill(PASSWORD)
    await dialog_of(person).get_by_role("button", name="Add passkey").click()


async def state_of(person: Person) -> Json:
    """Return the second factors of the account."""
    state: Json = (await person.api.get(TWO_FACTOR)).raise_for_status().json()
    return state


@asynccontextmanager
async def serving_passkeys(template: Path, folder: Path) -> AsyncIterator[ServerProcess]:
    """Run a server that people reach at localhost, because passkeys need a host name."""
    server = ServerProcess(sqlite_store(template, folder / "data"), UNLIMITED)
    server._environ["FLAGSTAFF_PUBLIC_URL"] = f"http://localhost:{server.port}"
    async with server:
        yield server
