"""The instance's settings that are changed while it runs, and how much it has."""

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.storage import dialect, tables

_columns = tables.instance_settings.c
_save = dialect.upsert(
    tables.instance_settings,
    lambda insert: insert.on_conflict_do_update(index_elements=[_columns.name], set_={"value": insert.excluded.value}),
)


async def find_setting(connection: AsyncConnection, name: str) -> str | None:
    """The value of a setting, if it has been changed."""
    query = sa.select(_columns.value).where(_columns.name == name)
    return (await connection.execute(query)).scalar_one_or_none()


async def save_setting(connection: AsyncConnection, name: str, value: str | None) -> None:
    """Change a setting; None makes it unset."""
    if value is None:
        await connection.execute(tables.instance_settings.delete().where(_columns.name == name))
    else:
        await connection.execute(_save(connection), {"name": name, "value": value})


async def count_accounts_and_projects(connection: AsyncConnection) -> tuple[int, int]:
    """How many accounts and projects there are."""
    counts = (sa.select(sa.func.count()).select_from(each) for each in (tables.accounts, tables.projects))
    accounts, projects = [int((await connection.execute(each)).scalar_one()) for each in counts]
    return accounts, projects
