"""Passkeys in a browser with a virtual authenticator, and what a page of another origin can do with them."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest_asyncio
from playwright.async_api import Browser, CDPSession, Page

from tests.e2e.people import PASSWORD, ApiCaller
from tests.e2e.second_factors import AUTHENTICATOR, serving_passkeys
from tests.support.api import Json, field_errors
from tests.support.clients import open_client
from tests.support.server import ServerProcess

PASSKEYS = "/api/me/two-factor/passkeys"
CREATE = """async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({publicKey})).toJSON();
}"""
GET = """async (options) => {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({publicKey})).toJSON();
}"""


class Device:
    """A person's browser with an authenticator, and their account."""

    def __init__(self, page: Page, cdp: CDPSession, authenticator_id: str, api: ApiCaller, email: str) -> None:
        self.page = page
        self.cdp = cdp
        self.authenticator_id = authenticator_id
        self.api = api
        self.email = email

    async def visit(self, port: int) -> None:
        """Open a page of an origin, which runs the scripts below."""
        await self.page.goto(f"http://localhost:{port}/health")

    async def register(self) -> Json:
        begun = await self.api.post(f"{PASSKEYS}/options", json={"current_password": PASSWORD})
        credential = await self.page.evaluate(CREATE, begun.json()["public_key"])
        answer = await self.api.post(PASSKEYS, json={"name": "Phone", "credential": credential})
        assert answer.status_code == 201, answer.text
        registered: Json = answer.json()
        return registered

    async def assertion(self, **changed: Any) -> Json:
        """Return an assertion for a login with the passkey alone."""
        begun = await self.api.post("/auth/passkeys/options")
        credential: Json = await self.page.evaluate(GET, {**begun.json()["public_key"], **changed})
        return credential

    async def log_in(self, credential: Json) -> httpx.Response:
        return await self.api.post("/auth/passkeys/login", json={"credential": credential})


@pytest_asyncio.fixture(loop_scope="session")
async def device(browser: Browser, server: ServerProcess) -> AsyncIterator[Device]:
    """Ada's."""
    context = await browser.new_context()
    page = await context.new_page()
    cdp = await context.new_cdp_session(page)
    await cdp.send("WebAuthn.enable")
    added = await cdp.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    credentials = {"email": f"ada-{uuid4().hex[:12]}@example.com", "password": PASSWORD}
    async with open_client(base_url=server.url) as anybody:
        await anybody.post("/auth/register", json=credentials)
        token = (await anybody.post("/auth/login", json=credentials)).json()["token"]
    async with ApiCaller(server.url, token) as api:
        made = Device(page, cdp, added["authenticatorId"], api, credentials["email"])
        await made.visit(server.port)
        yield made
    await context.close()


async def test_a_passkey_is_the_second_factor_of_a_login(device: Device) -> None:
    registered = await device.register()
    assert len(registered["recovery_codes"]) == 10

    asked = (await device.api.post("/auth/login", json={"email": device.email, "password": PASSWORD})).json()
    credential = await device.page.evaluate(GET, asked["passkey_options"])
    body = {"challenge": asked["challenge"], "passkey": credential}
    answer = await device.api.post("/auth/login/second-factor", json=body)

    assert answer.status_code == 200, answer.text
    assert (await device.api.post("/auth/login/second-factor", json=body)).status_code == 401


async def test_a_passkey_alone_logs_its_owner_in_once(device: Device) -> None:
    await device.register()
    credential = await device.assertion()

    answer = await device.log_in(credential)

    assert answer.json().keys() == {"token"}
    assert (await device.log_in(credential)).status_code == 401


async def test_the_authenticator_must_verify_its_user(device: Device) -> None:
    await device.register()
    of_user = {"authenticatorId": device.authenticator_id, "isUserVerified": False}
    await device.cdp.send("WebAuthn.setUserVerified", of_user)

    answer = await device.log_in(await device.assertion(userVerification="discouraged"))

    assert field_errors(answer).keys() == {"credential"}


async def test_a_page_of_another_origin_gets_nothing_by_what_it_makes_here(
    device: Device, server: ServerProcess, sqlite_template: Path, tmp_path: Path
) -> None:
    await device.register()
    async with serving_passkeys(sqlite_template, tmp_path) as other:
        await device.visit(other.port)  # the same host, so that the authenticator offers the passkey
        answer = await device.log_in(await device.assertion())

    message = f"was made by a page of another origin; use http://localhost:{server.port}"
    assert field_errors(answer) == {"credential": message}


async def test_a_copy_of_a_passkey_whose_counter_lags_behind_is_refused(device: Device) -> None:
    await device.register()
    where = {"authenticatorId": device.authenticator_id}
    (copied,) = (await device.cdp.send("WebAuthn.getCredentials", where))["credentials"]
    assert (await device.log_in(await device.assertion())).status_code == 200
    await device.cdp.send("WebAuthn.clearCredentials", where)
    await device.cdp.send("WebAuthn.addCredential", {**where, "credential": {**copied, "signCount": 0}})

    answer = await device.log_in(await device.assertion())

    assert field_errors(answer).keys() == {"credential"}


async def test_a_removed_passkey_opens_nothing(device: Device) -> None:
    passkey = (await device.register())["passkey"]
    credential = await device.assertion()
    removed = await device.api.post(f"{PASSKEYS}/{passkey['id']}/remove", json={"current_password": PASSWORD})
    assert removed.status_code == 204

    assert (await device.log_in(credential)).status_code == 401
