"""HTTP of the metrics that events name although they do not exist."""

from typing import Annotated

from fastapi import Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Uuid
from flagstaff.history.unknown_metrics_service import UnknownMetrics
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_array_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}", tags=["Metrics"])


class UnknownMetricOut(ResponseModel):
    """A key that events of an environment named."""

    environment_id: Uuid
    metric: str
    events: int
    last_at: Moment


Service = Annotated[UnknownMetrics, Depends(service(UnknownMetrics))]


@router.get("/unknown-metrics", response_model=list[UnknownMetricOut], responses=problems(401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def list_unknown_metrics(project_id: Id, actor: CurrentActor, unknown: Service) -> Response:
    """The metrics that events named in the last 90 days although they do not exist; at most 100 of an environment."""
    return await json_array_response(
        {
            "environment_id": each.environment_id,
            "metric": each.key,
            "events": each.events,
            "last_at": format_moment(each.last_at),
        }
        for each in await unknown.list_unknown_metrics(actor, project_id)
    )
