"""HTTP of applications that evaluate flags themselves: their instances, and what they report."""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Since, Until
from flagstaff.applications.applications_service import ApplicationReports, Reported, ReportedFlag
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.history.applications import Connection
from flagstaff.history.history_routes import ENVIRONMENT
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix=ENVIRONMENT, tags=["Applications"])


_DROPPED = (
    "The number of counts of the environment's flags that were dropped, because a report, or the environment in an "
    "hour, had too many."
)


class ConnectionOut(ResponseModel):
    """An instance of an application. The names are what it says of itself."""

    application: str
    instance: str
    connection: str
    sdk: str
    streams: bool = Field(description="Whether it has an open stream, on which it receives changes at once.")
    revision: int = Field(description="The last revision that was sent to it.")
    is_current: bool = Field(description="Whether that is the environment's revision.")
    seen_at: Moment
    due_at: Moment | None = Field(
        description="The time of its next request, if it reports its interval; null for a stream."
    )


class ConnectionsOut(ResponseModel):
    """The instances that were heard of in the last hour, at most 1,000."""

    revision: int
    current: int = Field(description="The number of instances that have the environment's revision.")
    total: int
    connections: list[ConnectionOut]


class ReportsQuery(BaseModel):
    """The hours to read: by default the last 24, and at most 92 days."""

    model_config = ConfigDict(extra="forbid")

    since: Since = None
    until: Until = None


class ReportedFlagOut(ResponseModel):
    """The counts of a flag that an application found on and off."""

    flag_key: str
    application: str
    sdk: str
    yes: int
    no: int
    variants: dict[str, int] = Field(description="The number of times it got each variant.")
    reported_at: Moment = Field(description="When it reported last.")


class ReportedHourOut(ReportedFlagOut):
    """The same in the hour that starts at `start`."""

    start: Moment


class ReportsOut(ResponseModel):
    """The counts that applications reported in whole hours, in sum. They say neither for whom nor why."""

    since: Moment
    until: Moment
    dropped: int = Field(description=_DROPPED)
    flags: list[ReportedFlagOut] = Field(description="By flag and application; the first 10,000 counts.")


class FlagReportsOut(ResponseModel):
    """The counts that applications reported of a flag, by hour."""

    since: Moment
    until: Moment
    dropped: int = Field(description=_DROPPED)
    hours: list[ReportedHourOut]


class UsageQuery(BaseModel):
    """The number of days to look back."""

    model_config = ConfigDict(extra="forbid")

    days: Annotated[int, Field(ge=1, le=90)] = 30


class MissingFlagOut(ResponseModel):
    """A flag that is asked for but not answered, because it does not exist or is archived."""

    key: str
    asked_by: dict[str, int] = Field(
        description='How often each application asked for it; `""` stands for evaluations of this one flag here.'
    )
    asked_at: Moment
    archived: bool = Field(description="Whether it exists and is archived.")


class UsageOut(ResponseModel):
    """Flags that were asked for by their keys since a time. Evaluating all flags asks for none of them."""

    since: Moment
    missing: list[MissingFlagOut] = Field(
        description="The most requested flags first. The server records 1,000 flags per environment and hour."
    )
    unasked: list[str] = Field(description="The keys of existing flags that were not requested.")


Service = Annotated[ApplicationReports, Depends(service(ApplicationReports))]


@router.get("/connections", response_model=ConnectionsOut, responses=problems(400, 401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def list_connections(project_id: Id, env_id: Id, actor: CurrentActor, applications: Service) -> Response:
    """List the instances of applications that evaluate flags themselves, with the state that each has."""
    found = await applications.list_connections(actor, project_id, env_id)
    views = [_connection_view(each, found.revision) for each in found.connections]
    current = sum(view["is_current"] for view in views)
    return json_response({"revision": found.revision, "current": current, "total": len(views), "connections": views})


@router.get("/reports", response_model=ReportsOut, responses=problems(400, 401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def list_reports(
    project_id: Id,
    env_id: Id,
    query: Annotated[ReportsQuery, Query()],
    actor: CurrentActor,
    applications: Service,
) -> Response:
    """Sum up how often applications that evaluate flags themselves found each flag on and off.

    These evaluations are not in the history.
    """
    found = await applications.sum_reports(actor, project_id, env_id, query.since, query.until)
    return json_response({**_span_view(found), "flags": [_flag_view(each) for each in found.flags]})


@router.get(
    "/flags/{flag_id}/reports",
    response_model=FlagReportsOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ)
async def list_flag_reports(
    path: FlagIds, query: Annotated[ReportsQuery, Query()], actor: CurrentActor, applications: Service
) -> Response:
    """List how often applications that evaluate flags themselves found the flag on and off, by hour."""
    found = await applications.list_reports(actor, path, query.since, query.until)
    return json_response({**_span_view(found), "hours": [_flag_view(each) for each in found.flags]})


@router.get("/usage", response_model=UsageOut, responses=problems(400, 401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def find_usage(
    project_id: Id,
    env_id: Id,
    query: Annotated[UsageQuery, Query()],
    actor: CurrentActor,
    applications: Service,
) -> Response:
    """List keys that were requested but have no flag, and flags that were not requested by their keys."""
    usage = await applications.find_usage(actor, project_id, env_id, query.days)
    missing = [
        {
            "key": each.key,
            "asked_by": dict(each.asked_by),
            "asked_at": format_moment(each.asked_at),
            "archived": each.is_archived,
        }
        for each in usage.missing
    ]
    return json_response({"since": format_moment(usage.since), "missing": missing, "unasked": list(usage.unasked)})


def _connection_view(connection: Connection, revision: int) -> dict[str, Any]:
    client = connection.client
    due_at = None
    if client.interval_seconds is not None and not connection.streams:
        due_at = format_moment(connection.seen_at + timedelta(seconds=client.interval_seconds))
    return {
        "application": client.application,
        "instance": client.instance,
        "connection": client.connection,
        "sdk": client.sdk,
        "streams": connection.streams,
        "revision": connection.revision,
        "is_current": connection.revision >= revision,
        "seen_at": format_moment(connection.seen_at),
        "due_at": due_at,
    }


def _span_view(reported: Reported) -> dict[str, Any]:
    return {"since": format_moment(reported.since), "until": format_moment(reported.until), "dropped": reported.dropped}


def _flag_view(reported: ReportedFlag) -> dict[str, Any]:
    view = {
        "flag_key": reported.flag_key,
        "application": reported.application,
        "sdk": reported.sdk,
        "yes": reported.counts.yes,
        "no": reported.counts.no,
        "variants": dict(reported.counts.variants),
        "reported_at": format_moment(reported.reported_at),
    }
    return view if reported.start is None else {"start": format_moment(reported.start), **view}
