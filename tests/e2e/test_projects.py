"""Projects and environments: creating, renaming, regenerating the key, and deleting with confirmation."""

from playwright.async_api import expect

from tests.e2e.people import Person, environment_page


async def test_a_new_sdk_key_revokes_the_old_one_after_a_warning(ada: Person) -> None:
    project = await ada.api.create_project()
    page = ada.page
    await page.goto(f"/projects/{project['id']}/sdk-keys")
    shown = page.get_by_test_id("sdk-key")
    await expect(shown).not_to_contain_text(project["sdk_key"])
    await ada.press("Show the key")
    await expect(shown).to_have_text(project["sdk_key"])
    await ada.press("Regenerate key")
    await expect(page.get_by_role("dialog")).to_contain_text("get a 401 from evaluate")
    await page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert (await ada.api.evaluate(project["sdk_key"])).status_code == 200
    await ada.press("Regenerate key")
    await ada.press("Regenerate and revoke the old key")
    await ada.sees("The key was regenerated.")
    assert (await ada.api.evaluate(project["sdk_key"])).status_code == 401
    new = (await ada.api.get(f"/api/projects/{project['id']}")).json()["sdk_key"]
    await expect(shown).to_have_text(new)


async def test_the_key_is_copied_to_the_clipboard(ada: Person) -> None:
    project = await ada.api.create_project()
    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ada.page.goto(f"/projects/{project['id']}/sdk-keys")
    await ada.press("Copy key")
    await expect(ada.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    assert await ada.page.evaluate("navigator.clipboard.readText()") == project["sdk_key"]


async def test_a_project_is_renamed_and_described(ada: Person) -> None:
    project = await ada.api.create_project()
    await ada.page.goto(f"/projects/{project['id']}/settings")
    await ada.fill(Name="Web shop", Description="acme.com")
    await ada.press("Save")
    await ada.sees("Saved")
    await expect(ada.page.get_by_role("button", name="Project Web shop")).to_be_visible()
    await ada.fill(Name=" ")
    await ada.press("Save")
    await expect(ada.page.get_by_role("textbox", name="Name")).to_have_attribute("aria-invalid", "true")


async def test_a_project_and_an_environment_keep_their_history_for_fewer_days(ada: Person) -> None:
    environment = await ada.api.create_environment(await ada.api.create_project())
    project_path = f"/api/projects/{environment['project_id']}"
    page = ada.page
    await page.goto(f"/projects/{environment['project_id']}/settings")
    days = page.get_by_role("textbox", name="Days of history (optional)")
    await days.fill("91")
    await ada.press("Save")
    await ada.sees("must be at most 90")
    await days.fill("30")
    await ada.press("Save")
    await ada.sees("Saved")
    assert (await ada.api.get(project_path)).json()["history_retention_days"] == 30
    await ada.press("Edit Canary")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Days of history (optional)").fill("7")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_be_hidden()
    path = f"{project_path}/environments/{environment['id']}"
    assert (await ada.api.get(path)).json()["history_retention_days"] == 7
    await days.fill("")
    await ada.press("Save")
    await expect(days).to_have_value("")
    await page.wait_for_function(
        "async ([path, token]) => (await (await fetch(path, { headers: { authorization: token } })).json())"
        ".history_retention_days === null",
        arg=[project_path, ada.api.headers["authorization"]],
    )


async def test_a_project_is_deleted_only_after_typing_its_name(ada: Person) -> None:
    project = await ada.api.create_project(name="Web shop")
    page = ada.page
    await page.goto(f"/projects/{project['id']}/settings")
    await ada.press("Delete project")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox").fill("Web sho")
    await expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    await dialog.get_by_role("textbox").fill("Web shop")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await ada.sees_heading("Create your first project")
    assert (await ada.api.get("/api/projects")).json() == []


async def test_an_environment_can_be_created_renamed_and_deleted(ada: Person) -> None:
    project = await ada.api.create_project()
    page = ada.page
    await page.goto(f"/projects/{project['id']}/settings")
    await ada.press("New environment")
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Staging")
    await expect(dialog.get_by_label("Key")).to_have_value("staging")
    await dialog.get_by_role("button", name="Create environment").click()
    await expect(dialog.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Key").fill("canary")
    await dialog.get_by_label("Name").fill("Canary")
    await dialog.get_by_role("button", name="Create environment").click()
    await ada.press("Edit Canary")
    await dialog.get_by_label("Name").fill("Birds")
    await dialog.get_by_label("Critical").check()
    await dialog.get_by_role("button", name="Save").click()
    await page.get_by_role("link", name="Flags of Birds").click()
    await expect(page.get_by_title("Changes here affect your users immediately.")).to_be_visible()
    await page.go_back()
    await ada.press("Delete Birds")
    await dialog.get_by_role("textbox").fill("Birds")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await ada.sees("Birds was deleted.")
    keys = {each["key"] for each in (await ada.api.get(f"/api/projects/{project['id']}/environments")).json()}
    assert keys == {"production", "staging"}


async def test_the_switcher_keeps_the_section_and_production_is_unmistakable(ada: Person) -> None:
    environment = await ada.api.get_environment(await ada.api.create_project())
    page = ada.page
    await page.goto(f"{environment_page(environment)}/history")
    strip = page.get_by_title("Changes here affect your users immediately.")
    await expect(strip).to_be_visible()
    await page.get_by_role("button", name="Environment Production").click()
    await page.get_by_role("menuitem", name="Staging").click()
    await expect(page.get_by_role("button", name="Environment Staging")).to_be_visible()
    await ada.sees_heading("Evaluation history")
    await expect(strip).to_have_count(0)


async def test_the_palette_opens_any_page_by_keyboard(ada: Person) -> None:
    flag = await ada.api.create_flag()
    page = ada.page
    await page.goto(environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]}))
    await ada.sees_heading("Flags")
    await page.keyboard.press("ControlOrMeta+k")
    await expect(page.get_by_placeholder("Go to a flag")).to_be_focused()
    await page.keyboard.type("new check")
    await expect(page.locator("[data-action][data-selected]")).to_contain_text("New checkout")
    await page.keyboard.press("Enter")
    await ada.sees_heading("New checkout")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("ControlOrMeta+k")
    await expect(page.get_by_placeholder("Go to a flag")).to_be_focused()
    await page.keyboard.type("dark")
    await expect(page.locator("[data-action][data-selected]")).to_contain_text("dark")
    await page.keyboard.press("Enter")
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")
    await page.reload()
    await expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", "dark")


async def test_the_key_can_be_copied_on_a_page_served_over_plain_http(ada: Person) -> None:
    project = await ada.api.create_project()
    await ada.run_before_pages("Object.defineProperty(window, 'isSecureContext', { value: false })")
    await ada.run_before_pages("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    await ada.page.goto(f"/projects/{project['id']}/sdk-keys")
    await ada.press("Copy key")
    await expect(ada.page.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
    await ada.page.goto(f"/projects/{project['id']}/settings")
    name = ada.page.get_by_role("textbox", name="Name")
    await name.focus()
    await ada.page.keyboard.press("ControlOrMeta+a")
    await ada.page.keyboard.press("ControlOrMeta+v")
    await expect(name).to_have_value(project["sdk_key"])
