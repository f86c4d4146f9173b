"""HTTP of the evaluations of a flag in all environments of its project."""

from typing import Annotated

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import FlagKeyInPath, Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import DatesZone, Moment, Since, Until, Uuid
from flagstaff.history.history_routes import Service
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}/flags/{flag_key}", tags=["Evaluation history"])


class FlagSummaryQuery(BaseModel):
    """The time to summarise: by default the last 24 hours."""

    model_config = ConfigDict(extra="forbid")

    tz: DatesZone = "UTC"
    since: Since = None
    until: Until = None


class EnvironmentCountOut(ResponseModel):
    """The number of times that the flag was on and off in an environment."""

    environment_id: Uuid
    on: int
    off: int


class FlagSummaryOut(ResponseModel):
    """The evaluations of the flag with a key, by environment."""

    since: Moment = Field(description="Rounded down to a whole hour.")
    until: Moment = Field(description="Rounded up to a whole hour.")
    environments: list[EnvironmentCountOut] = Field(description="All environments, in their order.")


@router.get("/evaluations/summary", response_model=FlagSummaryOut, responses=problems(400, 401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def summarise_flag_evaluations(
    project_id: Id,
    flag_key: FlagKeyInPath,
    query: Annotated[FlagSummaryQuery, Query()],
    actor: CurrentActor,
    history: Service,
) -> Response:
    """Count how often the flag with a key was on and off in each environment. The time is at most 31 days.

    In an environment without such a flag, this is the one that had the key last.
    """
    summary = await history.summarise_flag(actor, project_id, flag_key, since=query.since, until=query.until)
    return json_response(
        {
            "since": format_moment(summary.since),
            "until": format_moment(summary.until),
            "environments": [each._asdict() for each in summary.environments],
        }
    )
