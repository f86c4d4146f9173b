"""Erases users from the states of rules and segments in a project's audit trail."""

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from flagstaff.audit import redacting
from flagstaff.audit.redacting import Turn
from flagstaff.audit.redactions_store import Recorded, Wanted
from flagstaff.changes.actions import actions_of
from flagstaff.changes.redaction import without_user
from flagstaff.database.changes_store import newest_change
from flagstaff.database.database import Database
from flagstaff.history.erased_users import Subject
from flagstaff.people.naming import names_user

_ACTIONS = (*actions_of("rule"), *actions_of("segment"))


async def erase_from_trail(database: Database, project_id: UUID, subject: Subject) -> AsyncIterator[Turn]:
    """Replace a user in the states of all changes that are in the trail now, part by part."""
    until, rewrite = await _newest(database), partial(_rewritten, subject)
    async for turn in redacting.redact(database, _wanted(project_id, subject), rewrite, after=0, until=until):
        yield turn


async def count_in_trail(
    database: Database, project_id: UUID, subject: Subject, *, most_parts: int
) -> tuple[int, bool]:
    """In how many changes a user would be replaced, and whether there may be more after the parts examined."""
    until, rewrite = await _newest(database), partial(_rewritten, subject)
    wanted = _wanted(project_id, subject)
    return await redacting.count(database, wanted, rewrite, until=until, most_parts=most_parts)


async def _newest(database: Database) -> int:
    async with database.read() as connection:
        return await newest_change(connection)


def _wanted(project_id: UUID, subject: Subject) -> Wanted:
    """The changes of a project whose rules and segments may name a user."""
    return Wanted(subject.units, _ACTIONS, are_whole=True, project_id=project_id)


def _rewritten(subject: Subject, change: Recorded) -> Mapping[str, Any]:
    states = {"before": change.before, "after": change.after}
    changed = {name: without_user(state, partial(names_user, subject)) for name, state in states.items()}
    return {name: state for name, state in changed.items() if state != states[name]}
