"""The list of sessions in one's account: what it shows, and ending another one."""

from playwright.async_api import expect

from tests.e2e.accessibility import check
from tests.e2e.keyboard import Keyboard
from tests.e2e.people import PASSWORD, Person
from tests.support.clients import open_client


async def test_another_session_is_ended_by_keyboard_and_this_one_is_not_offered(ada: Person) -> None:
    async with open_client(base_url=ada.url, headers={"user-agent": "Old laptop"}, timeout=30) as elsewhere:
        login = await elsewhere.post("/auth/login", json={"email": ada.email, "password": PASSWORD})
        bearer = {"authorization": f"Bearer {login.raise_for_status().json()['token']}"}
        await ada.page.emulate_media(reduced_motion="reduce")
        await ada.page.goto("/account")
        rows = ada.page.get_by_role("list", name="Sessions").get_by_role("listitem")
        await expect(rows).to_have_count(2)
        await expect(rows.filter(has_text="This session").get_by_role("button")).to_have_count(0)
        await expect(rows.filter(has_text="Old laptop")).to_contain_text("127.0.0.1 · last seen just now")
        await check(ada, "the list of sessions")

        keyboard = Keyboard(ada.page)
        await keyboard.use(ada.page.get_by_role("button", name="End the session of Old laptop"))
        await keyboard.use(ada.page.get_by_role("dialog").get_by_role("button", name="End", exact=True))

        await expect(rows).to_have_count(1)
        assert (await elsewhere.get("/api/me", headers=bearer)).status_code == 401
        assert (await ada.api.get("/api/me")).status_code == 200


async def test_sessions_have_the_names_of_devices_and_all_others_end_at_once(ada: Person) -> None:
    agents = {
        "Firefox on Linux": "Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
        "Chrome on Android": "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) "
        "Chrome/140.0.0.0 Mobile Safari/537.36",
        "Safari on iPhone": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
        "Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
        "curl/8.5.0": "curl/8.5.0",
    }
    async with open_client(base_url=ada.url, timeout=30) as elsewhere:
        for agent in agents.values():
            login = {"email": ada.email, "password": PASSWORD}
            (await elsewhere.post("/auth/login", json=login, headers={"user-agent": agent})).raise_for_status()
    await ada.page.goto("/account")
    rows = ada.page.get_by_role("list", name="Sessions").get_by_role("listitem")
    await expect(rows).to_have_count(5)
    await expect(rows.first).to_contain_text("This session")
    for device in agents:
        await expect(rows.filter(has_text=device)).to_have_count(1)
    await ada.press("End all others")
    await ada.page.get_by_role("dialog").get_by_role("button", name="End all others").click()
    await expect(rows).to_have_count(1)
    await expect(ada.page.get_by_role("button", name="End all others")).to_have_count(0)
    assert [each["current"] for each in (await ada.api.get("/api/me/sessions")).json()] == [True]
