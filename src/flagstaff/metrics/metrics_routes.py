"""HTTP of metrics."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.lists import BY_AGE, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Description, FlagKey, Text, Update, optional
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import no_content
from flagstaff.http.services import service
from flagstaff.metrics.metrics import UNIT_MAX_LENGTH, Better, Kind, Metric, check_unit
from flagstaff.metrics.metrics_service import Metrics
from flagstaff.permissions.permissions import Permission
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}/metrics", tags=["Metrics"])

KindName = Literal["binary", "count", "value"]
BetterName = Literal["up", "down"]
Unit = Annotated[
    str, AfterValidator(check_unit), Field(json_schema_extra={"minLength": 1, "maxLength": UNIT_MAX_LENGTH})
]


class MetricOut(TaggedOut, of=Metric):
    """A metric: what applications report about users in events."""


class NewMetric(Body, of=Metric, without=("id", "project_id", "created_at", "updated_at")):
    """A new metric. Its key and its kind cannot be changed later."""

    key: FlagKey
    description: Description | None = None
    kind: KindName = Field(
        description="`binary`: whether a user had an event; `count`: how often; `value`: a number for each event."
    )
    better: BetterName = Field(description="The wanted direction: `down` for errors and latencies.")
    unit: Unit | None = Field(default=None, description="For people, such as `ms`.")


class MetricUpdate(Update, of=Metric, like=NewMetric):
    """The fields to change. `key` and `kind` are accepted only if they equal the present ones."""

    key: Text = optional()


_view = view_of(Metric)


_readers = {"kind": Kind, "better": Better}


def _values(given: dict[str, Any]) -> dict[str, Any]:
    return {name: _readers[name](value) if name in _readers else value for name, value in given.items()}


_listing = Listing(_view, lambda metric: (metric.created_at, metric.id), BY_AGE)

Service = Annotated[Metrics, Depends(service(Metrics))]
IfMatch = Annotated[Precondition[Metric], Depends(if_match("metric", _view))]


@router.post("", status_code=201, response_model=MetricOut, responses=problems(400, 401, 404, 409, 413, 503))
@writes(Permission.SEGMENTS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=True, repeatable=True)
async def create_metric(project_id: Id, body: NewMetric, actor: CurrentActor, metrics: Service) -> Response:
    """Create a metric. Once the response is sent, events of it are accepted everywhere."""
    return tagged_response(_view(await metrics.create_metric(actor, project_id, **_values(body.model_dump()))), 201)


@router.get("", response_model=list[MetricOut], responses=problems(400, 401, 404, 503))
@reads(Permission.PROJECT_READ)
async def list_metrics(project_id: Id, part: ListPart, actor: CurrentActor, metrics: Service) -> Response:
    """The metrics of a project, newest first."""
    return await _listing.respond(part, partial(metrics.list_metrics, actor, project_id))


@router.get("/{metric_id}", response_model=MetricOut, responses=problems(401, 404, 503))
@reads(Permission.PROJECT_READ)
async def get_metric(project_id: Id, metric_id: Id, actor: CurrentActor, metrics: Service) -> Response:
    """One metric."""
    return tagged_response(_view(await metrics.get_metric(actor, project_id, metric_id)))


@router.put("/{metric_id}", response_model=MetricOut, responses=problems(400, 401, 404, 409, 413, 503))
@writes(Permission.SEGMENTS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=True)
async def update_metric(
    project_id: Id, metric_id: Id, body: MetricUpdate, actor: CurrentActor, metrics: Service, precondition: IfMatch
) -> Response:
    """Update a metric. Only the given fields change."""
    values = _values(body.given())
    return tagged_response(_view(await metrics.update_metric(actor, project_id, metric_id, precondition, **values)))


@router.delete("/{metric_id}", status_code=204, responses=problems(401, 404, 409, 503))
@writes(Permission.SEGMENTS_WRITE, reports_revision=True)
async def delete_metric(
    project_id: Id, metric_id: Id, actor: CurrentActor, metrics: Service, precondition: IfMatch
) -> Response:
    """Delete a metric that no unfinished release watches. Events of it are not accepted any more."""
    await metrics.delete_metric(actor, project_id, metric_id, precondition)
    return no_content()
