"""The database of a traced request: transactions and statements become spans, on each database."""

from collections.abc import AsyncIterator

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from flagstaff.database.traced_database import TracedDatabase, _describe
from flagstaff.values.errors import Error, not_found
from tests.support.spans import Spans
from tests.support.stores import Store


@pytest.fixture
def spans() -> Spans:
    return Spans()


@pytest.fixture
async def database(store: Store, spans: Spans) -> AsyncIterator[TracedDatabase]:
    opened = TracedDatabase(store.database_url, store.data_directory, spans.tracing)
    yield opened
    await opened.close()


async def test_a_statement_that_fails_is_named_by_the_kind_of_its_error(database: TracedDatabase, spans: Spans) -> None:
    with spans.tracing.request(spans.begin(), "GET", "http"), pytest.raises(SQLAlchemyError):
        async with database.read() as connection:
            await connection.execute(sa.text("SELECT hush FROM nowhere WHERE x = :x"), {"x": "ada@example.com"})
    (failed,) = (span for span in spans.ended if span.name == "SELECT nowhere")
    assert failed.attributes is not None
    assert str(failed.attributes["error.type"]).endswith("Error")
    assert failed.status.description is None
    assert not failed.status.is_ok
    assert not failed.events
    assert "read" in {span.name for span in spans.ended}


async def test_a_transaction_that_is_rolled_back_ends_its_span(database: TracedDatabase, spans: Spans) -> None:
    with spans.tracing.request(spans.begin(), "GET", "http"), pytest.raises(Error):
        async with database.transaction():
            raise not_found("flag")
    (ended,) = (span for span in spans.ended if span.name == "transaction")
    assert ended.attributes == {"error.type": "Error"}
    assert not ended.status.is_ok
    assert not ended.events


async def test_without_a_traced_request_there_are_no_spans(database: TracedDatabase, spans: Spans) -> None:
    described = _describe.cache_info()
    async with database.read() as connection, database.write_history() as history:
        assert await connection.scalar(sa.text("SELECT 1")) == 1
        assert await history.scalar(sa.text("SELECT 1")) == 1
    assert not spans.ended
    assert _describe.cache_info() == described


async def test_each_statement_is_one_span_below_its_transaction(database: TracedDatabase, spans: Spans) -> None:
    statements = {
        "SELECT flags": "SELECT count(*) FROM flags WHERE name = 'hush'",
        "UPDATE accounts": "UPDATE accounts SET email = :x WHERE email = :x",
        "DELETE sessions": "DELETE FROM sessions WHERE 1 = 2",
    }
    with spans.tracing.request(spans.begin(), "GET", "http"):
        async with database.transaction() as transaction:
            for statement in statements.values():
                values = {"x": "ada@example.com"} if ":x" in statement else {}
                await transaction.connection.execute(sa.text(statement), values)
        async with database.read() as connection:
            await connection.scalar(sa.text("SELECT count(*) FROM flags"))
        async with database.read_history() as history:
            await history.scalar(sa.text("SELECT 1"))
        async with database.write_history() as history:
            await history.scalar(sa.text("SELECT 1"))
    below: dict[str, list[str]] = {}
    names = {span.context.span_id: span.name for span in spans.ended if span.context is not None}
    for span in spans.ended:
        if span.parent is not None and span.name in {*statements, "SELECT"}:
            below.setdefault(names[span.parent.span_id], []).append(span.name)
    assert [name for name in below.pop("transaction") if name != "SELECT"] == list(statements)
    assert below == {"read": ["SELECT flags"], "read history": ["SELECT"], "write history": ["SELECT"]}
    assert "hush" not in str([span.to_json() for span in spans.ended])
    assert "ada@" not in str([span.to_json() for span in spans.ended])
