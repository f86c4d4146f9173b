"""Compares the flags of two environments of a project, a few hundred at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.copying.comparisons import Comparison
from flagstaff.copying.environment_flags import ReadEnvironmentFlags, find_pair, read_environment_flags
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_member
from flagstaff.values.lists import WHOLE, Window

_KEYS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The use case of comparisons. Raises Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database

    async def compare(
        self, actor: Actor, project_id: UUID, from_id: UUID, to_id: UUID, window: Window = WHOLE
    ) -> list[Comparison]:
        """The flags in which two environments differ, by key; a position is a key. Archived flags are left out.

        Raises:
            Error: INVALID for an environment that does not exist or twice the same, FORBIDDEN for a member that may not
                see the flags of both.
        """
        found: list[Comparison] = []
        part = Window(_KEYS_AT_ONCE, window.after)
        while True:
            async with self.database.read() as connection:
                _, member = await open_member(connection, actor, project_id)
                for environment in await find_pair(connection, project_id, from_id, to_id):
                    require(member, Permission.FLAGS_READ, environment.key)
                keys = await flags_store.list_keys_of(connection, (from_id, to_id), part)
                read = await _read(connection, from_id, to_id, keys)
            found += await in_worker(read.compare)
            if len(keys) < _KEYS_AT_ONCE or (window.limit is not None and len(found) >= window.limit):
                return found[: window.limit]
            part = Window(_KEYS_AT_ONCE, (keys[-1],))


@dataclass(frozen=True, slots=True)
class _ReadPair:
    """The flags with some keys in two environments, read in one consistent state."""

    keys: Sequence[str]
    origins: ReadEnvironmentFlags
    targets: ReadEnvironmentFlags
    archived: set[str]

    def compare(self) -> list[Comparison]:
        """Compare, and return the flags that differ."""
        origins = self.origins.collect()
        targets = self.targets.collect()
        found = []
        for key in self.keys:
            comparison = Comparison(key, origins.get(key), targets.get(key), archived_in_other=key in self.archived)
            if comparison.differs():
                found.append(comparison)
        return found


async def _read(connection: Connection, from_id: UUID, to_id: UUID, keys: Sequence[str]) -> _ReadPair:
    origins = await read_environment_flags(connection, from_id, keys)
    targets = await read_environment_flags(connection, to_id, keys)
    archived = await flags_store.find_archived_keys(connection, from_id, keys)
    archived |= await flags_store.find_archived_keys(connection, to_id, keys)
    return _ReadPair(keys, origins, targets, archived)
