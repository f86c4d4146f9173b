"""The instance's settings that are changed while it runs, and how much it has."""

from datetime import datetime
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.database.database import Database

_TIME_SEEN = "time_seen"
_columns = tables.instance_settings.c
_find = sa.select(_columns.value).where(_columns.name == sa.bindparam("setting"))
_save = dialect.upsert(
    tables.instance_settings,
    lambda insert: insert.on_conflict_do_update(index_elements=[_columns.name], set_={"value": insert.excluded.value}),
)


async def find_setting(connection: AsyncConnection, name: str) -> str | None:
    """The value of a setting, if it has been changed."""
    return (await connection.execute(_find, {"setting": name})).scalar_one_or_none()


async def save_setting(connection: AsyncConnection, name: str, value: str | None) -> None:
    """Change a setting; None makes it unset."""
    if value is None:
        await connection.execute(tables.instance_settings.delete().where(_columns.name == name))
    else:
        await connection.execute(_save(connection), {"name": name, "value": value})


async def read_time_seen(database: Database) -> datetime | None:
    """Up to when time has been seen to pass; None if no process has looked yet."""
    async with database.read() as connection:
        text = await find_setting(connection, _TIME_SEEN)
    return datetime.fromisoformat(text) if text else None


async def write_time_seen(database: Database, moment: datetime) -> None:
    """Store up to when time has passed, as a process has seen or an operator says."""
    async with database.transaction() as transaction:
        await save_setting(transaction.connection, _TIME_SEEN, moment.isoformat())


async def needs_secret_key(database: Database) -> bool:
    """Return whether the database, which may be at an earlier revision, has anything that needs the secret key.

    These are accounts, with their sessions and second factors, and webhooks, whose secrets are sealed with it.
    """
    async with database.read() as connection:
        present = await connection.run_sync(lambda sync: set(sa.inspect(sync).get_table_names()))
        for table in (tables.accounts, tables.webhooks):
            if table.name in present and await connection.scalar(sa.select(sa.exists(sa.select(table.c.id)))):
                return True
    return False


class Counts(NamedTuple):
    """The numbers of accounts, of active ones, of projects and of open sessions."""

    accounts: int
    active_accounts: int
    projects: int
    sessions: int


async def count_all(connection: AsyncConnection, now: datetime) -> Counts:
    """The counts at a moment."""
    counted = (
        tables.accounts.select(),
        tables.accounts.select().where(tables.accounts.c.deactivated_at.is_(None)),
        tables.projects.select(),
        tables.sessions.select().where(tables.sessions.c.expires_at > now),
    )
    counts = (each.with_only_columns(sa.func.count(), maintain_column_froms=True) for each in counted)
    return Counts(*[int((await connection.execute(each)).scalar_one()) for each in counts])
