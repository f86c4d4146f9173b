"""Second factors after single sign-on: an enrolled one is asked for, unless the provider is one."""

from copy import copy
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, project_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.oidc import IdentityProvider
from tests.support.two_factor import PASSWORD, App, answer_challenge, enrol, log_in
from tests.web.conftest import RequestReset
from tests.web.single_sign_on.conftest import SignIn

EMAIL = "ada@acme.com"
PROVIDER_IS_FACTOR = {"domains": ["acme.com"], "second_factor": True}
AT_LEVEL_TWO = {**PROVIDER_IS_FACTOR, "acr_values": ["urn:acme:two", "urn:acme:three"]}


@pytest.fixture
async def app(sign_in: SignIn, client: Caller, request_reset: RequestReset, clock: Clock) -> App:
    """The app of Ada, whose account the provider opens; she has set a password by mail to enrol it."""
    assert (await sign_in()).status_code == 200
    token = await request_reset(EMAIL)
    assert (await client.post("/auth/reset-password", json={"token": token, "newPassword": PASSWORD})).is_success
    person = copy(client)
    person.headers = {**client.headers, "authorization": f"Bearer {(await log_in(client, EMAIL)).json()['token']}"}
    return await enrol(person, clock)


async def test_an_enrolled_factor_is_asked_for_and_completes_the_sign_in(
    sign_in: SignIn, client: Caller, app: App
) -> None:
    asked = await sign_in(return_to="/projects")
    assert (asked.status_code, asked.json()["type"]) == (401, "urn:flagstaff:error:mfa_required")
    assert "token" not in asked.json()
    assert (asked.json()["email"], asked.json()["return_to"]) == (EMAIL, "/projects")
    assert asked.json()["logout_url"].startswith("http://")
    wrong = await answer_challenge(client, asked.json()["challenge"], code=app.wrong_code())
    assert wrong.status_code == 400
    done = await answer_challenge(client, asked.json()["challenge"], code=app.next_code())
    assert done.status_code == 200
    me = await client.get("/api/me", headers={"authorization": f"Bearer {done.json()['token']}"})
    assert me.status_code == 200


@pytest.mark.parametrize(
    ("values", "claims", "is_asked"),
    [
        (PROVIDER_IS_FACTOR, {}, False),
        (PROVIDER_IS_FACTOR, {"amr": ["pwd", "mfa"]}, False),
        (PROVIDER_IS_FACTOR, {"amr": ["pwd"]}, True),
        (PROVIDER_IS_FACTOR, {"amr": []}, True),
        (PROVIDER_IS_FACTOR, {"amr": "mfa"}, True),
        (AT_LEVEL_TWO, {"acr": "urn:acme:two"}, False),
        (AT_LEVEL_TWO, {"acr": "urn:acme:one"}, True),
        (AT_LEVEL_TWO, {"acr": None}, True),
        (AT_LEVEL_TWO, {"acr": "urn:acme:three", "amr": ["pwd"]}, True),
    ],
    ids=str,
)
async def test_a_provider_that_is_the_second_factor_says_whether_one_was_shown(
    sign_in: SignIn, provider: IdentityProvider, app: App, claims: Json, is_asked: bool
) -> None:
    await provider.set(claims=claims)
    assert (await sign_in()).status_code == (401 if is_asked else 200)


@pytest.mark.both_databases
@pytest.mark.parametrize("values", [{"domains": ["acme.com"], "password_login": False}], ids=["only way"])
async def test_a_project_that_demands_a_factor_stays_closed_if_the_only_way_in_showed_none(
    sign_in: SignIn, provider: IdentityProvider, flagstaff: Flagstaff, ada: Caller, clock: Clock, client: Caller
) -> None:
    project = await ada.create_project()
    await enrol(ada, clock)
    await ada.put(f"{project_path(project)}/security", json={"demands_second_factor": True})

    async def status(claims: dict[str, Any]) -> int:
        await provider.set(claims=claims)
        token = (await sign_in()).json()["token"]
        me = (await client.get("/api/me", headers={"authorization": f"Bearer {token}"})).json()
        account = {"id": me["user_id"], "email": EMAIL}
        async with Caller(flagstaff.edge.asgi, token=token, account=account) as employee:
            await join(flagstaff, project, employee, "viewer")
            return (await employee.get(project_path(project))).status_code

    assert await status({"amr": ["pwd", "otp"]}) == 200
    assert await status({"amr": ["pwd"]}) == 403
    assert await status({"amr": None}) == 200
