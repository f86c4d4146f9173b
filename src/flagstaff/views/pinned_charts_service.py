"""Pinned charts of a project, which all members see. No evaluation depends on them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags import flags_store
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member, open_project
from flagstaff.values.errors import invalid_field
from flagstaff.values.quotas import require_fewer
from flagstaff.views import pinned_charts_store
from flagstaff.views.pinned_charts import CHARTS_MAX, PinnedChart

_NO_ENVIRONMENT = "is not an environment of this project"


@dataclass(frozen=True, slots=True)
class PinnedCharts:
    """The use cases of pinned charts. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def list_charts(self, actor: Actor, project_id: UUID) -> Sequence[PinnedChart]:
        """The pinned charts of a project, oldest first."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.FLAGS_READ)
            return await pinned_charts_store.list_charts(connection, project_id)

    async def get_chart(self, actor: Actor, project_id: UUID, chart_id: UUID) -> PinnedChart:
        """One pinned chart."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.FLAGS_READ)
            return await pinned_charts_store.get_chart(connection, project_id, chart_id)

    async def create_chart(
        self, actor: Actor, project_id: UUID, *, environment_id: UUID, flag_id: UUID | None, **values: Any
    ) -> PinnedChart:
        """Pin a chart.

        Raises:
            Error: INVALID for an environment or a flag that does not exist, or fields that do not fit together;
                FORBIDDEN for members who may not change flags in the environment; CONFLICT if the project has no room.
        """
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            environment = await environments_store.find_environment(connection, project_id, environment_id)
            if environment is None:
                raise invalid_field("environment_id", _NO_ENVIRONMENT)
            require(member, Permission.FLAGS_WRITE, environment.key)
            chart = PinnedChart(
                id=uuid7(),
                project_id=project_id,
                environment_id=environment_id,
                flag_id=flag_id,
                flag_key=await _find_key(connection, project_id, environment_id, flag_id),
                created_at=now,
                **values,
            ).check()
            await _require_compared(connection, chart)
            present = await pinned_charts_store.count_charts(connection, project_id)
            require_fewer(present, CHARTS_MAX, "pinned charts in the project")
            await pinned_charts_store.create_chart(connection, chart)
            await record(transaction, change_of(actor, "pinned_chart.created", now, Scope(project_id), after=chart))
        return chart

    async def update_chart(
        self,
        actor: Actor,
        project_id: UUID,
        chart_id: UUID,
        precondition: Precondition[PinnedChart] = ANY_STATE,
        **values: Any,
    ) -> PinnedChart:
        """Update the given fields of a pinned chart. Equal values change nothing.

        Raises:
            Error: INVALID, FORBIDDEN as `create_chart`.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            chart = await _open(connection, member, chart_id)
            await precondition.require(connection, chart, chart_id, project_id)
            updated = replace(chart, **values).check()
            if updated == chart:
                return chart
            await _require_compared(connection, updated)
            await pinned_charts_store.update_chart(connection, updated)
            change = change_of(
                actor, "pinned_chart.updated", self.now(), Scope(project_id), before=chart, after=updated
            )
            await record(transaction, change)
            return updated

    async def delete_chart(
        self, actor: Actor, project_id: UUID, chart_id: UUID, precondition: Precondition[PinnedChart] = ANY_STATE
    ) -> None:
        """Remove a pinned chart; the history stays. Raises Error FORBIDDEN as `create_chart`."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            chart = await _open(connection, member, chart_id)
            await precondition.require(connection, chart, chart_id, project_id)
            await pinned_charts_store.delete_chart(connection, chart_id)
            change = change_of(actor, "pinned_chart.deleted", self.now(), Scope(project_id), before=chart)
            await record(transaction, change)


async def _open(connection: Connection, member: Member, chart_id: UUID) -> PinnedChart:
    """The chart, in whose environment the member must be allowed to change flags."""
    chart = await pinned_charts_store.get_chart(connection, member.project_id, chart_id)
    environment = await environments_store.get_environment(connection, member.project_id, chart.environment_id)
    require(member, Permission.FLAGS_WRITE, environment.key)
    return chart


async def _find_key(connection: Connection, project_id: UUID, environment_id: UUID, flag_id: UUID | None) -> str | None:
    """The key of a chart's flag; raises Error INVALID if there is no such flag in its environment."""
    if flag_id is None:
        return None
    flag = await flags_store.find_flag(connection, project_id, environment_id, flag_id)
    if flag is None:
        raise invalid_field("flag_id", "is not a flag of the environment with environment_id")
    return flag.key


async def _require_compared(connection: Connection, chart: PinnedChart) -> None:
    other = chart.compare_environment_id
    if other is not None and await environments_store.find_environment(connection, chart.project_id, other) is None:
        raise invalid_field("compare_environment_id", _NO_ENVIRONMENT)
