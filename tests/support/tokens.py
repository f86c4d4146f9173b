"""Access tokens."""

from contextlib import AsyncExitStack
from typing import Any

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created
from tests.support.sessions import PASSWORD


async def issue(
    flagstaff: Flagstaff, callers: AsyncExitStack, path: str, maker: Caller, *permissions: str, **values: Any
) -> Caller:
    """Create a token at a path as `maker`; return a machine that uses it, whose `account` is the token's view."""
    body = {"name": "Deployments", "permissions": permissions, "current_password": PASSWORD, **values}
    token: Json = created(await maker.post(path, json=body))
    return await callers.enter_async_context(Caller(flagstaff.edge.asgi, token=token["token"], account=token))
