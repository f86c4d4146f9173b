"""Emails about projects: chosen in the account, and stopped with the link in a mail."""

import pytest
from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import Person
from tests.support.api import project_path


async def test_mails_are_chosen_for_each_project(ada: Person) -> None:
    project = await ada.api.create_project(name="Shop of Ada")
    await ada.page.goto("/account")
    choice = ada.page.get_by_role("checkbox", name="Critical environments: Shop of Ada")
    await expect(choice).not_to_be_checked()
    async with ada.page.expect_response(lambda answer: answer.request.method == "PUT"):  # which a reload would end
        await choice.check()
    await expect(choice).to_be_checked()
    await ada.page.reload()
    await expect(choice).to_be_checked()
    chosen = (await ada.api.get(f"{project_path(project)}/notifications")).json()
    assert chosen.keys() == {"critical", "owned", "stale", "webhooks", "releases", "mentions", "subscribed"}
    assert set(chosen.values()) == {True}
    await check_in_both_schemes(ada, "notifications")
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)


@pytest.mark.parametrize("path", ["/unsubscribe", "/unsubscribe?token=forged"])
async def test_a_link_that_is_not_genuine_says_what_to_do(ada: Person, path: str) -> None:
    await ada.page.goto(path)
    if "token" in path:
        await ada.press("Stop these emails")
        await ada.sees("The link is incomplete. Open it again from the mail, or sign in")
    else:
        await ada.sees("The link is incomplete. Open it again from the email, or choose")
    await check_in_both_schemes(ada, "unsubscribe")
