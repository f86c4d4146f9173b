"""HTTP of the summary of the evaluation history."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import FlagKey, Moment, Since, TimeZone, Until, Uuid
from flagstaff.evaluation.history.users import DistinctUsers
from flagstaff.history.history_routes import ENVIRONMENT, RECORDED_RULES, Boolean, FlagIdInQuery, Service
from flagstaff.history.history_service import FlagInterval, Predecessor, Summary, SummaryFilter
from flagstaff.history.store.distinct_users.user_rows import REASON, RULE, VARIANT
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.permissions.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.intervals import INTERVAL_PATTERN, check_interval
from flagstaff.values.moments import format_moment
from flagstaff.values.views import view_of
from flagstaff.values.zones import parse_zone

_OF_ENVIRONMENT = (
    "Only with `total=true`, without `flag_key`, and with an interval of whole days; null as for `distinct_users`."
)

router = Router(prefix=ENVIRONMENT, tags=["Evaluation history"])

Interval = Annotated[str, AfterValidator(check_interval), Field(json_schema_extra={"pattern": f"^{INTERVAL_PATTERN}$"})]


class SummaryQuery(BaseModel):
    """The span to summarise: by default the last 24 hours."""

    model_config = ConfigDict(extra="forbid")

    tz: Annotated[
        TimeZone,
        Field(description="The time zone of days, weeks, months and dates alone, by its IANA name: `Europe/Berlin`."),
    ] = "UTC"
    since: Since = None
    until: Until = None
    interval: Annotated[
        Interval,
        Field(
            description="Minutes, hours or days: `5m`, `1h`, `1d`; or `week`, from Monday, or `month`, of the calendar."
        ),
    ] = "1h"
    flag_key: Annotated[
        FlagKey | None,
        Field(
            description="Only this flag: the one that has the key, or else the one that had it last. `predecessors` "
            "names those that had it before."
        ),
    ] = None
    flag_id: Annotated[
        FlagIdInQuery | None, Field(description="The flag with `flag_key` that has this id, even if deleted.")
    ] = None
    total: Annotated[Boolean, Field(description="Whether to add up all flags, in `total`. Then `flags` is empty.")] = (
        False
    )
    users: Annotated[
        Boolean,
        Field(
            description="Whether to count users: with an interval of whole days, those of `flag_key`, or with `total` "
            "those of the environment."
        ),
    ] = True


class DistinctUsersOut(ResponseModel):
    """The number of users with the flag on, and with it off. A user can be among both."""

    on: int
    off: int
    error: float = Field(description="The relative standard error of the numbers; 0 if they are exact.")
    variants: dict[str, int] | None = Field(default=None, description="The users of each variant, if any got one.")
    rules: dict[str, int] | None = Field(
        default=None, description="The users for whom each rule matched, by its id. " + RECORDED_RULES
    )
    reasons: dict[str, int] | None = Field(
        default=None, description="The users for whom a rule matched whose id is not recorded, by the reason."
    )


class UsersOut(ResponseModel):
    """The number of different users for whom flags of an environment were evaluated."""

    users: int
    error: float = Field(description="The relative standard error of the number; 0 if it is exact.")


_DistinctUsers = Annotated[
    DistinctUsersOut | None,
    Field(
        description="Only with `flag_key` and an interval of whole days; null if the number is not known yet, and for "
        "days that do not begin at midnight UTC, by which users are counted."
    ),
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
    users: UsersOut | None = Field(default=None, description=_OF_ENVIRONMENT)


class PredecessorOut(ResponseModel, of=Predecessor):
    """A deleted flag that had the key of another before it, and how often it was on and off in all intervals."""

    flag_id: Uuid | None = Field(description="null if it is not known.")
    last: Moment = Field(description="The start of the last interval in which it was evaluated.")


class SummarisedTime(ResponseModel):
    """The time of a summary, and how it is divided."""

    since: Moment = Field(description="Rounded down to a whole interval in the time zone.")
    until: Moment = Field(description="Rounded up to a whole interval in the time zone.")
    interval: str
    tz: str = Field(description="The time zone in which days begin.", examples=["Europe/Berlin"])


class SummaryOut(SummarisedTime):
    """The intervals by flag key, oldest first. Intervals without an evaluation of the flag are left out."""

    distinct_users: _DistinctUsers = None
    users: UsersOut | None = Field(default=None, description=_OF_ENVIRONMENT)
    flags: dict[str, list[FlagIntervalOut]]
    predecessors: list[PredecessorOut] = Field(
        description="The deleted flags under the same keys, which are not counted in `flags`. Empty with `total=true`."
    )
    total: list[TotalIntervalOut] | None = Field(
        default=None, description="All flags together, also deleted ones, oldest first. Only with `total=true`."
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

    With `flag_key` and an interval of whole days, also count the users, in each interval and in all of them. A flag is
    its id: one that was created under the key of a deleted one begins at 0.
    """
    if query.flag_id is not None and query.flag_key is None:
        raise invalid_field("flag_id", "requires flag_key, which names the flag")
    summary = await history.summarise_environment(
        actor,
        project_id,
        env_id,
        since=query.since,
        until=query.until,
        interval=query.interval,
        zone=parse_zone(query.tz),
        wanted=SummaryFilter(query.flag_key, query.flag_id, query.users, query.total),
    )
    head = _head_view(summary, query)
    if not query.total:
        return json_stream(_flags_view(summary, head))
    return json_stream(_total_view(summary, head, is_of_environment=summary.has_users and query.flag_key is None))


def _head_view(summary: Summary, query: SummaryQuery) -> bytes:
    """The beginning of the answer's JSON."""
    head: dict[str, Any] = {
        "since": format_moment(summary.since),
        "until": format_moment(summary.until),
        "interval": query.interval,
        "tz": query.tz,
    }
    if summary.has_users:
        users, names = (summary.users.of_all(), summary.users.names_of_all()) if summary.users else (None, {})
        if query.flag_key is None:
            head["users"] = _environment_users_view(users)
        else:
            head["distinct_users"] = _users_view(users, names)
    return encode_json(head)[:-1]


def _flags_view(summary: Summary, head: bytes) -> Iterator[bytes]:
    """The answer's JSON in small pieces."""
    yield head + b',"flags":{'
    before_flag = b""
    for key, intervals in summary.take_flags():
        yield before_flag + encode_json(key) + b":["
        before_interval = b""
        for each in intervals:
            yield before_interval + encode_json(_interval_view(each, counts_users=summary.has_users))
            before_interval = b","
        yield b"]"
        before_flag = b","
    yield b'},"predecessors":['
    before_flag = b""
    for predecessor in summary.predecessors:
        yield before_flag + encode_json(_predecessor_view(predecessor))
        before_flag = b","
    yield b"]}"


_predecessor_view = view_of(Predecessor)


def _total_view(summary: Summary, head: bytes, *, is_of_environment: bool) -> Iterator[bytes]:
    """The answer's JSON with all flags together, in small pieces, many of them empty."""
    on, off = Counter[datetime](), Counter[datetime]()
    users: dict[datetime, Any] = {}
    for each in summary.take_all():
        on[each.start] += each.on
        off[each.start] += each.off
        if is_of_environment:
            users[each.start] = {"users": _environment_users_view(each.users)}
        yield b""
    yield head + b',"flags":{},"predecessors":[],"total":['
    before = b""
    for start in sorted(on):
        view = {"start": format_moment(start), "on": on[start], "off": off[start], **users.get(start, {})}
        yield before + encode_json(view)
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
        view["distinct_users"] = _users_view(interval.users, interval.named_users)
    return view


def _users_view(users: DistinctUsers | None, names: Mapping[str, int]) -> dict[str, Any] | None:
    if users is None:
        return None
    view: dict[str, Any] = users._asdict()
    for name, prefix in (("variants", VARIANT), ("rules", RULE), ("reasons", REASON)):
        of_kind = {each.removeprefix(prefix): count for each, count in names.items() if each.startswith(prefix)}
        if of_kind:
            view[name] = of_kind
    return view


def _environment_users_view(users: DistinctUsers | None) -> dict[str, Any] | None:
    return users and {"users": users.on, "error": users.error}
