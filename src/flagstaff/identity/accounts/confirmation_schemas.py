"""HTTP of what the owner of an account confirms: a proof, in a body, of being more than someone with the session."""

from fastapi import Request
from pydantic import Field

from flagstaff.api.schemas import Body, Text
from flagstaff.changes.changes import Actor
from flagstaff.http.limits import widest_network
from flagstaff.http.services import service_of
from flagstaff.identity.accounts.confirmations import Confirmations
from flagstaff.identity.accounts.login_attempts import confirmed_password
from flagstaff.identity.second_factors.code_verification import CodeProof
from flagstaff.identity.second_factors.second_factors import Method
from flagstaff.identity.second_factors.second_factors_routes import TotpCode
from flagstaff.values.errors import invalid_field


class Confirmed(Body):
    """A body with a proof."""

    current_password: Text | None = Field(
        default=None,
        description="Your password; alternatively, send a `code` of your authenticator app. An account that "
        "signs in at an identity provider needs neither in the first ten minutes of a session.",
    )
    code: TotpCode | None = None

    def proof(self) -> str | CodeProof | None:
        """Return the proof, if there is one; raises Error INVALID for two."""
        if self.code is None:
            return self.current_password
        if self.current_password is not None:
            raise invalid_field("code", "must not be sent together with the password")
        return CodeProof(Method.TOTP, self.code)


async def confirm(request: Request, actor: Actor, body: Confirmed) -> None:
    """Refuse someone who has only the session of an account; a wrong password counts as a failed login."""
    assert actor.email is not None
    confirmations = service_of(request, Confirmations)
    proof = body.proof()
    async with confirmed_password(request, actor.email) as client:
        await confirmations.confirm(actor, proof, widest_network(client))
