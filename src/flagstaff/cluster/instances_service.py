"""The instances that serve from the database, as administrators see them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from flagstaff.changes.changes import Actor
from flagstaff.cluster.instances import Behind, ListedInstance, without_former
from flagstaff.database.changes_store import changes_after, newest_change
from flagstaff.database.database import Database
from flagstaff.identity.administration.rights import require_administrator


class PlacedInstance(NamedTuple):
    """An instance, how far it is behind, if that is known, and whether it is the one that answers.

    `has_same_key` is whether it has the secret key of the one that answers; None if one of them has not reported it.
    """

    instance: ListedInstance
    behind: Behind | None
    answered: bool
    has_same_key: bool | None


@dataclass(frozen=True, slots=True)
class ServingInstances:
    """The use case. `list_all` returns what is known of all instances."""

    database: Database
    now: Callable[[], datetime]
    list_all: Callable[[], Awaitable[Sequence[ListedInstance]]]

    async def list_instances(self, actor: Actor) -> list[PlacedInstance]:
        """All instances by name, without those that have ended; raises Error FORBIDDEN, UNAVAILABLE."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
        return await self.find_instances()

    async def find_instances(self) -> list[PlacedInstance]:
        """The same for the server itself: nothing checks who asks."""
        instances = without_former(await self.list_all())
        behind: dict[int, Behind] = {}
        async with self.database.read() as connection:  # later, so that no instance is ahead of it
            for number in {each.report.change for each in instances if each.report}:
                if number is not None:
                    count, first_at = await changes_after(connection, number)
                    seconds = (self.now() - first_at).total_seconds() if first_at else 0.0
                    behind[number] = Behind(count, max(seconds, 0.0))
        own = next((_key_of(each) for each in instances if each.id == self.database.instance), None)
        return [
            PlacedInstance(
                each,
                _of(behind, each),
                answered=each.id == self.database.instance,
                has_same_key=None if None in (own, _key_of(each)) else _key_of(each) == own,
            )
            for each in instances
        ]


async def read_newest_change(database: Database) -> int:
    """The number of the newest change."""
    async with database.query() as connection:
        return await newest_change(connection)


def _key_of(instance: ListedInstance) -> str | None:
    return instance.report.key_fingerprint if instance.report else None


def _of(behind: dict[int, Behind], instance: ListedInstance) -> Behind | None:
    change = instance.report.change if instance.report else None
    return None if change is None else behind[change]
