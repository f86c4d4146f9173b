"""Subscriptions to a flag, a tag and an environment: made with their buttons, and removed in the account."""

import asyncio

from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import POLL_SECONDS, Person, environment_page, flag_page


async def test_a_flag_a_tag_and_an_environment_are_subscribed_to_and_listed_in_the_account(ada: Person) -> None:
    flag = await ada.api.create_flag(tags=["payments"])
    page = ada.page
    dialog = page.get_by_role("dialog")
    await page.goto(flag_page(flag))
    await ada.press("Subscribe")
    box = dialog.get_by_role("checkbox", name="The flag New checkout, in this environment")
    await expect(box).not_to_be_checked()
    await box.check()
    await box.uncheck()
    await box.check()
    await check_in_both_schemes(ada, "what to subscribe to")
    await page.keyboard.press("Escape")
    await expect(dialog).to_have_count(0)

    # The page may still be sending what was chosen. Loading another one would end this.
    await ada.turn_to(
        f"{environment_page({'project_id': flag['project_id'], 'id': flag['environment_id']})}?tag=payments"
    )
    await ada.press("Subscribe")
    for name in ("Every flag in Production", "Every flag with the tag payments, in all environments"):
        await dialog.get_by_role("checkbox", name=name).check()
    async with asyncio.timeout(60):
        while len((await ada.api.get("/api/me/subscriptions")).json()) < 3:
            await asyncio.sleep(POLL_SECONDS)

    await page.goto("/account")
    rows = page.get_by_role("list", name="Subscriptions").get_by_role("listitem")
    await expect(rows).to_have_count(3)
    await expect(rows.nth(2).get_by_role("link", name="new-checkout")).to_be_visible()
    await check_in_both_schemes(ada, "subscriptions")
    await page.get_by_role("button", name="Remove the subscription to payments").click()
    await expect(rows).to_have_count(2)
    kinds = [each["kind"] for each in (await ada.api.get("/api/me/subscriptions")).json()]
    assert kinds == ["environment", "flag"]
    await page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)
