"""Numbers keep their kind: what the dashboard reads and sends back has each number as it was written."""

import re
from typing import Any

import pytest_asyncio
from playwright.async_api import Locator, Page, Route, expect

from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.api import Json, flag_path

# The forms in which the server writes them. JavaScript writes 2, 10000000000000000 and 1e-7, and sorts names by number.
OBJECT = '{"ratio":2.0,"most":1e+16,"steps":[1e-07,3],"10":1.0,"9":"2.0"}'
LONG = "12345678901234567890"


@pytest_asyncio.fixture(loop_scope="session")
async def environment(ada: Person) -> Json:
    """The production of a new project."""
    return await ada.api.get_environment(await ada.api.create_project())


async def create(ada: Person, environment: Json, values: list[str], **others: Any) -> Json:
    """Create a flag with a variant for each value, which is JSON."""
    variants = [{"key": key, "weight": 500, "value": 0} for key in "abc"[: len(values)]]
    flag = await ada.api.create_flag(environment, variants=variants, **others)
    await put(ada, flag, *values)
    return flag


async def put(ada: Person, flag: Json, *values: str) -> None:
    """Give the variants of a flag these values, which are JSON."""
    body = ",".join(
        f'{{"key":"{key}","weight":500,"value":{value}}}' for key, value in zip("abc", values, strict=False)
    )
    headers = {"content-type": "application/json"}
    answer = await ada.api.put(flag_path(flag), content=f'{{"variants":[{body}]}}', headers=headers)
    answer.raise_for_status()


async def values_of(ada: Person, flag: Json) -> list[str]:
    """Return the values of a flag's variants as the server writes them."""
    text = (await ada.api.get(flag_path(flag))).text
    return re.findall(r'"value":(.*?)}(?=,{"key"|],)', text)


def variant(ada: Person, number: int) -> Locator:
    """Return a variant in the open dialog."""
    return ada.page.get_by_role("dialog").get_by_role("group", name=f"Variant {number}")


def shown(ada: Person) -> Locator:
    """Return the variants on the flag's page."""
    return ada.page.get_by_role("region", name="Variants").get_by_role("listitem")


async def save(ada: Person) -> None:
    dialog = ada.page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Save", exact=True).click()
    await expect(dialog).to_have_count(0)


async def note(page: Page, path: str) -> list[str]:
    """Return a list that gets the body of each request to a path."""
    bodies: list[str] = []

    async def pass_on(route: Route) -> None:
        bodies.append(route.request.post_data or "")
        await route.continue_()

    await page.route(f"**/{path}", pass_on)
    return bodies


async def test_an_edited_variant_leaves_the_numbers_of_the_others_as_they_were(ada: Person, environment: Json) -> None:
    flag = await create(ada, environment, ["2.0", "3.5", "1e+16"])
    await ada.page.goto(flag_page(flag))
    await expect(shown(ada)).to_have_text([re.compile(r"a.*%2\.0$"), re.compile("%3.5$"), re.compile(r"%1e\+16$")])
    await ada.press("Edit variants")
    await expect(variant(ada, 1).get_by_label("Value")).to_have_value("2.0")
    await variant(ada, 2).get_by_label("Value").fill("4.5")
    await save(ada)
    assert await values_of(ada, flag) == ["2.0", "4.5", "1e+16"]
    await ada.press("Edit variants")
    await variant(ada, 2).get_by_label("Key").fill("z")
    await save(ada)
    assert await values_of(ada, flag) == ["2.0", "4.5", "1e+16"]


async def test_an_edited_object_leaves_the_rest_of_it_and_the_others_as_they_were(
    ada: Person, environment: Json
) -> None:
    flag = await create(ada, environment, [OBJECT, OBJECT])
    assert await values_of(ada, flag) == [OBJECT, OBJECT]
    await ada.page.goto(flag_page(flag))
    await expect(shown(ada).first).to_contain_text(OBJECT)
    await ada.press("Edit variants")
    field = variant(ada, 2).get_by_label("Value")
    await field.fill((await field.input_value()).replace('"2.0"', '"changed"'))
    await save(ada)
    assert await values_of(ada, flag) == [OBJECT, OBJECT.replace('"2.0"', '"changed"')]
    await ada.press("Undo")  # which is offered for ten seconds
    await ada.sees("Undone")
    assert await values_of(ada, flag) == [OBJECT, OBJECT]
    await ada.page.get_by_role("tab", name="Changes").click()
    change = ada.page.get_by_role("main").get_by_role("listitem").nth(1)
    await expect(change).to_contain_text('"ratio":2.0')


async def test_a_float_can_be_entered_and_is_evaluated_as_one(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment)
    await ada.page.goto(flag_page(flag))
    await ada.press("Add variants")
    await ada.page.get_by_role("dialog").get_by_label("Type of the values").select_option("number")
    for number, (key, value) in enumerate((("a", "2.0"), ("b", "1e3")), start=1):
        await variant(ada, number).get_by_label("Key").fill(key)
        await variant(ada, number).get_by_label("Value").fill(value)
    await save(ada)
    assert await values_of(ada, flag) == ["2.0", "1000.0"]
    project = (await ada.api.get(f"/api/projects/{environment['project_id']}")).json()
    answer = await ada.api.evaluate(project["sdk_key"], environment["key"], {"user_id": "ada"})
    assert re.search(r'"value":(2\.0|1000\.0)[,}]', answer.text), answer.text
    await ada.page.get_by_role("tab", name="Use in code").click()
    await ada.page.get_by_role("tab", name="Python", exact=True).click()
    await ada.page.get_by_text("OpenFeature", exact=True).click()
    await expect(ada.page.get_by_role("region", name="Program in")).to_contain_text("get_float_value")


async def test_an_integer_and_a_float_are_different_values(ada: Person, environment: Json) -> None:
    flag = await create(ada, environment, ["2.0", "3.0"])
    await ada.page.goto(flag_page(flag))
    await ada.press("Edit variants")
    await variant(ada, 1).get_by_label("Value").fill("2")
    await save(ada)
    assert await values_of(ada, flag) == ["2", "3.0"]
    await ada.page.get_by_role("tab", name="Changes").click()
    change = ada.page.get_by_role("main").get_by_role("listitem").first
    await expect(change).to_contain_text("a (500): 2.0, b (500): 3.0")
    await expect(change).to_contain_text("a (500): 2, b (500): 3.0")


async def test_a_draft_and_its_previews_have_the_numbers_as_they_were(ada: Person, environment: Json) -> None:
    flag = await create(ada, environment, [OBJECT, OBJECT])
    page, dialog = ada.page, ada.page.get_by_role("dialog")
    counted, explained = await note(page, "impact"), await note(page, "explain")
    await page.goto(flag_page(flag))
    await ada.press("Edit variants")
    await variant(ada, 2).get_by_label("Key").fill("z")
    await page.reload()
    await ada.sees("Unsaved draft from")
    await variant(ada, 1).get_by_label("Share of users").fill("10")
    await expect(dialog.get_by_role("status").filter(has_text="No user was seen")).to_be_visible()
    assert counted[-1].count(OBJECT) == 2
    await ada.press("Try this change")
    await dialog.get_by_role("button", name="Evaluate").click()
    await expect(dialog.get_by_role("status").filter(has_text=", value ")).to_contain_text(OBJECT)
    assert explained[-1].count(OBJECT) == 2
    await save(ada)
    assert await values_of(ada, flag) == [OBJECT, OBJECT]


async def test_a_conflict_shows_and_merges_the_numbers_as_they_were(ada: Person, environment: Json) -> None:
    flag = await create(ada, environment, ["1.0", "2.0", "3.0"])
    await ada.page.goto(flag_page(flag))
    await ada.press("Edit variants")
    await variant(ada, 1).get_by_label("Value").fill("1.50")
    await variant(ada, 2).get_by_label("Value").fill("2.50")
    await put(ada, flag, "1.0", "2", "4.0")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()
    conflict = ada.page.get_by_role("group", name="Changed meanwhile")
    await expect(conflict).to_contain_text("Yours: 2.50")
    await expect(conflict).to_contain_text("Theirs: 2")
    await conflict.get_by_text("Theirs: 2").click()
    await save(ada)
    assert await values_of(ada, flag) == ["1.5", "2", "4.0"]


async def test_a_user_is_asked_about_with_the_numbers_as_they_were_entered(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment, fallthrough="off")
    condition = {"attribute": "amount", "operator": "in", "values": ["x"]}
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[condition])
    sent = await note(ada.page, "explain")
    await ada.page.goto(flag_page(flag))
    simulator = ada.page.get_by_role("region", name="Try it")
    for number, value in enumerate(("2.0", LONG), start=1):
        await simulator.get_by_role("button", name="Add attribute").click()
        await simulator.get_by_label(f"Name of attribute {number}").fill(("amount", "account")[number - 1])
        await simulator.get_by_label(f"Type of attribute {number}").select_option("number")
        await simulator.get_by_label(f"Value of attribute {number}").fill(value)
    await simulator.get_by_role("button", name="Evaluate").click()
    await expect(simulator.get_by_role("status")).to_contain_text(f"amount: 2.0, account: {LONG}")
    await expect(simulator.get_by_role("list").last).to_contain_text("2.0")
    assert f'{{"amount":2.0,"account":{LONG}}}' in sent[-1]


async def test_recorded_attributes_are_shown_and_asked_about_again_as_they_were(ada: Person, environment: Json) -> None:
    flag = await ada.api.create_flag(environment)
    used = [{"attribute": name, "operator": "in", "values": ["x"]} for name in ("amount", "account", "10", "9")]
    await ada.api.create_rule(flag, rule_type="attributes", rule_value=None, conditions=used)
    attributes = {"amount": 2.0, "account": int(LONG), "10": 1, "9": 1.0}
    await evaluate_and_record(ada, environment, {"user_id": "1e3", "custom_attributes": attributes})
    await ada.page.goto(f"{environment_page(environment)}/history")
    row = ada.page.get_by_role("row").filter(has_text="1e3")
    await expect(row).to_contain_text(f"amount: 2.0, account: {LONG}, 10: 1, 9: 1.0")
    sent = await note(ada.page, "answers")
    await ada.page.goto(f"/projects/{environment['project_id']}/user?id=1e3")  # no number, but an id
    await expect(ada.page.get_by_role("link", name="new-checkout")).to_be_visible()
    assert f'{{"amount":2.0,"account":{LONG},"10":1,"9":1.0}}' in sent[-1]


async def test_the_address_of_a_page_keeps_a_number_that_is_a_text(ada: Person, environment: Json) -> None:
    await ada.page.goto(f"{environment_page(environment)}/history?user={LONG}")
    await expect(ada.page.get_by_label("User id")).to_have_value(LONG)
    await ada.page.get_by_label("User id").fill("2.0")
    await expect(ada.page).to_have_url(re.compile(r"user=2\.0$"))
    await ada.page.reload()
    await expect(ada.page.get_by_label("User id")).to_have_value("2.0")
