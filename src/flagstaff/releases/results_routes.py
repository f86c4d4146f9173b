"""HTTP of the results of releases, and of the users behind them as CSV."""

from collections.abc import AsyncIterator, Sequence
from math import exp
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from flagstaff.api.auth import CurrentActor
from flagstaff.api.csv import csv_line
from flagstaff.api.ids import FlagIds, Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Uuid
from flagstaff.concurrency.pacing import Turns
from flagstaff.database.tables import moment
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.metrics.events import MARK
from flagstaff.projects.permissions import Permission
from flagstaff.releases.observations import ASIDE, RULED
from flagstaff.releases.releases import Release
from flagstaff.releases.releases_schemas import ActionName
from flagstaff.releases.results import ArmResult, Interval, MetricResult, Results
from flagstaff.releases.results_service import ExposedUser, ReleaseResults
from flagstaff.releases.statistics import split
from flagstaff.releases.wording import SPLIT_WRONG
from flagstaff.values.moments import format_moment

router = Router(
    prefix="/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/releases/{release_id}", tags=["Releases"]
)

_HEADERS = {"content-disposition": 'attachment; filename="users.csv"'}
_LOG_MAX = 690.0
_LEFT_OUT = {RULED: "rule", ASIDE: "two arms"}


class IntervalOut(ResponseModel):
    """An estimate with the ends of its interval, which holds at all looks together."""

    estimate: float
    low: float
    high: float


class ArmResultOut(ResponseModel):
    """The users of an arm."""

    name: str
    users: int
    users_with_events: int
    events: int
    rate: float | None = Field(description="The share of the users with an event, of a binary metric.")
    mean: float | None = Field(description="The mean per user, of a count or a value.")
    ratio: IntervalOut | None = Field(description="The rate divided by the control's, with all steps together.")
    difference: IntervalOut | None = Field(description="The mean minus the control's, with all steps together.")


class StepResultOut(ResponseModel):
    """The arms in a step. A step occurs twice if the release was paused by a conflict meanwhile."""

    step: int
    arms: list[ArmResultOut]


class MetricResultOut(ResponseModel):
    """The results of a guard's metric."""

    metric: str
    name: str
    kind: Literal["binary", "count", "value"]
    better: Literal["up", "down"]
    unit: str | None
    action: ActionName
    evidence: float
    threshold: float
    warning: bool = Field(
        description="Whether further steps wait: the evidence is above half of the threshold's logarithm."
    )
    acted_at: Moment | None
    words: str
    arms: list[ArmResultOut]
    steps: list[StepResultOut]


class SplitOut(ResponseModel):
    """The test of whether users are split as asked."""

    is_wrong: bool
    evidence: float
    threshold: float
    words: str | None


class ExposedArmOut(ResponseModel):
    """The users of an arm in a step."""

    name: str
    share: float
    users: int
    new_users: int


class ExposedStepOut(ResponseModel):
    """The users of a step."""

    step: int
    began_at: Moment
    arms: list[ExposedArmOut]


class PointOut(ResponseModel):
    """A moment: the evidence of each metric, in their order, and the users exposed with each arm until then."""

    at: Moment
    evidence: list[float]
    users: list[int]


class ResultsOut(ResponseModel):
    """The results of a release."""

    release_id: Uuid
    users: int = Field(description="The users who were exposed, and those who were left out.")
    left_out_by_rules: int
    in_two_arms: int = Field(description="Users who were seen in two arms although no step moved them.")
    without_identifier: int = Field(description="Evaluations whose user is not known.")
    not_counted: int = Field(description="Users beyond the bound of five million.")
    split: SplitOut
    next_step_waits_for: Literal["users", "evidence", "split"] | None = Field(
        description="What delays the next step when its time has come: the previous step has not exposed "
        "enough new users, the evidence of a guard is above its warning line, or users are not "
        "split as requested."
    )
    steps: list[ExposedStepOut]
    metrics: list[MetricResultOut]
    chart: list[PointOut]


def _view_interval(interval: Interval | None) -> dict[str, float] | None:
    if interval is None:
        return None
    return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}


def _view_arm(arm: ArmResult) -> dict[str, Any]:
    return {
        "name": arm.name,
        "users": arm.users,
        "users_with_events": arm.users_with_events,
        "events": arm.events,
        "rate": arm.rate,
        "mean": arm.mean,
        "ratio": _view_interval(arm.ratio),
        "difference": _view_interval(arm.difference),
    }


def _view_metric(result: MetricResult) -> dict[str, Any]:
    metric, judgement = result.metric, result.judgement
    return {
        "metric": metric.key,
        "name": metric.name,
        "kind": metric.kind,
        "better": metric.better,
        "unit": metric.unit,
        "action": judgement.guard.action,
        "evidence": exp(min(judgement.log_evidence, _LOG_MAX)),
        "threshold": exp(judgement.log_threshold),
        "warning": judgement.is_warning,
        "acted_at": result.alarm and format_moment(result.alarm.at),
        "words": result.words,
        "arms": list(map(_view_arm, result.arms)),
        "steps": [{"step": each.step, "arms": list(map(_view_arm, each.arms))} for each in result.steps],
    }


def _view(results: Results) -> dict[str, Any]:
    counted, release = results.counted, results.release
    return {
        "release_id": release.id,
        "users": counted.users,
        "left_out_by_rules": counted.ruled,
        "in_two_arms": counted.aside,
        "without_identifier": counted.unnamed,
        "not_counted": counted.beyond,
        "split": {
            "is_wrong": results.is_split_wrong,
            "evidence": results.split_evidence,
            "threshold": 1 / split.ALPHA,
            "words": SPLIT_WRONG if results.is_split_wrong else None,
        },
        "next_step_waits_for": results.hold,
        "steps": [
            {
                "step": applied.step,
                "began_at": format_moment(applied.at),
                "arms": [
                    {"name": name, "share": share, "users": users, "new_users": new}
                    for name, share, users, new in zip(
                        applied.arms.names, applied.arms.shares, counted.exposed[at], counted.new[at], strict=True
                    )
                ],
            }
            for at, applied in enumerate(release.segments)
            if applied.arms
        ],
        "metrics": list(map(_view_metric, results.metrics)),
        "chart": [
            {
                "at": format_moment(moment(point.at * 1_000_000)),
                "evidence": [0.0 if each is None else exp(min(each, _LOG_MAX)) for each in point.evidence],
                "users": point.users,
            }
            for point in counted.points
        ],
    }


Service = Annotated[ReleaseResults, Depends(service(ReleaseResults))]


@router.get("/results", response_model=ResultsOut, responses=problems(401, 404, 503))
@reads(Permission.EVALUATIONS_READ, takes_long=True)
async def get_release_results(path: FlagIds, release_id: Id, actor: CurrentActor, results: Service) -> Response:
    """The results of a release up to now. You may look as often as you like: the false alarm rate still holds."""
    return json_response(_view(await results.get_results(actor, path, release_id)))


@router.get(
    "/users.csv",
    response_class=Response,
    responses={
        **problems(401, 404, 503),
        200: {"description": "CSV in UTF-8.", "content": {"text/csv": {"schema": {"type": "string"}}}},
    },
)
@reads(Permission.EVALUATIONS_READ)
async def export_release_users(path: FlagIds, release_id: Id, actor: CurrentActor, results: Service) -> Response:
    """The users of a release as CSV: when and how each was exposed, and what was counted of it for each metric.

    A text that a spreadsheet would interpret as a formula starts with an apostrophe.
    """
    release, users = await results.open_users(actor, path, release_id)
    return StreamingResponse(_written(release, users), media_type="text/csv", headers=_HEADERS)


async def _written(release: Release, pages: AsyncIterator[Sequence[ExposedUser]]) -> AsyncIterator[str]:
    columns = [f"{guard.metric}_{what}" for guard in release.guards for what in ("events", "total")]
    lines, turns = [csv_line(("user", "first_step", "step", "arm", "exposed_at", *columns))], Turns()
    async for page in pages:
        for each in page:
            lines.append(csv_line(_cells(release, each)))
            if turns.is_over():
                yield "".join(lines)
                lines.clear()
                await turns.give()
    yield "".join(lines)


def _cells(release: Release, user: ExposedUser) -> tuple[Any, ...]:
    segments = release.segments
    arms = segments[user.step].arms if user.step < len(segments) else None
    name = _LEFT_OUT.get(user.arm) or (arms.names[user.arm] if arms else "")
    done = [user.done.get(place) for place in range(len(release.guards))]
    counts = (value for each in done for value in ((each.events, each.total) if each else (0, 0)))
    first, last = (segments[place].step if place < len(segments) else "" for place in (user.first_step, user.step))
    return (_say_unit(user.unit), first, last, name, format_moment(moment(user.at)), *counts)


def _say_unit(unit: str) -> str:
    """A user's identifier, or with a stickiness the attribute's name and value."""
    return unit[1:].replace(MARK, "=", 1) if unit.startswith(MARK) else unit
