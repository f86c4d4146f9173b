"""Finds out at a start whether PostgreSQL gives sessions, which last as long as their connections.

Advisory locks, LISTEN and prepared statements belong to a session. A pooler such as pgbouncer in transaction mode lends
a session to one client after another, so that they share or lose these; in statement mode it refuses transactions.
"""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from flagstaff.database.driver_errors import is_outage, translated_errors
from flagstaff.database.situations import READ_ONLY
from flagstaff.values.errors import Code, Error, unavailable

if TYPE_CHECKING:  # loaded only with PostgreSQL: see dialect.py
    import asyncpg

_ASKED = 3
_POOLED = (
    "FLAGSTAFF_DATABASE_URL leads to a pooler that lends connections for single transactions or statements, such as "
    "pgbouncer with pool_mode=transaction. Flagstaff needs sessions: use the address of PostgreSQL itself, which "
    "hosted services call direct or unpooled, or pool_mode=session."
)


async def require_sessions(url: str, *, for_writes: bool = False) -> None:
    """Open connections as the server will, and compare the sessions that they get.

    Raises:
        Error: CONFLICT if the connections are pooled by transaction, or if they are refused because of a parameter,
            UNAVAILABLE while PostgreSQL cannot be reached, or `for_writes` if it is read-only.
    """
    if await _find_read_only(url) and for_writes:
        raise unavailable(READ_ONLY.message)


async def _find_read_only(url: str) -> bool:
    """Return whether its sessions are read-only; raises as above."""
    from flagstaff.database import postgresql  # noqa: PLC0415 -- see dialect.py

    async with AsyncExitStack() as opened:

        async def connect() -> "asyncpg.Connection":
            connection = await postgresql.connect(url, statements_kept=0)
            opened.push_async_callback(connection.close)
            return connection

        with translated_errors():
            try:
                first = await connect()
                is_read_only: bool = await first.fetchval("SHOW transaction_read_only") == "on"
                if await _ask(first) == first.get_server_pid():
                    return is_read_only  # a pooler names no session of PostgreSQL
                second = await connect()
                of_first, of_second = [{await _ask(each) for _ in range(_ASKED)} for each in (first, second)]
            except postgresql.ConfigurationError as error:
                raise _refused(error) from error
            except Exception as error:
                if "statement pooling" in str(error):  # pgbouncer, with the code of any error of its own
                    raise Error(Code.CONFLICT, _POOLED) from error
                if is_outage(error):
                    raise
                raise _refused(error) from error
    if len(of_first) > 1 or of_first & of_second:
        raise Error(Code.CONFLICT, _POOLED)
    return is_read_only


async def _ask(connection: "asyncpg.Connection") -> int:
    """Return the session in which a transaction of a connection runs."""
    async with connection.transaction():  # its statements reach one session
        return int(await connection.fetchval("SELECT pg_backend_pid()"))


def _refused(error: Exception) -> Error:
    reason = str(error).partition("\n")[0].rstrip(".")
    return Error(Code.CONFLICT, f"PostgreSQL refuses connections: {reason}. Check FLAGSTAFF_DATABASE_URL.")
