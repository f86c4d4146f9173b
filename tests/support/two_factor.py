"""Second factors of people, and the logins that need one."""

from dataclasses import dataclass
from typing import Any

import httpx
import pyotp

from flagstaff.identity.second_factors.second_factors import STEP_SECONDS
from tests.support.api import Caller
from tests.support.clock import Clock

PASSWORD = "correct horse battery staple"
TWO_FACTOR = "/api/me/two-factor"


@dataclass
class App:
    """An authenticator app with a secret, and the recovery codes that its owner has kept."""

    secret: str
    clock: Clock
    recovery_codes: list[str]

    def code(self, steps_later: int = 0) -> str:
        """Return the code that it shows now, or some steps later or earlier."""
        return pyotp.TOTP(self.secret).at(self.clock(), counter_offset=steps_later)

    def wrong_code(self) -> str:
        """Return a code that it does not show in these steps."""
        shown = {self.code(steps) for steps in range(-2, 3)}
        return next(code for code in ("000000", "111111", "222222", "333333", "444444", "555555") if code not in shown)

    def next_code(self) -> str:
        """Return the code of the next step."""
        self.clock.advance(seconds=STEP_SECONDS)
        return self.code()


async def begin(caller: Caller, clock: Clock) -> App:
    """Begin to enrol an app."""
    answer = await caller.post(f"{TWO_FACTOR}/totp", json={"current_password": PASSWORD})
    assert answer.status_code == 201, answer.text
    return App(answer.json()["secret"], clock, [])


async def enrol(caller: Caller, clock: Clock) -> App:
    """Enrol an app."""
    app = await begin(caller, clock)
    answer = await caller.post(f"{TWO_FACTOR}/totp/confirm", json={"code": app.code()})
    assert answer.status_code == 200, answer.text
    app.recovery_codes = answer.json()["recovery_codes"]
    return app


async def log_in(client: Caller, email: str = "ada@example.com", password: str = PASSWORD) -> httpx.Response:
    """Take the first step of a login."""
    return await client.post("/auth/login", json={"email": email, "password": password})


async def challenge(client: Caller, email: str = "ada@example.com", password: str = PASSWORD) -> str:
    """Return the challenge of a login with the right password."""
    answer = await log_in(client, email, password)
    assert (answer.status_code, answer.json()["type"]) == (401, "urn:flagstaff:error:mfa_required")
    given: str = answer.json()["challenge"]
    return given


async def answer_challenge(client: Caller, given: str, **proof: Any) -> httpx.Response:
    """Take the second step of a login."""
    return await client.post("/auth/login/second-factor", json={"challenge": given, **proof})
