"""A project's home: a summary of each environment, with links to the pages with more."""

from playwright.async_api import Locator, Request, expect

from tests.e2e.accessibility import UNBROKEN, check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, evaluate_and_record
from tests.e2e.releases import create_release, wait_for_release
from tests.support.api import Json

MOST_REQUESTS = 3 + 1 + 3 * 4  # for the frame, the changes, and three environments


def card(person: Person, environment: str) -> Locator:
    environments = person.page.get_by_role("list", name="Environments").get_by_role("listitem")
    return environments.filter(has=person.page.get_by_role("heading", name=environment, exact=True))


async def open_home(person: Person, project: Json) -> None:
    await person.page.goto(f"/projects/{project['id']}")
    await person.sees_heading("Overview")


async def test_a_project_without_environments_says_what_to_do(ada: Person) -> None:
    project = await ada.api.create_project()
    for key in ("production", "staging"):
        await ada.api.delete(f"/api{environment_page(await ada.api.get_environment(project, key))}")
    await open_home(ada, project)
    await ada.sees_heading("This project has no environments")
    await ada.page.get_by_role("link", name="Go to the project's settings").click()
    await ada.sees_heading("Project settings")


async def test_a_new_project_says_what_is_missing(ada: Person) -> None:
    project = await ada.api.create_project()
    await ada.page.goto("/")
    await ada.page.get_by_role("link", name=project["name"]).click()
    await ada.sees_heading("Overview")
    production = card(ada, "Production")
    await expect(production).to_contain_text("None in 24 hours. Open a flag and its tab Use in code")
    await expect(production).to_contain_text("None is running or scheduled")
    await expect(production).to_contain_text("None is connected")
    await expect(production).to_contain_text("No flag is stale")
    await check_in_both_schemes(ada, "the home of a new project")
    await production.get_by_role("link", name="Flags of Production").click()
    await ada.sees_heading("No flags in Production yet")


async def test_the_home_shows_what_goes_on_in_each_environment_with_few_requests(ada: Person) -> None:
    project = await ada.api.create_project()
    production = await ada.api.get_environment(project)
    for key in ("canary", "load"):
        await ada.api.create_environment(project, name=key.title(), key=key)
    flag = await ada.api.create_flag(production)
    made = await create_release(ada, flag)
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
    await evaluate_and_record(ada, production, {"user_id": "ada"}, {"user_id": "eve"})
    asked: set[str] = set()  # a page that takes long looks again for some of this

    def note(request: Request) -> None:
        if "/api/projects/" in request.url:
            asked.add(request.url)

    ada.page.on("request", note)
    await ada.without_events()  # after an event, the page loads the data that it concerns again
    await open_home(ada, project)
    here = card(ada, "Production")
    await expect(here).to_contain_text("2 results in 24 hours")
    await expect(here).to_contain_text("1 running")
    await expect(here).to_contain_text("applied a step to New checkout")
    await expect(ada.page.locator(".mantine-Skeleton-root")).to_have_count(0)
    assert len(asked) <= MOST_REQUESTS, "\n".join(asked)
    await expect(card(ada, "Load")).not_to_contain_text("Evaluations")
    await ada.press("Show activity of Load")
    await expect(card(ada, "Load")).to_contain_text("None in 24 hours")
    recent = ada.page.get_by_role("region", name="Recent changes")
    await expect(recent.get_by_role("listitem")).to_have_count(8)
    await check_in_both_schemes(ada, "the home of a project")
    for name, heading in (
        ("Evaluations", "Evaluation history"),
        ("Releases", "Open releases"),
        ("SDK instances", "Applications"),
        ("Clean up", "Clean up"),
        ("Last change", "Changes"),
    ):
        await card(ada, "Production").get_by_role("link", name=name).click()
        await expect(ada.page.get_by_role("heading", level=1)).to_contain_text(heading)
        await ada.page.go_back()
        await ada.sees_heading("Overview")
    await expect(card(ada, "Production")).to_contain_text("Opened last")


async def test_the_home_fits_a_phone_however_long_the_words_are(ada: Person) -> None:
    project = await ada.api.create_project(name=UNBROKEN, description=UNBROKEN)
    environment = await ada.api.create_environment(project, name=UNBROKEN, key=UNBROKEN.lower())
    await ada.api.create_flag({**environment, "project_id": project["id"]}, name=UNBROKEN, key=UNBROKEN.lower())
    await open_home(ada, project)
    for width in (320, 390):
        await ada.page.set_viewport_size({"width": width, "height": 800})
        await ada.turn_to(f"/projects/{project['id']}")
        await expect(ada.page.get_by_role("region", name="Recent changes")).to_be_visible()
        await stays_within(ada)
