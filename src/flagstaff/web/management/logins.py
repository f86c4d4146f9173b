"""The end of every login that an account's own credentials prove."""

from fastapi import Request
from starlette.responses import Response

from flagstaff.domain.accounts import Account
from flagstaff.domain.sessions import Origin
from flagstaff.services.sessions import Sessions
from flagstaff.web.edge.responses import json_response
from flagstaff.web.management.clients import remember_client


async def open_session(request: Request, account: Account, origin: Origin, client: str) -> Response:
    """Open a session, remember the client, and answer with the bearer token."""
    sessions: Sessions = request.app.state.sessions
    token = await sessions.open(account, origin)
    remember_client(request, account, client)
    return json_response({"token": token})
