"""HTTP of single sign-on at identity providers (OpenID Connect)."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.accounts.single_sign_on.identities import check_return_to
from flagstaff.accounts.single_sign_on.single_sign_on_service import SingleSignOn
from flagstaff.api.admission import admission
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Text
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_array_response, json_response
from flagstaff.http.services import service, service_of
from flagstaff.identity.second_factors.second_factors_service import SecondFactors
from flagstaff.identity.sessions.origins import CurrentOrigin
from flagstaff.identity.sessions.sessions_service import Sessions

router = Router(prefix="/auth/sso", tags=["Single sign-on"])

ReturnTo = Annotated[
    str,
    AfterValidator(check_return_to),
    Field(description="The path of the page to open afterwards.", examples=["/projects"]),
]


class NewSignIn(Body):
    """A sign-in to begin."""

    return_to: ReturnTo = "/"


class SignInAnswer(Body):
    """The provider's response at the redirect URI, and the values that the browser has kept."""

    state: Text
    code: Text
    binding: Text = Field(description="The state from the start of the sign-in.")
    iss: Text | None = Field(default=None, description="The issuer, if the provider has sent it.")


class ProviderOut(ResponseModel):
    """An identity provider."""

    key: str
    name: str


class BegunOut(ResponseModel):
    """The URL to send the browser to, and the values that the tab must keep for the provider's response."""

    authorization_url: str
    binding: str


class SignedInOut(ResponseModel):
    """A bearer token, valid for 24 hours, and the address of its account."""

    token: str
    email: str
    return_to: str
    logout_url: str | None = Field(
        description="Where the browser ends the session at the provider, after `POST /auth/logout`; null if it cannot."
    )


Service = Annotated[SingleSignOn, Depends(service(SingleSignOn))]


@router.get("", response_model=list[ProviderOut], responses=problems(503))
@reads(Caller.ANYONE)
async def list_sso_providers(single_sign_on: Service) -> Response:
    """The identity providers at which people can sign in."""
    return await json_array_response({"key": each.key, "name": each.name} for each in single_sign_on.list_providers())


@router.post(
    "/{provider}/begin",
    response_model=BegunOut,
    responses=problems(400, 404, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def begin_sso(provider: str, body: NewSignIn, single_sign_on: Service) -> Response:
    """Begin to sign in at a provider, within ten minutes. It sends the browser back to `/sso/callback`."""
    begun = await single_sign_on.begin(provider, return_to=body.return_to)
    return json_response({"authorization_url": begun.authorization_url, "binding": begun.binding})


@router.post(
    "/complete",
    response_model=SignedInOut,
    responses=problems(400, 401, 403, 409, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def complete_sso(
    body: SignInAnswer, single_sign_on: Service, request: Request, origin: CurrentOrigin
) -> Response:
    """Open a session with the answer of the provider, which works once.

    If the account has a second factor and the provider is not one, the response is a 401 of the type
    `urn:flagstaff:error:mfa_required`, with a `challenge` for `POST /auth/login/second-factor` and this response's
    `email`, `return_to` and `logout_url`.
    """
    signed_in = await single_sign_on.complete(state=body.state, code=body.code, binding=body.binding, issuer=body.iss)
    account = signed_in.account
    rest = {"email": account.email, "return_to": signed_in.return_to, "logout_url": signed_in.logout_url}
    if account.is_active and not signed_in.has_shown_factor:
        await service_of(request, SecondFactors).require_none(account, **rest)
    token = await service_of(request, Sessions).open(account, origin)
    return json_response({"token": token, **rest})
