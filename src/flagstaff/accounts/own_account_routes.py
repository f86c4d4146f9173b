"""HTTP of `/api/me`: the caller's own account."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field
from starlette.responses import Response

from flagstaff.accounts.account_deletions_service import AccountDeletions
from flagstaff.accounts.account_schemas import Password
from flagstaff.accounts.accounts_routes import AccountOut, Service
from flagstaff.accounts.email_verification import EmailVerification
from flagstaff.api.auth import CurrentActor
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, Text, TokenOut
from flagstaff.concurrency.claims import Priority
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.http.limits import widest_network
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service, service_of
from flagstaff.identity.accounts.confirmation_schemas import Confirmed, confirm
from flagstaff.identity.accounts.login_attempts import confirmed_password
from flagstaff.identity.accounts.owner_warnings import OwnerWarnings, Warned
from flagstaff.identity.accounts.request_clients import remember_client
from flagstaff.identity.sessions.origins import CurrentOrigin
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/me", tags=["Accounts"])


class PasswordChange(Body):
    """A new password, with the current one."""

    current_password: Text
    new_password: Password


class EmailVerificationLink(Body):
    """The link in a mail."""

    token: str


class AccountDeletion(Confirmed):
    """The deletion of your account, with a proof."""


class MeOut(ResponseModel):
    """The account of a token."""

    user_id: str = Field(json_schema_extra={"format": "uuid"})


class OwnAccountOut(AccountOut):
    """Your account, and what it may do."""

    administrator: bool = Field(description="Whether it may use `/api/admin`.")
    created_at: Moment
    email_verified: bool = Field(
        description="Whether it has shown that it reads the mail of its address. If not, it gets no mails about "
        "projects; `POST /api/me/email-verification` mails a link."
    )


Verification = Annotated[EmailVerification, Depends(service(EmailVerification))]


@router.get("", response_model=MeOut, responses=problems(401, 503))
@reads(Caller.ACCOUNT, accepts_access_tokens=True)
async def me(actor: CurrentActor) -> Response:
    """The account that the token belongs to."""
    return json_response({"user_id": actor.account_id})


@router.get("/account", response_model=OwnAccountOut, responses=problems(401, 503))
@reads(Caller.ACCOUNT)
async def get_own_account(actor: CurrentActor, accounts: Service) -> Response:
    """Your account."""
    account = await accounts.get_own_account(actor)
    return json_response(
        {
            "id": account.id,
            "email": account.email,
            "administrator": account.is_administrator,
            "created_at": format_moment(account.created_at),
            "email_verified": account.email_verified_at is not None,
        }
    )


@router.post("/email-verification", status_code=202, response_class=Response, responses=problems(401, 409, 429, 503))
@writes(Caller.ACCOUNT, reports_revision=False, repeatable=False)
async def request_email_verification(request: Request, actor: CurrentActor, verification: Verification) -> Response:
    """Mail a link with which you verify the address of your account, for a day. You get at most 40 mails an hour."""
    account = await verification.require_unverified(actor)
    service_of(request, Supervisor).start("verification mail", verification.send_link(account))
    return Response(status_code=202)


@router.post("/email-verification/confirm", status_code=204, responses=problems(400, 401, 413, 429, 503))
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def verify_email(body: EmailVerificationLink, actor: CurrentActor, verification: Verification) -> Response:
    """Verify the address of your account with the token from the mail, in a session of the account.

    Whoever only reads the mail cannot do that, because somebody else may have registered the address. Once it is
    verified, nothing changes any more.
    """
    await verification.verify(actor, body.token)
    return no_content()


@router.post(
    "/password",
    response_model=TokenOut,
    responses=problems(400, 401, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def change_password(
    body: PasswordChange, request: Request, actor: CurrentActor, origin: CurrentOrigin, accounts: Service
) -> Response:
    """Set a new password. A wrong current password counts as a failed login.

    All of the account's sessions, including this one, and its reset links end. Use the token in the response, which
    belongs to a new session.
    """
    assert actor.email is not None
    async with confirmed_password(request, actor.email) as client:
        account, token = await accounts.change_password(
            actor,
            current=body.current_password,
            new=body.new_password,
            client=widest_network(client),
            origin=origin,
        )
    remember_client(request, account, client)
    service_of(request, OwnerWarnings).start(account.id, Warned.PASSWORD_CHANGED)
    return json_response({"token": token})


@router.post("/deletion", status_code=204, response_class=Response, responses=problems(400, 401, 409, 413, 429, 503))
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False, priority=Priority.LONG)
async def delete_own_account(
    body: AccountDeletion,
    request: Request,
    actor: CurrentActor,
    deletions: Annotated[AccountDeletions, Depends(service(AccountDeletions))],
) -> Response:
    """Delete your account with its sessions, tokens, factors, memberships and invitations. It cannot be undone.

    Each of your projects must have another owner, with room in the quota, and the instance another administrator:
    otherwise the response, 409, lists what to hand over or to delete first. Releases that you have started pause. The
    audit trail keeps what you did as done by "a deleted account" with its id; your address disappears from there within
    about a minute, and can be registered again. A wrong password counts as a failed login.
    """
    await confirm(request, actor, body)
    await deletions.delete_own(actor)
    return no_content()
