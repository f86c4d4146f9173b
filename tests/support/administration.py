"""The instance's administrators."""

import httpx

from tests.support.api import Caller


def account_path(caller: Caller) -> str:
    """The path of a user's account for administrators."""
    return f"/api/admin/accounts/{caller.account['id']}"


async def change(by: Caller, caller: Caller, **values: bool) -> httpx.Response:
    """Change `active` or `administrator` of a user's account."""
    return await by.put(account_path(caller), json=values)
