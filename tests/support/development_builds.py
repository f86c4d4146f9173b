"""Databases as development builds before 1.0 have left them."""

import sqlalchemy as sa

from flagstaff.database.development_builds import LAST_REVISION
from flagstaff.database.migrate import migrate
from flagstaff.database.schema_state import FIRST, known_revisions
from tests.support.schemas import run_on
from tests.support.stores import Store

_UNDO = (
    "CREATE TABLE ended_tokens (id TEXT NOT NULL)",
    "CREATE TABLE history.events (id BIGINT NOT NULL, unit TEXT NOT NULL)",
    "ALTER TABLE flags ADD COLUMN archived_enabled BOOLEAN",
    "UPDATE flags SET archived_enabled = enabled WHERE archived_at IS NOT NULL",
    "UPDATE flags SET enabled = false WHERE archived_at IS NOT NULL",
)


async def forget_later_revisions(store: Store) -> None:
    """Leave only what the first revision of 1.0 can hold, at the newest one."""
    await migrate(store.database_url, store.data_directory, FIRST, force=True)
    await migrate(store.database_url, store.data_directory)


async def make_earlier(store: Store, revision: str = LAST_REVISION) -> None:
    """Turn a database into one of a development build, with all rows that the first revision of 1.0 can hold."""
    is_later = (await version_of(store))[0] in known_revisions()
    if is_later:
        await migrate(store.database_url, store.data_directory, FIRST, force=True)

    def change(connection: sa.Connection) -> None:
        for each in _UNDO if is_later else ():
            connection.exec_driver_sql(each)
        statement = sa.text("UPDATE alembic_version SET version_num = :revision, oldest_supported = '0022'")
        connection.execute(statement, {"revision": revision})

    await run_on(store, change)


async def version_of(store: Store) -> tuple[str, str | None]:
    """Return the revision of a database, and the oldest that can serve from it."""

    def read(connection: sa.Connection) -> tuple[str, str | None]:
        row = connection.execute(sa.text("SELECT version_num, oldest_supported FROM alembic_version")).one()
        return row.version_num, row.oldest_supported

    found: tuple[str, str | None] = await run_on(store, read)
    return found
