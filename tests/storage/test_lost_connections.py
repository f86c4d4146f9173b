"""Exceptions of PostgreSQL's driver that are no errors of a database, because the connection ends at a bad moment."""

from collections.abc import Generator
from typing import Any

import asyncpg
import pytest

from flagstaff.database import driver_errors
from flagstaff.values.errors import Code, Error
from tests.support.postgres import PostgresServer
from tests.support.stores import TEMPLATE

QUERY = "SELECT 1"


class _EndedBeforeExecution:
    """Runs a query; the connection ends after the server has prepared it and before the driver executes it."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    def __await__(self) -> Generator[Any, Any, Any]:
        running = self._connection.fetch(QUERY).__await__()
        yield next(running)  # what the driver waits for until the statement is prepared
        self._connection.terminate()
        return (yield from running)


async def test_what_the_driver_raises_for_a_connection_that_ended_is_an_outage(
    postgres_template: PostgresServer,
) -> None:
    connection = await asyncpg.connect(f"postgresql://postgres@127.0.0.1:{postgres_template.port}/{TEMPLATE}")
    with pytest.raises(Error) as refused, driver_errors.translated_errors():
        await _EndedBeforeExecution(connection)
    assert refused.value.code is Code.UNAVAILABLE
    assert isinstance(refused.value.__cause__, AttributeError)


async def test_the_same_exception_of_other_code_is_not_an_outage() -> None:
    with pytest.raises(AttributeError), driver_errors.translated_errors():
        None.bind_execute  # type: ignore[attr-defined] # noqa: B018
