"""The client of a request to `/auth`, and remembering those from which owners of accounts log in."""

from typing import Annotated

from fastapi import Depends, Request

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.http.limits import Limits
from flagstaff.http.services import service_of
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.trusted_addresses import TrustedAddresses


async def _client(request: Request) -> str:
    limits = service_of(request, Limits)
    return limits.client(request.scope)


Client = Annotated[str, Depends(_client)]


def remember_client(request: Request, account: Account, client: str) -> None:
    """Remember that the owner of an account, as it is now, logged in at a client."""
    # After the response, which must not wait for this write or fail with it.
    supervisor = service_of(request, Supervisor)
    known_clients = service_of(request, TrustedAddresses)
    supervisor.start("known client", known_clients.remember(account, client))
