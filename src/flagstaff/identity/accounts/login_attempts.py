"""Limits on password guesses, per address and for all addresses together, without locking the owner out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request

from flagstaff.http.limits import Limits
from flagstaff.http.services import service_of
from flagstaff.identity.accounts.trusted_addresses import TrustedAddresses
from flagstaff.values.emails import EMAIL_MAX_LENGTH, email_identity
from flagstaff.values.errors import Code, Error, invalid_field, limited

_TOO_MANY_GUESSES = (
    "Too many logins to this account have failed. Log in from an address from which you have logged in before, reset "
    "the password, or try again later."
)


@asynccontextmanager
async def counted_attempt(request: Request, email: str) -> AsyncIterator[str]:
    """Count what is done inside as a guess at an account's password; yields the guessing client.

    The guess has failed if Error UNAUTHENTICATED is raised inside.

    Raises:
        Error: LIMITED when this client has failed too often, or when all clients together have, unless the account's
            owner is known to use this client.
    """
    limits = service_of(request, Limits)
    client = limits.client(request.scope)
    # An overlong email is truncated, so that a guesser cannot fill the limiter.
    identity = email_identity(email)[:EMAIL_MAX_LENGTH]
    # Counted as failed until it has succeeded, so that concurrent guesses all count.
    if limits.login_failures is not None and (wait_seconds := limits.login_failures.hit((client, identity))):
        raise limited(wait_seconds)
    wait_seconds = 0 if limits.account_failures is None else limits.account_failures.hit(identity)
    try:
        if wait_seconds:
            await _admit_trusted_address(request, email, client, wait_seconds)
        yield client
    except Error as error:
        if error.code is Code.UNAUTHENTICATED:
            raise
        _forgive(limits, client, identity, counted_for_all=not wait_seconds)
        raise
    _forgive(limits, client, identity, counted_for_all=not wait_seconds)


@asynccontextmanager
async def confirmed_password(request: Request, email: str) -> AsyncIterator[str]:
    """Count what is done inside as a `counted_attempt` at the current password of someone who is signed in.

    Raises:
        Error: INVALID at `current_password` if Error UNAUTHENTICATED is raised inside.
    """
    try:
        async with counted_attempt(request, email) as client:
            yield client
    except Error as error:
        if error.code is not Code.UNAUTHENTICATED:
            raise
        raise invalid_field("current_password", "is not your current password") from None


async def _admit_trusted_address(request: Request, email: str, client: str, wait_seconds: int) -> None:
    known_clients = service_of(request, TrustedAddresses)
    if not await known_clients.is_known(email, client):
        raise Error(Code.LIMITED, _TOO_MANY_GUESSES, retry_after_seconds=wait_seconds)


def _forgive(limits: Limits, client: str, identity: str, *, counted_for_all: bool) -> None:
    """Undo the counting of a guess that did not fail."""
    if limits.login_failures is not None:
        limits.login_failures.forgive((client, identity))
    if limits.account_failures is not None and counted_for_all:
        limits.account_failures.forgive(identity)
