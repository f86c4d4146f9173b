"""Names, ids and texts that others wrote: they hide, reorder and imitate nothing around them."""

from playwright.async_api import expect

from tests.e2e.people import Person, environment_page, evaluate_and_record, flag_page
from tests.support.api import created, flag_path

REVERSED = "ada\u202egpj.exe"
ARABIC = "\u0645\u0631\u062d\u0628\u0627"


async def test_no_user_id_reorders_or_hides_what_is_around_it(ada: Person) -> None:
    project = await ada.api.create_project()
    environment = await ada.api.get_environment(project)
    await ada.api.create_flag(environment)
    await evaluate_and_record(ada, environment, {"user_id": REVERSED})
    await ada.page.goto(f"{environment_page(environment)}/history")
    await expect(ada.page.locator("bdi", has_text="ada")).to_have_text("ada\\u202Egpj.exe")


async def test_a_comment_has_no_link_that_hides_where_it_leads_and_reads_in_its_own_direction(ada: Person) -> None:
    flag = await ada.api.create_flag()
    text = f"{ARABIC} https://bank.example@evil.example/ https://example.com/\u202egpj https://example.com/a"
    created(await ada.api.post(f"{flag_path(flag)}/comments", json={"text": text}))
    await ada.page.goto(f"{flag_page(flag)}?tab=comments")
    comment = ada.page.get_by_role("list", name="Comments").get_by_role("listitem")
    await expect(comment.get_by_role("link")).to_have_count(1)
    await expect(comment.get_by_role("link")).to_have_attribute("href", "https://example.com/a")
    paragraph = comment.get_by_role("paragraph")
    await expect(paragraph).to_contain_text("https://example.com/\\u202Egpj")
    assert await paragraph.evaluate("each => getComputedStyle(each).direction") == "rtl"
    await expect(comment.locator("bdi")).to_have_text(ada.email)
