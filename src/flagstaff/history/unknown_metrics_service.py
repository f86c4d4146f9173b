"""The metrics that events of applications name although they do not exist."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.history.store import events
from flagstaff.metrics.metrics import UnknownMetric
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_project


@dataclass(frozen=True, slots=True)
class UnknownMetrics:
    """Reads them. Raises Error NOT_FOUND for what is not the actor's."""

    database: Database

    async def list_unknown_metrics(self, actor: Actor, project_id: UUID) -> Sequence[UnknownMetric]:
        """The unknown metrics of a project's environments in the last 90 days, those named last first."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.EVALUATIONS_READ)
            environments = await environments_store.list_environments(connection, project_id)
        ids = [each.id for each in environments]
        if not ids:
            return ()
        async with self.database.read_history() as connection:
            found = await events.list_unknown_metrics(connection, ids)
        return [UnknownMetric(each.environment_id, each.metric, each.events, each.last_at) for each in found]
