"""A connection that listens to PostgreSQL's NOTIFY channels and sends by them, and that holds the instance's lease.

Other modules interpret the messages and judge the leases.

A connection runs one statement at a time. A renewal waits only for the one that runs, however many others wait: an
instance whose lease lapses because it has much to ask would cut itself off.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from flagstaff.cluster.instance_reports_store import decode_report
from flagstaff.cluster.instances import LeaseState, ListedInstance
from flagstaff.cluster.lease import LEASE_SECONDS
from flagstaff.cluster.leases_store import Member, Reading, Row
from flagstaff.database import driver_errors
from flagstaff.database.messages import CHANNEL, Message, channel_of
from flagstaff.database.tables import moment
from flagstaff.values.errors import unavailable

if TYPE_CHECKING:
    import asyncpg

_SESSION = "flagstaff feed "
_FORGET_EVERY = 100
_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_ACKNOWLEDGES = """coalesce(report LIKE '%"acknowledges":true%', false)"""
_ROWS = f"SELECT id, address, renewals, is_leaving, true, {_ACKNOWLEDGES} FROM instances WHERE id <> $1"  # noqa: S608
_RENEW = f"""
    WITH renewed AS (
        INSERT INTO instances (id, address, version, started_at, renewals, is_leaving, expires_at, report)
        VALUES ($1, $2, $3, {_NOW}, $4, false, {_NOW} + {LEASE_SECONDS * 1_000_000:.0f}, $5)
        ON CONFLICT (id) DO UPDATE
        SET renewals = excluded.renewals, is_leaving = false, expires_at = excluded.expires_at,
            report = coalesce(excluded.report, instances.report)
    )
    {_ROWS}
"""  # noqa: S608 - constants
_LIST = f"SELECT id, address, version, started_at, is_leaving, expires_at - {_NOW}, report FROM instances"  # noqa: S608
_LEAVE = "UPDATE instances SET is_leaving = true WHERE id = $1"
# Not those with a session, such as of a paused process: without a row they would count as of the release before.
_FORGET = f"""
    DELETE FROM instances WHERE expires_at < {_NOW} - 3600 * 1000000::bigint
    AND id NOT IN (
        SELECT substr(application_name, $1) FROM pg_stat_activity
        WHERE datname = current_database() AND starts_with(application_name, $2)
    )
"""  # noqa: S608 - constants
# Instances of the release before leases have a session, but no row.
_READ = f"""
    {_ROWS}
    UNION ALL
    SELECT substr(application_name, $2), '', 0, false, false, false FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $3) AND application_name <> $3 || $1
    AND substr(application_name, $2) NOT IN (SELECT id FROM instances)
"""  # noqa: S608 - constants
_SEND = "SELECT pg_notify(channel, message) FROM unnest($1::text[], $2::text[]) AS sent (channel, message)"


class PostgresqlFeed:
    """One session that listens. PostgreSQL delivers messages to it in the order in which they were committed."""

    def __init__(self, url: str, instance: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Opens nothing yet. `instance` is this instance's id, and part of the session's name.

        `clock` is the one by which leases are judged.
        """
        self._url = url
        self._clock = clock
        self._instance = instance
        self._renewals = 0
        self._connection: asyncpg.Connection | None = None
        # All but renewals also take the second, so that at most one of them runs or waits for the first: a renewal that
        # waits for the first is the next to get it.
        self._statement = asyncio.Lock()
        self._ordinary = asyncio.Lock()
        self._messages: asyncio.Queue[str | None] = asyncio.Queue()

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Listen inside this context. Messages are kept until `receive` returns them.

        Raises:
            Error: UNAVAILABLE when the server cannot be reached or the connection is lost.
        """
        from flagstaff.database import driver_errors, postgresql  # noqa: PLC0415 -- see dialect.py

        try:
            connection = await postgresql.connect(self._url)
            try:
                await self._listen(connection)
                yield
            finally:
                self._connection = None
                connection.terminate()
        except driver_errors.raw_errors() as error:
            raise unavailable(f"No connection to PostgreSQL for notifications: {type(error).__name__}.") from error

    async def receive(self, wait_seconds: float) -> str | None:
        """The next message, or None if none comes in time; raises Error UNAVAILABLE when the connection is lost."""
        messages = self._messages
        if messages.empty():
            try:
                async with asyncio.timeout(max(wait_seconds, 0)):
                    message = await messages.get()
            except TimeoutError:
                return None
        else:
            message = messages.get_nowait()
        if message is None:
            raise unavailable("The connection to PostgreSQL for notifications was lost.")
        return message

    async def send(self, messages: Iterable[Message]) -> None:
        """Send messages at once, in one statement; raises what the driver raises, or Error UNAVAILABLE."""
        sent = [(CHANNEL if each.to is None else channel_of(each.to), each.text) for each in messages]
        async with self._ordinary:
            await self._fetch(_SEND, [channel for channel, _ in sent], [text for _, text in sent])

    async def renew(self, member: Member, report: str | None) -> Reading:
        """Renew the lease before anything else that waits, and return the rows of the others; raises like `send`."""
        if self._renewals % _FORGET_EVERY == 0:
            await self._fetch(_FORGET, len(_SESSION) + 1, _SESSION)
        self._renewals += 1
        return await self._read(_RENEW, *member, self._renewals, report)

    async def read(self, instance: str) -> Reading:
        """Read the rows of the other instances, and the rows of instances without leases; raises like `send`."""
        async with self._ordinary:
            return await self._read(_READ, instance, len(_SESSION) + 1, _SESSION)

    async def leave(self, instance: str) -> None:
        """Note before anything else that waits that this instance is leaving; raises like `send`."""
        await self._fetch(_LEAVE, instance)

    async def list_instances(self) -> list[ListedInstance]:
        """All instances that hold a lease or held one in the last hour; raises like `send`."""
        async with self._ordinary:
            rows, _ = await self._fetch(_LIST)
        return [_listed(row) for row in rows]

    async def _read(self, query: str, *parameters: object) -> Reading:
        rows, began_at = await self._fetch(query, *parameters)
        return Reading([Row(*row) for row in rows], began_at)

    async def _fetch(self, query: str, *parameters: object) -> tuple[list[Any], float]:
        """Run a query on the session, and return its rows and the time at which it was sent.

        Raises what the driver raises, or Error UNAVAILABLE without a connection.
        """
        async with self._statement:
            if self._connection is None:
                raise unavailable("There is no connection to PostgreSQL for notifications.")
            began_at = self._clock()
            try:
                rows: list[Any] = await self._connection.fetch(query, *parameters)
            except Exception as error:
                if not driver_errors.is_of_a_lost_connection(error):
                    raise
                raise unavailable("The connection to PostgreSQL for notifications was lost.") from error
            return rows, began_at

    async def _listen(self, connection: "asyncpg.Connection") -> None:
        messages = self._messages = asyncio.Queue()
        connection.add_termination_listener(lambda _: messages.put_nowait(None))
        for channel in (CHANNEL, channel_of(self._instance)):  # PostgreSQL orders the messages of both
            await connection.add_listener(channel, lambda *arguments: messages.put_nowait(str(arguments[-1])))
        await connection.execute("SELECT set_config('application_name', $1, false)", f"{_SESSION}{self._instance}")
        self._connection = connection


def _listed(row: Sequence[Any]) -> ListedInstance:
    instance, address, version, started_at, is_leaving, left, text = row
    report = decode_report(text)
    state = LeaseState.LIVE if left > 0 else LeaseState.LAPSED
    if is_leaving or (state is LeaseState.LIVE and report is not None and report.is_draining):
        state = LeaseState.LEAVING
    return ListedInstance(instance, address, version, moment(started_at), state, left / 1_000_000, report)
