"""Sessions: expiry, several tabs, and resources of another account."""

import base64
import json
import time
from contextlib import AsyncExitStack
from uuid import uuid4

from playwright.async_api import Route, expect

from tests.e2e.contexts import Contexts
from tests.e2e.people import PASSWORD, Person, environment_page, flag_page


async def test_an_ended_session_leads_to_sign_in_and_back(ada: Person) -> None:
    flag = await ada.api.create_flag()
    await ada.use_token(ada.token[:-4] + "AAAA")
    await ada.page.goto(flag_page(flag) + "?tab=changes")
    await ada.sees("Your session has ended.")
    assert await ada.stored_session() is None
    await ada.fill(Email=ada.email, Password="not the password")
    await ada.press("Sign in")
    await ada.sees("The email or the password is wrong.")
    await ada.fill(Password=PASSWORD)
    await ada.press("Sign in")
    await ada.sees_heading("New checkout")
    await expect(ada.page).to_have_url(f"{ada.url}{flag_page(flag)}?tab=changes")


async def test_a_session_refused_in_one_tab_ends_in_all_and_all_return_to_their_pages(ada: Person) -> None:
    async def refuse(route: Route) -> None:
        await route.fulfill(
            status=401, json={"detail": "The token has expired."}, content_type="application/problem+json"
        )

    flag = await ada.api.create_flag()
    here = environment_page({"project_id": flag["project_id"], "id": flag["environment_id"]})
    await ada.without_events()
    other = await ada.context.new_page()
    await other.goto(f"{here}/history?period=week")
    await expect(other.get_by_role("heading", name="Evaluation history")).to_be_visible()
    await ada.page.goto(flag_page(flag))
    await ada.sees_heading("New checkout")
    await ada.page.route("**/changes?*flag_id=*", refuse)  # and no request of the page as it is
    await ada.page.get_by_role("tab", name="Changes").click()
    await ada.sees("Your session has ended.")
    await expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    await expect(other.get_by_text("You signed out in another tab")).to_be_visible()
    assert await ada.stored_session() is None
    await ada.page.unroute("**/changes?*flag_id=*")
    await ada.fill(Email=ada.email, Password=PASSWORD)
    await ada.press("Sign in")
    await expect(ada.page).to_have_url(f"{ada.url}{flag_page(flag)}?tab=changes")
    await expect(other).to_have_url(f"{ada.url}{here}/history?period=week")


async def test_an_expired_token_ends_the_session_without_a_request(ada: Person) -> None:
    async def answer(route: Route) -> None:
        await route.fulfill(json=[])

    async def describe(route: Route) -> None:
        await route.fulfill(json={"id": str(uuid4()), "email": ada.email, "administrator": False})

    await ada.context.route("**/api/projects", answer)
    await ada.context.route("**/api/me/account", describe)
    claims = base64.urlsafe_b64encode(json.dumps({"exp": time.time() + 600}).encode()).decode().rstrip("=")
    await ada.clock.install()
    await ada.use_token(f"e30.{claims}.x")
    await ada.page.goto("/")
    await ada.sees_heading("Create your first project")
    await ada.clock.fast_forward("10:01")
    await ada.sees("Your session has ended.")
    assert await ada.stored_session() is None


async def test_signing_in_never_leads_to_another_host(ada: Person) -> None:
    await ada.page.goto("/sign-in?next=//evil.example/")
    await ada.sees_heading("Create your first project")
    assert ada.page.url == f"{ada.url}/"


async def test_signing_out_signs_out_every_tab_at_once_and_they_say_so(ada: Person) -> None:
    await ada.page.goto("/")
    other = await ada.context.new_page()
    await other.goto("/")
    await expect(other.get_by_role("heading", name="Create your first project")).to_be_visible()
    await ada.page.bring_to_front()
    await ada.press("Account")
    await ada.page.get_by_role("menuitem", name="Sign out").click()
    await ada.sees_heading("Sign in")
    await expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    assert await ada.stored_session() is None


async def test_signing_out_ends_the_token_on_the_server(ada: Person) -> None:
    await ada.page.goto("/")
    await ada.sees_heading("Create your first project")
    await ada.press("Account")
    async with ada.page.expect_response("**/auth/logout") as logout:
        await ada.page.get_by_role("menuitem", name="Sign out").click()
    assert (await logout.value).status == 204
    await ada.sees_heading("Sign in")
    assert (await ada.api.get("/api/me")).status_code == 401


async def test_signing_out_works_and_says_so_while_the_server_is_unreachable(ada: Person) -> None:
    await ada.page.goto("/")
    await ada.sees_heading("Create your first project")
    await ada.page.route("**/auth/logout", lambda route: route.abort())
    await ada.press("Account")
    await ada.page.get_by_role("menuitem", name="Sign out").click()
    await ada.sees("the server could not be reached")
    await ada.sees_heading("Sign in")
    assert await ada.stored_session() is None


async def test_a_changed_password_signs_out_every_other_browser_and_not_this_one(
    ada: Person, contexts: Contexts, people: AsyncExitStack
) -> None:
    elsewhere = await people.enter_async_context(Person(contexts, ada.url))
    await elsewhere.use_token(ada.token)
    await elsewhere.page.goto("/")
    await elsewhere.sees_heading("Create your first project")
    await ada.page.goto("/")
    await ada.press("Account")
    await ada.page.get_by_role("menuitem", name="Your account").click()
    await ada.sees_heading("Your account")

    await ada.fill(Current_password="not the password", New_password="password123")
    await ada.press("Change password")
    await ada.sees("This password is too common. Choose another.")
    await ada.fill(New_password="a better password")
    await ada.press("Change password")
    await ada.sees("Is not your current password")
    await ada.fill(Current_password=PASSWORD)
    await ada.press("Change password")
    await ada.sees("Your password has been changed.")

    assert (await ada.api.get("/api/me")).status_code == 401, "the earlier token has ended"
    await ada.page.reload()
    await ada.sees_heading("Your account")
    await elsewhere.page.reload()
    await elsewhere.sees("Your session has ended.")
    await elsewhere.fill(Email=ada.email, Password="a better password")
    await elsewhere.press("Sign in")
    await elsewhere.sees_heading("Create your first project")


async def test_signing_in_signs_in_the_other_tab_too(ada: Person) -> None:
    await ada.page.evaluate("localStorage.clear()")
    await ada.page.goto("/sign-in")
    other = await ada.context.new_page()
    await other.goto("/sign-in")
    await expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    await ada.page.bring_to_front()
    await ada.fill(Email=ada.email, Password=PASSWORD)
    await ada.press("Sign in")
    await expect(other.get_by_role("heading", name="Create your first project")).to_be_visible()


async def test_resources_of_another_account_are_not_found(
    ada: Person, contexts: Contexts, people: AsyncExitStack
) -> None:
    flag = await ada.api.create_flag(name="Secret plan")
    eve = await people.enter_async_context(Person(contexts, ada.url))
    await eve.sign_up()
    await eve.page.goto(flag_page(flag))
    await eve.sees_heading("Page not found")
    await expect(eve.page.get_by_text("Secret plan")).to_have_count(0)
