"""The audit of an environment: who changed what, when, from what to what."""

from dataclasses import dataclass
from uuid import UUID

from flagstaff.domain.changes import Actor, NumberedChange
from flagstaff.domain.errors import invalid_field
from flagstaff.services.access import open_environment
from flagstaff.storage import changes
from flagstaff.storage.database import Database

_NUMBER_MAX = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """Some changes, newest first; `next_cursor` leads to older ones, if there are any."""

    items: list[NumberedChange]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Changes:
    """Reads the trail that every write leaves."""

    database: Database

    async def list_changes(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        *,
        flag_id: UUID | None = None,
        limit: int,
        cursor: str | None = None,
    ) -> ChangesPage:
        """The changes in an environment, or of one flag and its rules, also after its deletion.

        Raises:
            Error: NOT_FOUND for an environment that is not the actor's, INVALID for a cursor that is none of ours.
        """
        before = _number(cursor)
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id)
            # One more than asked for tells whether there are older ones.
            found = await changes.list_changes(
                connection, environment_id, flag_id=flag_id, before=before, limit=limit + 1
            )
        items = found[:limit]
        return ChangesPage(items, str(items[-1].number) if len(found) > limit else None)


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit()) or len(cursor) > 19 or int(cursor) > _NUMBER_MAX:
        raise invalid_field("cursor", "is not a cursor of this list; leave it out to begin at the newest")
    return int(cursor)
