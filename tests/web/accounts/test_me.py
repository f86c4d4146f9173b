"""GET /api/me, and the token that every operation under /api requires."""

import base64
import hashlib
import hmac
import json
from typing import Any

import httpx
import jwt
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller
from tests.support.clock import Clock
from tests.support.sessions import operated_accounts


async def ask(client: Caller, *authorization: str | bytes) -> httpx.Response:
    given = [each if isinstance(each, bytes) else each.encode() for each in authorization]
    return await client.get("/api/me", headers=[(b"authorization", each) for each in given])


def part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


async def test_without_a_token_it_is_refused(client: Caller) -> None:
    answer = await client.get("/api/me")

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_another_form_of_authorization_is_refused(ada: Caller, client: Caller) -> None:
    token = str(ada.token)
    for given in (
        "",
        "Bearer",
        "Bearer ",
        token,
        f"Basic {token}",
        f"Token {token}",
        f"Bearer{token}",
        f"Bearer: {token}",
    ):
        assert (await ask(client, given)).status_code == 401, given


async def test_two_authorization_headers_are_refused_even_if_both_are_good(ada: Caller, client: Caller) -> None:
    assert (await ask(client, f"Bearer {ada.token}", f"Bearer {ada.token}")).status_code == 401
    assert (await ask(client, f"Bearer {ada.token}, Bearer {ada.token}")).status_code == 401


async def test_a_malformed_token_is_refused(ada: Caller, client: Caller) -> None:
    assert ada.token is not None
    header, claims, signature = ada.token.split(".")
    nested = base64.urlsafe_b64encode(b"[" * 40_000).decode().rstrip("=")
    long_number = base64.urlsafe_b64encode(b'{"alg":' + b"1" * 9_000 + b"}").decode().rstrip("=")
    for token in (
        "x",
        "..",
        "a.b.c",
        "é.ü.ñ".encode(),
        b"\xff\xfe.\x80.\x80",
        f"{header}.{claims}",
        f"{header}.{claims}.",
        f"{header}.{claims}.{signature}x",
        f"{header}.{claims}.{signature}.{signature}",
        f"{header}..{signature}",
        f"{part([])}.{claims}.{signature}",
        f"{part('alg')}.{claims}.{signature}",
        f"{part({'alg': {}})}.{claims}.{signature}",
        f"{part({'alg': 'HS256', 'kid': 5})}.{claims}.{signature}",
        f"{part({'alg': 'HS256', 'crit': ['b64'], 'b64': False})}.{claims}.{signature}",
        f"{nested}.{claims}.{signature}",
        f"{long_number}.{claims}.{signature}",
        "x" * 60_000,
    ):
        given = b"Bearer " + (token.encode() if isinstance(token, str) else token)
        assert (await ask(client, given)).status_code == 401, token[:80]


async def test_a_changed_or_unsigned_or_otherwise_signed_token_is_refused(
    ada: Caller, eve: Caller, client: Caller, flagstaff: Flagstaff
) -> None:
    assert ada.token is not None
    header, claims, signature = ada.token.split(".")
    forged = jwt.decode(ada.token, options={"verify_signature": False})
    forged["sub"] = eve.account["id"]
    signing_key = hmac.digest(b"k" * 32, b"flagstaff bearer token", hashlib.sha256)
    for token in (
        f"{header}.{part(forged)}.{signature}",
        f"{part({'alg': 'none', 'typ': 'JWT'})}.{claims}.",
        f"{part({'alg': 'None'})}.{claims}.{signature}",
        jwt.encode(forged, "another secret, which is long enough", algorithm="HS256"),
        jwt.encode(forged, "k" * 32, algorithm="HS256"),
        jwt.encode(forged, signing_key, algorithm="HS256"),  # the stamp belongs to another account's password
        jwt.encode({**forged, "sub": "nobody"}, signing_key, algorithm="HS256"),
        jwt.encode({**forged, "exp": "never"}, signing_key, algorithm="HS256"),
        *(jwt.encode({k: v for k, v in forged.items() if k != gone}, signing_key) for gone in forged),
    ):
        assert (await ask(client, f"Bearer {token}")).status_code == 401, token


async def test_a_token_ends_after_exactly_24_hours(ada: Caller, clock: Clock) -> None:
    clock.advance(hours=24, microseconds=-1)
    assert (await ada.get("/api/me")).status_code == 200

    clock.advance(microseconds=1)
    assert (await ada.get("/api/me")).status_code == 401


async def test_a_password_set_from_the_command_line_ends_the_tokens(ada: Caller, flagstaff: Flagstaff) -> None:
    await operated_accounts(flagstaff).set_password(email="ADA@example.com", password="another password")

    assert (await ada.get("/api/me")).status_code == 401


async def test_it_answers_whose_token_it_is_and_nothing_else(ada: Caller, eve: Caller) -> None:
    for caller in (ada, eve):
        answer = await caller.get("/api/me")
        assert answer.status_code == 200
        assert answer.json() == {"user_id": caller.account["id"]}


@pytest.mark.both_databases
async def test_the_scheme_is_read_without_case_and_extra_space(ada: Caller, client: Caller) -> None:
    for scheme in ("bearer", "BEARER", "Bearer  "):
        assert (await ask(client, f"{scheme} {ada.token}")).status_code == 200
