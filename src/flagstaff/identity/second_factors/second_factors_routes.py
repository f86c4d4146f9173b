"""HTTP of second factors: `/api/me/two-factor`, and the second step of a login."""

from typing import Annotated

from fastapi import Depends, Request
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.admission import admission
from flagstaff.api.auth import CurrentActor
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, PublicKeyCredential, Text, TokenOut
from flagstaff.http.limits import widest_network
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service
from flagstaff.identity.accounts.login_attempts import confirmed_password
from flagstaff.identity.accounts.owner_warnings import Warned
from flagstaff.identity.accounts.request_clients import Client
from flagstaff.identity.second_factors.code_verification import CodeProof
from flagstaff.identity.second_factors.passkeys_routes import (
    PasskeyOut,
    PasswordConfirmation,
    Warnings,
    passkey_view,
)
from flagstaff.identity.second_factors.second_factors import Method, check_code, check_recovery_code
from flagstaff.identity.second_factors.second_factors_service import Proof, SecondFactors
from flagstaff.identity.sessions.logins import open_session
from flagstaff.identity.sessions.origins import CurrentOrigin
from flagstaff.values.errors import invalid_field
from flagstaff.values.moments import format_moment

router = Router(tags=["Two factors"])

_TWO_FACTOR = "/api/me/two-factor"

TotpCode = Annotated[
    str, AfterValidator(check_code), Field(json_schema_extra={"pattern": "^[0-9]{6}$"}, examples=["492039"])
]
RecoveryCode = Annotated[str, AfterValidator(check_recovery_code), Field(examples=["abcd-efgh-2345-6789"])]


class TotpConfirmation(Body):
    """A code that the app shows."""

    code: TotpCode


class Proven(Body):
    """A proof of a second factor: exactly one of the fields."""

    code: TotpCode | None = None
    recovery_code: RecoveryCode | None = None

    def code_proof(self) -> CodeProof:
        """The code that is given; raises Error INVALID unless there is exactly one."""
        if self.recovery_code is not None:
            if self.code is not None:
                raise invalid_field("recovery_code", "must not be sent together with a code")
            return CodeProof(Method.RECOVERY_CODE, self.recovery_code)
        if self.code is None:
            raise invalid_field("code", "is required, unless there is another proof")
        return CodeProof(Method.TOTP, self.code)


class TotpRemoval(Proven):
    """The current password and a proof of the second factor."""

    current_password: Text


class SecondFactorLogin(Proven):
    """The challenge from `POST /auth/login`, and a proof of the second factor: exactly one of the other fields."""

    challenge: str
    passkey: PublicKeyCredential | None = None

    def proof(self) -> Proof:
        """Return the given proof; raises Error INVALID unless there is exactly one."""
        if self.passkey is None:
            return self.code_proof()
        if self.code is not None or self.recovery_code is not None:
            raise invalid_field("passkey", "must not be sent together with a code")
        return self.passkey


class TwoFactorOut(ResponseModel):
    """The second factors of an account. `totp_since` is null if no authenticator app is enrolled."""

    totp_since: Moment | None
    passkeys: list[PasskeyOut]
    recovery_codes_left: int
    meets_demand: bool = Field(
        description="Whether the account meets the requirement of a second factor: it has one, or can be "
        "opened only at its provider."
    )


class EnrolmentOut(ResponseModel):
    """The secret for the app, in base32 and as the URI for a QR code. It cannot be read again."""

    secret: str
    uri: str = Field(examples=["otpauth://totp/Flagstaff:ada%40example.com?secret=…&issuer=Flagstaff"])


class RecoveryCodesOut(ResponseModel):
    """Recovery codes, each of which works once. They cannot be read again."""

    recovery_codes: list[str] = Field(examples=[["abcd-efgh-2345-6789"]])


Service = Annotated[SecondFactors, Depends(service(SecondFactors))]


@router.get(_TWO_FACTOR, response_model=TwoFactorOut, responses=problems(401, 503))
@reads(Caller.ACCOUNT)
async def get_two_factor(actor: CurrentActor, second_factors: Service) -> Response:
    """The second factors of your account."""
    state = await second_factors.get_state(actor)
    return json_response(
        {
            "totp_since": format_moment(state.totp_since) if state.totp_since else None,
            "passkeys": [passkey_view(each) for each in state.passkeys],
            "recovery_codes_left": state.recovery_codes_left,
            "meets_demand": state.meets_demand,
        }
    )


@router.post(
    f"{_TWO_FACTOR}/totp",
    status_code=201,
    response_model=EnrolmentOut,
    responses=problems(400, 401, 409, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def begin_totp(
    body: PasswordConfirmation, request: Request, actor: CurrentActor, second_factors: Service
) -> Response:
    """Begin to enrol an authenticator app. It counts once you confirm it with a code, within an hour.

    A wrong current password counts as a failed login.
    """
    assert actor.email is not None
    async with confirmed_password(request, actor.email) as client:
        enrolment = await second_factors.begin_totp(
            actor, current_password=body.current_password, client=widest_network(client)
        )
    return json_response({"secret": enrolment.secret, "uri": enrolment.uri}, 201)


@router.post(
    f"{_TWO_FACTOR}/totp/confirm",
    response_model=RecoveryCodesOut,
    responses=problems(400, 401, 409, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def confirm_totp(
    body: TotpConfirmation, actor: CurrentActor, second_factors: Service, warnings: Warnings
) -> Response:
    """Enrol the app: every login with the password asks for a code from now on. Keep the recovery codes."""
    assert actor.account_id is not None
    codes = await second_factors.confirm_totp(actor, code=body.code)
    warnings.start(actor.account_id, Warned.APP_ADDED)
    return json_response({"recovery_codes": codes})


@router.post(
    f"{_TWO_FACTOR}/totp/disable",
    status_code=204,
    response_class=Response,
    responses=problems(400, 401, 409, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def disable_totp(
    body: TotpRemoval, request: Request, actor: CurrentActor, second_factors: Service, warnings: Warnings
) -> Response:
    """Remove the app and the recovery codes. A wrong current password counts as a failed login."""
    assert actor.email is not None
    assert actor.account_id is not None
    proof = body.code_proof()
    async with confirmed_password(request, actor.email) as client:
        await second_factors.disable_totp(
            actor, current_password=body.current_password, proof=proof, client=widest_network(client)
        )
    warnings.start(actor.account_id, Warned.APP_REMOVED)
    return no_content()


@router.post(
    f"{_TWO_FACTOR}/recovery-codes",
    response_model=RecoveryCodesOut,
    responses=problems(400, 401, 409, 413, 429, 503),
)
@writes(Caller.ACCOUNT, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def renew_recovery_codes(
    body: PasswordConfirmation, request: Request, actor: CurrentActor, second_factors: Service, warnings: Warnings
) -> Response:
    """Get new recovery codes; the previous ones end. A wrong current password counts as a failed login."""
    assert actor.email is not None
    assert actor.account_id is not None
    async with confirmed_password(request, actor.email) as client:
        codes = await second_factors.renew_recovery_codes(
            actor, current_password=body.current_password, client=widest_network(client)
        )
    warnings.start(actor.account_id, Warned.RECOVERY_CODES_RENEWED)
    return json_response({"recovery_codes": codes})


@router.post(
    "/auth/login/second-factor",
    response_model=TokenOut,
    responses=problems(400, 401, 413, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.login))],
)
@writes(Caller.ANYONE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def log_in_with_second_factor(
    body: SecondFactorLogin,
    request: Request,
    second_factors: Service,
    warnings: Warnings,
    client: Client,
    origin: CurrentOrigin,
) -> Response:
    """Get a bearer token for `/api` with the challenge from `POST /auth/login` and a code or a passkey's answer.

    A challenge is valid for five minutes and can be used once. After a wrong proof (400) it can be sent again; a 401
    means that you must log in again.
    """
    proof = body.proof()
    account = await second_factors.answer(challenge=body.challenge, proof=proof, client=widest_network(client))
    if isinstance(proof, CodeProof) and proof.method is Method.RECOVERY_CODE:
        warnings.start(account.id, Warned.RECOVERY_CODE_USED)
    return await open_session(request, account, origin, client)
