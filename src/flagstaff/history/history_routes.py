"""HTTP of the evaluation history."""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id, parse_id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import NOT_A_CURSOR, DatesZone, FlagKey, Moment, Since, Text, Until, Uuid
from flagstaff.evaluation.history.counts import OnCounts
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import Decision, FoundFlag
from flagstaff.evaluation.history.records import RecordedEvaluation, free_evaluations
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.flags.field_schemas import VariantKey
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.history.history_service import EvaluationsPage, History
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_page
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.moments import format_moment

ENVIRONMENT = "/api/projects/{project_id}/environments/{env_id}"
KEY_STANDS_FOR = "The key stands for the flag that has it; if there is none, for the deleted ones that had it."
RECORDED_RULES = "Records name the rules of flags that have variants, prerequisites, conditions or percentages."
_OF_SOME_FLAGS = "Only of a flag with variants, prerequisites, or conditions or percentages in its rules."

router = Router(prefix=ENVIRONMENT, tags=["Evaluation history"])

_evaluation_id = re.compile("[0-9a-f]{32}")


def _read_boolean(given: str) -> bool:
    if given not in ("true", "false"):
        raise ValueError("must be true or false")
    return given == "true"


def _read_cursor(given: str) -> bytes:
    if not _evaluation_id.fullmatch(given):
        raise ValueError(NOT_A_CURSOR)
    return bytes.fromhex(given)


def _read_id(given: str, of: str) -> UUID:
    found = parse_id(given)
    if found is None:
        raise ValueError(f"must be the id of a {of}, which is a UUID")
    return found


Boolean = Annotated[bool, BeforeValidator(_read_boolean), WithJsonSchema({"type": "boolean"})]
_UUID = WithJsonSchema({"type": "string", "format": "uuid"})
RuleId = Annotated[UUID, BeforeValidator(partial(_read_id, of="rule")), _UUID]
FlagIdInQuery = Annotated[UUID, BeforeValidator(partial(_read_id, of="flag")), _UUID]
Cursor = Annotated[bytes, BeforeValidator(_read_cursor), WithJsonSchema({"type": "string"})]


class FlagEvaluationsQuery(BaseModel):
    """The filter of a flag's evaluations."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[Text | None, Field(description="Only for this user.")] = None
    user_email: Annotated[Text | None, Field(description="Only for this user, ignoring case.")] = None
    enabled: Annotated[Boolean | None, Field(description="Only with the flag on or off.")] = None
    variant: Annotated[VariantKey | None, Field(description="Only with this variant of the flag.")] = None
    rule_id: Annotated[RuleId | None, Field(description="Only where this rule matched. " + RECORDED_RULES)] = None
    tz: DatesZone = "UTC"
    since: Since = None
    until: Until = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Annotated[Cursor | None, Field(description="The `next_cursor` of the previous page.")] = None

    def filter(self, *, flag_id: UUID | None = None, key: str | None = None) -> EvaluationFilter:
        """The filter for the service, of the flag with an id or a key, if one is given."""
        flag = FlagFilter(flag_id, key, self.enabled, self.rule_id, self.variant)
        any_flag = flag == FlagFilter()
        return EvaluationFilter(self.user_id, self.user_email, None if any_flag else flag, self.since, self.until)


class EvaluationsQuery(FlagEvaluationsQuery):
    """The filter of evaluations."""

    flag_key: Annotated[FlagKey | None, Field(description=f"Only of this flag. {KEY_STANDS_FOR}")] = None
    flag_id: Annotated[
        FlagIdInQuery | None, Field(description="Only of the flag with `flag_key` that has this id, even if deleted.")
    ] = None
    enabled: Annotated[Boolean | None, Field(description="Only with this flag on or off; needs `flag_key`.")] = None
    variant: Annotated[
        VariantKey | None, Field(description="Only with this variant of the flag; needs `flag_key`.")
    ] = None
    answers: Annotated[
        Boolean,
        Field(
            description="Whether to list the results of all flags. If false, `flags` has at most that of `flag_key`, "
            "and `on` and `off` count them all."
        ),
    ] = True


class FlagOutcome(ResponseModel):
    """The result of a flag."""

    enabled: bool
    reason: str
    rule_id: Uuid | None = Field(default=None, description="The rule that matched. " + _OF_SOME_FLAGS)
    bucket: int | None = Field(default=None, description="The user's bucket, 0 to 99. " + _OF_SOME_FLAGS)
    variant: str | None = Field(default=None, description="The key of the user's variant. " + _OF_SOME_FLAGS)


class EvaluateCall(ResponseModel):
    """One evaluate call."""

    id: Uuid
    evaluated_at: Moment
    user_id: str | None
    user_email: str | None
    attributes: dict[str, Any] | None = Field(
        default=None,
        description="The custom attributes that were kept. Only if a rule, segment or stickiness used any.",
        examples=[{"plan": "gold", "seats": 12}],
    )


class EvaluationOut(EvaluateCall):
    """One evaluate call with the result of each flag, by key."""

    flags: dict[str, FlagOutcome]
    on: int | None = Field(default=None, description="How many flags were on. Only with `answers=false`.")
    off: int | None = Field(default=None, description="How many flags were off. Only with `answers=false`.")


class FlagEvaluationOut(EvaluateCall, FlagOutcome):
    """One evaluate call with the result of the flag."""


class EvaluationsPageOut(ResponseModel):
    """Some evaluations, newest first. A short or empty page is not necessarily the last."""

    items: list[EvaluationOut]
    next_cursor: str | None = Field(description="The cursor of the next page; null if there is none.")


class FlagEvaluationsPageOut(ResponseModel):
    """Some evaluations of a flag, newest first. A short or empty page is not necessarily the last."""

    items: list[FlagEvaluationOut]
    next_cursor: str | None = Field(description="The cursor of the next page; null if there is none.")


Service = Annotated[History, Depends(service(History))]


@router.get(
    "/evaluations",
    response_model=EvaluationsPageOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ)
async def list_evaluations(
    project_id: Id, env_id: Id, query: Annotated[EvaluationsQuery, Query()], actor: CurrentActor, history: Service
) -> Response:
    """The evaluations of an environment, newest first, with the result and reason for each flag."""
    for name in ("enabled", "variant", "flag_id"):
        if getattr(query, name) is not None and query.flag_key is None:
            raise invalid_field(name, "requires flag_key, which names the flag")
    wanted = query.filter(flag_id=query.flag_id, key=query.flag_key)
    page = await history.list_environment_evaluations(
        actor, project_id, env_id, wanted, limit=query.limit, before=query.cursor
    )
    return _page_response(page, EvaluationEncoder() if query.answers else _CountsEncoder(query.flag_key))


@router.get(
    "/flags/{flag_id}/evaluations",
    response_model=FlagEvaluationsPageOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ)
async def list_flag_evaluations(
    path: FlagIds, query: Annotated[FlagEvaluationsQuery, Query()], actor: CurrentActor, history: Service
) -> Response:
    """The evaluations of a flag, newest first, with the result and reason."""
    wanted = query.filter(flag_id=path.flag_id)
    page = await history.list_flag_evaluations(actor, path, wanted, limit=query.limit, before=query.cursor)
    return _page_response(page, _FlagEncoder(path.flag_id))


def _page_response(page: EvaluationsPage, encode: Callable[[RecordedEvaluation], Iterable[bytes]]) -> Response:
    # A hundred evaluations of thousands of flags are many megabytes.
    cursor = page.next_before.hex() if page.next_before else None
    return json_page(map(encode, page.items), cursor, partial(free_evaluations, page.items))


class EvaluationEncoder:
    """Encodes the evaluations of one page. Most share their flags and outcomes, each of which is encoded once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, Outcome], bytes] = {}

    def __call__(self, evaluation: RecordedEvaluation) -> Iterator[bytes]:
        yield encode_json(call_view(evaluation))[:-1] + b',"flags":{'
        before = b""
        for decision in evaluation.each_decision():
            yield before + self._encode(decision)
            before = b","
        yield b"}}"

    def _encode(self, decision: Decision) -> bytes:
        place = id(decision.flag), decision.outcome
        known = self._known.get(place)
        if known is None:
            known = encode_json(decision.flag.key) + b":" + encode_json(decision_view(decision))
            if not decision.flag.says_more:
                self._known[place] = known
        return known


class _CountsEncoder:
    """Encodes the evaluations of one page with the numbers of flags, and the result of only the one with the key."""

    def __init__(self, flag_key: str | None) -> None:
        self._flag_key = flag_key
        self._counts = OnCounts()

    def __call__(self, evaluation: RecordedEvaluation) -> Iterator[bytes]:
        on, off = self._counts.count(evaluation)
        flags = {}
        found = evaluation.layout.find_flag(self._flag_key) if self._flag_key else None
        if found is not None:
            decision = evaluation.decision_about(found)
            flags[decision.flag.key] = decision_view(decision)
        yield encode_json({**call_view(evaluation), "flags": flags, "on": on, "off": off})


class _FlagEncoder:
    """Encodes the evaluations of one page with the result of one flag, which is looked for once in each layout."""

    def __init__(self, flag_id: UUID) -> None:
        self._flag_id = flag_id
        self._found: dict[int, FoundFlag] = {}

    def __call__(self, evaluation: RecordedEvaluation) -> Iterable[bytes]:
        found = self._found.get(id(evaluation.layout)) or evaluation.layout.find_flag_by_id(self._flag_id)
        assert found is not None, "the page has the evaluations of another flag"
        self._found[id(evaluation.layout)] = found
        return [encode_json({**call_view(evaluation), **decision_view(evaluation.decision_about(found))})]


def call_view(evaluation: RecordedEvaluation) -> dict[str, Any]:
    """Return an evaluate call as the API shows it, without its flags."""
    view: dict[str, Any] = {
        "id": evaluation.id,
        "evaluated_at": format_moment(evaluation.evaluated_at),
        "user_id": evaluation.user_id,
        "user_email": evaluation.user_email,
    }
    return view if evaluation.attributes is None else {**view, "attributes": evaluation.attributes}


def decision_view(decision: Decision) -> dict[str, Any]:
    """Return a flag's decision in an evaluate call as the API shows it."""
    view: dict[str, Any] = {"enabled": decision.outcome.enabled, "reason": decision.reason}
    if decision.flag.says_more:
        view |= {"rule_id": decision.rule_id, "bucket": decision.bucket, "variant": decision.variant}
    return view
