"""Passwords and single sign-on in one process, which loads PyJWT once without cryptography and once with it."""

import json
from pathlib import Path

import pytest

from tests.support.oidc import SECRET, IdentityProvider
from tests.support.ports import free_port
from tests.support.remote import RemoteCaller
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store

EVE = "eve@example.com"


async def sign_in(caller: RemoteCaller, provider: IdentityProvider) -> None:
    """Sign in at the provider."""
    begun = (await caller.post("/auth/sso/acme/begin", json={})).json()
    answer = await provider.answer(begun["authorization_url"], EVE)
    body = {name: answer[name] for name in ("state", "code", "iss")}
    completed = await caller.post("/auth/sso/complete", json={**body, "binding": begun["binding"]})
    assert completed.status_code == 200, completed.text
    caller.headers["authorization"] = f"Bearer {completed.json()['token']}"


@pytest.mark.parametrize("is_password_first", [True, False])
async def test_both_sign_and_read_tokens_in_either_order(tmp_path: Path, is_password_first: bool) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with IdentityProvider(url) as provider:
        acme = {"key": "acme", "name": "Acme", "issuer": provider.issuer, "client_id": "flagstaff"}
        providers = json.dumps([{**acme, "client_secret": SECRET}])
        await provider.set(people={EVE: {"email": EVE, "email_verified": True}})
        environ = {"FLAGSTAFF_PORT": str(port), "FLAGSTAFF_OIDC_PROVIDERS": providers, "FLAGSTAFF_PUBLIC_URL": url}
        server = ServerProcess(Store(None, tmp_path / "data"), environ, command=COMMAND)
        server.port, server.url = port, url
        async with server, RemoteCaller(url) as ada, RemoteCaller(url) as eve:
            if is_password_first:
                await ada.sign_up()
            await sign_in(eve, provider)
            if not is_password_first:
                await ada.sign_up()
            for caller in (ada, eve):
                assert (await caller.get("/api/me")).status_code == 200
