"""Passkeys on the page of one's account, and what a browser shows that cannot create one."""

from contextlib import AsyncExitStack

from playwright.async_api import expect

from tests.e2e.accessibility import check
from tests.e2e.contexts import Contexts
from tests.e2e.people import PASSWORD, Person
from tests.e2e.second_factors import add_authenticator, add_passkey, dialog_of, open_account, state_of
from tests.support.server import ServerProcess

CANCEL = "() => { navigator.credentials.create = async () => { throw new DOMException('', 'NotAllowedError'); }; }"


async def test_a_passkey_is_added_under_the_proposed_name_and_removed(ada: Person) -> None:
    await add_authenticator(ada)
    await open_account(ada)
    await add_passkey(ada)
    await expect(dialog_of(ada).get_by_role("listitem")).to_have_count(10)
    await ada.press("I have stored them")
    row = ada.page.get_by_role("list", name="Passkeys").get_by_role("listitem")
    await expect(row).to_contain_text("Chrome on Linux")
    await expect(row).to_contain_text("Added just now · not used yet")
    await check(ada, "a passkey")
    (passkey,) = (await state_of(ada))["passkeys"]
    assert passkey["name"] == "Chrome on Linux"

    await ada.press("Remove Chrome on Linux")
    await ada.sees("It is your only second factor")
    await dialog_of(ada).get_by_label("Current password").fill(PASSWORD)
    await ada.press("Remove the passkey")
    await ada.sees("You have no passkeys.")
    await expect(ada.page.get_by_role("heading", name="Passkeys", exact=True)).to_be_focused()
    assert (await state_of(ada))["passkeys"] == []


async def test_a_second_passkey_of_the_same_device_and_a_cancelled_one_are_explained(ada: Person) -> None:
    await add_authenticator(ada)
    await open_account(ada)
    await add_passkey(ada, "Laptop")
    await ada.press("I have stored them")
    await add_passkey(ada, "Laptop again")
    await ada.sees("This device already has a passkey for your account.")
    await ada.page.evaluate(CANCEL)
    await dialog_of(ada).get_by_role("button", name="Add passkey").click()
    await ada.sees("No passkey was created: it was cancelled, or it took too long. Nothing was changed.")
    await expect(dialog_of(ada).get_by_label("Name")).to_have_value("Laptop again")
    await check(ada, "a cancelled passkey")
    await expect(dialog_of(ada).get_by_role("button", name="Add passkey")).to_be_focused()
    await ada.page.keyboard.press("Escape")
    await expect(dialog_of(ada)).to_have_count(0)
    await expect(ada.page.get_by_role("button", name="Add passkey")).to_be_focused()


async def test_a_page_at_another_address_than_that_of_the_passkeys_says_where_to_go(
    contexts: Contexts, server: ServerProcess, people: AsyncExitStack
) -> None:
    ada = await people.enter_async_context(Person(contexts, f"http://127.0.0.1:{server.port}"))
    await ada.sign_up()
    await add_authenticator(ada)
    await open_account(ada)
    await add_passkey(ada)
    await ada.sees("Passkeys of this server belong to localhost. Open the dashboard at that address, and try again.")
    assert (await state_of(ada))["passkeys"] == []


async def test_a_browser_without_passkeys_says_so_and_offers_the_app(ada: Person) -> None:
    await ada.run_before_pages("delete window.PublicKeyCredential")
    await open_account(ada)
    await ada.sees("This browser does not support passkeys.")
    add = ada.page.get_by_role("button", name="Add passkey")
    await expect(add).to_have_attribute("aria-disabled", "true")
    await add.click(force=True)
    await expect(dialog_of(ada)).to_have_count(0)
    await expect(ada.page.get_by_role("button", name="Set up an authenticator app")).to_be_enabled()
    await ada.page.mouse.move(0, 0)  # the button's tooltip is outside all landmarks
    await expect(ada.page.get_by_role("tooltip")).to_have_count(0)
    await check(ada, "no passkeys")


async def test_a_page_that_is_not_secure_says_what_passkeys_need(
    contexts: Contexts, server: ServerProcess, people: AsyncExitStack
) -> None:
    ada = await people.enter_async_context(Person(contexts, f"http://0.0.0.0:{server.port}"))
    await ada.sign_up()
    await open_account(ada)
    await ada.sees("Browsers offer passkeys only on pages that are opened with https.")
    await expect(ada.page.get_by_role("button", name="Add passkey")).to_have_attribute("aria-disabled", "true")
