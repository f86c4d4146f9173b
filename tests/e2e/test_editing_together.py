"""Two people edit the same resource: nobody's edit is lost, and each sees what the other has changed."""

import asyncio
import re
from contextlib import AsyncExitStack

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import AXE, check_in_both_schemes, stays_within
from tests.e2e.contexts import Contexts
from tests.e2e.people import POLL_SECONDS, Person, environment_page, flag_page
from tests.support.api import Json, environment_path, flag_path

CHANGED = "Changed meanwhile"
WEIGHTS = [{"key": key, "weight": weight, "value": key} for key, weight in (("a", 100), ("b", 800), ("c", 100))]


@pytest_asyncio.fixture(loop_scope="session")
async def tab(ada: Person, contexts: Contexts, people: AsyncExitStack) -> Person:
    """Another browser of ada's, which does not learn of changes made elsewhere."""
    other = await people.enter_async_context(Person(contexts, ada.url))
    other.email = ada.email
    await other.use_token(ada.token)
    await other.without_events()
    await other.page.route("**/changes?limit=20", lambda route: route.abort())
    return other


def meanwhile(person: Person) -> Locator:
    """Return the part of a dialog about others' changes."""
    return person.page.get_by_role("group", name=CHANGED)


async def edit(person: Person, flag: Json) -> None:
    """Open the dialog for a flag's details."""
    await person.page.goto(flag_page(flag))
    await person.press("Actions")
    await person.page.get_by_role("menuitem", name="Edit").click()
    await expect(person.page.get_by_role("dialog").get_by_label("Name")).to_be_visible()


async def save(person: Person) -> None:
    await person.page.get_by_role("dialog").get_by_role("button", name="Save", exact=True).click()


async def test_what_does_not_overlap_is_merged_without_a_question(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout", description="old", tags=["one", "two"])
    await edit(tab, flag)
    await ada.api.put(flag_path(flag), json={"name": "Checkout 2", "tags": ["two", "theirs"]})
    await tab.page.get_by_role("dialog").get_by_label("Description").fill("mine")
    await save(tab)
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    await tab.sees("Saved. What others changed meanwhile is kept: Name and Tags.")
    saved = (await ada.api.get(flag_path(flag))).json()
    assert (saved["name"], saved["description"], saved["tags"]) == ("Checkout 2", "mine", ["two", "theirs"])


async def test_only_what_was_touched_is_sent_with_the_tag(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout")
    await edit(tab, flag)
    await tab.page.get_by_role("dialog").get_by_label("Description").fill("mine")
    async with tab.page.expect_request(lambda request: request.method == "PUT") as sent:
        await save(tab)
    request = await sent.value
    assert request.post_data_json == {"description": "mine"}
    assert await request.header_value("if-match") == f'"{flag["updated_at"]}"'


async def test_saving_what_was_not_touched_puts_nothing_back(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout")
    await edit(tab, flag)
    theirs = (await ada.api.put(flag_path(flag), json={"name": "Theirs"})).json()
    await save(tab)
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    assert (await ada.api.get(flag_path(flag))).json() == theirs


async def test_what_both_have_changed_is_asked_about(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout", description="old")
    await edit(tab, flag)
    await ada.api.put(flag_path(flag), json={"name": "Theirs", "description": "their words"})
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Mine")
    await dialog.get_by_label("Description").fill("my words")
    await save(tab)
    await expect(meanwhile(tab)).to_contain_text(f"{ada.email} changed Name and Description while you were editing.")
    await expect(meanwhile(tab)).to_contain_text("Theirs")
    if AXE.is_file():
        await check_in_both_schemes(tab, "a conflict")
    await tab.page.set_viewport_size({"width": 390, "height": 800})
    await stays_within(tab)
    await save(tab)
    await expect(dialog).to_be_visible()  # nothing is chosen yet
    await tab.page.get_by_role("radiogroup", name="Name").get_by_label("Yours: Mine").check()
    await tab.page.get_by_role("radiogroup", name="Description").get_by_label("Theirs: their words").check()
    await save(tab)
    await expect(dialog).to_have_count(0)
    await tab.sees("Saved. What others changed meanwhile is kept: Description.")
    saved = (await ada.api.get(flag_path(flag))).json()
    assert (saved["name"], saved["description"]) == ("Mine", "their words")


async def test_a_change_that_comes_while_a_dialog_is_open_is_said_at_once(ada: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout", variants=WEIGHTS)
    async with ada.following():
        await ada.page.goto(flag_page(flag))
    await ada.press("Edit variants")
    value = ada.page.get_by_role("dialog").get_by_label("Value", exact=True).first
    await value.fill("azure")
    weights = [{**each, "weight": weight} for each, weight in zip(WEIGHTS, (1, 1, 998), strict=True)]
    await ada.api.put(flag_path(flag), json={"variants": weights})
    await expect(meanwhile(ada)).to_contain_text("changed Variants while you were editing.")
    await expect(meanwhile(ada)).to_contain_text("It does not overlap with your changes.")
    await expect(meanwhile(ada)).to_be_in_viewport()
    await save(ada)
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    saved = (await ada.api.get(flag_path(flag))).json()["variants"]
    assert [(each["weight"], each["value"]) for each in saved] == [(1, "azure"), (1, "b"), (998, "c")]


async def test_weights_that_both_have_changed_are_asked_about_together(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout", variants=WEIGHTS)
    await tab.page.goto(flag_page(flag))
    await tab.press("Edit variants")
    await tab.page.get_by_role("button", name="Remove variant 3").click()
    weights = [{**each, "weight": weight} for each, weight in zip(WEIGHTS, (1, 1, 998), strict=True)]
    await ada.api.put(flag_path(flag), json={"variants": weights})
    await save(tab)
    await (
        tab.page.get_by_role("radiogroup", name="Variants: weights of all")
        .get_by_label(re.compile(r"Theirs: a 1, b 1, c 998"))
        .check()
    )
    await save(tab)
    await expect(tab.page.get_by_role("dialog")).to_have_count(0)
    saved = (await ada.api.get(flag_path(flag))).json()["variants"]
    assert [(each["key"], each["weight"]) for each in saved] == [("a", 1), ("b", 1)]


async def test_two_people_edit_a_rule(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag()
    rule = await ada.api.create_rule(flag, rule_value="ada")
    await tab.page.goto(flag_page(flag))
    await tab.page.get_by_role("button", name=re.compile("^Actions for")).first.click()
    await tab.page.get_by_role("menuitem", name="Edit").click()
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_label("Name", exact=False).fill("Mine")
    await ada.api.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"rule_value": "grace", "priority": 7})
    await save(tab)
    await expect(dialog).to_have_count(0)
    saved = (await ada.api.get(f"{flag_path(flag)}/rules/{rule['id']}")).json()
    assert (saved["rule_value"], saved["priority"], saved["name"]) == ("grace", 7, "Mine")


async def test_two_people_edit_an_environment_which_has_no_time_of_its_change(ada: Person, tab: Person) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project, "staging")
    await tab.page.goto(f"/projects/{project['id']}/settings")
    await tab.press("Edit Staging")
    await ada.api.put(environment_path(environment), json={"name": "Theirs"})
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Mine")
    await save(tab)
    await tab.page.get_by_role("radiogroup", name="Name").get_by_label("Yours: Mine").check()
    await save(tab)
    await expect(dialog).to_have_count(0)
    assert (await ada.api.get(environment_path(environment))).json()["name"] == "Mine"


async def test_a_flag_is_turned_off_whatever_others_have_changed(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(enabled=True)
    await tab.page.goto(flag_page(flag))
    switch = tab.page.get_by_role("switch", name=re.compile("New checkout|Renamed"))
    await expect(switch).to_be_checked()
    await ada.api.put(flag_path(flag), json={"name": "Renamed", "rollout_percentage": 10})
    await switch.press("Space")
    await expect(switch).not_to_be_checked()
    await tab.sees("was turned off")
    saved = (await ada.api.get(flag_path(flag))).json()
    assert (saved["enabled"], saved["name"], saved["rollout_percentage"]) == (False, "Renamed", 10)


async def test_a_flag_that_has_changed_is_shown_before_it_is_turned_on(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    await tab.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    switch = tab.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    await ada.api.put(flag_path(flag), json={"rollout_percentage": 100})
    await switch.press("Space")
    await tab.confirm_turning_on()
    await tab.sees("New checkout was not turned on")
    await tab.sees(f"{ada.email} has changed Rollout since you saw it.")
    await expect(switch).not_to_be_checked()
    await tab.press("Turn on anyway")
    await expect(switch).to_be_checked()
    await tab.sees("New checkout was turned on.")
    assert (await ada.api.get(flag_path(flag))).json()["enabled"]


async def test_a_flag_that_is_switched_quickly_does_not_stop_itself(ada: Person) -> None:
    staging = await ada.api.get_environment(await ada.api.create_project(), "staging")
    flag = await ada.api.create_flag(staging, enabled=False)
    await ada.page.goto(flag_page(flag))
    switch = ada.page.get_by_role("switch", name="New checkout")
    for state in (True, False, True, False, True):
        await switch.press("Space")
        await expect(switch).to_be_checked(checked=state)
    changes = f"/api/projects/{flag['project_id']}/changes"
    async with asyncio.timeout(60):  # the page shows changes before the server has made them
        while len([each for each in (await ada.api.get(changes)).json()["items"] if each["flag_id"]]) < 1 + 5:
            await asyncio.sleep(POLL_SECONDS)
    assert (await ada.api.get(flag_path(flag))).json()["enabled"]
    await expect(ada.page.get_by_text("was not turned on")).to_have_count(0)


async def test_what_has_changed_is_shown_before_it_is_deleted(ada: Person, tab: Person) -> None:
    flag = await ada.api.create_flag()
    rule = await ada.api.create_rule(flag, rule_value="ada")
    path = f"{flag_path(flag)}/rules/{rule['id']}"
    await tab.page.goto(flag_page(flag))
    await tab.page.get_by_role("button", name=re.compile("^Actions for")).first.click()
    await tab.page.get_by_role("menuitem", name="Delete").click()
    dialog = tab.page.get_by_role("dialog")
    await ada.api.put(path, json={"rule_value": "grace"})
    await dialog.get_by_role("button", name="Delete").click()
    await expect(meanwhile(tab)).to_contain_text("has changed Value since you saw it.")
    assert (await ada.api.get(path)).status_code == 200
    await dialog.get_by_role("button", name="Delete").click()
    await expect(dialog).to_have_count(0)
    assert (await ada.api.get(path)).status_code == 404


async def test_a_view_that_others_have_changed_is_neither_renamed_nor_deleted_as_it_was(
    ada: Person, tab: Person
) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    views = f"/api/projects/{project['id']}/views"
    await ada.api.create_flag(environment)
    view = (await ada.api.post(views, json={"name": "Beta", "search": {"tag": "beta"}})).json()
    await tab.page.goto(environment_page(environment))
    await tab.page.get_by_role("button", name="Views").click()
    await tab.page.get_by_role("menuitem", name="Beta").click()
    await expect(tab.page.get_by_role("button", name="Views: Beta")).to_be_visible()
    await ada.api.put(f"{views}/{view['id']}", json={"name": "Theirs"})
    await tab.page.get_by_role("button", name="Views: Beta").click()
    await tab.page.get_by_role("menuitem", name="Rename Beta…").click()
    dialog = tab.page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Mine")
    await save(tab)
    await expect(dialog.get_by_role("alert")).to_contain_text("changed")
    assert (await ada.api.get(f"{views}/{view['id']}")).json()["name"] == "Theirs"


async def test_a_key_that_someone_else_has_just_made_is_shown_before_it_is_replaced(ada: Person, tab: Person) -> None:
    project = (await ada.api.post("/api/projects", json={"name": "Shop"})).json()
    path = f"/api/projects/{project['id']}"
    await tab.page.goto(f"/projects/{project['id']}/sdk-keys")
    await tab.press("Regenerate key")
    theirs = (await ada.api.post(f"{path}/regenerate-key")).json()
    await tab.press("Regenerate and revoke the old key")
    await expect(meanwhile(tab)).to_contain_text("SDK key")
    assert (await ada.api.get(path)).json()["sdk_key"] == theirs["sdk_key"]
    await tab.press("Regenerate and revoke the old key")
    await tab.sees("The key was regenerated.")
