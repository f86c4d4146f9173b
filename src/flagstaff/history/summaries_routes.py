"""HTTP of the summary of the evaluation history."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import FlagKey, Moment, Since, Until
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.history.history_routes import ENVIRONMENT, Boolean, Service
from flagstaff.history.history_service import FlagInterval, Summary
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.projects.permissions import Permission
from flagstaff.values.moments import format_moment

_INTERVAL = "must be a number of minutes, hours or days, such as 5m, 1h or 1d"

router = Router(prefix=ENVIRONMENT, tags=["Evaluation history"])

_interval = re.compile(r"([1-9][0-9]{0,4})([mhd])")
_units = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1)}


def _check_interval(given: str) -> str:
    if not _interval.fullmatch(given):
        raise ValueError(_INTERVAL)
    return given


Interval = Annotated[
    str, AfterValidator(_check_interval), Field(json_schema_extra={"pattern": f"^{_interval.pattern}$"})
]


class SummaryQuery(BaseModel):
    """The span to summarise: by default the last 24 hours."""

    model_config = ConfigDict(extra="forbid")

    since: Since = None
    until: Until = None
    interval: Annotated[Interval, Field(description="Minutes, hours or days: `5m`, `1h`, `1d`.")] = "1h"
    flag_key: Annotated[FlagKey | None, Field(description="Only this flag.")] = None
    total: Annotated[Boolean, Field(description="Whether to add up all flags, in `total`. Then `flags` is empty.")] = (
        False
    )
    users: Annotated[
        Boolean, Field(description="Whether to count users: with `flag_key` and an interval of whole days.")
    ] = True


class DistinctUsersOut(ResponseModel):
    """The number of users with the flag on, and with it off. A user can be among both."""

    on: int
    off: int
    error: float = Field(description="The relative standard error of both numbers; 0 if they are exact.")


_DistinctUsers = Annotated[
    DistinctUsersOut | None,
    Field(description="Only with `flag_key` and an interval of whole days; null if the number is not known yet."),
]


class FlagIntervalOut(ResponseModel):
    """The number of times that a flag was on and off in an interval, and of each reason."""

    start: Moment
    on: int
    off: int
    reasons: dict[str, int] = Field(examples=[{"User in 20% rollout": 40, "User not in 20% rollout": 160}])
    off_reasons: list[str] = Field(
        description="Which of the `reasons` mean that the flag was off.", examples=[["User not in 20% rollout"]]
    )
    variants: dict[str, int] | None = Field(default=None, description="How often each variant was given, if any was.")
    distinct_users: _DistinctUsers = None


class TotalIntervalOut(ResponseModel):
    """The number of times that flags were on and off in an interval."""

    start: Moment
    on: int
    off: int


class SummarisedTime(ResponseModel):
    """The time of a summary, and how it is divided."""

    since: Moment = Field(description="Rounded down to a whole interval.")
    until: Moment = Field(description="Rounded up to a whole interval.")
    interval: str


class SummaryOut(SummarisedTime):
    """The intervals by flag key, oldest first. Intervals without an evaluation of the flag are left out."""

    distinct_users: _DistinctUsers = None
    flags: dict[str, list[FlagIntervalOut]]
    total: list[TotalIntervalOut] | None = Field(
        default=None, description="All flags together, oldest first. Only with `total=true`."
    )


@router.get(
    "/evaluations/summary",
    response_model=SummaryOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ)
async def summarise_evaluations(
    project_id: Id, env_id: Id, query: Annotated[SummaryQuery, Query()], actor: CurrentActor, history: Service
) -> Response:
    """Count how often each flag was on and off, by interval and reason.

    With `flag_key` and an interval of whole days, also count the users, in each interval and in all of them.
    """
    summary = await history.summarise_environment(
        actor,
        project_id,
        env_id,
        since=query.since,
        until=query.until,
        interval=duration(query.interval),
        flag_key=query.flag_key,
        counts_users=query.users,
    )
    head = _head_view(summary, query.interval)
    return json_stream(_total_view(summary, head) if query.total else _flags_view(summary, head))


def _head_view(summary: Summary, interval: str) -> bytes:
    """The beginning of the answer's JSON."""
    head: dict[str, Any] = {
        "since": format_moment(summary.since),
        "until": format_moment(summary.until),
        "interval": interval,
    }
    if summary.users:
        head["distinct_users"] = _users_view(summary.users.of_all())
    return encode_json(head)[:-1]


def _flags_view(summary: Summary, head: bytes) -> Iterator[bytes]:
    """The answer's JSON in small pieces."""
    yield head + b',"flags":{'
    before_flag = b""
    for key, intervals in summary.take_flags():
        yield before_flag + encode_json(key) + b":["
        before_interval = b""
        for each in intervals:
            yield before_interval + encode_json(_interval_view(each, counts_users=summary.users is not None))
            before_interval = b","
        yield b"]"
        before_flag = b","
    yield b"}}"


def _total_view(summary: Summary, head: bytes) -> Iterator[bytes]:
    """The answer's JSON with all flags together, in small pieces, many of them empty."""
    on, off = Counter[datetime](), Counter[datetime]()
    for _, intervals in summary.take_flags():
        for each in intervals:
            on[each.start] += each.on
            off[each.start] += each.off
            yield b""
    yield head + b',"flags":{},"total":['
    before = b""
    for start in sorted(on):
        yield before + encode_json({"start": format_moment(start), "on": on[start], "off": off[start]})
        before = b","
    yield b"]}"


def _interval_view(interval: FlagInterval, *, counts_users: bool) -> dict[str, Any]:
    view: dict[str, Any] = {
        "start": format_moment(interval.start),
        "on": interval.on,
        "off": interval.off,
        "reasons": interval.reasons,
        "off_reasons": interval.off_reasons,
    }
    if interval.variants:
        view["variants"] = interval.variants
    if counts_users:
        view["distinct_users"] = _users_view(interval.users)
    return view


def _users_view(users: DistinctUsers | None) -> dict[str, Any] | None:
    return users and users._asdict()


def duration(interval: str) -> timedelta:
    """The length of an interval as it is given."""
    number, unit = interval[:-1], interval[-1]
    return int(number) * _units[unit]
