"""HTTP of request metrics."""

from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Since, Until, at_most
from flagstaff.applications.request_metrics_service import LINES_MAX, ChartRequest, RequestMetrics
from flagstaff.history.applications import TEXT_MAX_LENGTH
from flagstaff.history.history_routes import ENVIRONMENT
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_array_response, json_response
from flagstaff.http.services import service
from flagstaff.metrics.request_metrics import LABELS_MAX, Measure, MeasureName
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix=ENVIRONMENT, tags=["Metrics"])

RequestKindName = Literal["counter", "gauge", "histogram"]
Named = Annotated[str, Field(min_length=1, max_length=TEXT_MAX_LENGTH)]


def _require_label(given: str) -> str:
    if ":" not in given:
        raise ValueError("must be the name of a label, a colon and a value")
    return given


Label = Annotated[str, Field(max_length=2 * TEXT_MAX_LENGTH + 1), AfterValidator(_require_label)]


class ChartQuery(BaseModel):
    """The series to show: by default the first measure of all series, in the last hour."""

    model_config = ConfigDict(extra="forbid")

    name: Named
    measure: MeasureName | None = None
    label: Annotated[list[Label], at_most(LABELS_MAX)] = Field(
        default=[], description="Only series with this label, such as `new-checkout:enabled`. May be repeated."
    )
    by: Named | None = Field(default=None, description="A label: each of its values has a line.")
    since: Since = None
    until: Until = None


class RequestMetricOut(ResponseModel):
    """A request metric: what applications measure and report in sums, without users."""

    name: str
    kind: RequestKindName
    help: str
    measures: list[MeasureName]
    labels: dict[str, list[str]] = Field(description="The values that each label has had.")
    seen_at: Moment = Field(description="When it was last reported, accurate to ten minutes.")


class LineOut(ResponseModel):
    """A line of a chart."""

    value: str | None = Field(description="The value of the label; null without `by`.")
    points: list[float | None] = Field(description="A number for each span; null where nothing was reported.")


class RequestChartOut(ResponseModel):
    """A measure of a request metric over time."""

    kind: RequestKindName
    measure: MeasureName
    since: Moment
    until: Moment
    minutes: int = Field(description="The length of the span that each point stands for.")
    lines: list[LineOut]
    omitted: int = Field(description=f"How many values of the label have no line; at most {LINES_MAX} have one.")


Service = Annotated[RequestMetrics, Depends(service(RequestMetrics))]


@router.get("/request-metrics", response_model=list[RequestMetricOut], responses=problems(401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def list_request_metrics(project_id: Id, env_id: Id, actor: CurrentActor, metrics: Service) -> Response:
    """The request metrics that applications reported in the last seven days; Unleash calls them impact metrics."""
    return await json_array_response(
        {
            "name": each.name,
            "kind": each.kind,
            "help": each.help,
            "measures": each.measures,
            "labels": each.labels,
            "seen_at": format_moment(each.seen_at),
        }
        for each in await metrics.list_request_metrics(actor, project_id, env_id)
    )


@router.get("/request-metrics/chart", response_model=RequestChartOut, responses=problems(400, 401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def chart_request_metric(
    project_id: Id, env_id: Id, query: Annotated[ChartQuery, Query()], actor: CurrentActor, metrics: Service
) -> Response:
    """A measure of a request metric over at most seven days, by the minute or by several."""
    wanted = ChartRequest(
        query.name,
        query.measure and Measure(query.measure),
        dict(each.split(":", 1) for each in query.label),
        query.by,
        query.since,
        query.until,
    )
    chart = await metrics.chart(actor, project_id, env_id, wanted)
    return json_response(
        {
            "kind": chart.kind,
            "measure": chart.measure,
            "since": format_moment(chart.since),
            "until": format_moment(chart.until),
            "minutes": chart.minutes,
            "lines": [{"value": each.value, "points": each.points} for each in chart.lines],
            "omitted": chart.omitted,
        }
    )
