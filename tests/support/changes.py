"""Reads changes, and removes values from them."""

from typing import Any
from uuid import UUID

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.audit.change_lists_store import ChangeFilter, list_environment_changes
from flagstaff.changes.changes import Change
from flagstaff.database import tables
from tests.support.api import Json
from tests.support.builders import make_environment


async def changes_in(flagstaff: Flagstaff, environment: Json) -> list[Change]:
    """All changes inside an environment, oldest first."""
    async with flagstaff.database.read() as connection:
        place = make_environment(id=UUID(environment["id"]))
        found = await list_environment_changes(connection, place, ChangeFilter(), before=None, limit=1_000)
    return [each.change for each in reversed(found)]


async def record_less(flagstaff: Flagstaff, change: str, **values: Any) -> None:
    """Replace values of a change, as if an earlier version that records less had written it."""
    async with flagstaff.database.transaction() as transaction:
        values = {"based_on": None, **values}
        query = tables.changes.update().where(tables.changes.c.id == int(change)).values(**values)
        await transaction.connection.execute(query)
