"""Speaks to ClickHouse over HTTP. Never follows a redirect, and never shows the password."""

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import unquote, urlsplit

import httpx
import msgspec

from flagstaff.history.clickhouse.table import EVALUATION_TABLE, EVENT_TABLE, Shape, objections
from flagstaff.settings import Settings

TIMEOUT_SECONDS = 30.0
_PORTS: Mapping[str, int] = {"http": 8123, "https": 8443}
_LEVEL = 1
_MESSAGE_CHARACTERS = 300
_LARGE_ROWS, _LARGE_BYTES = 1_048_576, 1 << 30
_INSERT_SETTINGS: Mapping[str, str | int] = {
    "insert_deduplicate": 1,
    "async_insert": 0,
    "wait_end_of_query": 1,  # so that the status says whether everything was stored
    # One block for each request: a token is for one block.
    "input_format_parallel_parsing": 0,
    "max_insert_block_size": _LARGE_ROWS,
    "min_insert_block_size_rows": _LARGE_ROWS,
    "min_insert_block_size_bytes": _LARGE_BYTES,
}


class ClickHouseError(Exception):
    """An error of ClickHouse, with its reason. Whether it stored a block is then unknown."""


class ClickHouse:
    """A table of evaluations or of events on a server."""

    def __init__(
        self, url: str, table: str, shape: Shape = EVALUATION_TABLE, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        """`url` is a valid FLAGSTAFF_CLICKHOUSE_URL, and `table` a valid FLAGSTAFF_CLICKHOUSE_TABLE."""
        self._shape = shape
        parts = urlsplit(url)
        self.database, _, self.table = table.partition(".")
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        self.address = f"{parts.scheme}://{host}:{parts.port or _PORTS[parts.scheme]}"
        self._path = parts.path or "/"
        self._timeout_seconds = timeout_seconds
        self._http = httpx.AsyncClient(
            base_url=self.address,
            headers=_credentials(parts.username, parts.password),
            verify=ssl.create_default_context(),
            timeout=timeout_seconds,
            trust_env=False,
            follow_redirects=False,
        )

    async def check(self) -> str:
        """Return the server's version if the table can receive what is sent; raises ClickHouseError."""
        (version,) = (await self._ask("SELECT version()"))[0]
        columns = await self._ask(
            "SELECT name, type FROM system.columns WHERE database = {database:String} AND table = {table:String}"
        )
        name = f"{self.database}.{self.table}"
        if not columns:
            raise ClickHouseError(
                f"the table {name} does not exist; create it with the statement of: flagstaff clickhouse schema"
            )
        tables = await self._ask(
            "SELECT engine, create_table_query FROM system.tables "
            "WHERE database = {database:String} AND name = {table:String}"
        )
        wrong = objections({name: kind for name, kind in columns}, *tables[0], shape=self._shape)  # noqa: C416 - rows are lists
        if wrong:
            raise ClickHouseError(
                f"the table {name} cannot be used: {'; '.join(wrong)}; compare it with: flagstaff clickhouse schema"
            )
        return str(version)

    async def insert(self, token: str, rows: Sequence[bytes]) -> None:
        """Store rows of the format JSONEachRow, unless a block with this token is already stored.

        Raises:
            ClickHouseError: also when the rows may have been stored.
        """
        query = f"INSERT INTO {self.database}.{self.table} ({', '.join(self._shape.columns)}) FORMAT JSONEachRow"
        body = await asyncio.to_thread(gzip.compress, b"".join(rows), _LEVEL, mtime=0)
        parameters = {"query": query, "insert_deduplication_token": token, **_INSERT_SETTINGS}
        await self._post(parameters, body, {"content-encoding": "gzip"})

    async def update(self, assignments: str, condition: str) -> None:
        """Change rows of the table on all of its replicas, and wait until that is done; raises ClickHouseError."""
        statement = f"ALTER TABLE {self.database}.{self.table} UPDATE {assignments} WHERE {condition}"
        await self._post({"mutations_sync": 2, "wait_end_of_query": 1}, statement.encode(), {})

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _ask(self, query: str) -> list[list[str]]:
        names = {"param_database": self.database, "param_table": self.table}
        answer = await self._post({"default_format": "JSONCompact", **names}, query.encode(), {})
        try:
            rows: list[list[str]] = msgspec.json.decode(answer)["data"]
        except (msgspec.DecodeError, KeyError, TypeError) as error:
            raise ClickHouseError(f"{self.address} does not answer as ClickHouse does") from error
        return rows

    async def _post(self, parameters: Mapping[str, str | int], body: bytes, headers: Mapping[str, str]) -> bytes:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                answer = await self._http.post(self._path, params=parameters, content=body, headers=headers)
        except TimeoutError as error:
            message = f"{self.address} has not answered within {self._timeout_seconds:g} seconds"
            raise ClickHouseError(message) from error
        except httpx.HTTPError as error:
            raise ClickHouseError(f"{self.address} cannot be reached: {error or type(error).__name__}") from error
        code = answer.headers.get("x-clickhouse-exception-code")
        if answer.status_code != httpx.codes.OK or code is not None:
            said = answer.text[:_MESSAGE_CHARACTERS].strip().partition("\n")[0]
            raise ClickHouseError(f"{self.address} answered {answer.status_code}: {said}")
        return answer.content


@asynccontextmanager
async def open_tables(
    settings: Settings, timeout_seconds: float = TIMEOUT_SECONDS
) -> AsyncIterator[tuple[ClickHouse, ClickHouse | None]]:
    """The tables of evaluations and, if one is set, of events. `settings` have the URL of a server."""
    url, events_table = settings.clickhouse_url or "", settings.clickhouse_events_table
    evaluations = ClickHouse(url, settings.clickhouse_table, timeout_seconds=timeout_seconds)
    events = ClickHouse(url, events_table, EVENT_TABLE, timeout_seconds=timeout_seconds) if events_table else None
    try:
        yield evaluations, events
    finally:
        await evaluations.close()
        if events is not None:
            await events.close()


def _credentials(user: str | None, password: str | None) -> dict[bytes, bytes]:
    given = {b"x-clickhouse-user": user, b"x-clickhouse-key": password}
    return {name: unquote(text).encode() for name, text in given.items() if text}
