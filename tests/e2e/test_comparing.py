"""Comparing environments, copying flags from one to another, and creating flags and environments as copies."""

import pytest_asyncio
from playwright.async_api import expect

from tests.e2e.accessibility import UNBROKEN, check, check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page
from tests.support.api import Json, environment_path, flag_path


class Places:
    """A project's two environments. Staging has more flags."""

    def __init__(self, project: Json, staging: Json, production: Json) -> None:
        self.project, self.staging, self.production = project, staging, production

    @property
    def page(self) -> str:
        """The comparison of staging with production."""
        pair = f"from={self.staging['id']}&to={self.production['id']}"
        return f"/projects/{self.project['id']}/compare?{pair}"


@pytest_asyncio.fixture(loop_scope="session")
async def places(ada: Person) -> Places:
    """A flag that differs, one in staging only that needs another one, and one in production only."""
    project = await ada.api.create_project()
    staging, production = [await ada.api.get_environment(project, key) for key in ("staging", "production")]
    here = await ada.api.create_flag(staging, rollout_percentage=25, tags=["a"])
    await ada.api.create_rule(here, rule_value="first", rollout_percentage=50)
    there = await ada.api.create_flag(production, enabled=False)
    await ada.api.create_rule(there, rule_value="second")
    await ada.api.create_flag(staging, key="base", name="Base")
    await ada.api.create_flag(production, key="base", name="Base")
    await ada.api.create_flag(staging, key="needed", name="Needed")
    await ada.api.create_flag(staging, key="needing", name="Needing", prerequisites=[{"flag_key": "needed"}])
    await ada.api.create_flag(production, key="old", name="Old")
    return Places(project, staging, production)


async def flags_of(ada: Person, environment: Json) -> dict[str, Json]:
    return {each["key"]: each for each in (await ada.api.get(f"{environment_path(environment)}/flags")).json()}


async def test_flags_are_compared_and_copied_after_a_look_at_what_changes(ada: Person, places: Places) -> None:
    page = ada.page
    await page.goto(places.page)
    await ada.sees_heading("Compare environments")
    different = page.get_by_role("region", name="Different")
    await expect(different.get_by_role("row", name="Rollout 25% Everyone (no rollout)")).to_be_visible()
    await expect(different.get_by_role("row", name="State On Off")).to_be_visible()
    await expect(different).to_contain_text("If the user id is first, for 50% of them")
    rules = different.get_by_role("row", name="Rules")
    await expect(rules.locator("mark")).to_have_text(["first, for 50% of them", "second"])
    await expect(page.get_by_role("region", name="Only in Production")).to_contain_text("Old")
    await expect(page.get_by_role("region", name="Only in Staging").get_by_role("listitem")).to_have_count(2)
    await expect(page.get_by_role("main")).not_to_contain_text("Base")
    await check_in_both_schemes(ada, "the comparison")

    await page.get_by_label("Choose New checkout").check()
    await page.get_by_label("Choose Needing").check()
    await ada.press("Copy to Production…")
    dialog = page.get_by_role("dialog")
    await expect(dialog).to_contain_text("needing needs needed, which production does not have")
    await check(ada, "the copy that is refused")
    await dialog.get_by_role("button", name="Leave these out").click()
    preview = dialog.get_by_role("region", name="What it changes")
    await expect(preview).to_contain_text("Rollout")
    await expect(preview).to_contain_text("Changed rule")
    await dialog.get_by_label("Rules", exact=True).uncheck()
    await expect(preview).not_to_contain_text("Changed rule")
    await check_in_both_schemes(ada, "the copy")
    await dialog.get_by_role("button", name="Copy", exact=True).click()
    await ada.sees("1 flag was copied to Production.")
    copied = (await flags_of(ada, places.production))["new-checkout"]
    assert (copied["enabled"], copied["rollout_percentage"], copied["tags"]) == (True, 25, ["a"])
    assert (await ada.api.get(f"{flag_path(copied)}/rules")).json()[0]["rule_value"] == "second"
    await expect(different.get_by_role("row", name="State On Off")).to_have_count(0)
    await ada.press("Undo")
    await expect(different.get_by_role("row", name="State On Off")).to_be_visible()
    assert (await flags_of(ada, places.production))["new-checkout"]["enabled"] is False


async def test_flags_that_need_each_other_are_copied_together_until_nothing_differs(
    ada: Person, places: Places
) -> None:
    page = ada.page
    await page.goto(places.page)
    await page.get_by_label("Choose all 3 shown").check()
    await expect(page.get_by_text("3 flags are chosen.")).to_be_visible()
    await ada.press("Copy to Production…")
    await page.get_by_role("dialog").get_by_role("button", name="Copy", exact=True).click()
    await ada.sees("3 flags were copied to Production.")
    await expect(page.get_by_role("main").get_by_role("listitem")).to_have_count(1)
    await ada.api.delete(flag_path((await flags_of(ada, places.production))["old"]))
    await page.reload()
    await ada.sees("Staging and Production have the same flags, with the same rules.")
    await check(ada, "equal environments")


async def test_a_copy_that_created_flags_is_undone_whole_at_once_and_later_among_the_changes(
    ada: Person, places: Places
) -> None:
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    before = await flags_of(ada, places.production)

    async def copy() -> None:
        await page.goto(places.page)
        await page.get_by_label("Choose all 3 shown").check()
        await ada.press("Copy to Production…")
        await dialog.get_by_role("button", name="Copy", exact=True).click()
        await ada.sees("3 flags were copied to Production.")

    await copy()
    await ada.press("Undo")
    await ada.sees("Undone.")
    undone = await flags_of(ada, places.production)
    assert undone.keys() == before.keys()
    assert undone["new-checkout"]["rollout_percentage"] == 0

    await copy()
    await page.goto(f"{environment_page(places.production)}/changes")
    entry = page.get_by_role("main").get_by_role("listitem").first
    await entry.get_by_role("button", name="Restore all: ").click()
    await expect(dialog).to_contain_text("The flag is deleted, with the rules that were created with it.")
    await check(ada, "the undoing of a copy")
    await dialog.get_by_role("button", name="Restore", exact=False).last.click()
    await expect(entry).to_contain_text("restored 3 flags")
    assert (await flags_of(ada, places.production)).keys() == before.keys()


async def test_a_creation_is_undone_after_a_look_at_what_is_deleted(ada: Person, places: Places) -> None:
    page = ada.page
    await page.goto(f"{environment_page(places.production)}/changes")
    await page.get_by_role("button", name="Undo: ").first.click()
    dialog = page.get_by_role("dialog", name="Undo the creation of Old in Production?")
    await expect(dialog).to_contain_text("The flag is deleted")
    await dialog.get_by_role("button", name="Delete").click()
    await ada.sees("Old in Production was deleted.")
    assert "old" not in await flags_of(ada, places.production)


async def test_the_page_is_found_in_the_palette_and_in_the_settings_and_swaps(ada: Person, places: Places) -> None:
    page = ada.page
    await page.goto(f"/projects/{places.project['id']}/settings")
    await page.get_by_role("link", name="Compare environments").click()
    await ada.sees_heading("Compare environments")
    await expect(page.get_by_role("region", name="Only in Staging")).to_contain_text("Needing")
    # The default target is not production, so that a copy by accident does not reach it.
    await expect(page.get_by_role("combobox", name="To")).to_have_value("Staging")
    await expect(page.get_by_label("Choose Old")).to_be_visible()
    await expect(page.get_by_label("Choose Needing")).to_have_count(0)
    await ada.press("Swap the environments")
    await expect(page.get_by_label("Choose Needing")).to_be_visible()
    await expect(page.get_by_label("Choose Old")).to_have_count(0)


async def test_the_comparison_fits_on_narrow_phones(ada: Person, places: Places) -> None:
    values = {"name": UNBROKEN * 3, "key": "k" * 128, "description": UNBROKEN * 4}
    flag = await ada.api.create_flag(places.staging, **values)
    await ada.api.create_rule(flag, rule_value=UNBROKEN * 2)
    await ada.api.create_flag(places.production, key="k" * 128)
    await ada.page.goto(places.page)
    for width in (390, 320):
        await ada.page.set_viewport_size({"width": width, "height": 800})
        await ada.turn_to(places.page)
        await stays_within(ada)
        await expect(ada.page.get_by_label("Choose Needing")).to_be_visible()
        await stays_within(ada)
    await check(ada, "the comparison on a phone")
    await ada.page.get_by_label("Choose New checkout").check()
    await ada.press("Copy to Production…")
    await expect(ada.page.get_by_role("region", name="What it changes")).to_be_visible()
    await stays_within(ada)


async def test_a_new_flag_is_created_in_other_environments_as_well(ada: Person, places: Places) -> None:
    await ada.page.goto(environment_page(places.staging))
    await ada.press("New flag")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Everywhere")
    await dialog.get_by_role("group", name="Also create it in").get_by_label("Production").check()
    await check(ada, "a new flag")
    await dialog.get_by_role("button", name="Create flag").click()
    await ada.sees_heading("Everywhere")
    for environment in (places.staging, places.production):
        assert "everywhere" in await flags_of(ada, environment)


async def test_a_new_environment_starts_with_the_flags_of_another(ada: Person, places: Places) -> None:
    page = ada.page
    await page.goto(f"/projects/{places.project['id']}/settings")
    await ada.press("New environment")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Canary")
    await dialog.get_by_role("combobox", name="Copy flags and rules from").click()
    await page.get_by_role("option", name="Staging").click()
    await dialog.get_by_label("Turn all of them off").check()
    await check(ada, "a new environment")
    await dialog.get_by_role("button", name="Create environment").click()
    await expect(dialog).to_have_count(0)
    canary = await ada.api.get_environment(places.project, "canary")
    copies = await flags_of(ada, canary)
    assert copies.keys() == (await flags_of(ada, places.staging)).keys()
    assert not any(each["enabled"] for each in copies.values())
