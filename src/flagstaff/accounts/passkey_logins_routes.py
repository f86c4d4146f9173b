"""HTTP of logging in with a passkey alone."""

from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import Response

from flagstaff.accounts.single_sign_on.single_sign_on_service import SingleSignOn
from flagstaff.api.admission import admission
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, PublicKeyCredential, TokenOut
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service, service_of
from flagstaff.identity.accounts.request_clients import Client
from flagstaff.identity.second_factors.passkeys_service import Passkeys
from flagstaff.identity.sessions.logins import open_session
from flagstaff.identity.sessions.origins import CurrentOrigin

router = Router(tags=["Two factors"])


class PasskeyLogin(Body):
    """The browser's answer for a passkey."""

    credential: PublicKeyCredential


class RequestOptionsOut(ResponseModel):
    """For `navigator.credentials.get`, in the form that `PublicKeyCredential.parseRequestOptionsFromJSON` reads."""

    public_key: dict[str, Any]


Service = Annotated[Passkeys, Depends(service(Passkeys))]


@router.post(
    "/auth/passkeys/options",
    response_model=RequestOptionsOut,
    responses=problems(409, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
@writes(Caller.ANYONE, reports_revision=False, repeatable=False)
async def begin_passkey_login(passkeys: Service) -> Response:
    """Begin to log in with a passkey alone, within five minutes."""
    return json_response({"public_key": await passkeys.begin_login()})


@router.post(
    "/auth/passkeys/login",
    response_model=TokenOut,
    responses=problems(400, 401, 403, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def log_in_with_passkey(
    body: PasskeyLogin, request: Request, passkeys: Service, client: Client, origin: CurrentOrigin
) -> Response:
    """Get a bearer token for `/api` with a passkey alone. Its authenticator must have verified the user."""
    account = await passkeys.log_in(body.credential)
    single_sign_on = service_of(request, SingleSignOn)
    single_sign_on.require_password_login(account.email)
    return await open_session(request, account, origin, client)
