"""HTTP of `/auth/*`: registration, login, logout and forgotten passwords. Only logout needs a token."""

from typing import Annotated

import msgspec
from fastapi import Depends, Request
from pydantic import Field
from starlette.responses import PlainTextResponse, Response

from flagstaff.accounts.account_schemas import Password
from flagstaff.accounts.accounts_service import Accounts
from flagstaff.accounts.single_sign_on.single_sign_on_service import SingleSignOn
from flagstaff.api.admission import admission
from flagstaff.api.auth import CurrentToken
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Email, Text, TokenOut
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.http.limits import widest_network
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service, service_of
from flagstaff.identity.accounts.login_attempts import counted_attempt
from flagstaff.identity.accounts.owner_warnings import OwnerWarnings, Warned
from flagstaff.identity.accounts.request_clients import Client, remember_client
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.identity.second_factors.second_factors_service import SecondFactors
from flagstaff.identity.sessions.logins import open_session
from flagstaff.identity.sessions.origins import CurrentOrigin
from flagstaff.identity.sessions.sessions_service import Sessions
from flagstaff.values.errors import Code, Error

router = Router(tags=["Accounts"])

_RESET_REQUESTED = "If the account exists, a reset link has been sent."
_RESET_DONE = "Password reset successful"
_CLOSED = (
    "Registration is closed on this server. Its operator can create an account for you with `flagstaff users create`."
)


class Registration(Body):
    """A new account."""

    email: Email
    password: Password
    invitation: Text | None = Field(
        default=None, description="The token of an invitation to this address; also if registration is closed."
    )


class Login(Body):
    """Credentials. Any text is accepted, because anything but an account's email and password is simply wrong."""

    email: Text
    password: Text


class ResetRequest(Body):
    """The account whose password was forgotten."""

    email: Text


class PasswordReset(Body):
    """A new password, with the token from the mail."""

    token: str
    new_password: Annotated[Password, Field(alias="newPassword")]
    keep_access_tokens: bool = Field(
        default=False, description="Whether the access tokens that the account has created remain valid."
    )


class AccountOut(ResponseModel):
    """An account as its owner sees it."""

    id: str = Field(json_schema_extra={"format": "uuid"})
    email: str


class MessageOut(ResponseModel):
    """A message."""

    message: str


Service = Annotated[Accounts, Depends(service(Accounts))]

SessionService = Annotated[Sessions, Depends(service(Sessions))]


def _has_invitation(body: bytes) -> bool:
    try:
        given = msgspec.json.decode(body)
    except (msgspec.DecodeError, ValueError):
        return False
    return isinstance(given, dict) and isinstance(given.get("invitation"), str)


async def _require_open_registration(request: Request) -> None:
    instance = service_of(request, Instance)
    if not await instance.is_registration_open() and not _has_invitation(await request.body()):
        raise Error(Code.FORBIDDEN, _CLOSED)


def _require_password_login(request: Request, email: str) -> None:
    single_sign_on = service_of(request, SingleSignOn)
    single_sign_on.require_password_login(email)


@router.post(
    "/auth/register",
    status_code=201,
    response_model=AccountOut,
    responses=problems(400, 403, 409, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.register)), Depends(_require_open_registration)],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def register(body: Registration, request: Request, accounts: Service, client: Client) -> Response:
    """Create an account. With the token of an invitation, it becomes a member of the project."""
    _require_password_login(request, body.email)
    account = await accounts.register(
        email=body.email, password=body.password, invitation=body.invitation, client=widest_network(client)
    )
    return json_response({"id": account.id, "email": account.email}, 201)


@router.post(
    "/auth/login",
    response_model=TokenOut,
    responses=problems(400, 401, 403, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def log_in(body: Login, request: Request, origin: CurrentOrigin, accounts: Service) -> Response:
    """Open a session: get a bearer token for `/api`.

    The 401 for an account with a second factor has the type `urn:flagstaff:error:mfa_required` and a `challenge` for
    `POST /auth/login/second-factor`.
    """
    email = body.email.strip()
    _require_password_login(request, email)
    second_factors = service_of(request, SecondFactors)
    async with counted_attempt(request, email) as client:
        account = await accounts.verify_password(email=email, password=body.password, client=widest_network(client))
        await second_factors.require_none(account)
        return await open_session(request, account, origin, client)


@router.post("/auth/logout", status_code=204, response_class=Response, responses=problems(401, 503))
@writes(Caller.ANYONE, reports_revision=False, repeatable=False)
async def log_out(token: CurrentToken, sessions: SessionService) -> Response:
    """End the session and the token that the request is made with, immediately on every instance."""
    await sessions.log_out(token)
    return no_content()


@router.post(
    "/auth/forgot-password",
    response_model=MessageOut,
    responses=problems(400, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.reset))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def forgot_password(body: ResetRequest, request: Request, accounts: Service) -> Response:
    """Request a reset link by mail. The response is the same whether or not the account exists."""
    email = body.email.strip()
    account = await accounts.find_account(email)
    single_sign_on = service_of(request, SingleSignOn)
    if account is not None and single_sign_on.allows_password_login(email):
        supervisor = service_of(request, Supervisor)
        supervisor.start("reset mail", accounts.send_reset(account))
    return json_response({"message": _RESET_REQUESTED})


@router.post(
    "/auth/reset-password",
    response_class=PlainTextResponse,
    responses={**problems(400, 413, 429, 503), 200: {"content": {"text/plain": {"example": _RESET_DONE}}}},
    dependencies=[Depends(admission(lambda limits: limits.reset))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def reset_password(body: PasswordReset, request: Request, accounts: Service, client: Client) -> PlainTextResponse:
    """Set a new password. All of the account's reset links and sessions end, and so do its access tokens.

    These are its personal tokens and those that it has created for projects; `keep_access_tokens` keeps them.

    No token is returned, so the next login requires a second factor.
    """
    account = await accounts.reset_password(
        token=body.token,
        new_password=body.new_password,
        keeps_tokens=body.keep_access_tokens,
        client=widest_network(client),
    )
    remember_client(request, account, client)
    service_of(request, OwnerWarnings).start(account.id, Warned.PASSWORD_RESET)
    return PlainTextResponse(_RESET_DONE)
