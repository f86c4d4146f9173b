"""Tokens that end while a request waits for its body or for its turn."""

import pytest
from starlette.types import Message, Receive, Scope, Send

from flagstaff.bootstrap import Flagstaff
from flagstaff.domain.errors import Code, Error
from flagstaff.web.edge.limits import Limits
from flagstaff.web.management.auth import Authentication
from tests.support.api import Caller
from tests.support.sessions import PASSWORD

_NO_LIMITS = Limits(
    evaluate=None,
    register=None,
    login=None,
    login_failures=None,
    account_failures=None,
    reset=None,
    api=None,
    trusted_proxies=(),
)


@pytest.mark.parametrize("ending", ["logout", "new password"])
async def test_a_write_whose_body_is_held_back_is_not_carried_out_with_an_ended_token(
    flagstaff: Flagstaff, ada: Caller, ending: str
) -> None:
    now = 100.0
    carried_out = []

    async def application(scope: Scope, _receive: Receive, _send: Send) -> None:
        carried_out.append(scope["path"])

    async def receive() -> Message:
        nonlocal now
        if ending == "logout":
            assert (await ada.post("/auth/logout")).status_code == 204
        else:
            change = {"current_password": PASSWORD, "new_password": f"another {PASSWORD}"}
            assert (await ada.post("/api/me/password", json=change)).status_code == 200
        now += 1
        return {"type": "http.request", "body": b"{}"}

    async def send(_message: Message) -> None:
        raise AssertionError

    authentication = Authentication(
        application, flagstaff.sessions, flagstaff.access_tokens, _NO_LIMITS, clock=lambda: now
    )
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/projects",
        "headers": [(b"authorization", f"Bearer {ada.token}".encode())],
        "state": {},
    }
    with pytest.raises(Error) as refusal:
        await authentication(scope, receive, send)
    assert refusal.value.code is Code.UNAUTHENTICATED
    assert carried_out == []
