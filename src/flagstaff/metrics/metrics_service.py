"""Metrics of a project. When a method returns, events of the metric are accepted everywhere, or refused."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, shown_flags
from flagstaff.projects.access import open_membership, open_project
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field
from flagstaff.values.keys import require_same_key
from flagstaff.values.lists import WHOLE, Window
from flagstaff.values.moments import later_than
from flagstaff.values.text import name_some

_NAMED_FLAGS = 20


@dataclass(frozen=True, slots=True)
class Metrics:
    """The use cases of metrics. All raise Error NOT_FOUND for resources that are not the actor's.

    `list_watched` returns the keys of the flags whose unfinished releases watch a metric of a project by its key.
    """

    database: Database
    now: Callable[[], datetime]
    settings: Settings
    list_watched: Callable[[Connection, UUID, str], Awaitable[Sequence[str]]]

    async def create_metric(self, actor: Actor, project_id: UUID, **values: Any) -> Metric:
        """Create a metric with these fields.

        Raises:
            Error: CONFLICT if the project has a metric with this key, or no room for another.
        """
        now = self.now()
        metric = Metric(id=uuid7(), project_id=project_id, created_at=now, updated_at=now, **values)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await open_project(connection, actor, project_id, Permission.SEGMENTS_WRITE, for_update=True)
            present = await metrics_store.count_metrics(connection, project_id)
            self.settings.max_metrics_per_project.require_room(present)
            await metrics_store.create_metric(connection, metric)
            await record(transaction, change_of(actor, "metric.created", now, Scope(project_id), after=metric))
        return metric

    async def list_metrics(self, actor: Actor, project_id: UUID, window: Window = WHOLE) -> list[Metric]:
        """The metrics of a project, newest first; a position is a time of creation and an id."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            found = await metrics_store.list_metrics(connection, project_id, window)
        return await collect(found)

    async def get_metric(self, actor: Actor, project_id: UUID, metric_id: UUID) -> Metric:
        """One metric."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            return await metrics_store.get_metric(connection, project_id, metric_id)

    async def update_metric(
        self,
        actor: Actor,
        project_id: UUID,
        metric_id: UUID,
        precondition: Precondition[Metric] = ANY_STATE,
        *,
        key: str | None = None,
        kind: str | None = None,
        **values: Any,
    ) -> Metric:
        """Update the given fields of a metric. Equal values change nothing.

        Raises:
            Error: INVALID when `key` or `kind` differs from the present one, which never changes; CONFLICT for a new
                direction while an unfinished release watches the metric.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(connection, actor, project_id, Permission.SEGMENTS_WRITE, for_update=True)
            metric = await metrics_store.get_metric(connection, project_id, metric_id)
            await precondition.require(connection, metric, metric_id, project_id)
            require_same_key(metric.key, key)
            if kind is not None and kind != metric.kind:
                raise invalid_field("kind", f"cannot be changed; it is {metric.kind}. Create another metric instead")
            updated = replace(metric, **values)
            if updated == metric:
                return metric
            if updated.better != metric.better:
                await self._require_unwatched(connection, metric, member, "has another direction")
            updated = replace(updated, updated_at=later_than(metric.updated_at, self.now()))
            await metrics_store.update_metric(connection, updated)
            scope = Scope(project_id)
            change = change_of(actor, "metric.updated", updated.updated_at, scope, before=metric, after=updated)
            await record(transaction, change)
            return updated

    async def delete_metric(
        self, actor: Actor, project_id: UUID, metric_id: UUID, precondition: Precondition[Metric] = ANY_STATE
    ) -> None:
        """Delete a metric; raises Error CONFLICT, which names the flags, if an unfinished release watches it."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(connection, actor, project_id, Permission.SEGMENTS_WRITE, for_update=True)
            metric = await metrics_store.get_metric(connection, project_id, metric_id)
            await precondition.require(connection, metric, metric_id, project_id)
            await self._require_unwatched(connection, metric, member, "is deleted")
            await metrics_store.delete_metric(connection, metric_id)
            await record(transaction, change_of(actor, "metric.deleted", self.now(), Scope(project_id), before=metric))

    async def _require_unwatched(self, connection: Connection, metric: Metric, member: Member, what: str) -> None:
        flags = await self.list_watched(connection, metric.project_id, metric.key)
        if flags:
            named = shown_flags(member, name_some(flags, _NAMED_FLAGS))
            raise Error(
                Code.CONFLICT,
                f"Releases of these flags watch the metric {metric.key}: {named}. Cancel them before it {what}.",
            )
