"""The events of metrics that applications have sent, as they were stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.followed_events import END, EventsPage, list_events
from flagstaff.metrics.events import EventFilter, EventPlace
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import sdk_keys_store
from flagstaff.projects.access import open_environment


@dataclass(frozen=True, slots=True)
class RecordedEvents:
    """Reads them. Raises Error NOT_FOUND for what is not the actor's."""

    database: Database

    async def list_events(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        wanted: EventFilter,
        *,
        limit: int,
        before: EventPlace | None,
    ) -> tuple[EventsPage, Mapping[UUID, str]]:
        """A page of an environment's events, those that were stored last first, and the names of the SDK keys by id."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
            names = await sdk_keys_store.find_key_names(connection, [environment_id])
        async with self.database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            if number is None:
                return EventsPage((), None), {}
            page = await list_events(connection, number, wanted, limit=limit, before=before or END)
            return page, names.get(environment_id, {})
