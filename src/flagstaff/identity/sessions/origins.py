"""The origin of a session, as its owner sees it in the list of sessions."""

from typing import Annotated

from fastapi import Depends, Request

from flagstaff.http.limits import Limits
from flagstaff.http.services import service_of
from flagstaff.identity.sessions.sessions import Origin, read_device


async def _origin(request: Request) -> Origin:
    limits = service_of(request, Limits)
    address = limits.address_of(request.scope.get("client"), request.scope["headers"])
    return Origin(read_device(request.headers.get("user-agent", "")), address)


CurrentOrigin = Annotated[Origin, Depends(_origin)]
