"""Views, favourites and bulk actions in the list of flags."""

import re

from playwright.async_api import expect

from tests.e2e.accessibility import check
from tests.e2e.people import Person, environment_page


async def test_chosen_flags_are_changed_at_once_after_a_list_of_them_and_changed_back(ada: Person) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project())
    for name in ("Base", "Needs base", "Alone"):
        needs = [{"flag_key": "base"}] if name == "Needs base" else []
        key = name.lower().replace(" ", "-")
        await ada.api.create_flag(environment, name=name, key=key, enabled=name == "Alone", prerequisites=needs)
    page = ada.page
    await page.goto(environment_page(environment))
    await page.get_by_role("checkbox", name="Choose Base").press("Space")
    await page.get_by_role("checkbox", name="Choose Alone").check()
    bar = page.get_by_role("region", name="Chosen flags")
    await expect(bar.get_by_role("status")).to_have_text("2 flags chosen")
    await bar.get_by_role("button", name="Turn on").click()
    dialog = page.get_by_role("dialog", name="Turn flags on")
    await expect(dialog.get_by_role("list", name="1 flag will change")).to_have_text("Base base")
    await expect(dialog.get_by_role("list", name="1 flag needs no change")).to_have_text("Alone alone")
    await expect(dialog.get_by_role("note")).to_contain_text("No user was seen in the last 24 hours")
    await dialog.get_by_role("button", name="Turn on 1 flag").click()
    await expect(page.get_by_role("switch", name="Base", exact=True)).to_be_checked()
    await page.get_by_role("button", name="Undo").click()
    await expect(page.get_by_role("switch", name="Base", exact=True)).not_to_be_checked()
    await expect(bar).to_have_count(0)

    await page.get_by_role("checkbox", name="Choose Base").check()
    await bar.get_by_role("button", name="Choose all 3 shown").click()
    await page.get_by_role("checkbox", name="Choose Needs base").uncheck()
    await bar.get_by_role("button", name="Archive").click()
    dialog = page.get_by_role("dialog", name="Archive flags")
    await dialog.get_by_role("button", name="Archive 2 flags").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("base is a prerequisite of needs-base")
    await check(ada, "bulk")
    await dialog.get_by_role("button", name="Leave these out").click()
    await dialog.get_by_role("button", name="Archive 1 flag").click()
    await expect(page.get_by_role("link", name="Alone")).to_have_count(0)


async def test_the_refused_flags_are_left_out_although_somebody_else_has_archived_one_before_them(ada: Person) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project())
    for key in ("old", "base", "newest"):
        await ada.api.create_flag(environment, name=key.capitalize(), key=key)
    await ada.api.create_flag(environment, name="Needs base", key="needs-base", prerequisites=[{"flag_key": "base"}])
    page = ada.page
    await page.goto(environment_page(environment))
    for name in ("Old", "Base", "Newest"):
        await page.get_by_role("checkbox", name=f"Choose {name}", exact=True).check()
    await page.get_by_role("region", name="Chosen flags").get_by_role("button", name="Archive").click()
    dialog = page.get_by_role("dialog", name="Archive flags")
    await dialog.get_by_role("button", name="Archive 3 flags").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("base is a prerequisite of needs-base")
    (newest,) = [
        flag
        for flag in (await ada.api.get(f"/api{environment_page(environment)}/flags")).json()
        if flag["key"] == "newest"
    ]
    (await ada.api.post(f"/api{environment_page(environment)}/flags/{newest['id']}/archive")).raise_for_status()
    await expect(dialog.get_by_role("listitem")).to_have_text(["Base base", "Old old"])
    await dialog.get_by_role("button", name="Leave these out").click()
    await expect(dialog.get_by_role("listitem")).to_have_text(["Old old"])


async def test_a_filter_is_saved_as_a_view_and_favourites_come_first(ada: Person) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    await ada.api.create_flag(environment, name="Older", key="older", tags=["beta"])
    await ada.api.create_flag(environment, name="Newer", key="newer")
    page = ada.page
    await page.goto(environment_page(environment))
    names = page.get_by_role("row").get_by_role("link", name=re.compile("^(Newer|Older)$"))
    await expect(names).to_have_text(["Newer", "Older"])
    await page.get_by_role("button", name="Favourite: Older").click()
    await expect(names).to_have_text(["Older", "Newer"])
    await page.get_by_role("button", name="Only flags with the tag beta").click()
    await expect(names).to_have_text(["Older"])
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("menuitem", name="Save this filter as a view…").click()
    await page.get_by_role("dialog").get_by_label("Name").fill("Beta")
    await ada.press("Save view")
    await expect(page.get_by_role("button", name="Views: Beta")).to_be_visible()
    await check(ada, "views")
    await page.goto(environment_page(await ada.api.get_environment(project, "staging")))
    await page.goto(environment_page(environment))
    await page.get_by_role("button", name="Views").click()
    await page.get_by_role("menuitem", name="Beta").click()
    await expect(names).to_have_text(["Older"])
    await expect(page).to_have_url(re.compile("tag=beta"))
    await names.click()
    star = page.get_by_role("button", name="Favourite: Older")
    await expect(star).to_have_attribute("aria-pressed", "true")
    await star.click()
    await expect(star).to_have_attribute("aria-pressed", "false")
