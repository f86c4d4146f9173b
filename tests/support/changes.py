"""Reads the audit trail."""

from uuid import UUID

from flagstaff.bootstrap import Flagstaff
from flagstaff.domain.changes import Change
from flagstaff.storage.changes import list_environment_changes
from tests.support.api import Json


async def changes_in(flagstaff: Flagstaff, environment: Json) -> list[Change]:
    """All changes inside an environment, oldest first."""
    async with flagstaff.database.read() as connection:
        found = await list_environment_changes(
            connection, UUID(environment["id"]), flag_id=None, before=None, limit=1_000
        )
    return [each.change for each in reversed(found)]
