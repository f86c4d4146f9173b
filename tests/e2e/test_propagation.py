"""The flag page says which applications that evaluate flags themselves have the flag's present state."""

import asyncio

from playwright.async_api import Locator, expect

from tests.e2e.accessibility import AXE, check, stays_within
from tests.e2e.people import Person, flag_page
from tests.support.api import Json, environment_path
from tests.support.clients import open_client
from tests.support.sdk_keys import create_key


def words(ada: Person) -> Locator:
    """Return what the page says about these applications."""
    return ada.page.get_by_role("region", name="Who has received this state")


async def poll(ada: Person, key: str, instance: str) -> None:
    """Request all flags, as an SDK of Unleash does."""
    headers = {
        "authorization": key,
        "unleash-appname": "shop",
        "unleash-instanceid": instance,
        "unleash-connection-id": instance,
        "unleash-sdk": "unleash-client-python:6.9.0",
        "unleash-interval": "600000",  # longer than the test takes
    }
    async with open_client(timeout=30) as client:
        answer = await client.get(f"{ada.url}/unleash/api/client/features", headers=headers)
    assert answer.status_code == 200, answer.text


async def until_known(ada: Person, flag: Json, count: int) -> None:
    """Wait until this many instances have been stored, which takes a second."""
    path = environment_path({"project_id": flag["project_id"], "id": flag["environment_id"]})
    async with asyncio.timeout(60):
        while (await ada.api.get(f"{path}/connections")).json()["total"] != count:
            await asyncio.sleep(0.05)


async def test_it_says_who_has_a_change_and_when_the_others_are_due(ada: Person) -> None:
    flag = await ada.api.create_flag(name="New checkout")
    await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await expect(words(ada)).to_have_count(0)

    key = (await create_key(ada.api, {"id": flag["project_id"]}))["key"]
    for instance in ("one", "two"):
        await poll(ada, key, instance)
    await until_known(ada, flag, 2)
    await ada.page.reload()
    await expect(words(ada)).to_have_text("Live on the server. Received by all 2 SDK instances.")
    await ada.page.get_by_role("switch", name="New checkout").press("Space")
    await expect(words(ada)).to_contain_text("Received by 0 of 2 SDK instances")
    await expect(words(ada)).to_contain_text("2 are due within")
    if AXE.is_file():
        await check(ada, "the flag page")
    await ada.page.set_viewport_size({"width": 320, "height": 700})
    await stays_within(ada)
    await poll(ada, key, "one")
    await expect(words(ada)).to_contain_text("Received by 1 of 2 SDK instances")
    await poll(ada, key, "two")
    await expect(words(ada)).to_contain_text("Received by all 2 SDK instances.")
