"""HTTP of the summary of the audit trail: what the charts of the history mark."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import FlagKey, Moment
from flagstaff.audit.change_summaries_store import ChangesInterval
from flagstaff.audit.changes_routes import Service
from flagstaff.history.summaries_routes import SummarisedTime, SummaryQuery
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment
from flagstaff.values.zones import parse_zone

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Audit"])


class ChangeSummaryQuery(SummaryQuery):
    """The span to summarise: by default the last 24 hours."""

    flag_key: Annotated[
        FlagKey | None, Field(description="Only this flag, its rules, and the segments that its rules name now.")
    ] = None


class NewestChange(ResponseModel):
    """The newest change of an interval, which has the same id in the audit trail."""

    id: str
    at: Moment
    actor_email: str | None = Field(description="Who made it; null for the command line.")
    action: str = Field(examples=["flag.toggled"])
    flag_key: str | None = Field(description="Null for a segment's.")


class ChangesIntervalOut(ResponseModel):
    """The number of changes in an interval."""

    start: Moment
    changes: int
    segment_changes: int = Field(description="How many of them were made to segments.")
    newest: NewestChange


class ChangeSummaryOut(SummarisedTime):
    """The intervals, oldest first. Intervals without a change are left out."""

    intervals: list[ChangesIntervalOut]


@router.get(
    "/changes/summary",
    response_model=ChangeSummaryOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.AUDIT_READ)
async def summarise_changes(
    project_id: Id, env_id: Id, query: Annotated[ChangeSummaryQuery, Query()], actor: CurrentActor, changes: Service
) -> Response:
    """Count the changes of an environment's flags, their rules and the project's segments, by interval."""
    summary = await changes.summarise_environment(
        actor,
        project_id,
        env_id,
        since=query.since,
        until=query.until,
        interval=query.interval,
        zone=parse_zone(query.tz),
        flag_key=query.flag_key,
    )
    return json_response(
        {
            "since": format_moment(summary.asked.since),
            "until": format_moment(summary.asked.until),
            "interval": query.interval,
            "tz": query.tz,
            "intervals": list(map(_view, summary.found)),
        }
    )


def _view(interval: ChangesInterval) -> dict[str, Any]:
    return {
        "start": format_moment(interval.start),
        "changes": interval.changes,
        "segment_changes": interval.segment_changes,
        "newest": {
            "id": str(interval.number),
            "at": format_moment(interval.at),
            "actor_email": interval.actor_email,
            "action": interval.action,
            "flag_key": interval.flag_key,
        },
    }
