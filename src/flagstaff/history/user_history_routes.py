"""HTTP of one user's history: one evaluation, and the changes of answers."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import NOT_A_CURSOR, DatesZone, Moment, Since, Text, Until, Uuid
from flagstaff.evaluation.history.answer_changes import AnswerChange
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.layout import free_layouts
from flagstaff.evaluation.history.records import free_evaluations
from flagstaff.history.history_routes import (
    ENVIRONMENT,
    EvaluationEncoder,
    EvaluationOut,
    FlagOutcome,
    decision_view,
)
from flagstaff.history.user_history_service import ENDS_MAX, AnswerChangesPage, Reached, UserHistory
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.moments import format_moment

router = Router(prefix=ENVIRONMENT, tags=["Evaluation history"])

_cursor = re.compile(f"((?:[0-9a-f]{{32}}){{0,{ENDS_MAX}}})([0-9a-f]{{32}})")
_ID_BYTES = 16


def _read_cursor(given: str) -> Reached:
    found = _cursor.fullmatch(given)
    if found is None:
        raise ValueError(NOT_A_CURSOR)
    compared, before = map(bytes.fromhex, found.groups())
    return Reached([compared[at : at + _ID_BYTES] for at in range(0, len(compared), _ID_BYTES)], before)


Cursor = Annotated[Reached, BeforeValidator(_read_cursor), WithJsonSchema({"type": "string"})]


class AnswerChangesQuery(BaseModel):
    """The user whose changes are listed. A user id or an email is required."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[Text | None, Field(description="The user.")] = None
    user_email: Annotated[Text | None, Field(description="The user's email, ignoring case.")] = None
    tz: DatesZone = "UTC"
    since: Since = None
    until: Until = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Annotated[Cursor | None, Field(description="The `next_cursor` of the previous page.")] = None


class EvaluationPoint(ResponseModel):
    """An evaluation in which a flag had an answer."""

    evaluation_id: Uuid
    evaluated_at: Moment
    outcome: FlagOutcome


class AnswerChangeOut(ResponseModel):
    """A flag's answer for the user in one evaluation, and the other answer in the next one that decided the flag."""

    flag_key: str
    before: EvaluationPoint
    after: EvaluationPoint


class AnswerChangesPageOut(ResponseModel):
    """Some changes, newest first. A short or empty page is not necessarily the last."""

    items: list[AnswerChangeOut]
    since: Moment | None = Field(
        description="The time of the oldest evaluation that this page has compared; null if there is none."
    )
    next_cursor: str | None = Field(description="The cursor of the next page; null if there is none.")


Service = Annotated[UserHistory, Depends(service(UserHistory))]


@router.get(
    "/evaluations/changes",
    response_model=AnswerChangesPageOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ)
async def list_answer_changes(
    project_id: Id, env_id: Id, query: Annotated[AnswerChangesQuery, Query()], actor: CurrentActor, history: Service
) -> Response:
    """List the recorded evaluations at which a user's result changed: whether a flag was on, or its variant.

    Flags that were created or deleted between two evaluations are left out.
    """
    if not query.user_id and not query.user_email:
        raise invalid_field("user_id", "is required, unless user_email is given")
    wanted = EvaluationFilter(query.user_id, query.user_email, None, query.since, query.until)
    page = await history.list_answer_changes(actor, project_id, env_id, wanted, limit=query.limit, reached=query.cursor)
    return json_stream(_encode(page), partial(_free, page))


@router.get(
    "/evaluations/{evaluation_id}",
    response_model=EvaluationOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ)
async def get_evaluation(
    project_id: Id, env_id: Id, evaluation_id: Id, actor: CurrentActor, history: Service
) -> Response:
    """One evaluation as it was recorded, with the result and reason for each flag."""
    found = [await history.get_evaluation(actor, project_id, env_id, evaluation_id)]
    return json_stream(EvaluationEncoder()(found[0]), partial(free_evaluations, found))


def _encode(page: AnswerChangesPage) -> Iterator[bytes]:
    """The response's JSON."""
    before = b'{"items":['
    for change in page.items:
        yield before + encode_json(_view(change))
        before = b","
    reached = page.reached
    rest = {
        "since": page.since and format_moment(page.since),
        "next_cursor": reached and b"".join((*reached.compared, reached.before)).hex(),
    }
    yield (b"" if page.items else before) + b"]," + encode_json(rest)[1:]


def _free(page: AnswerChangesPage) -> None:
    page.items.clear()
    free_layouts(page.layouts)


def _view(change: AnswerChange) -> dict[str, Any]:
    points = ((change.earlier, change.before), (change.later, change.after))
    before, after = (
        {
            "evaluation_id": evaluation.id,
            "evaluated_at": format_moment(evaluation.evaluated_at),
            "outcome": decision_view(decision),
        }
        for evaluation, decision in points
    )
    return {"flag_key": change.after.flag.key, "before": before, "after": after}
