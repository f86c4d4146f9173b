"""HTTP of a user's present answers: explanations in short, in pages."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import Request
from pydantic import AfterValidator, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import asks
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, FlagKey, Moment, Text, Uuid
from flagstaff.evaluation.explanations.traces import FlagTrace
from flagstaff.http.operations import CONTEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.insight.explanation_schemas import DecidedBy
from flagstaff.insight.explanations_routes import Service, read_user, view_result
from flagstaff.insight.explanations_service import Answers
from flagstaff.permissions.permissions import Permission
from flagstaff.serving.context import CONTEXT_SCHEMA
from flagstaff.values.keys import KEY_MAX_LENGTH
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Explanations"])


def _check_search(given: str) -> str:
    if len(given) > KEY_MAX_LENGTH:
        raise ValueError(f"must be at most {KEY_MAX_LENGTH} characters long")
    return given


Search = Annotated[Text, AfterValidator(_check_search), Field(json_schema_extra={"maxLength": KEY_MAX_LENGTH})]


class AskAnswers(Body):
    """The user, and the flags to answer for."""

    context: Annotated[Any, WithJsonSchema(CONTEXT_SCHEMA), Field(description="As in an evaluation.")] = None
    search: Annotated[Search | None, Field(description="Only flags whose keys contain this, ignoring case.")] = None
    after: Annotated[FlagKey | None, Field(description="The `next_after` of the previous page.")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class AnswerOut(ResponseModel):
    """The result that an evaluation would have, and what decides it."""

    flag_key: str
    flag_id: Uuid
    enabled: bool
    reason: str
    variant: str | None = Field(description="Null if the flag has no variants, or is off.")
    decided_by: DecidedBy


class AnswersOut(ResponseModel):
    """The answers for a user, in the order of the flags' keys."""

    environment_key: str
    evaluated_at: Moment
    items: list[AnswerOut]
    next_after: str | None = Field(description="The value of `after` for the next page; null if there is none.")


@router.post(
    "/answers",
    response_model=AnswersOut,
    responses=problems(400, 401, 404, 413, 503),
)
@asks(Permission.FLAGS_READ, body_max_bytes=CONTEXT_BODY)
async def list_answers(
    project_id: Id, env_id: Id, body: AskAnswers, request: Request, actor: CurrentActor, explanations: Service
) -> Response:
    """List a user's current results, and their reasons, in pages. This is not an evaluation, and it is not recorded."""
    answers = await explanations.list_answers(
        actor,
        project_id,
        env_id,
        await read_user(request),
        search=body.search or "",
        after=body.after or "",
        limit=body.limit,
    )
    return json_stream(_encode(answers))


def _encode(answers: Answers) -> Iterator[bytes]:
    """The response's JSON in pieces."""
    explained = answers.explained
    head = {"environment_key": explained.environment_key, "evaluated_at": format_moment(explained.evaluated_at)}
    yield encode_json(head)[:-1] + b',"items":['
    before = b""
    for trace in explained.traces:
        if isinstance(trace, FlagTrace):
            view = {
                "flag_key": trace.flag.key,
                "flag_id": trace.flag.id,
                **view_result(trace),
                "variant": trace.decision.variant,
            }
            yield before + encode_json(view)
            before = b","
    yield b"]," + encode_json({"next_after": answers.next_after})[1:]
