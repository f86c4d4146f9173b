"""Releases of a flag in the dashboard: their progress, their results and their actions."""

import re

import pytest_asyncio
from playwright.async_api import Locator, expect

from tests.e2e.accessibility import check_in_both_schemes, stays_within
from tests.e2e.people import Person, environment_page, flag_page
from tests.e2e.releases import (
    USERS,
    create_metric,
    create_release,
    expose,
    report,
    wait_for_release,
    wait_for_results,
)
from tests.support.api import Json, created, flag_path
from tests.support.sdk_keys import create_key

GUARDS = [{"metric": "checkout-failed", "action": "turn_off"}, {"metric": "latency", "action": "notify"}]


@pytest_asyncio.fixture(loop_scope="session")
async def project(ada: Person) -> Json:
    """A project with two metrics."""
    project = await ada.api.create_project()
    await create_metric(ada, project)
    await create_metric(ada, project, name="Latency", key="latency", kind="value", unit="ms")
    return project


@pytest_asyncio.fixture(loop_scope="session")
async def flag(ada: Person, project: Json) -> Json:
    """A flag that is on for everyone."""
    return await ada.api.create_flag(await ada.api.get_environment(project))


def page_of(flag: Json) -> str:
    """Return the path of a flag's releases."""
    return f"{flag_page(flag)}?tab=releases"


def release(ada: Person, name: str = "Slow start") -> Locator:
    """Return the open release."""
    return ada.page.get_by_role("article", name=name)


async def narrow(ada: Person) -> None:
    """Show the page as on a phone."""
    await ada.page.set_viewport_size({"width": 360, "height": 740})
    await stays_within(ada)


async def test_a_release_is_followed_from_its_first_step_to_the_guard_that_stops_it(
    ada: Person, project: Json, flag: Json
) -> None:
    made = await create_release(ada, flag, guards=GUARDS)
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
    with_flag, without = await expose(ada, project, flag)
    await ada.page.goto(page_of(flag))
    steps = release(ada).get_by_role("list", name="Steps").get_by_role("listitem")
    await expect(steps.nth(0)).to_contain_text("Now50% of users")
    await expect(steps.nth(1)).to_contain_text("Next100% of users")
    await expect(release(ada).get_by_role("status").first).to_have_text("Running")
    await expect(release(ada)).to_contain_text(ada.email)
    exposed = release(ada).get_by_role("region", name="Users exposed")
    await expect(exposed).to_contain_text(f"With the flag{len(with_flag)}planned: 50%")
    await expect(exposed).to_contain_text(f"Without the flag{len(without)}planned: 50%")

    await report(ada, project, "latency", [*with_flag, *without], value=120.5)
    await report(ada, project, "checkout-failed", [*with_flag[:3], without[0]])
    failed = release(ada).get_by_role("region", name="Checkout failed", exact=True)
    await expect(failed).to_contain_text(f"3 of {len(with_flag)} users")
    await expect(failed).to_contain_text("There is no evidence that the flag makes it worse.")
    await expect(failed).to_contain_text("At 40 it turns the flag off")
    await expect(release(ada).get_by_role("region", name="Latency", exact=True)).to_contain_text("121 ms")
    await check_in_both_schemes(ada, "a running release")

    await report(ada, project, "checkout-failed", with_flag)
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "stopped")
    await expect(release(ada)).to_have_count(0)
    await expect(ada.page.get_by_role("switch", name="New checkout")).to_have_attribute("aria-checked", "false")
    earlier = ada.page.get_by_role("region", name="Earlier releases").get_by_role("listitem").first
    await expect(earlier).to_contain_text("Stopped")
    await earlier.get_by_role("button", name="Steps and results of Slow start").click()
    await expect(earlier).to_contain_text("even though you looked often.")
    await expect(earlier.get_by_role("list", name="Steps")).to_contain_text("Not applied")
    await narrow(ada)
    await check_in_both_schemes(ada, "a release that was stopped")


async def test_a_release_is_paused_resumed_and_cancelled(ada: Person, flag: Json) -> None:
    made = await create_release(ada, flag)
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
    await ada.page.goto(page_of(flag))
    await ada.press("Pause")
    await expect(release(ada)).to_contain_text(f"Paused by {ada.email}.")
    await expect(release(ada)).to_contain_text("When the release is resumed")
    await ada.press("Resume")
    await expect(release(ada).get_by_role("status").first).to_have_text("Running")
    await ada.press("Cancel release")
    dialog = ada.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("The flag stays as it is now.")
    await dialog.get_by_role("button", name="Cancel release").click()
    await ada.sees_heading("No release of this flag is open")
    assert (await ada.api.get(flag_path(flag))).json()["rollout_percentage"] == 50
    await expect(ada.page.get_by_role("region", name="Earlier releases")).to_contain_text("Cancelled")

    await ada.page.get_by_role("tab", name="Changes").click()
    changes = ada.page.get_by_role("tabpanel").get_by_role("listitem")
    await expect(changes.first).to_contain_text(f"{ada.email} cancelled the release of New checkout")
    await expect(changes.filter(has_text="applied a step to")).to_contain_text(f"Release Slow start, for {ada.email}")
    await expect(changes.filter(has_text="created a release of")).to_contain_text("Rollout 50%")


async def test_turning_the_flag_off_never_asks_and_pauses_the_release(ada: Person, flag: Json) -> None:
    made = await create_release(ada, flag)
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
    await ada.page.goto(page_of(flag))
    await ada.press("Turn off New checkout now")
    await expect(ada.page.get_by_role("switch", name="New checkout")).to_have_attribute("aria-checked", "false")
    await expect(release(ada)).to_contain_text(f"{ada.email} turned the flag off.")
    await expect(release(ada).get_by_role("button", name="Turn off")).to_have_count(0)


async def test_a_change_of_the_flag_and_of_a_rule_is_scheduled(ada: Person, flag: Json) -> None:
    rule = await ada.api.create_rule(flag, name="Staff")
    dialog = ada.page.get_by_role("dialog")
    await ada.page.goto(page_of(flag))
    await ada.press("Schedule a change")
    await expect(dialog.get_by_role("status")).to_contain_text("UTC")
    await dialog.get_by_label("When", exact=True).fill("2001-01-01T09:00")
    await dialog.get_by_role("button", name="Schedule", exact=True).click()
    await expect(dialog.get_by_label("When", exact=True)).to_have_attribute("aria-invalid", "true")
    await check_in_both_schemes(ada, "a schedule that is refused")
    await dialog.get_by_label("When", exact=True).fill("")
    await dialog.get_by_role("button", name="Schedule", exact=True).click()
    await expect(dialog).to_contain_text("Must be a date and a time")
    year = int(flag["created_at"][:4]) + (1 if flag["created_at"][5:7] < "06" else 0)
    at = f"{year}-12-31T23:30"
    await dialog.get_by_label("When", exact=True).fill(at)
    await dialog.get_by_label("What").select_option(label="The rule Staff")
    await dialog.get_by_text("Turn off", exact=True).click()
    await dialog.get_by_label("Name").fill("Staff leaves")
    await dialog.get_by_role("button", name="Schedule", exact=True).click()
    await expect(release(ada, "Staff leaves")).to_contain_text("Turn off the rule Staff")
    (made,) = (await ada.api.get(f"{flag_path(flag)}/releases")).json()
    (step,) = made["steps"]
    assert step["changes"] == {"rules": [{"id": rule["id"], "enabled": False}]}
    button = ada.page.get_by_role("button", name="Schedule a change")
    await expect(button).to_have_attribute(
        "aria-description", "A flag can have only one open release. Cancel the open one first."
    )
    await narrow(ada)


async def test_the_call_of_a_preset_makes_the_release(ada: Person, flag: Json) -> None:
    await ada.page.goto(page_of(flag))
    await ada.press("Choose the steps and copy the call")
    section = ada.page.get_by_role("region", name="Release step by step")
    call = section.get_by_role("region", name="Call that creates the release")
    await expect(call).to_contain_text('"rollout_percentage":5')
    await expect(call).to_contain_text('{"metric":"checkout-failed","action":"turn_off"}')
    await expect(section.get_by_role("spinbutton")).to_have_count(0)
    await check_in_both_schemes(ada, "a call")
    await section.get_by_label("Preset").select_option(label="Experiment: 50 : 50, only watched")
    await expect(call).to_contain_text('"action":"notify"')
    await section.get_by_label("Count server keys only").check()
    await expect(call).to_contain_text('"counts": "server_keys"')
    body = (await call.inner_text()).split("-d '")[1].rstrip("'")
    answer = await ada.api.post(
        f"{flag_path(flag)}/releases", content=body, headers={"content-type": "application/json"}
    )
    made = created(answer)
    assert (made["name"], made["counts"]) == ("Experiment", "server_keys")
    await expect(release(ada, "Experiment")).to_be_visible()
    await section.get_by_text("Python", exact=True).click()
    await expect(call).to_contain_text("requests.post(")
    await narrow(ada)


async def test_users_are_counted_left_out_and_downloaded(ada: Person, project: Json, flag: Json) -> None:
    await ada.api.create_rule(flag, rule_value="user-0")
    made = await create_release(ada, flag, guards=GUARDS[:1])
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
    await expose(ada, project, flag)
    await wait_for_results(ada, flag, made, lambda each: each["users"] == USERS)
    await ada.page.goto(page_of(flag))
    await ada.sees("1 user matched a rule")
    async with ada.page.expect_download() as started:
        await ada.press("Download users as CSV")
    download = await started.value
    assert download.suggested_filename == "new-checkout-users.csv"
    lines = (await download.path()).read_text().splitlines()
    assert lines[0].startswith("user,first_step,step,arm,exposed_at")
    assert len(lines) == USERS + 1


async def test_the_page_says_whose_keys_count_and_what_was_sent_with_browser_keys(
    ada: Person, project: Json, flag: Json
) -> None:
    browser_key = (await create_key(ada.api, project, kind="browser"))["key"]
    for counts, said in (("all", "Anybody can use a browser key"), ("server_keys", "Only server keys count.")):
        made = await create_release(ada, flag, name=counts, guards=GUARDS[:1], counts=counts)
        await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
        await ada.api.put(flag_path(flag), json={"description": counts})  # answered when the step is served
        for user in ("a", "b"):
            await ada.api.evaluate(browser_key, context={"user_id": user})
        await report(ada, {"sdk_key": browser_key}, "checkout-failed", ["a"])
        await wait_for_results(
            ada,
            flag,
            made,
            lambda each: each["browser_keys"]["evaluations"] == 2 and each["browser_keys"]["events"] == 1,
        )
        await ada.page.goto(page_of(flag))
        exposed = release(ada, counts).get_by_role("region", name="Users exposed")
        await expect(exposed).to_contain_text(said)
        await expect(exposed).to_contain_text("2 evaluations and 1 event with browser keys.")
        left_out = exposed.get_by_role("listitem").filter(has_text="with browser keys")
        await expect(left_out).to_have_count(0 if counts == "all" else 1)
        await narrow(ada)
        assert (await ada.api.post(f"{flag_path(flag)}/releases/{made['id']}/cancel")).status_code == 200


async def test_open_releases_are_marked_in_the_list_of_flags_and_listed_together(ada: Person, flag: Json) -> None:
    made = await create_release(ada, flag)
    await wait_for_release(ada, flag, made, lambda each: each["state"] == "running")
    environment = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await ada.page.goto(environment)
    await expect(ada.page.get_by_role("link", name="New checkout: Release running")).to_be_visible()
    await check_in_both_schemes(ada, "a list of flags with a release")
    await narrow(ada)
    await ada.page.goto(f"{environment}/releases")
    row = ada.page.get_by_role("list", name="Open releases").get_by_role("listitem")
    await expect(row).to_contain_text("Step 1 of 2 · next step: 100% of users")
    await check_in_both_schemes(ada, "open releases")
    await stays_within(ada)
    await row.get_by_role("link", name="New checkout").click()
    await expect(release(ada)).to_be_visible()


VARIANTS = [{"key": "blue", "weight": 500, "value": "b"}, {"key": "red", "weight": 500, "value": "r"}]


async def test_an_experiment_over_variants_is_chosen_reviewed_and_started_by_keyboard(
    ada: Person, project: Json, flag: Json
) -> None:
    answer = await ada.api.put(flag_path(flag), json={"variants": VARIANTS, "rollout_percentage": 40})
    assert answer.status_code == 200, answer.text
    dialog, keyboard = ada.page.get_by_role("dialog"), ada.page.keyboard
    await ada.page.goto(page_of(flag))
    start = ada.page.get_by_role("button", name="Start an experiment")
    await expect(start).to_have_attribute("aria-description", re.compile("The flag is on for 40% of users"))
    assert (await ada.api.put(flag_path(flag), json={"rollout_percentage": 100})).status_code == 200
    await expect(start).not_to_have_attribute("aria-disabled", "true")
    await start.focus()
    await keyboard.press("Enter")

    await expect(dialog.get_by_label("Control")).to_be_focused()
    await dialog.get_by_label("Share of blue").fill("100")
    await dialog.get_by_label("Share of blue").press("Enter")
    await expect(dialog).to_contain_text("Two variants must have a share.")
    await check_in_both_schemes(ada, "an experiment that is refused")
    await dialog.get_by_label("Share of blue").fill("70")
    await dialog.get_by_label("Control").select_option("red")
    await dialog.get_by_label("Share of blue").press("Enter")

    heading = dialog.get_by_role("heading", name="Before it starts")
    await expect(heading).to_be_focused()
    await expect(dialog).to_contain_text("Compares blue 70% with red 30%.")
    await expect(dialog).to_contain_text("Some users get another variant")
    await expect(dialog).to_contain_text("Watches Latency, Checkout failed, and notifies when a variant is worse.")
    await expect(dialog.get_by_role("region", name="How long it takes")).to_contain_text("nothing is known of users")
    await check_in_both_schemes(ada, "an experiment before its start")
    await dialog.get_by_role("button", name="Back").click()
    await expect(dialog.get_by_label("Control")).to_have_value("red")
    await dialog.get_by_text("Turn the flag off", exact=True).click()
    await dialog.get_by_label("Count server keys only").press("Space")
    await dialog.get_by_label("Name").fill("Colours")
    await dialog.get_by_role("button", name="Review").click()
    await expect(dialog).to_contain_text("and turns the flag off when a variant is worse.")
    await expect(dialog).to_contain_text("Only server keys count.")
    await dialog.get_by_role("button", name="Start", exact=True).click()

    await expect(release(ada, "Colours")).to_be_visible()
    (made,) = (await ada.api.get(f"{flag_path(flag)}/releases")).json()
    (step,) = made["steps"]
    assert [(each["key"], each["weight"]) for each in step["changes"]["variants"]] == [("red", 300), ("blue", 700)]
    assert "rollout_percentage" not in step["changes"]
    assert made["counts"] == "server_keys"
    assert [each["action"] for each in made["guards"]] == ["turn_off", "turn_off"]
    await expect(start).to_have_attribute("aria-description", re.compile("only one open release"))
    await expect(release(ada, "Colours")).to_contain_text("How long it takes: ")
    await narrow(ada)
