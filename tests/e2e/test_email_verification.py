"""An address that is not verified: what the account says, and the link in the mail."""

from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes
from tests.e2e.people import Person, mailed_token
from tests.support.stores import Store


async def test_an_account_says_that_its_address_is_not_verified_and_sends_a_link(ada: Person, sqlite: Store) -> None:
    page = ada.page
    await page.goto("/account")
    await ada.sees("You get no emails about projects until you verify your address.")
    await check_in_both_schemes(ada, "unverified")
    await ada.press("Send a link")
    await ada.sees(f"A link was sent to {ada.email}. Open it within a day.")
    await page.goto(f"/verify-email?token={await mailed_token(ada.email, sqlite.data_directory, 'verify-email')}")
    await expect(page).to_have_url(f"{ada.url}/verify-email")
    await check_in_both_schemes(ada, "verify-email")
    await ada.press("Verify the address")
    await ada.sees("Your address is verified.")
    await page.get_by_role("link", name="To my account").click()
    await ada.sees("Emails about projects")
    await expect(page.get_by_text("until you verify your address")).to_have_count(0)


async def test_a_link_that_is_not_genuine_says_what_to_do(ada: Person) -> None:
    await ada.page.goto("/verify-email?token=forged")
    await ada.press("Verify the address")
    await ada.sees("is not the token of a valid link for this account; ask for a new link in your account")
    await ada.page.goto("/verify-email")
    await ada.sees("The link is incomplete. Open it again from the email, or ask for a new link in your account.")
