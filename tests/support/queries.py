"""The SQL statements that a test causes, without those of the server's own tasks."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import sqlalchemy as sa

from flagstaff.database.database import Database

_asked_here = ContextVar("_asked_here", default=False)


@contextmanager
def reads(database: Database) -> Iterator[list[str]]:
    """The statements that this task, and tasks that it starts, ask the readers of `database`, in order.

    Tasks of the server that were started before, such as the one of releases, read the same database
    meanwhile. Their statements are left out.
    """
    seen: list[str] = []
    engines = {database._engines.reader.sync_engine, database._engines.history_reader.sync_engine}
    if not database.is_postgresql:  # where it has the connections of the first one
        engines.add(database._engines.querier.sync_engine)

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if _asked_here.get():
            seen.append(statement)

    before = _asked_here.set(True)
    for engine in engines:
        sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        for engine in engines:
            sa.event.remove(engine, "before_cursor_execute", note)
        _asked_here.reset(before)
