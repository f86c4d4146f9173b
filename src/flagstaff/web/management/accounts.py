"""HTTP of accounts: `/auth/*`, which needs no token, and `/api/me`."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse, Response

from flagstaff.domain.accounts import EMAIL_MAX_LENGTH, email_identity
from flagstaff.domain.errors import Code, Error
from flagstaff.runtime.background import Background
from flagstaff.services.accounts import Accounts
from flagstaff.web.edge.limits import AdmittedRoute, Limits, admission, admit
from flagstaff.web.edge.problems import problems
from flagstaff.web.edge.responses import json_response
from flagstaff.web.management.auth import CurrentActor
from flagstaff.web.management.schemas import Body, Email, Password, Text

router = APIRouter(tags=["Accounts"], route_class=AdmittedRoute)

_RESET_REQUESTED = "If the account exists, a reset link has been sent."
_RESET_DONE = "Password reset successful"


class Registration(Body):
    """A new account."""

    email: Email
    password: Password


class Login(Body):
    """The way in. Any text is taken: what is no account's email or password is simply wrong."""

    email: Text
    password: Text


class ResetRequest(Body):
    """Who forgot the password."""

    email: Text


class PasswordReset(Body):
    """A new password, by the token from the mail."""

    token: str
    new_password: Annotated[Password, Field(alias="newPassword")]


class AccountOut(BaseModel):
    """An account as its owner sees it."""

    id: str = Field(json_schema_extra={"format": "uuid"})
    email: str


class TokenOut(BaseModel):
    """A bearer token, valid for 24 hours."""

    token: str


class MessageOut(BaseModel):
    """A message."""

    message: str


class MeOut(BaseModel):
    """Whose token it is."""

    user_id: str = Field(json_schema_extra={"format": "uuid"})


async def _accounts(request: Request) -> Accounts:
    accounts: Accounts = request.app.state.accounts
    return accounts


Service = Annotated[Accounts, Depends(_accounts)]


@router.post(
    "/auth/register",
    status_code=201,
    response_model=AccountOut,
    responses=problems(400, 409, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.register))],
)
async def register(body: Registration, accounts: Service) -> Response:
    """Create an account."""
    account = await accounts.register(email=body.email, password=body.password)
    return json_response({"id": account.id, "email": account.email}, 201)


@router.post(
    "/auth/login",
    response_model=TokenOut,
    responses=problems(400, 401, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
async def log_in(body: Login, request: Request, accounts: Service) -> Response:
    """Get a bearer token for `/api`."""
    limits: Limits = request.app.state.limits
    # What is too long for an email counts as one: the limiter must not be filled with whatever a guesser sends.
    attempt = (limits.client(request.scope), email_identity(body.email.strip())[:EMAIL_MAX_LENGTH])
    # Counted as failed until it has succeeded, so that guesses made at once count each.
    admit(limits.login_failures, attempt)
    try:
        token = await accounts.log_in(email=body.email.strip(), password=body.password)
    except Error as error:
        if error.code is not Code.UNAUTHENTICATED:
            limits.forgive_login(attempt)
        raise
    limits.forgive_login(attempt)
    return json_response({"token": token})


@router.post(
    "/auth/forgot-password",
    response_model=MessageOut,
    responses=problems(400, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.reset))],
)
async def forgot_password(body: ResetRequest, request: Request, accounts: Service) -> Response:
    """Have a reset link mailed. The answer is the same whether or not the account exists."""
    account = await accounts.find_account(body.email.strip())
    if account is not None:
        background: Background = request.app.state.background
        background.start("reset mail", accounts.send_reset(account))
    return json_response({"message": _RESET_REQUESTED})


@router.post(
    "/auth/reset-password",
    response_class=PlainTextResponse,
    responses={**problems(400, 413, 429, 503), 200: {"content": {"text/plain": {"example": _RESET_DONE}}}},
    dependencies=[Depends(admission(lambda limits: limits.reset))],
)
async def reset_password(body: PasswordReset, accounts: Service) -> PlainTextResponse:
    """Set a new password. Every outstanding link of the account is spent and every earlier token ends."""
    await accounts.reset_password(token=body.token, new_password=body.new_password)
    return PlainTextResponse(_RESET_DONE)


@router.get("/api/me", response_model=MeOut, responses=problems(401, 503))
async def me(actor: CurrentActor) -> Response:
    """Whose token this is."""
    return json_response({"user_id": actor.account_id})
