"""Finds out at a start whether PostgreSQL gives sessions, which last as long as their connections.

Advisory locks, LISTEN and prepared statements belong to a session. A pooler such as pgbouncer in transaction mode lends
a session to one client after another, so that they share or lose these.
"""

from contextlib import AsyncExitStack

from flagstaff.database.driver_errors import is_outage, translated_errors
from flagstaff.values.errors import Code, Error

_ASKED = 3
_POOLED = (
    "FLAGSTAFF_DATABASE_URL leads to a pooler that lends connections for single transactions, such as pgbouncer with "
    "pool_mode=transaction. Flagstaff needs sessions: use the address of PostgreSQL itself, which hosted services call "
    "direct or unpooled, or pool_mode=session."
)


async def require_sessions(url: str) -> None:
    """Open connections as the server will, and compare the sessions that they get.

    Raises:
        Error: CONFLICT if the connections are pooled by transaction, or if they are refused because of a parameter,
            UNAVAILABLE while PostgreSQL cannot be reached.
    """
    from flagstaff.database import postgresql  # noqa: PLC0415 -- see dialect.py

    async with AsyncExitStack() as opened:

        async def open_and_ask() -> tuple[int, set[int]]:
            connection = await postgresql.connect(url, statements_kept=0)
            opened.push_async_callback(connection.close)
            answers = set[int]()
            for _ in range(_ASKED):
                async with connection.transaction():  # its statements reach one session
                    answers.add(await connection.fetchval("SELECT pg_backend_pid()"))
            return connection.get_server_pid(), answers

        with translated_errors():
            try:
                named, sessions = await open_and_ask()
                if sessions == {named}:
                    return  # a pooler names no session of PostgreSQL
                _, others = await open_and_ask()
            except postgresql.ConfigurationError as error:
                raise _refused(error) from error
            except Exception as error:
                if is_outage(error):
                    raise
                raise _refused(error) from error
    if len(sessions) > 1 or sessions & others:
        raise Error(Code.CONFLICT, _POOLED)


def _refused(error: Exception) -> Error:
    reason = str(error).partition("\n")[0].rstrip(".")
    return Error(Code.CONFLICT, f"PostgreSQL refuses connections: {reason}. Check FLAGSTAFF_DATABASE_URL.")
