"""Signing in to an account with a second factor, and what is shown where one is required."""

import pyotp
from playwright.async_api import Route, expect

from tests.e2e.accessibility import check
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, Person
from tests.e2e.second_factors import TWO_FACTOR, add_authenticator, enrol_app, next_code

CREATE = """async (options) => {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({publicKey})).toJSON();
}"""
REFUSE = "() => { navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError'); }; }"
HOME = "Create your first project"


async def sign_in(ada: Person) -> None:
    """Take the first step of a sign-in."""
    await ada.page.evaluate("localStorage.clear()")
    await ada.page.goto("/sign-in")
    await ada.fill(Email=ada.email, Password=PASSWORD)
    await ada.press("Sign in")
    await ada.sees_heading("Confirm your sign-in")


async def test_a_wrong_code_is_refused_at_its_field_and_can_be_corrected(ada: Person) -> None:
    secret, _ = await enrol_app(ada)
    await sign_in(ada)
    code = ada.page.get_by_label("Code", exact=True)
    await expect(code).to_be_focused()
    await expect(code).to_have_attribute("autocomplete", "one-time-code")
    shown = {next_code(secret), pyotp.TOTP(secret).now()}
    wrong = next(each for each in ("000000", "111111", "222222") if each not in shown)
    for typed, message in (
        ("", "Must be six digits from 0 to 9"),
        (wrong, "Is wrong, has expired or has been used; enter the next code of your app"),
        ("abcd-efgh", "Must be a recovery code such as abcd-efgh-2345-6789"),
    ):
        await code.fill(typed)
        await ada.press("Sign in")
        await ada.sees(message)
        await expect(code).to_have_attribute("aria-invalid", "true")
        await expect(code).to_be_focused()
    assert await ada.stored_session() is None
    await check(ada, "the second step")
    await code.fill(next_code(secret))
    await ada.press("Sign in")
    await ada.sees_heading(HOME)


async def test_a_challenge_that_has_ended_leads_back_to_the_password(ada: Person) -> None:
    async def end(route: Route) -> None:
        await route.fulfill(response=await route.fetch(post_data={"challenge": "ended", "code": "123456"}))

    await enrol_app(ada)
    await sign_in(ada)
    await ada.page.route("**/auth/login/second-factor", end)
    await ada.fill(Code="123456")
    await ada.press("Sign in")
    await ada.sees("The challenge is unknown, has been used or has expired. Log in again.")
    await ada.sees_heading("Sign in")
    await expect(ada.page.get_by_label("Email")).to_have_value(ada.email)


async def test_a_recovery_code_signs_in_by_keyboard_after_going_back_once(ada: Person) -> None:
    _, (recovery, *_) = await enrol_app(ada)
    await sign_in(ada)
    keyboard, page = Keyboard(ada.page), ada.page
    await keyboard.use(page.get_by_role("button", name="Back to the password"))
    await expect(page.get_by_label("Email")).to_have_value(ada.email)
    await keyboard.write(page.get_by_label("Password").first, PASSWORD)
    await keyboard.press("Enter")
    await keyboard.write(page.get_by_label("Code", exact=True), f" {recovery} ")
    await keyboard.press("Enter")
    await ada.sees_heading(HOME)


async def test_a_passkey_signs_in(ada: Person) -> None:
    await register_passkey(ada)
    await sign_in(ada)
    await expect(ada.page.get_by_label("Recovery code")).to_be_visible()
    await check(ada, "the second step with a passkey")
    await ada.press("Use a passkey")
    await ada.sees_heading(HOME)


async def test_a_browser_without_the_passkey_says_that_none_was_used(ada: Person) -> None:
    await register_passkey(ada)
    await sign_in(ada)
    await ada.page.evaluate(REFUSE)
    await ada.press("Use a passkey")
    await ada.sees("No passkey was used. Try again.")


async def test_a_passkey_signs_in_alone_by_keyboard_and_leads_to_the_page_that_was_opened(ada: Person) -> None:
    await register_passkey(ada)
    await ada.page.evaluate("localStorage.clear()")
    await ada.page.goto("/account")
    await ada.sees_heading("Sign in")
    button = ada.page.get_by_role("button", name="Sign in with a passkey")
    await check(ada, "the sign-in with a passkey")
    await Keyboard(ada.page).use(button)
    await ada.sees_heading("Your account")
    await ada.sees(ada.email)


async def test_without_a_passkey_the_sign_in_says_that_none_was_used(ada: Person) -> None:
    await ada.page.evaluate("localStorage.clear()")
    await ada.page.goto("/sign-in")
    await ada.page.evaluate(REFUSE)
    await ada.press("Sign in with a passkey")
    await ada.sees("No passkey was used. Try again.")
    assert await ada.stored_session() is None


async def test_a_project_that_demands_a_second_factor_says_what_to_do(ada: Person) -> None:
    project = await ada.api.create_project()
    secret, _ = await enrol_app(ada)
    demand = {"demands_second_factor": True}
    (await ada.api.put(f"/api/projects/{project['id']}/security", json=demand)).raise_for_status()
    proof = {"current_password": PASSWORD, "code": next_code(secret)}
    (await ada.api.post(f"{TWO_FACTOR}/totp/disable", json=proof)).raise_for_status()
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await ada.sees("A second factor is required here")
    await ada.sees("Your account has none. Set one up on the page of your account")


async def register_passkey(ada: Person) -> None:
    """Create a passkey with the browser's authenticator, and register it through the API."""
    await add_authenticator(ada)
    begun = await ada.api.post(f"{TWO_FACTOR}/passkeys/options", json={"current_password": PASSWORD})
    credential = await ada.page.evaluate(CREATE, begun.raise_for_status().json()["public_key"])
    body = {"name": "Phone", "credential": credential}
    (await ada.api.post(f"{TWO_FACTOR}/passkeys", json=body)).raise_for_status()
