"""HTTP of the results of releases, and of the users behind them as CSV."""

from collections.abc import AsyncIterator, Iterable, Iterator
from math import exp
from typing import Annotated, Any, Literal

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.csv import csv_line
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Uuid
from flagstaff.concurrency.lots import Lot
from flagstaff.database.tables import moment
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.http.exports import ExportResponse, Exports
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.http.services import service
from flagstaff.metrics.events import MARK
from flagstaff.permissions.permissions import Permission
from flagstaff.releases.arm_results import ArmResult, Interval
from flagstaff.releases.observations import ASIDE, OUTSIDE, RULED
from flagstaff.releases.plans import Counts
from flagstaff.releases.releases import Release
from flagstaff.releases.releases_schemas import ActionName
from flagstaff.releases.results import MetricResult, Results
from flagstaff.releases.results_service import ExposedUser, ReleaseResults
from flagstaff.releases.statistics import split
from flagstaff.releases.wording import say_split
from flagstaff.values.moments import format_moment
from flagstaff.values.views import view_of

router = Router(
    prefix="/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}/releases/{release_id}", tags=["Releases"]
)

_HEADERS = {"content-disposition": 'attachment; filename="users.csv"'}
_LOG_MAX = 690.0
_USERS_AT_ONCE = 2_000
_LEFT_OUT = {RULED: "rule", ASIDE: "two arms", OUTSIDE: "bucket"}


class IntervalOut(ResponseModel, of=Interval):
    """An estimate with the ends of its interval, which holds at all looks together."""


class ArmResultOut(ResponseModel, of=ArmResult):
    """The users of an arm."""

    rate: float | None = Field(
        description="The share of the users with an event, of a binary metric, among those without an event in an "
        "earlier step. Of several steps, it is standardised: each step's rate, weighted alike in all arms."
    )
    mean: float | None = Field(
        description="The mean per user, of a count or a value. Of several steps, standardised as the rate."
    )
    cut_mean: float | None = Field(
        description="The mean of the numbers as they are cut off, which decides; null if none is cut off."
    )
    ratio: IntervalOut | None = Field(description="The rate divided by the control's, with all steps together.")
    difference: IntervalOut | None = Field(description="The mean minus the control's, with all steps together.")


class StepResultOut(ResponseModel):
    """The arms in a step. A step occurs again after a pause by a conflict, and when a rule changes who is compared."""

    step: int
    arms: list[ArmResultOut]


class VerdictOut(ResponseModel):
    """How an arm stands compared with the control."""

    arm: str
    standing: Literal["better", "worse", "undecided", "undecidable"] = Field(
        description="Whether the interval is on the wanted side of the control, or on the other. `undecidable` if the "
        "step in force has nothing that can be compared, or the users are not split as asked."
    )
    words: str = Field(description="One sentence, with the interval.")


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
    waits: str | None = Field(
        description="What the guard waits for before it can find anything, such as more users; null if it can."
    )
    verdicts: list[VerdictOut] = Field(description="On each arm but the control, in their order.")
    arms: list[ArmResultOut]
    steps: list[StepResultOut]


class SplitOut(ResponseModel):
    """The test of whether users are split as asked."""

    is_wrong: bool
    evidence: float
    threshold: float
    words: str | None


class BrowserKeysOut(ResponseModel):
    """The data sent with public SDK keys, of the kind `browser`, which anybody can read and use."""

    evaluations: int = Field(description="Evaluations of the flag that say something about the release.")
    events: int = Field(description="Events of its metrics, of all users.")
    count: bool = Field(
        description="Whether they count. If not, because `counts` of the release is `server_keys`, the numbers contain "
        "what was sent with keys whose kind is not known."
    )


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
    """A moment: the evidence of each metric, and the users exposed until then with each of the `arms`."""

    at: Moment
    evidence: list[float]
    users: list[int]


class ResultsOut(ResponseModel):
    """The results of a release."""

    release_id: Uuid
    users: int = Field(description="The users who were exposed, and those who were left out.")
    left_out_by_rules: int
    left_out_by_buckets: int = Field(
        description="Users who cannot be compared, because a rule with a percentage, or a prerequisite with the same "
        "bucketing key, depends on the same bucket as the rollout."
    )
    in_two_arms: int = Field(description="Users who were seen in two arms although no step moved them.")
    without_identifier: int = Field(description="Evaluations whose user is not known.")
    not_counted: int = Field(
        description="Evaluations of users beyond the bound of five million, which counts a user once in each step."
    )
    untimely_events: int = Field(
        description="Events that were not counted because of their time: more than 60 seconds before their user's "
        "exposure, or in a step in which the user was not exposed."
    )
    browser_keys: BrowserKeysOut
    failing_since: Moment | None = Field(
        description="The time since which users and events cannot be counted, or a guard cannot be judged, which the "
        "server's log explains. No further step begins; null if all works."
    )
    split: SplitOut
    next_step_waits_for: (
        Literal["users", "evidence", "split", "counting", "threshold", "unreadable_threshold"] | None
    ) = Field(
        description="What delays the next step when its time has come: the previous step has not exposed "
        "enough users, the evidence of a guard is above its warning line, users are not split as "
        "requested, not everything is counted yet, or can be, or a request metric is beyond its threshold, "
        "or cannot be read."
    )
    steps: list[ExposedStepOut]
    metrics: list[MetricResultOut]
    arms: list[str] = Field(description="The arms of all steps: those of the rollout, and then the variants.")
    chart: list[PointOut]


_view_interval = view_of(Interval)
_view_arm = view_of(ArmResult, ratio=_view_interval, difference=_view_interval)


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
        "waits": result.waits,
        "verdicts": [{"arm": each.arm, "standing": each.standing, "words": each.words} for each in result.verdicts],
        "arms": list(map(_view_arm, result.arms)),
    }


def _encode(results: Results) -> Iterator[bytes]:
    """The JSON in pieces: with all steps and arms, it has megabytes."""
    yield encode_json(_view(results))[:-1] + b',"metrics":['
    for place, metric in enumerate(results.metrics):
        yield b"," if place else b""
        yield encode_json(_view_metric(metric))[:-1] + b',"steps":['
        for number, step in enumerate(metric.steps):
            yield b"," if number else b""
            yield encode_json({"step": step.step, "arms": list(map(_view_arm, step.arms))})
        yield b"]}"
    yield b"]}"


def _view(results: Results) -> dict[str, Any]:
    """View the results without the metrics."""
    counted, release = results.counted, results.release
    arms = [*counted.users_by_arm(release.segments)]
    order = sorted(range(len(arms)), key=lambda arm: arms[arm].is_variant)  # the rollout's first
    return {
        "release_id": release.id,
        "users": counted.users,
        "left_out_by_rules": counted.ruled,
        "left_out_by_buckets": counted.outside,
        "in_two_arms": counted.aside,
        "without_identifier": counted.unnamed,
        "not_counted": counted.beyond,
        "untimely_events": counted.untimely,
        "browser_keys": {
            "evaluations": counted.public_evaluations,
            "events": counted.public_events,
            "count": release.counts is Counts.ALL,
        },
        "failing_since": format_moment(moment(counted.failing_since * 1_000_000)) if counted.failing_since else None,
        "split": {
            "is_wrong": results.is_split_wrong,
            "evidence": results.split_evidence,
            "threshold": 1 / split.ALPHA,
            "words": say_split(release) if results.is_split_wrong else None,
        },
        "next_step_waits_for": results.hold,
        "steps": [
            {
                "step": each.step,
                "began_at": format_moment(moment(counted.stretches[each.place].began)),
                "arms": [
                    {"name": name, "share": share, "users": users, "new_users": new}
                    for name, share, users, new in zip(
                        each.arms.names,
                        each.arms.shares,
                        counted.exposed[each.place],
                        counted.new[each.place],
                        strict=True,
                    )
                ],
            }
            for each in counted.compared(release.segments)
        ],
        "arms": [arms[arm].name for arm in order],
        "chart": [
            {
                "at": format_moment(moment(point.at * 1_000_000)),
                "evidence": [0.0 if each is None else exp(min(each, _LOG_MAX)) for each in point.evidence],
                "users": [point.users[arm] if arm < len(point.users) else 0 for arm in order],
            }
            for point in counted.points
        ],
    }


class UsersQuery(BaseModel):
    """The form of the file."""

    model_config = ConfigDict(extra="forbid")

    form: Annotated[
        Literal["raw", "spreadsheet"],
        Field(
            description="`raw` has all texts as they are. In `spreadsheet`, one that would be a formula starts with an "
            "apostrophe."
        ),
    ] = "raw"


Service = Annotated[ReleaseResults, Depends(service(ReleaseResults))]
Running = Annotated[Exports, Depends(service(Exports))]


@router.get("/results", response_model=ResultsOut, responses=problems(401, 404, 503))
@reads(Permission.EVALUATIONS_READ, takes_long=True)
async def get_release_results(path: FlagIds, release_id: Id, actor: CurrentActor, results: Service) -> Response:
    """The results of a release up to now. You may look as often as you like: the false alarm rate still holds."""
    return json_stream(_encode(await results.get_results(actor, path, release_id)))


@router.get(
    "/users.csv",
    response_class=Response,
    responses={
        **problems(401, 404, 503),
        200: {"description": "CSV in UTF-8.", "content": {"text/csv": {"schema": {"type": "string"}}}},
    },
)
@reads(Permission.EVALUATIONS_READ)
async def export_release_users(
    path: FlagIds,
    release_id: Id,
    query: Annotated[UsersQuery, Query()],
    actor: CurrentActor,
    results: Service,
    exports: Running,
) -> Response:
    """The users of a release as CSV: when and how each was exposed in each step, and what was counted there.

    Numbers have decimal digits only.
    """
    release, users = await results.open_users(actor, path, release_id)
    is_raw, lot = query.form == "raw", Lot(_USERS_AT_ONCE)
    columns = [f"{guard.metric}_{what}" for guard in release.guards for what in ("events", "total")]

    async def batches() -> AsyncIterator[Iterable[bytes]]:
        head = csv_line(("user", "first_step", "step", "arm", "exposed_at", *columns), is_raw=is_raw)
        yield (head.encode(),)
        while (page := await users.read(lot.rows)) is not None:
            yield (csv_line(_cells(release, each), is_raw=is_raw).encode() for each in page)

    made = exports.made(batches(), lot)
    return ExportResponse(exports, actor.account_id, made, media_type="text/csv", headers=_HEADERS)


def _cells(release: Release, user: ExposedUser) -> tuple[Any, ...]:
    segments = release.segments
    first, segment = user.first_segment, user.segment
    arms = segments[segment].arms if segment < len(segments) else None
    name = _LEFT_OUT.get(user.arm) or (arms.names[user.arm] if arms else "")
    done = [user.done.get(place) for place in range(len(release.guards))]
    counts = (value for each in done for value in ((each.events, each.total) if each else (0, 0)))
    steps = (segments[place].step if place < len(segments) else "" for place in (first, segment))
    return (_say_unit(user.unit), *steps, name, format_moment(moment(user.at)), *counts)


def _say_unit(unit: str) -> str:
    """A user's identifier, or with a stickiness the attribute's name and value."""
    return unit[1:].replace(MARK, "=", 1) if unit.startswith(MARK) else unit
