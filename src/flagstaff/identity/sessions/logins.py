"""The end of every login that an account's own credentials prove."""

from fastapi import Request
from starlette.responses import Response

from flagstaff.http.responses import json_response
from flagstaff.http.services import service_of
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.request_clients import remember_client
from flagstaff.identity.sessions.sessions import Origin
from flagstaff.identity.sessions.sessions_service import Sessions


async def open_session(request: Request, account: Account, origin: Origin, client: str) -> Response:
    """Open a session, remember the client, and answer with the bearer token."""
    sessions = service_of(request, Sessions)
    token = await sessions.open(account, origin)
    remember_client(request, account, client)
    return json_response({"token": token})
