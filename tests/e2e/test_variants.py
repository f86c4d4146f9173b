"""Variants: editing their keys and values, and how they divide users."""

from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.people import Person, flag_page
from tests.support.api import Json

BLUE = {"key": "blue", "weight": 900, "value": "#00f"}
GREEN = {"key": "green", "weight": 100, "value": "#0a0"}


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person) -> Json:
    """A flag with two variants. One is for a tenth of the users."""
    return await ada.api.create_flag(variants=[BLUE, GREEN])


def variant(ada: Person, number: int) -> Locator:
    """Return a variant in the open dialog."""
    return ada.page.get_by_role("dialog").get_by_role("group", name=f"Variant {number}")


def shown(ada: Person) -> Locator:
    """Return the variants on the flag's page."""
    return ada.page.get_by_role("region", name="Variants")


async def open_dialog(ada: Person, flag: Json, button: str = "Edit variants") -> Locator:
    """Open a flag's page and its dialog for variants."""
    await ada.page.goto(flag_page(flag))
    await ada.press(button)
    return ada.page.get_by_role("dialog")


async def saved_variants(ada: Person, flag: Json) -> list[dict[str, Any]]:
    """Return the variants of a flag."""
    variants: list[dict[str, Any]] = (await ada.api.get(f"/api{flag_page(flag)}")).json()["variants"]
    return variants


async def test_a_value_that_is_not_json_is_refused_at_its_field(ada: Person, flag: Json) -> None:
    dialog = await open_dialog(ada, flag)
    await dialog.get_by_label("Type of the values").select_option("object")
    await variant(ada, 1).get_by_label("Value").fill('{"colour": "blue"}')
    await variant(ada, 2).get_by_label("Value").fill("{colour}")
    await variant(ada, 2).get_by_label("Key").focus()
    await expect(variant(ada, 2)).to_contain_text("Must be valid JSON")
    await dialog.get_by_role("button", name="Save").click()
    await expect(variant(ada, 2).get_by_label("Value")).to_be_focused()
    await expect(variant(ada, 2).get_by_label("Value")).to_have_attribute("aria-invalid", "true")
    await variant(ada, 2).get_by_label("Value").fill("[1, 2]")
    await dialog.get_by_role("button", name="Save").click()
    await expect(variant(ada, 2)).to_contain_text("Must be a JSON object")
    assert await saved_variants(ada, flag) == [BLUE, GREEN]


async def test_values_that_the_server_refuses_are_shown_at_their_fields(ada: Person, flag: Json) -> None:
    dialog = await open_dialog(ada, flag)
    await dialog.get_by_label("Type of the values").select_option("number")
    await variant(ada, 1).get_by_label("Value").fill("1")
    await variant(ada, 2).get_by_label("Value").fill("9007199254740992")
    await variant(ada, 2).get_by_label("Key").fill(" ")
    await dialog.get_by_role("button", name="Save").click()
    await expect(variant(ada, 2)).to_contain_text("Must not contain integers beyond 9007199254740991")
    await expect(variant(ada, 2).get_by_label("Key")).to_have_attribute("aria-invalid", "true")
    await expect(variant(ada, 1).locator("[aria-invalid=true]")).to_have_count(0)
    await variant(ada, 2).get_by_label("Value").fill("2")
    await variant(ada, 2).get_by_label("Key").fill("blue")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_contain_text("Must have different keys; 'blue' occurs twice")
    assert await saved_variants(ada, flag) == [BLUE, GREEN]


async def test_a_variant_that_a_rule_gives_cannot_be_removed(ada: Person, flag: Json) -> None:
    await ada.api.create_rule(flag, variant="green")
    dialog = await open_dialog(ada, flag)
    await dialog.get_by_role("button", name="Remove variant 2").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog.get_by_role("alert")).to_contain_text("The variant green is given by a rule of the flag.")
    assert await saved_variants(ada, flag) == [BLUE, GREEN]


async def test_new_variants_divide_the_users_evenly(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(flag_page(flag))
    await expect(shown(ada)).to_contain_text("This flag has no variants: it is only on or off.")
    await ada.press("Add variants")
    dialog = ada.page.get_by_role("dialog")
    await expect(variant(ada, 1).get_by_label("Key")).to_be_focused()
    await dialog.get_by_label("Type of the values").select_option("boolean")
    await dialog.get_by_role("button", name="Add variant").click()
    await expect(variant(ada, 3).get_by_label("Key")).to_be_focused()
    for number, (key, value) in enumerate((("a", "true"), ("b", "false"), ("c", "false")), start=1):
        await variant(ada, number).get_by_label("Key").fill(key)
        await variant(ada, number).get_by_label("Value").select_option(value)
    await expect(variant(ada, 1).get_by_label("Share of users")).to_have_value("33.4%")
    await dialog.get_by_role("button", name="Save").click()
    await expect(shown(ada).get_by_role("listitem")).to_have_text(["a33.4%true", "b33.3%false", "c33.3%false"])
    assert await saved_variants(ada, flag) == [
        {"key": "a", "weight": 334, "value": True},
        {"key": "b", "weight": 333, "value": False},
        {"key": "c", "weight": 333, "value": False},
    ]
    await expect(dialog).to_have_count(0)
    await ada.press("Edit variants")
    await expect(variant(ada, 1).get_by_label("Key")).to_be_focused()
    for left in (2, 1, 0):
        await dialog.get_by_role("button", name="Remove variant 1").click()
        await expect(dialog.get_by_role("button", name="Remove variant")).to_have_count(left)
    await expect(dialog).to_contain_text("Saving removes all variants.")
    await dialog.get_by_role("button", name="Save").click()
    await expect(shown(ada)).to_contain_text("This flag has no variants")


async def test_a_button_that_is_pressed_while_its_dialog_appears_gets_the_click(ada: Person, flag: Json) -> None:
    await ada.page.emulate_media(reduced_motion="no-preference")
    dialog = await open_dialog(ada, flag)
    button = dialog.get_by_role("button", name="Remove variant 2")
    await button.wait_for(state="attached")
    box = await button.bounding_box()
    assert box is not None
    await ada.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await ada.page.mouse.down()
    await dialog.evaluate("dialog => Promise.all(dialog.getAnimations().map((each) => each.finished))")
    await ada.page.mouse.up()
    await expect(button).to_have_count(0)


async def test_shares_are_kept_when_variants_are_edited_and_added(ada: Person, flag: Json) -> None:
    dialog = await open_dialog(ada, flag)
    await variant(ada, 1).get_by_label("Key").fill("navy")
    await dialog.get_by_role("button", name="Add variant").click()
    await expect(dialog).to_contain_text("A variant that you add gets no users until you give it a share.")
    await variant(ada, 3).get_by_label("Key").fill("red")
    await variant(ada, 3).get_by_label("Value").fill("line one\nline two")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    assert await saved_variants(ada, flag) == [
        {**BLUE, "key": "navy"},
        GREEN,
        {"key": "red", "weight": 0, "value": "line one\nline two"},
    ]


async def test_users_of_a_removed_variant_are_divided_among_the_others_in_proportion(ada: Person) -> None:
    weights = (("a", 600), ("b", 300), ("c", 100))
    flag = await ada.api.create_flag(variants=[{"key": key, "weight": weight, "value": 1} for key, weight in weights])
    dialog = await open_dialog(ada, flag)
    await dialog.get_by_role("button", name="Remove variant 3").click()
    await expect(dialog).to_contain_text("Saving changes the shares, so some users get another variant.")
    await expect(dialog.get_by_role("button", name="Add variant")).to_be_focused()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    assert [each["weight"] for each in await saved_variants(ada, flag)] == [667, 333]


async def test_a_share_is_typed_and_the_others_keep_their_proportions(ada: Person) -> None:
    weights = (("a", 1), ("b", 3), ("c", 4))
    flag = await ada.api.create_flag(variants=[{"key": key, "weight": weight, "value": 1} for key, weight in weights])
    dialog = await open_dialog(ada, flag)
    shares = [variant(ada, number).get_by_label("Share of users") for number in (1, 2, 3)]
    await expect(shares[0]).to_have_value("12.5%")
    await shares[2].fill("20")
    for share, shown_share in zip(shares, ("20%", "60%", "20%"), strict=True):
        await expect(share).to_have_value(shown_share)
    await expect(dialog).to_contain_text("Saving changes the shares")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    assert [each["weight"] for each in await saved_variants(ada, flag)] == [200, 600, 200]
    await ada.press("Edit variants")
    await dialog.get_by_role("button", name="Split evenly").click()
    await expect(dialog).to_contain_text("Saving divides the users evenly again")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    assert [each["weight"] for each in await saved_variants(ada, flag)] == [334, 333, 333]


async def test_the_only_variant_has_all_users(ada: Person) -> None:
    flag = await ada.api.create_flag(variants=[{"key": "a", "weight": 1, "value": 1}])
    await open_dialog(ada, flag)
    await expect(variant(ada, 1).get_by_label("Share of users")).to_have_value("100%")
    await expect(variant(ada, 1).get_by_label("Share of users")).to_be_disabled()


async def test_a_rule_gives_a_variant_that_is_chosen_in_its_dialog(ada: Person, flag: Json) -> None:
    await ada.page.goto(flag_page(flag))
    await ada.press("Add rule")
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_label("Match by").select_option("user_id")
    await dialog.get_by_label("Value").fill("ada")
    await dialog.get_by_label("Variant").select_option("green")
    await dialog.get_by_role("button", name="Add rule").click()
    await ada.sees(", the flag is on with the variant green")
    await ada.press("Actions for: If the user id is ada")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await expect(dialog.get_by_label("Variant")).to_have_value("green")
    await dialog.get_by_label("Variant").select_option("By weight")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    (rule,) = (await ada.api.get(f"/api{flag_page(flag)}/rules")).json()
    assert rule["variant"] is None
