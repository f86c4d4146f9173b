"""Pages show others' changes without a reload, through the stream of events or, without it, by polling."""

from playwright.async_api import expect

from tests.e2e.people import Person, environment_page, flag_page
from tests.support.api import Json, flag_path

POLL = "00:15"  # longer than between two requests of a page for what has changed


def environment_of(flag: Json) -> Json:
    return {"project_id": flag["project_id"], "id": flag["environment_id"]}


async def test_a_flag_that_others_switch_changes_in_the_list(ada: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    async with ada.page.expect_response("**/events"):
        await ada.page.goto(environment_page(environment_of(flag)))
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    for _ in range(2):
        await ada.api.post(f"{flag_path(flag)}/toggle")
        await expect(switch).to_be_checked()
        await ada.api.post(f"{flag_path(flag)}/toggle")
        await expect(switch).not_to_be_checked()


async def test_flags_that_others_create_and_delete_come_and_go(ada: Person) -> None:
    flag = await ada.api.create_flag()
    async with ada.page.expect_response("**/events"):
        await ada.page.goto(environment_page(environment_of(flag)))
    await ada.sees("New checkout")
    other = await ada.api.create_flag(environment_of(flag), name="Dark mode", key="dark-mode")
    await ada.sees("Dark mode")
    await ada.api.delete(flag_path(other))
    await expect(ada.page.get_by_text("Dark mode")).to_have_count(0)


async def test_rules_that_others_add_show_on_the_flag_page(ada: Person) -> None:
    flag = await ada.api.create_flag()
    async with ada.page.expect_response("**/events"):
        await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await ada.api.create_rule(flag, rule_value="grace-hopper")
    await ada.sees("grace-hopper")


async def test_what_others_switch_in_any_environment_shows_where_all_are_shown(ada: Person) -> None:
    flag = await ada.api.create_flag(enabled=False)
    project = {"id": flag["project_id"]}
    staging = {**await ada.api.get_environment(project, "staging"), "project_id": project["id"]}
    other = await ada.api.create_flag(staging, enabled=False)
    page = ada.page
    async with page.expect_response("**/events"):
        await page.goto(f"/projects/{project['id']}/flags")
    switches = page.get_by_role("switch")
    await expect(switches).to_have_count(2)
    for each in (flag, other):
        await ada.api.post(f"{flag_path(each)}/toggle")
    await expect(page.get_by_role("switch", checked=True)).to_have_count(2)
    async with page.expect_response("**/events"):
        await page.goto(flag_page(flag))
    tile = page.get_by_role("navigation").get_by_role("link", name="Staging")
    await expect(tile).to_contain_text("On")
    await ada.api.post(f"{flag_path(other)}/toggle")
    await expect(tile).to_contain_text("Off")


async def test_without_the_stream_changes_show_within_seconds(ada: Person) -> None:
    await ada.clock.install()
    await ada.without_events()
    flag = await ada.api.create_flag(enabled=False)
    async with ada.page.expect_response("**/changes?limit=20"):
        async with ada.page.expect_event("requestfailed", lambda request: request.url.endswith("/events")):
            await ada.page.goto(environment_page(environment_of(flag)))
        await ada.clock.fast_forward(POLL)
    switch = ada.page.get_by_role("switch", name="New checkout")
    await expect(switch).not_to_be_checked()
    await ada.api.post(f"{flag_path(flag)}/toggle")
    await ada.clock.fast_forward(POLL)
    await expect(switch).to_be_checked()


async def test_a_page_that_is_left_keeps_no_stream(ada: Person) -> None:
    flag = await ada.api.create_flag()
    async with ada.page.expect_response("**/events"):
        await ada.page.goto(environment_page(environment_of(flag)))
    async with ada.page.expect_event("requestfailed", lambda request: request.url.endswith("/events")):
        await ada.page.get_by_role("link", name="Projects").first.click()
