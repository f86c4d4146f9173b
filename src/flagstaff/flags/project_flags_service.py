"""The flags of all environments of a project, side by side."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Connection, Database
from flagstaff.flags.project_flags import Aspect, FlagInBrief, ProjectFlag, ProjectFlagFilter
from flagstaff.flags.project_flags_store import compare, in_parts, list_in_brief, list_keys
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_project
from flagstaff.values.lists import WHOLE, Window

# A statement's result is received at once, and others wait for the event loop meanwhile.
_KEYS_AT_ONCE = 1_000
_COMPARED_AT_ONCE = 2_000

Found = dict[str, tuple[Aspect, ...]]
"""Keys in their order, with what differs."""


@dataclass(frozen=True, slots=True)
class ProjectFlags:
    """The use case of a project's flags. Raises Error NOT_FOUND for a project that is not the actor's."""

    database: Database

    async def list_project_flags(
        self, actor: Actor, project_id: UUID, wanted: ProjectFlagFilter, window: Window = WHOLE
    ) -> list[ProjectFlag]:
        """The flags of a project by key, in the order of the keys; a position is a key."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.FLAGS_READ)
            ids = [each.id for each in await environments_store.list_environments(connection, project_id)]
            found = await _find(connection, ids, wanted, window)
            read = await list_in_brief(connection, ids, list(found))
        return await in_worker(_assemble, found, read, ids)


async def _find(connection: Connection, ids: Sequence[UUID], wanted: ProjectFlagFilter, window: Window) -> Found:
    (after,) = window.after or ("",)
    limit = window.limit
    at_once = _KEYS_AT_ONCE if limit is None or wanted.differs else min(limit, _KEYS_AT_ONCE)
    found: Found = {}
    while True:
        keys = await _list_candidates(connection, ids, wanted, after, at_once)
        for part in in_parts(keys, _COMPARED_AT_ONCE, ids):
            compared = await compare(connection, ids, part)
            found |= {key: compared[key] for key in part if key in compared and (compared[key] or not wanted.differs)}
            if limit is not None and len(found) >= limit:
                return dict(islice(found.items(), limit))
        if len(keys) < at_once:
            return found
        after = keys[-1]


async def _list_candidates(
    connection: Connection, ids: Sequence[UUID], wanted: ProjectFlagFilter, after: str, at_once: int
) -> list[str]:
    """The next keys to look at."""
    if wanted.key is not None:
        return [wanted.key] if wanted.key > after else []
    return await list_keys(connection, ids, wanted.text, after, at_once)


def _assemble(found: Found, read: Iterable[FlagInBrief], ids: Sequence[UUID]) -> list[ProjectFlag]:
    places = {environment_id: place for place, environment_id in enumerate(ids)}
    flags_of: defaultdict[str, list[FlagInBrief]] = defaultdict(list)
    for flag in read:
        flags_of[flag.key].append(flag)
    listed = []
    for key, differs in found.items():
        in_order = sorted(flags_of[key], key=lambda flag: places[flag.environment_id])
        listed.append(ProjectFlag(key, differs, tuple(in_order)))
    return listed
