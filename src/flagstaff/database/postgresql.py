"""Connections to PostgreSQL. Only what uses it imports this module and, with it, the driver: see dialect.py."""

import json
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import asyncpg
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from flagstaff.database import driver_errors
from flagstaff.database.dialect import WAIT_SECONDS

ConfigurationError = asyncpg.ClientConfigurationError

POOL_SIZE = 10
IDLE_WRITE_SECONDS = 5.0
_BEGIN_TO_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED;"  # as the driver sends it; reads have another level
_TRUSTED_SECONDS = 0.5
_RESTED_SECONDS = 180  # some networks drop connections that have rested for four minutes
_USED_AT = "used at"
# The driver decodes all rows that have arrived in one step of the event loop. Without a bound, these can be megabytes.
_RECEIVED_BYTES = 64 * 1024  # Linux doubles it


class _Connection(asyncpg.Connection):
    """A connection whose writes PostgreSQL ends when this process has sent nothing for some seconds.

    A process that is paused or cut off in the middle of a write would otherwise block all writes to the project. The
    limit goes with BEGIN: a statement of its own would cost each write a round trip.
    """

    async def execute(self, query: str, *values: object, **options: Any) -> str:
        """Run statements. Raises the driver's exceptions."""
        if query == _BEGIN_TO_WRITE:
            query += f" SET LOCAL idle_in_transaction_session_timeout = {IDLE_WRITE_SECONDS * 1000:.0f};"
        status: str = await super().execute(query, *values, **options)
        return status


class _LateJson(JSON[Any]):
    """JSON that is decoded when its row is read, as with SQLite.

    SQLAlchemy has the driver decode it as it arrives: all of a long result in one step of the event loop.
    """

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Callable[[str | None], Any]:  # noqa: ARG002
        return lambda text: None if text is None else json.loads(text)


async def _leave_json_as_text(_connection: object) -> None:
    """Have the driver decode no JSON, because `_LateJson` does."""


def make_engine(
    url: str, *, command_timeout_seconds: float | None = 30, limits_idle_writes: bool = False
) -> AsyncEngine:
    """A pool of connections to a PostgreSQL server. The connection used last is used next.

    A connection that has rested for more than half a second is asked whether it responds, which takes one round trip,
    and one that has rested for more than three minutes is replaced, because a network may have dropped it silently.
    One used more recently is used unless the driver has seen its end, as in HikariCP: its first statement can fail when
    the server has just stopped. SQLAlchemy's `pool_pre_ping` asks before each transaction, with three round trips,
    which took a quarter of the time of a short one.
    """
    engine = create_async_engine(
        "postgresql+asyncpg://",
        pool_size=POOL_SIZE,
        max_overflow=0,
        isolation_level="READ COMMITTED",  # whatever the role's default is
        hide_parameters=True,  # errors are logged, and users' data must not be
        pool_timeout=WAIT_SECONDS,
        pool_use_lifo=True,
        connect_args={
            "connection_class": _Connection if limits_idle_writes else asyncpg.Connection,
            "dsn": url,  # parsed by the driver, which supports libpq's parameters, such as sslmode
            "timeout": WAIT_SECONDS,
            "command_timeout": command_timeout_seconds,
            "server_settings": {"application_name": "flagstaff", "timezone": "UTC"},
        },
    )
    engine.dialect.colspecs = {**engine.dialect.colspecs, sa.JSON: _LateJson}
    engine.dialect.setup_asyncpg_json_codec = _leave_json_as_text  # type: ignore[attr-defined] # SQLAlchemy's hook

    @sa.event.listens_for(engine.sync_engine, "connect")
    def limit_received(connection: Any, _record: object) -> None:
        transport = connection.driver_connection._transport  # noqa: SLF001 - the driver has no other way to the socket
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVED_BYTES)

    @sa.event.listens_for(engine.sync_engine, "checkin")
    def note(_connection: Any, record: sa.pool.ConnectionPoolEntry) -> None:
        record.info[_USED_AT] = time.monotonic()

    @sa.event.listens_for(engine.sync_engine, "checkout")
    def check(connection: Any, record: sa.pool.ConnectionPoolEntry, _proxy: object) -> None:
        used_at = record.info.get(_USED_AT)
        if used_at is None:
            return  # it has just been opened
        rested_seconds = time.monotonic() - used_at
        if rested_seconds > _RESTED_SECONDS:
            connection.driver_connection.terminate()  # closing it in order would wait for the server's answer
            raise sa.exc.DisconnectionError  # the pool opens another in its place
        if not connection.run_async(partial(_responds, is_trusted=rested_seconds <= _TRUSTED_SECONDS)):
            raise sa.exc.InvalidatePoolError  # the pool replaces all

    return engine


async def _responds(connection: asyncpg.Connection, *, is_trusted: bool) -> bool:
    if connection.is_closed():
        return False
    if not is_trusted:
        try:
            await connection.execute("SELECT 1", timeout=WAIT_SECONDS)
        except driver_errors.raw_errors():
            connection.terminate()
            return False
    return True


async def connect(url: str, *, statements_kept: int = 100) -> asyncpg.Connection:
    """A connection outside any pool, which keeps so many prepared statements. Raises the driver's exceptions."""
    return await asyncpg.connect(
        url, timeout=WAIT_SECONDS, command_timeout=WAIT_SECONDS, statement_cache_size=statements_kept
    )
