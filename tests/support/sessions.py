"""Accounts and sessions, opened without the limits of logins."""

from flagstaff.accounts.operated_accounts_service import OperatedAccounts
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.sessions.sessions import Origin
from tests.support.api import Json

PASSWORD = "correct horse battery staple"


def operated_accounts(flagstaff: Flagstaff) -> OperatedAccounts:
    """What the command line can do with accounts."""
    database, passwords = flagstaff.database, flagstaff.identity.passwords
    return OperatedAccounts(database, flagstaff.foundation.now, passwords, accepts_common_passwords=True)


async def log_in(flagstaff: Flagstaff, *, email: str, password: str, device: str | None = None) -> str:
    """Check a password and open a session; return its token."""
    account = await flagstaff.identity.accounts.verify_password(email=email, password=password)
    return await flagstaff.identity.sessions.open(account, Origin(device))


async def register(flagstaff: Flagstaff, name: str) -> tuple[Json, str]:
    """Create an account with a verified address by name, bypassing the limits; return it and a session's token."""
    email = f"{name}@example.com"
    account = await operated_accounts(flagstaff).create(email=email, password=PASSWORD)
    token = await log_in(flagstaff, email=email, password=PASSWORD)
    return {"id": str(account.id), "email": email}, token
