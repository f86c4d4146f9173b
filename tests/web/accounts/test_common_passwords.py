"""FLAGSTAFF_COMMON_PASSWORDS: whether new passwords may be common ones, for every way to set a password."""

import pytest

from flagstaff.settings import Settings
from tests.support.api import Caller, created, field_errors
from tests.support.sessions import PASSWORD
from tests.web.conftest import RequestReset

COMMON = "password123"
REFUSAL = "This password is too common. Choose another."
LOCAL = [
    {},
    {"FLAGSTAFF_HOST": "127.0.0.2"},
    {"FLAGSTAFF_HOST": "::1"},
    {"FLAGSTAFF_HOST": "localhost", "FLAGSTAFF_WORKERS": "2"},
    {"FLAGSTAFF_PUBLIC_URL": "https://localhost:8443"},
    {"FLAGSTAFF_PUBLIC_URL": "http://[::1]:8000"},
]
OPEN = [
    {"FLAGSTAFF_HOST": "0.0.0.0"},
    {"FLAGSTAFF_HOST": "0.0.0.0", "FLAGSTAFF_PUBLIC_URL": "http://localhost:8000"},
    {"FLAGSTAFF_HOST": "::"},
    {"FLAGSTAFF_HOST": "::ffff:127.0.0.1"},
    {"FLAGSTAFF_HOST": "flags.internal"},
    {"FLAGSTAFF_HOST": "10.0.0.1", "FLAGSTAFF_WORKERS": "2"},
    {"FLAGSTAFF_PUBLIC_URL": "https://flags.example.com"},
    {"FLAGSTAFF_PUBLIC_URL": "https://localhost.example.com"},
    {"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1/32"},
]


@pytest.mark.parametrize("given", OPEN)
def test_a_server_that_others_can_reach_refuses_them_unless_told_otherwise(given: dict[str, str]) -> None:
    assert not Settings.load(given).accepts_common_passwords
    assert Settings.load({**given, "FLAGSTAFF_COMMON_PASSWORDS": "accept"}).accepts_common_passwords


@pytest.mark.parametrize("given", LOCAL)
def test_a_server_that_only_its_machine_can_reach_accepts_them_unless_told_otherwise(given: dict[str, str]) -> None:
    assert Settings.load(given).accepts_common_passwords
    assert not Settings.load({**given, "FLAGSTAFF_COMMON_PASSWORDS": "refuse"}).accepts_common_passwords


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_PUBLIC_URL": "https://flags.example.com"}])
async def test_they_are_refused_in_every_way_to_set_a_password(
    ada: Caller, client: Caller, request_reset: RequestReset
) -> None:
    account = {"email": "eve@example.com", "password": COMMON}
    assert field_errors(await client.post("/auth/register", json=account)) == {"password": REFUSAL}
    change = {"current_password": PASSWORD, "new_password": COMMON}
    assert field_errors(await ada.post("/api/me/password", json=change)) == {"new_password": REFUSAL}
    reset = {"token": await request_reset(), "newPassword": COMMON}
    assert field_errors(await client.post("/auth/reset-password", json=reset)) == {"newPassword": REFUSAL}


async def test_they_are_accepted_in_every_way_to_set_a_password(
    ada: Caller, client: Caller, request_reset: RequestReset
) -> None:
    for email, password in (("eve@example.com", COMMON), ("grace@example.com", "grace@example.com")):
        created(await client.post("/auth/register", json={"email": email, "password": password}))
    change = {"current_password": PASSWORD, "new_password": COMMON}
    assert (await ada.post("/api/me/password", json=change)).status_code == 200
    reset = {"token": await request_reset(), "newPassword": "iloveyou"}
    assert (await client.post("/auth/reset-password", json=reset)).status_code == 200
    logged_in = await client.post("/auth/login", json={"email": "ada@example.com", "password": "iloveyou"})
    assert logged_in.status_code == 200


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_COMMON_PASSWORDS": "accept"}])
async def test_the_length_of_passwords_is_bounded_in_any_case(client: Caller) -> None:
    for password in ("1234567", "x" * 1025):
        assert field_errors(
            await client.post("/auth/register", json={"email": "eve@example.com", "password": password})
        ).keys() == {"password"}
