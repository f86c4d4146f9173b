"""The events of metrics on the page of a user of the applications."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from uuid import UUID

import pytest_asyncio
from playwright.async_api import Locator, expect

from flagstaff.database.sqlite.files import HISTORY_FILE
from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import POLL_SECONDS, Person, environment_page, evaluate_and_record
from tests.e2e.releases import WAIT_SECONDS, create_metric, report
from tests.support.api import Json, project_path
from tests.support.stores import Store

LATENCY = {"name": "Response time", "key": "latency", "kind": "value", "unit": "ms"}
PAGE = 25


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project with a metric that has values, and one that has none."""
    project = await ada.api.create_project()
    project["latency"] = await create_metric(ada, project, **LATENCY)
    await create_metric(ada, project)
    return project


async def record(ada: Person, project: Json, metric: str, users: list[str], **values: object) -> None:
    """Send an event of each of some users, and wait until production has them beside the earlier ones."""
    environment = await ada.api.get_environment(project)
    path = f"/api{environment_page(environment)}/events?limit=100"
    earlier = len((await ada.api.get(path)).json()["items"])
    await report(ada, project, metric, users, **values)
    async with asyncio.timeout(WAIT_SECONDS):
        while len((await ada.api.get(path)).json()["items"]) < earlier + len(users):
            await asyncio.sleep(POLL_SECONDS)


@contextmanager
def history(sqlite: Store) -> Iterator[sqlite3.Connection]:
    """Change the history's file beside the server."""
    with closing(sqlite3.connect(sqlite.data_directory / HISTORY_FILE)) as connection, connection:
        yield connection


def write_as_version(sqlite: Store, environment: Json, version: int) -> None:
    """Give the stored events of an environment the version of another release."""
    with history(sqlite) as connection:
        connection.execute(
            "UPDATE event_segments SET version = ? WHERE environment = "
            "(SELECT number FROM recorded_environments WHERE environment_id = ?)",
            (version, UUID(environment["id"]).hex),
        )


def user_page(project: Json, query: str) -> str:
    """Return the path of the page of a user."""
    return f"/projects/{project['id']}/user?{query}"


def events(ada: Person) -> Locator:
    """Return the part of the page that has the events."""
    return ada.page.get_by_role("region", name="Events", exact=True)


async def test_events_that_cannot_be_read_say_so_beside_the_rest_of_the_page(
    ada: Person, project: Json, sqlite: Store
) -> None:
    await record(ada, project, "latency", ["user-42"], value=12.5)
    environment = await ada.api.get_environment(project)
    write_as_version(sqlite, environment, 9)
    await ada.page.goto(user_page(project, "id=user-42"))
    await expect(events(ada).get_by_role("alert")).to_contain_text("a newer one has written them")
    await expect(ada.page.get_by_role("region", name="Evaluations")).to_contain_text("No evaluations")
    await check_in_both_schemes(ada, "events that cannot be read")
    write_as_version(sqlite, environment, 1)
    await events(ada).get_by_role("button", name="Try again").click()
    await expect(events(ada).get_by_role("listitem")).to_have_count(1)


async def test_a_user_without_events_in_a_place_or_on_a_day_has_none(ada: Person, project: Json) -> None:
    await record(ada, project, "latency", ["user-42"], value=12.5)
    await ada.page.goto(user_page(project, "id=somebody-else"))
    await expect(events(ada)).to_contain_text("No events")
    await ada.turn_to(user_page(project, "id=user-42&environment=staging"))
    await expect(events(ada)).to_contain_text("No events")
    await ada.page.get_by_label("Environment", exact=True).select_option("production")
    await expect(events(ada).get_by_role("listitem")).to_have_count(1)
    await ada.page.get_by_label("Another day").fill("2020-02-29")
    await expect(events(ada)).to_contain_text("No events")
    await ada.press("Today")
    await expect(events(ada).get_by_role("listitem")).to_have_count(1)


async def test_a_users_events_have_metric_value_and_time_and_older_ones_load(ada: Person, project: Json) -> None:
    await record(ada, project, "latency", ["user-42", "user-7"], value=12.5)
    await record(ada, project, "checkout-failed", ["user-42"] * PAGE)
    await ada.page.goto(user_page(project, "id=user-42"))
    items = events(ada).get_by_role("listitem")
    await expect(items).to_have_count(PAGE)
    await expect(items.first).to_contain_text("Checkout failed checkout-failed")
    await expect(items.first).to_contain_text("UTC · server key")
    older = events(ada).get_by_role("button", name="Look further back")
    await older.focus()
    await ada.page.keyboard.press("Enter")
    await expect(items).to_have_count(PAGE + 1)
    await expect(items.last).to_contain_text("Response time latency · 12.5 ms")
    await expect(events(ada)).to_contain_text("There are no more entries.")
    await check_in_both_schemes(ada, "a user's events")
    await ada.page.set_viewport_size({"width": 320, "height": 640})
    await stays_within(ada)


async def test_events_behind_very_many_others_are_found_by_looking_further_back(
    ada: Person, project: Json, sqlite: Store
) -> None:
    await record(ada, project, "checkout-failed", ["user-42"])
    await record(ada, project, "checkout-failed", ["user-7"])
    with history(sqlite) as connection:
        for _ in range(10):
            connection.execute(
                "INSERT INTO event_segments (environment, number, size, last_at, version, content) "
                "SELECT environment, number + 1, 200000, last_at, version, content FROM event_segments "
                "WHERE id = (SELECT max(id) FROM event_segments)"
            )
    await ada.page.goto(user_page(project, "id=user-42"))
    await expect(events(ada)).to_contain_text("None of the latest events in this environment is of this user.")
    await check_in_both_schemes(ada, "events that were not found yet")
    await events(ada).get_by_role("button", name="Look further back").click()
    await expect(events(ada).get_by_role("listitem")).to_have_count(1)


async def test_events_of_a_deleted_metric_keep_its_key(ada: Person, project: Json) -> None:
    await record(ada, project, "latency", ["user-42"], value=3)
    await ada.api.delete(f"{project_path(project)}/metrics/{project['latency']['id']}")
    await ada.page.goto(user_page(project, "id=user-42"))
    await expect(events(ada).get_by_role("listitem")).to_contain_text("latency · 3")
    await expect(events(ada)).not_to_contain_text("Response time")


async def test_an_email_finds_the_events_of_the_id_that_was_recorded_with_it(ada: Person, project: Json) -> None:
    environment = await ada.api.get_environment(project)
    await evaluate_and_record(ada, environment, {"user_id": "user-42", "user_email": "ada@acme.com"})
    await record(ada, project, "latency", ["user-42", "user-7"], value=12.5)
    await ada.page.goto(user_page(project, "email=ada@acme.com"))
    await expect(events(ada)).to_contain_text("Of the id user-42 and of the email ada@acme.com.")
    await expect(events(ada).get_by_role("listitem")).to_have_count(1)
