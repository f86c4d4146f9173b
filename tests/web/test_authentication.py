"""Tokens that end, and second factors that become required, while a request waits for its body."""

from collections.abc import Awaitable, Callable
from functools import partial

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.types import Message
from structlog.testing import capture_logs

from flagstaff.accounts.credentials import read_credential
from flagstaff.api.authentication import Authentication
from flagstaff.assembly.api import create_api
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.http.clients import Clients
from flagstaff.http.services import SERVICES
from flagstaff.values.errors import Code, Error
from tests.support.api import Caller
from tests.support.clock import Clock
from tests.support.limits import NO_LIMITS
from tests.support.sessions import PASSWORD
from tests.support.two_factor import enrol


@pytest.mark.parametrize("ending", ["logout", "new password"])
async def test_a_write_whose_body_is_held_back_is_not_carried_out_with_an_ended_token(
    flagstaff: Flagstaff, ada: Caller, ending: str
) -> None:
    async def end_token() -> httpx.Response:
        if ending == "logout":
            return await ada.post("/auth/logout")
        change = {"current_password": PASSWORD, "new_password": f"another {PASSWORD}"}
        return await ada.post("/api/me/password", json=change)

    assert await refusal_after(flagstaff, ada, end_token) is Code.UNAUTHENTICATED


@pytest.mark.both_databases
async def test_a_write_whose_body_is_held_back_is_not_carried_out_without_the_factor_demanded_meanwhile(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, clock: Clock
) -> None:
    await enrol(ada, clock)

    async def demand() -> httpx.Response:
        return await ada.put("/api/admin/settings", json={"demands_second_factor": True})

    assert await refusal_after(flagstaff, eve, demand) is Code.MFA_ENROLMENT_REQUIRED


async def refusal_after(
    flagstaff: Flagstaff, caller: Caller, meanwhile: Callable[[], Awaitable[httpx.Response]]
) -> Code:
    """Return the refusal of a write whose body arrives after another request, which succeeds."""
    now = 100.0

    async def receive() -> Message:
        nonlocal now
        assert (await meanwhile()).is_success
        now += 1
        return {"type": "http.request", "body": b"{}"}

    async def send(_message: Message) -> None:
        raise AssertionError

    services = flagstaff.foundation.offered()
    identity = flagstaff.identity
    credentials = partial(read_credential, identity.sessions, identity.access_tokens)
    demand = identity.instance.require_second_factor
    clients = Clients(NO_LIMITS, lambda _: None)
    services.add(Authentication(credentials, demand, NO_LIMITS, clients, Supervisor(), clock=lambda: now))
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/projects",
        "headers": [(b"authorization", f"Bearer {caller.token}".encode())],
        "state": {},
        SERVICES: services,
    }
    route = next(each for each in create_api().routes if isinstance(each, APIRoute) and each.name == "create_project")
    with pytest.raises(Error) as refusal:
        await route.handle(scope, receive, send)
    return refusal.value.code


async def test_the_access_log_names_the_account_of_a_request_and_none_for_strangers(
    ada: Caller, client: Caller
) -> None:
    with capture_logs() as entries:
        assert (await ada.get("/api/projects")).status_code == 200
        assert (await client.get("/api/projects")).status_code == 401
    known, stranger = (each for each in entries if each["event"] == "request")
    assert known["account_id"] == ada.account["id"]
    assert "account_id" not in stranger
