"""The example calls on empty pages, copied and run in a shell."""

import asyncio

from tests.e2e.people import Person


async def run_copied_call(person: Person) -> None:
    """Run the call that the page's only copy button copies."""
    command = await person.copy(person.page.get_by_role("button", name="Copy with my token", exact=True))
    shell = await asyncio.create_subprocess_shell(command + " --fail", stdout=asyncio.subprocess.DEVNULL)
    assert await shell.wait() == 0, command


async def test_the_calls_that_create_the_first_project_and_flag_work_as_copied(ada: Person) -> None:
    await ada.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await ada.page.goto("/")
    await ada.sees_heading("Create your first project")
    await run_copied_call(ada)
    await ada.page.reload()
    await ada.page.get_by_role("link", name="Web shop").click()
    await ada.page.get_by_role("navigation", name="Sections").get_by_role("link", name="Flags").click()
    await ada.sees_heading("No flags in Production yet")
    await run_copied_call(ada)
    await ada.page.reload()
    await ada.page.get_by_role("link", name="New checkout").click()
    await ada.sees("On")
