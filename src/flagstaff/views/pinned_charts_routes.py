"""HTTP of pinned charts: views of the evaluation history's chart with a name."""

from typing import Annotated

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Update, Uuid
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.views import view_of
from flagstaff.views.pinned_charts import Period, PinnedChart, Scale, Split
from flagstaff.views.pinned_charts_service import PinnedCharts

router = Router(prefix="/api/projects/{project_id}/pinned-charts", tags=["Evaluation history"])

_PERIOD = "The period that ends now: the last hour, 24 hours, 7 days or 30 days."
_SPLIT = "The parts of each bar. A chart of all flags is only split by `result`."
_SCALE = "Whether bars show numbers of evaluations, or each part's percentage."
_BEFORE = "Whether it is compared with the previous period of the same length."
_OTHER = "Another environment of the project, with which it is compared."

GivenPeriod = Annotated[Period, Field(description=_PERIOD)]
GivenSplit = Annotated[Split, Field(description=_SPLIT)]
GivenScale = Annotated[Scale, Field(description=_SCALE)]
GivenBefore = Annotated[bool, Field(description=_BEFORE)]
GivenOther = Annotated[GivenId | None, Field(description=_OTHER)]


class PinnedChartOut(TaggedOut, of=PinnedChart):
    """A pinned chart."""

    flag_key: str | None = Field(description="The key of the flag; null for a chart of all flags.")
    period: GivenPeriod
    split: GivenSplit
    scale: GivenScale
    compare_before: GivenBefore
    compare_environment_id: Uuid | None = Field(description=_OTHER + " Null after it was deleted.")


class NewPinnedChart(Body, of=PinnedChart, without=("id", "project_id", "flag_key", "created_at")):
    """A chart to pin. It is compared with the period before, or with another environment, or with nothing."""

    environment_id: GivenId
    flag_id: Annotated[GivenId | None, Field(description="A flag of the environment; without one, all flags.")] = None
    period: GivenPeriod = "day"
    split: GivenSplit = "result"
    scale: GivenScale = "count"
    compare_before: GivenBefore = False
    compare_environment_id: GivenOther = None


class PinnedChartUpdate(Update, of=PinnedChart, like=NewPinnedChart, without=("environment_id", "flag_id")):
    """The fields to change."""


_view = view_of(PinnedChart)
Service = Annotated[PinnedCharts, Depends(service(PinnedCharts))]
IfMatch = Annotated[Precondition[PinnedChart], Depends(if_match("pinned chart", _view))]


@router.post("", status_code=201, response_model=PinnedChartOut, responses=problems(400, 401, 404, 409, 413, 503))
@writes(Permission.FLAGS_WRITE, place="environment", body_max_bytes=SMALL_BODY, reports_revision=True, repeatable=True)
async def create_pinned_chart(project_id: Id, body: NewPinnedChart, actor: CurrentActor, charts: Service) -> Response:
    """Pin a chart of the evaluation history to the project's home, where all members see it.

    You need the permission in the chart's environment. A project has at most 12 pinned charts.
    """
    return tagged_response(_view(await charts.create_chart(actor, project_id, **body.model_dump())), 201)


@router.get("", response_model=list[PinnedChartOut], responses=problems(401, 404, 503))
@reads(Permission.FLAGS_READ)
async def list_pinned_charts(project_id: Id, actor: CurrentActor, charts: Service) -> Response:
    """The pinned charts of the project, oldest first. A chart is deleted with its flag and its environment."""
    return await json_array_response(map(_view, await charts.list_charts(actor, project_id)))


@router.get("/{chart_id}", response_model=PinnedChartOut, responses=problems(401, 404, 503))
@reads(Permission.FLAGS_READ)
async def get_pinned_chart(project_id: Id, chart_id: Id, actor: CurrentActor, charts: Service) -> Response:
    """One pinned chart."""
    return tagged_response(_view(await charts.get_chart(actor, project_id, chart_id)))


@router.put("/{chart_id}", response_model=PinnedChartOut, responses=problems(400, 401, 404, 413, 503))
@writes(Permission.FLAGS_WRITE, place="environment", body_max_bytes=SMALL_BODY, reports_revision=True)
async def update_pinned_chart(
    project_id: Id,
    chart_id: Id,
    body: PinnedChartUpdate,
    actor: CurrentActor,
    charts: Service,
    precondition: IfMatch,
) -> Response:
    """Rename a pinned chart, or change what it shows. Only the given fields change.

    You need the permission in the chart's environment.
    """
    return tagged_response(_view(await charts.update_chart(actor, project_id, chart_id, precondition, **body.given())))


@router.delete("/{chart_id}", status_code=204, responses=problems(401, 404, 503))
@writes(Permission.FLAGS_WRITE, place="environment", reports_revision=True)
async def delete_pinned_chart(
    project_id: Id, chart_id: Id, actor: CurrentActor, charts: Service, precondition: IfMatch
) -> Response:
    """Remove a pinned chart. You need the permission in the chart's environment. The history is kept."""
    await charts.delete_chart(actor, project_id, chart_id, precondition)
    return no_content()
