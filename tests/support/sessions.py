"""Sessions, opened without the limits of logins."""

from flagstaff.bootstrap import Flagstaff
from flagstaff.domain.sessions import Origin


async def log_in(flagstaff: Flagstaff, *, email: str, password: str, device: str | None = None) -> str:
    """Check a password and open a session; return its token."""
    account = await flagstaff.accounts.verify_password(email=email, password=password)
    return await flagstaff.sessions.open(account, Origin(device))
