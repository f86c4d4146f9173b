"""The database when traces are asked for: transactions and statements become spans, without their parameters."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flagstaff.database.database import Database, Transaction
from flagstaff.database.turns import Turns

if TYPE_CHECKING:
    from flagstaff.telemetry.otel.tracing import Tracing

_OPERATION = re.compile(r"\s*([A-Za-z]+)")
_TABLE = re.compile(r'\b(?:FROM|INTO|UPDATE)\s+"?((?:\w+\.)?\w+)')
_KNOWN_STATEMENTS = 1024


class TracedDatabase(Database):
    """A database whose work for a traced request becomes spans."""

    def __init__(self, url: str | None, data_directory: Path, tracing: "Tracing") -> None:
        super().__init__(url, data_directory)
        self._tracing = tracing
        # With PostgreSQL, all others are views of this one, and share its listeners.
        for engine in {self._engines.writer} if self.is_postgresql else set(self._engines):
            _listen(engine.sync_engine, "postgresql" if self.is_postgresql else "sqlite", tracing)

    @asynccontextmanager
    async def _reading(self, engine: AsyncEngine, turns: Turns) -> AsyncIterator[AsyncConnection]:
        with self._tracing.part("read"):
            async with super()._reading(engine, turns) as connection:
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A transaction on the configuration, with its announcement, as a span."""
        with self._tracing.part("transaction"):
            async with super().transaction() as transaction:
                yield transaction

    @asynccontextmanager
    async def read_history(self) -> AsyncIterator[AsyncConnection]:
        """A connection that reads the history, as a span."""
        with self._tracing.part("read history"):
            async with super().read_history() as connection:
                yield connection

    @asynccontextmanager
    async def write_history(self) -> AsyncIterator[AsyncConnection]:
        """A transaction on the history, as a span."""
        with self._tracing.part("write history"):
            async with super().write_history() as connection:
                yield connection


def _listen(engine: sa.Engine, system: str, tracing: "Tracing") -> None:
    """Make a span of each statement that a traced request runs."""

    @sa.event.listens_for(engine, "before_cursor_execute")
    def begin(_connection: sa.Connection, _cursor: Any, statement: str, _values: Any, context: Any, _many: Any) -> None:
        context.span = tracing.begin_call(*_describe(statement, system)) if tracing.is_on() else None

    @sa.event.listens_for(engine, "after_cursor_execute")
    def end(_connection: sa.Connection, _cursor: Any, _statement: str, _values: Any, context: Any, _many: Any) -> None:
        tracing.end_call(context.span)

    @sa.event.listens_for(engine, "handle_error")
    def fail(failure: sa.engine.ExceptionContext) -> None:
        span = getattr(failure.execution_context, "span", None)
        tracing.end_call(span, failure.original_exception)


@lru_cache(_KNOWN_STATEMENTS)
def _describe(statement: str, system: str) -> tuple[str, dict[str, str]]:
    """Return a statement's kind and table, as a name and as attributes. Parameters are never part of its text."""
    operation = found[1].upper() if (found := _OPERATION.match(statement)) else "SQL"
    attributes = {"db.system.name": system, "db.operation.name": operation}
    if table := _TABLE.search(statement):
        attributes["db.collection.name"] = table[1]
    return " ".join([operation, *([table[1]] if table else [])]), attributes
