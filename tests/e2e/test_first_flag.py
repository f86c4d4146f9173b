"""The first hour with Flagstaff, from registration to the audit trail, only in the dashboard."""

import re
from typing import Any

import pytest
from playwright.async_api import expect

from tests.e2e.people import PASSWORD, Person, send_shown_call


@pytest.fixture
def options() -> dict[str, Any]:
    """The options of a browser that shows motion, such as dialogs that fade in."""
    return {"reduced_motion": "no-preference"}


async def test_from_registration_to_a_flag_that_was_evaluated_and_turned_off(visitor: Person) -> None:
    page = visitor.page
    await page.goto("/")
    await page.get_by_role("link", name="Create account").click()
    await visitor.sees_heading("Create your account")
    await visitor.fill(Email=visitor.email, Password="short")
    await visitor.press("Create account")
    await expect(page.get_by_label("Password").first).to_have_attribute("aria-invalid", "true")
    await visitor.fill(Password=PASSWORD)
    await visitor.press("Create account")

    await visitor.sees_heading("Create your first project")
    await visitor.press("New project")
    await visitor.fill(Name="Web shop")
    await visitor.press("Create project")

    await visitor.sees_heading("No flags in Production yet")
    await visitor.press("New flag")
    await visitor.fill(Name="Größere Knöpfe")
    await expect(page.get_by_label("Key")).to_have_value("grossere-knopfe")
    await visitor.fill(Name="New checkout")
    await expect(page.get_by_label("Key")).to_have_value("new-checkout")
    await visitor.press("Create flag")

    await visitor.sees("Off for everyone.")
    await visitor.press("Add rule")
    await page.get_by_label("Match by").select_option("email_domain")
    await page.get_by_label("Value").fill("no domain")
    await page.get_by_role("dialog").get_by_role("button", name="Add rule").click()
    await expect(page.get_by_label("Value")).to_have_attribute("aria-invalid", "true")
    await page.get_by_label("Value").fill("acme.com")
    await page.get_by_role("dialog").get_by_role("button", name="Add rule").click()
    await expect(page.get_by_role("list")).to_contain_text("If the email's domain is acme.com, the flag would be on")

    simulator = page.get_by_role("region", name="Try it")
    await simulator.get_by_label("Email").fill("ada@acme.com")
    await simulator.get_by_role("button", name="Evaluate").click()
    await expect(simulator.get_by_role("status")).to_contain_text("Flag is globally disabled")
    switch = page.get_by_role("region", name="State").get_by_role("switch", name="New checkout")
    await visitor.turn_on(switch)
    await visitor.sees("New checkout was turned on.")
    await simulator.get_by_role("button", name="Evaluate").click()
    await expect(simulator.get_by_role("status")).to_contain_text("Matched email_domain targeting rule")
    await page.get_by_role("tab", name="Use in code").click()
    await send_shown_call(page, user_email="ada@acme.com")
    await switch.click()
    await expect(switch).not_to_be_checked()

    await page.get_by_role("tab", name="History").click()
    await visitor.press("Follow live")
    row = page.get_by_role("row").filter(has_text="Matched email_domain targeting rule")
    await expect(row).to_contain_text("ada@acme.com")
    await expect(page).to_have_url(re.compile(r"\?tab=history$"))
    await page.get_by_role("tab", name="Changes").click()
    await expect(page.get_by_role("listitem").first).to_contain_text(f"{visitor.email} turned off New checkout")
    await expect(page.get_by_role("listitem").last).to_contain_text(f"{visitor.email} created New checkout")
