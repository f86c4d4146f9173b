"""The first steps of a project: from no flag to the first evaluation."""

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import AXE, check, stays_within
from tests.e2e.people import Person, environment_page
from tests.support.api import Json


def steps(ada: Person) -> Locator:
    return ada.page.get_by_role("region", name="First steps")


async def test_a_project_that_was_evaluated_shows_no_first_steps(ada: Person) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    flag = await ada.api.create_flag(environment)
    await ada.api.evaluate(project["sdk_key"], context={"user_id": "ada"})
    async with ada.page.expect_response("**/evaluations/summary?*"):
        await ada.page.goto(environment_page(environment))
    await ada.sees(flag["name"])
    await expect(steps(ada)).to_have_count(0)


async def test_each_step_is_marked_as_soon_as_it_is_done(ada: Person) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    await ada.page.goto(environment_page(environment))
    await expect(steps(ada).get_by_text("Done:")).to_have_text(["Done: Create a project"])
    flag = await ada.api.create_flag(environment, enabled=False)
    await expect(steps(ada)).to_contain_text("Done: Create a flag")
    await expect(steps(ada).get_by_role("status")).to_have_text("Waiting for your first evaluation…")
    await ada.api.evaluate(project["sdk_key"], context={"user_id": "ada"})
    await expect(steps(ada).get_by_role("status")).to_have_text("Evaluated for ada.")
    await expect(steps(ada)).to_contain_text("To do: Turn the flag on")
    await ada.page.get_by_role("switch", name=flag["name"]).click()
    await ada.confirm_turning_on()
    await expect(steps(ada).get_by_text("Done:")).to_have_count(4)
    await steps(ada).get_by_role("link", name="Show it in the history").click()
    await ada.sees_heading("Evaluation history")


async def test_the_step_that_waits_leads_to_programs_that_ask_for_the_flag(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await steps(ada).get_by_role("link", name="Show code for your app").click()
    await ada.sees_heading("Use this flag")


async def test_first_steps_that_were_hidden_stay_hidden(ada: Person) -> None:
    environment = await new_environment(ada)
    await ada.page.goto(environment_page(environment))
    await ada.page.get_by_role("button", name="Hide the first steps").click()
    await expect(steps(ada)).to_have_count(0)
    async with ada.page.expect_response("**/evaluations/summary?*"):
        await ada.page.reload()
    await ada.sees_heading("No flags in Production yet")
    await expect(steps(ada)).to_have_count(0)


async def test_the_steps_are_accessible_and_fit(ada: Person) -> None:
    path = environment_page(await new_environment(ada))
    await ada.page.goto(path)
    for width in (1280, 320):
        await ada.page.set_viewport_size({"width": width, "height": 800})
        await ada.turn_to(path)
        await expect(steps(ada)).to_be_visible()
        if AXE.is_file():
            await check(ada, f"first steps, {width} pixels wide")
        await stays_within(ada)


async def new_environment(ada: Person) -> Json:
    return await ada.api.get_environment(await ada.api.create_project())
