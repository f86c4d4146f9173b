"""The flags that may be removed: the reasons, the effects, and the text for a pull request."""

import asyncio

from playwright.async_api import expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.company import grow_old
from tests.e2e.people import Person, environment_page, flag_page
from tests.support.api import environment_path
from tests.support.stores import Store


async def test_flags_that_may_be_removed_are_listed_with_the_evidence_and_leave_the_list(
    ada: Person, sqlite: Store
) -> None:
    page, project = ada.page, await ada.api.create_project()
    production, staging = [await ada.api.get_environment(project, key) for key in ("production", "staging")]
    done = await ada.api.create_flag(production, key="done", name="Done", owner="Payments", tags=["checkout"])
    await ada.api.create_flag(production, key="beta", name="Beta", prerequisites=[{"flag_key": "done"}])
    await ada.api.create_flag(production, key="stop", name="Stop", enabled=False)
    await ada.api.create_flag(staging, key="done", name="Done", enabled=False)
    await ada.api.evaluate(project["sdk_key"])
    await grow_old(sqlite, project, 40)
    cleanup = f"{environment_path(production)}/cleanup"
    async with asyncio.timeout(60):
        while not (await ada.api.get(cleanup, params={"reason": "off_for_everyone"})).json()["candidates"]:
            await asyncio.sleep(0.05)

    await page.goto(environment_page(production))
    await page.get_by_role("link", name="Clean up").click()
    await ada.sees_heading("Clean up")
    listed = page.get_by_role("list", name="Clean up").locator("> li")
    row = listed.filter(has_text="Owner: Payments")
    for sentence in (
        "On for everyone for 30 days: 1 evaluation.",
        "replaced by its “on” branch",
        "beta needs it.",
        "Staging differs: off.",
    ):
        await expect(row).to_contain_text(sentence)
    await expect(listed).to_have_count(3)
    await check_in_both_schemes(ada, "the flags to clean up")
    await stays_within(ada)

    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = await ada.copy(row.get_by_role("button", name="Copy the text of a pull request"))
    assert text.startswith("# Remove the flag `done`")
    assert "`done` in Staging is off" in text

    await page.get_by_role("button", name="Keep Stop").click()
    await expect(listed).to_have_count(2)
    await ada.press("Undo")
    await expect(listed).to_have_count(3)
    await page.get_by_role("button", name="Archive Beta").click()
    await page.get_by_role("dialog").get_by_role("button", name="Archive", exact=True).click()
    await expect(listed).to_have_count(2)
    await expect(row).not_to_contain_text("beta needs it.")

    await page.goto(flag_page(done))
    await expect(page.get_by_text("Owner: Payments")).to_be_visible()
    await ada.press("Actions")
    await page.get_by_role("menuitem", name="Edit").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Owner").fill("Search team")
    await dialog.get_by_label("Keep this flag").check()
    await dialog.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Owner: Search team · Kept")).to_be_visible()
