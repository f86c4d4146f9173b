"""Reads what browsers return from `navigator.credentials`, and verifies it with the `webauthn` library.

passkeys_service.py loads this module when a passkey is first used: few instances have any, and the library takes 8 MB.
"""

import binascii
from collections.abc import Sequence
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from webauthn import (
    base64url_to_bytes,
    generate_authentication_options,
    generate_registration_options,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import options_to_json_dict, parse_attestation_object, parse_client_data_json
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AttestationFormat,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)
from webauthn.registration.verify_registration_response import VerifiedRegistration

from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.second_factors.passkeys import Assertion, Credential, Passkey, Site, handle_of

_NAME = "Flagstaff"
_TIMEOUT_MILLISECONDS = 300_000
# Errors that the library raises for input that it cannot read, besides its own exceptions.
_UNREADABLE = (
    WebAuthnException,
    UnsupportedAlgorithm,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    RecursionError,
)
_URL_SAFE = {ord("+"): "-", ord("/"): "_", ord("="): None}


def registration_options(site: Site, account: Account, challenge: str, present: Sequence[Passkey]) -> dict[str, Any]:
    """The options for `navigator.credentials.create`: a passkey that can also be found without an email."""
    options = generate_registration_options(
        rp_id=site.host,
        rp_name=_NAME,
        user_id=handle_of(account.id),
        user_name=account.email,
        challenge=base64url_to_bytes(challenge),
        timeout=_TIMEOUT_MILLISECONDS,
        exclude_credentials=[PublicKeyCredentialDescriptor(id=each.credential_id) for each in present],
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=UserVerificationRequirement.REQUIRED
        ),
    )
    return options_to_json_dict(options)


def authentication_options(site: Site, challenge: str, allowed: Sequence[Passkey]) -> dict[str, Any]:
    """The options for `navigator.credentials.get`: one of these passkeys or, without any, one that the user chooses."""
    options = generate_authentication_options(
        rp_id=site.host,
        challenge=base64url_to_bytes(challenge),
        timeout=_TIMEOUT_MILLISECONDS,
        allow_credentials=[PublicKeyCredentialDescriptor(id=each.credential_id) for each in allowed],
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return options_to_json_dict(options)


def read_assertion(credential: Credential) -> Assertion:
    """Read a credential's statement about itself; raises ValueError if it cannot be read."""
    try:
        response = credential["response"]
        client_data = parse_client_data_json(base64url_to_bytes(response["clientDataJSON"]))
        handle = response.get("userHandle")
        return Assertion(
            credential_id=base64url_to_bytes(credential["rawId"]),
            challenge=binascii.b2a_base64(client_data.challenge, newline=False).decode().translate(_URL_SAFE),
            origin=str(client_data.origin),
            user_handle=base64url_to_bytes(handle) if handle else None,
        )
    except _UNREADABLE as error:
        raise ValueError("is not a credential as navigator.credentials returns it") from error


def verify_registration(site: Site, credential: Credential, challenge: str) -> VerifiedRegistration:
    """A new passkey whose authenticator has verified its user; raises ValueError if anything is not as it must be."""
    try:
        attestation = parse_attestation_object(base64url_to_bytes(credential["response"]["attestationObject"]))
        # None is asked for. Others have certificates, which nobody here would trust more, and complicated parsers.
        if attestation.fmt != AttestationFormat.NONE:
            raise ValueError("has an attestation, although none was requested")
        return verify_registration_response(
            credential=dict(credential),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.host,
            expected_origin=site.origin,
            require_user_verification=True,
        )
    except _UNREADABLE as error:
        raise ValueError(_words(error)) from error


def verify_assertion(site: Site, credential: Credential, challenge: str, passkey: Passkey) -> int:
    """The new counter of a passkey that has signed the challenge and whose authenticator has verified its user.

    Raises:
        ValueError: if anything is not as it must be.
    """
    try:
        verified = verify_authentication_response(
            credential=dict(credential),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=site.host,
            expected_origin=site.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except _UNREADABLE as error:
        raise ValueError(_words(error)) from error
    return verified.new_sign_count


def _words(error: Exception) -> str:
    if isinstance(error, ValueError) and not isinstance(error, (binascii.Error, UnicodeError)):
        return str(error)
    return "was refused: its signature, its site, its counter or the verification of its user is not valid"
