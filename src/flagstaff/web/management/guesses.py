"""Guesses at passwords: how many an address has, and how many all have together, without locking the owner out."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request

from flagstaff.domain.accounts import EMAIL_MAX_LENGTH, email_identity
from flagstaff.domain.errors import Code, Error
from flagstaff.services.known_clients import KnownClients
from flagstaff.web.edge.limits import Limits, limited

_TOO_MANY_GUESSES = (
    "There were too many failed logins to this account. Log in from an address that has logged in to it before, "
    "reset the password, or try again later."
)


@asynccontextmanager
async def counted_guess(request: Request, email: str) -> AsyncIterator[str]:
    """Have what is done inside count as a guess at the password of an account; gives the client who guesses.

    The guess has failed when what is done raises Error UNAUTHENTICATED.

    Raises:
        Error: LIMITED when this client has failed too often; or when all together have, unless the account's owner
            is known to use this client.
    """
    limits: Limits = request.app.state.limits
    client = limits.client(request.scope)
    # What is too long for an email counts as one: the limiter must not be filled with whatever a guesser sends.
    identity = email_identity(email)[:EMAIL_MAX_LENGTH]
    # Counted as failed until it has succeeded, so that guesses made at once count each.
    if limits.login_failures is not None and (wait_seconds := limits.login_failures.hit((client, identity))):
        raise limited(wait_seconds)
    wait_seconds = 0 if limits.account_failures is None else limits.account_failures.hit(identity)
    try:
        if wait_seconds:
            await _admit_known_client(request, email, client, wait_seconds)
        yield client
    except Error as error:
        if error.code is Code.UNAUTHENTICATED:
            raise
        _forgive(limits, client, identity, counted_for_all=not wait_seconds)
        raise
    _forgive(limits, client, identity, counted_for_all=not wait_seconds)


async def _admit_known_client(request: Request, email: str, client: str, wait_seconds: int) -> None:
    known_clients: KnownClients = request.app.state.known_clients
    if not await known_clients.is_known(email, client):
        raise Error(Code.LIMITED, _TOO_MANY_GUESSES, retry_after_seconds=wait_seconds)


def _forgive(limits: Limits, client: str, identity: str, *, counted_for_all: bool) -> None:
    """Take back what a guess that did not fail had counted as a failure."""
    if limits.login_failures is not None:
        limits.login_failures.forgive((client, identity))
    if limits.account_failures is not None and counted_for_all:
        limits.account_failures.forgive(identity)
