"""Second factors on the page of one's account: the authenticator app and recovery codes."""

import time
from contextlib import AsyncExitStack

import pyotp
import pytest
import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import UNBROKEN, check, stays_within
from tests.e2e.contexts import Contexts
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, Person
from tests.e2e.second_factors import (
    TWO_FACTOR,
    add_authenticator,
    add_passkey,
    dialog_of,
    enrol_app,
    next_code,
    open_account,
    scan,
    state_of,
)
from tests.support.server import ServerProcess


@pytest_asyncio.fixture(loop_scope="session", params=["light", "dark"])
async def phone(
    request: pytest.FixtureRequest, contexts: Contexts, server: ServerProcess, people: AsyncExitStack
) -> Person:
    """A signed-in person with a narrow phone, in each colour scheme."""
    options = {"color_scheme": request.param, "viewport": {"width": 320, "height": 640}, "reduced_motion": "reduce"}
    person = await people.enter_async_context(Person(contexts, f"http://localhost:{server.port}", **options))
    await person.sign_up()
    return person


def qr_code_of(person: Person) -> Locator:
    return dialog_of(person).get_by_role("img", name="QR code for the authenticator app")


async def begin_enrolment(person: Person) -> None:
    """Open the dialog and give the password."""
    await person.press("Set up an authenticator app")
    await dialog_of(person).get_by_label("Current password").fill(PASSWORD)
    await dialog_of(person).get_by_role("button", name="Continue").click()
    await expect(qr_code_of(person)).to_be_visible()


async def test_a_wrong_password_and_a_wrong_code_are_refused_at_their_fields(ada: Person) -> None:
    await open_account(ada)
    await ada.press("Set up an authenticator app")
    password = dialog_of(ada).get_by_label("Current password")
    await expect(password).to_be_focused()
    await password.fill("wrong")
    await ada.press("Continue")
    await ada.sees("Is not your current password")
    await password.fill(PASSWORD)
    await ada.press("Continue")
    code = dialog_of(ada).get_by_label("Code", exact=True)
    await expect(code).to_be_focused()
    for typed, message in (("12345", "Must be six digits from 0 to 9"), ("", "Must be six digits from 0 to 9")):
        await code.fill(typed)
        await ada.press("Confirm")
        await ada.sees(message)
        await expect(code).to_have_attribute("aria-invalid", "true")
    await check(ada, "the refused code")
    assert (await state_of(ada))["totp_since"] is None


async def test_an_app_that_scans_the_qr_code_is_enrolled_with_its_code_and_recovery_codes_are_kept(
    ada: Person,
) -> None:
    await open_account(ada)
    await begin_enrolment(ada)
    uri = await scan(ada, qr_code_of(ada))
    app = pyotp.parse_uri(uri)
    assert isinstance(app, pyotp.TOTP)
    assert (app.name, app.issuer) == (ada.email, "Flagstaff")
    assert (await ada.page.get_by_test_id("totp-secret").inner_text()).replace(" ", "") == app.secret
    code = app.now()
    await dialog_of(ada).get_by_label("Code", exact=True).fill(f" {code[:3]} {code[3:]} ")
    await ada.press("Confirm")

    shown = dialog_of(ada).get_by_role("list", name="Recovery codes").get_by_role("listitem")
    await expect(shown).to_have_count(10)
    codes = await shown.all_inner_texts()
    await ada.page.keyboard.press("Escape")
    await expect(shown).to_have_count(10)  # it does not close by accident, because the codes are shown only once
    async with ada.page.expect_download() as download:
        await ada.press("Download")
    saved = await download.value
    assert saved.suggested_filename == "flagstaff-recovery-codes.txt"
    text = (await saved.path()).read_text()
    assert ada.email in text
    assert text.splitlines()[-10:] == codes
    await ada.press("I have stored them")
    await expect(dialog_of(ada)).to_have_count(0)
    await ada.sees("10 codes are left")
    await expect(ada.page.get_by_role("button", name="Disable the authenticator app")).to_be_focused()
    assert (await state_of(ada))["totp_since"] is not None


async def test_an_app_is_enrolled_by_keyboard(ada: Person) -> None:
    await open_account(ada)
    keyboard, page = Keyboard(ada.page), ada.page
    await keyboard.use(page.get_by_role("button", name="Set up an authenticator app"))
    await expect(dialog_of(ada).get_by_label("Current password")).to_be_focused()
    await keyboard.type(PASSWORD)
    await keyboard.press("Enter")
    secret = (await page.get_by_test_id("totp-secret").inner_text()).replace(" ", "")
    await expect(dialog_of(ada).get_by_label("Code", exact=True)).to_be_focused()
    await keyboard.type(pyotp.TOTP(secret).at(time.time()))
    await keyboard.press("Enter")
    await expect(dialog_of(ada).get_by_role("button", name="Copy")).to_be_focused()
    await keyboard.use(dialog_of(ada).get_by_role("button", name="I have stored them"))
    await expect(page.get_by_role("button", name="Disable the authenticator app")).to_be_focused()


async def test_recovery_codes_are_renewed_and_few_of_them_are_a_warning(ada: Person) -> None:
    secret, codes = await enrol_app(ada)
    for code in codes[:7]:
        await use_recovery_code(ada, code)
    await open_account(ada)
    await ada.sees("3 codes are left")
    await ada.sees("You have few recovery codes left.")
    await check(ada, "few recovery codes")
    await ada.press("Renew the recovery codes")
    await dialog_of(ada).get_by_label("Current password").fill(PASSWORD)
    await dialog_of(ada).get_by_role("button", name="Renew the recovery codes").click()
    shown = dialog_of(ada).get_by_role("list", name="Recovery codes").get_by_role("listitem")
    await expect(shown).to_have_count(10)
    assert not set(codes) & set(await shown.all_inner_texts())
    await ada.press("I have stored them")
    await ada.sees("10 codes are left")
    await expect(ada.page.get_by_text("You have few recovery codes left.")).to_have_count(0)
    assert secret


async def use_recovery_code(ada: Person, code: str) -> None:
    asked = await ada.api.post("/auth/login", json={"email": ada.email, "password": PASSWORD})
    body = {"challenge": asked.json()["challenge"], "recovery_code": code}
    (await ada.api.post("/auth/login/second-factor", json=body)).raise_for_status()


async def test_an_app_is_disabled_with_the_password_and_a_code(ada: Person) -> None:
    secret, _ = await enrol_app(ada)
    await open_account(ada)
    await ada.press("Disable the authenticator app")
    await ada.sees("It is your only second factor")
    dialog = dialog_of(ada)
    code = dialog.get_by_label("App code or recovery code")
    await dialog.get_by_label("Current password").fill("wrong")
    await code.fill("abcd-efgh")
    await ada.press("Disable the app")
    await ada.sees("Must be a recovery code such as abcd-efgh-2345-6789")
    await code.fill(next_code(secret))
    await ada.press("Disable the app")
    await ada.sees("Is not your current password")
    await dialog.get_by_label("Current password").fill(PASSWORD)
    await ada.press("Disable the app")
    await ada.sees("Not set up")
    await expect(ada.page.get_by_role("button", name="Set up an authenticator app")).to_be_focused()
    assert (await state_of(ada))["totp_since"] is None


async def test_a_state_that_cannot_be_loaded_can_be_asked_for_again(ada: Person) -> None:
    await ada.page.route(f"**{TWO_FACTOR}", lambda route: route.fulfill(status=500, body="{}"))
    await ada.page.goto("/account")
    await ada.sees("The data could not be loaded")
    await ada.page.unroute(f"**{TWO_FACTOR}")
    await ada.press("Try again")
    await ada.sees("Not set up")


async def test_every_step_fits_on_the_narrowest_phone_and_its_qr_code_can_be_scanned(phone: Person) -> None:
    await add_authenticator(phone)
    await open_account(phone)
    await check(phone, "no second factor")
    await begin_enrolment(phone)
    await check(phone, "the QR code")
    await stays_within(phone)
    app = pyotp.parse_uri(await scan(phone, qr_code_of(phone)))
    assert isinstance(app, pyotp.TOTP)
    await dialog_of(phone).get_by_label("Code", exact=True).fill(app.now())
    await phone.press("Confirm")
    await expect(dialog_of(phone).get_by_role("listitem")).to_have_count(10)
    await check(phone, "recovery codes")
    await stays_within(phone)
    await phone.press("I have stored them")
    await add_passkey(phone, UNBROKEN)
    await phone.sees(UNBROKEN)
    await stays_within(phone)
    await phone.press(f"Remove {UNBROKEN}")
    await expect(dialog_of(phone)).to_be_visible()
    await check(phone, "removal")
    await stays_within(phone)
