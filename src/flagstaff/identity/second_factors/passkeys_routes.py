"""HTTP of the passkeys of your account."""

from typing import Annotated, Any

from fastapi import Depends, Request
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Name, PublicKeyCredential, Text
from flagstaff.http.limits import widest_network
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service
from flagstaff.identity.accounts.login_attempts import confirmed_password
from flagstaff.identity.accounts.owner_warnings import OwnerWarnings, Warned
from flagstaff.identity.second_factors.passkeys import Passkey
from flagstaff.identity.second_factors.passkeys_service import Passkeys
from flagstaff.values.views import view_of

router = Router(tags=["Two factors"])

_PASSKEYS = "/api/me/two-factor/passkeys"
_NOT_SHOWN = ("account_id", "credential_id", "public_key", "sign_count")


class PasswordConfirmation(Body):
    """The current password."""

    current_password: Text


class NewPasskey(Body):
    """A passkey that the browser has made, and a name to recognise it by."""

    name: Name
    credential: PublicKeyCredential


class PasskeyOut(ResponseModel, of=Passkey, without=_NOT_SHOWN):
    """A passkey. `last_used_at` is null until it is used."""


class RegisteredOut(ResponseModel):
    """The passkey and, if it is the first second factor, recovery codes, each of which works once."""

    passkey: PasskeyOut
    recovery_codes: list[str] = Field(description="They cannot be read again.")


class CreationOptionsOut(ResponseModel):
    """For `navigator.credentials.create`, in the form that `PublicKeyCredential.parseCreationOptionsFromJSON` reads."""

    public_key: dict[str, Any]


Service = Annotated[Passkeys, Depends(service(Passkeys))]
Warnings = Annotated[OwnerWarnings, Depends(service(OwnerWarnings))]


passkey_view = view_of(Passkey, without=_NOT_SHOWN)
"""A passkey as its owner sees it."""


@router.post(
    f"{_PASSKEYS}/options",
    response_model=CreationOptionsOut,
    responses=problems(400, 401, 409, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def begin_passkey(
    body: PasswordConfirmation, request: Request, actor: CurrentActor, passkeys: Service
) -> Response:
    """Begin to register a passkey, within five minutes. A wrong current password counts as a failed login."""
    assert actor.email is not None
    async with confirmed_password(request, actor.email) as client:
        options = await passkeys.begin_registration(
            actor, current_password=body.current_password, client=widest_network(client)
        )
    return json_response({"public_key": options})


@router.post(
    _PASSKEYS,
    status_code=201,
    response_model=RegisteredOut,
    responses=problems(400, 401, 409, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def register_passkey(body: NewPasskey, actor: CurrentActor, passkeys: Service, warnings: Warnings) -> Response:
    """Register the passkey that the browser has created: logins with the password need it or another second factor."""
    passkey, codes = await passkeys.register(actor, name=body.name, credential=body.credential)
    warnings.start(passkey.account_id, Warned.PASSKEY_ADDED)
    return json_response({"passkey": passkey_view(passkey), "recovery_codes": codes}, 201)


@router.post(
    f"{_PASSKEYS}/{{passkey_id}}/remove",
    status_code=204,
    response_class=Response,
    responses=problems(400, 401, 404, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def remove_passkey(
    passkey_id: Id,
    body: PasswordConfirmation,
    request: Request,
    actor: CurrentActor,
    passkeys: Service,
    warnings: Warnings,
) -> Response:
    """Remove a passkey. The recovery codes end with the last second factor."""
    assert actor.email is not None
    assert actor.account_id is not None
    async with confirmed_password(request, actor.email) as client:
        await passkeys.remove(actor, passkey_id, current_password=body.current_password, client=widest_network(client))
    warnings.start(actor.account_id, Warned.PASSKEY_REMOVED)
    return no_content()
