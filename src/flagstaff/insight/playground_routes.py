"""HTTP of the playground: the answers of flags for many users, in several environments."""

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from fastapi import Depends, Request
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import asks
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, FlagKey, Moment, Uuid, at_most, distinct
from flagstaff.concurrency.worker import in_worker
from flagstaff.conditions.conditions import LISTS_MAX
from flagstaff.evaluation.explanations.playground import FlagAnswers
from flagstaff.http.operations import CONTEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.http.services import service
from flagstaff.insight.explanation_schemas import DecidedBy
from flagstaff.insight.explanations_routes import given_user, view_result
from flagstaff.insight.explanations_service import GivenUser
from flagstaff.insight.playground_service import Answered, Playground
from flagstaff.permissions.permissions import Permission
from flagstaff.serving.context import ATTRIBUTES_MAX_BYTES, CONTEXT_SCHEMA, UNREADABLE, read_context, read_repaired
from flagstaff.values.errors import Error, FieldError, invalid_field
from flagstaff.values.moments import format_moment

ENVIRONMENTS_MAX = 5
FLAGS_MAX = 200
USERS_MAX = 200
ANSWERS_MAX = 20_000

router = Router(prefix="/api/projects/{project_id}", tags=["Explanations"])


def _check_some(given: list[Any]) -> list[Any]:
    if not given:
        raise ValueError("must not be empty")
    return given


class AskPlayground(Body):
    """The users, the flags and the environments to answer for."""

    environment_ids: Annotated[
        list[GivenId],
        at_most(ENVIRONMENTS_MAX),
        distinct("an environment"),
        Field(json_schema_extra={"minItems": 1, "maxItems": ENVIRONMENTS_MAX, "uniqueItems": True}),
    ]
    users: Annotated[
        list[Any],
        at_most(USERS_MAX),
        AfterValidator(_check_some),
        Field(
            json_schema_extra={"minItems": 1, "maxItems": USERS_MAX, "items": CONTEXT_SCHEMA},
            description="Contexts as in an evaluation. The attributes of each have at most 8 KiB.",
        ),
    ]
    flag_keys: Annotated[
        Annotated[
            list[FlagKey],
            at_most(FLAGS_MAX),
            AfterValidator(_check_some),
            Field(json_schema_extra={"minItems": 1, "maxItems": FLAGS_MAX}),
        ]
        | None,
        Field(description="Only these flags; by default the first ones of these environments, by key."),
    ] = None


class PlaygroundAnswerOut(ResponseModel):
    """An answer that at least one of the users gets: the result of an evaluation, and what decides it."""

    enabled: bool
    reason: str
    variant: str | None = Field(description="Null if the flag has no variants, or is off.")
    decided_by: DecidedBy


class PlaygroundFlagOut(ResponseModel):
    """The answers of a flag in an environment."""

    flag_key: str
    flag_id: Uuid
    answers: list[PlaygroundAnswerOut] = Field(description="Each different answer once.")
    of_users: list[int] = Field(
        description="For each user of the request, the position of the user's answer in `answers`."
    )


class PlaygroundEnvironmentOut(ResponseModel):
    """The answers in an environment. Flags that it does not have are left out."""

    environment_id: Uuid
    environment_key: str
    flags: list[PlaygroundFlagOut] = Field(description="In the order of the request.")


class PlaygroundOut(ResponseModel):
    """The answers in each environment, in the order of the request."""

    evaluated_at: Moment
    more_flags: bool = Field(
        description="Whether the environments have further flags. They are left out if no `flag_keys` are given."
    )
    environments: list[PlaygroundEnvironmentOut]


@router.post(
    "/playground",
    response_model=PlaygroundOut,
    responses=problems(400, 401, 404, 413, 503),
)
@asks(Permission.FLAGS_READ, place="environment", body_max_bytes=CONTEXT_BODY)
async def answer_users(
    project_id: Id,
    body: AskPlayground,
    request: Request,
    actor: CurrentActor,
    playground: Annotated[Playground, Depends(service(Playground))],
) -> Response:
    """Evaluate up to 200 flags for up to 200 users in up to 5 environments, with reasons. Nothing is recorded.

    At most 20,000 answers: users times flags times environments. Without `flag_keys`, the number of flags is limited
    accordingly. They are not evaluations, and they are not recorded. Needs `flags:read` in each of the environments.
    """
    of_each_flag = len(body.users) * len(body.environment_ids)
    asked = of_each_flag * len(body.flag_keys or ())
    if asked > ANSWERS_MAX:
        raise invalid_field(
            "users", f"times flags times environments must be at most {ANSWERS_MAX:,} answers, not {asked:,}"
        )
    flags_max = min(FLAGS_MAX, ANSWERS_MAX // of_each_flag)
    users = await in_worker(_read_users, await request.body())
    answered = await playground.answer(
        actor, project_id, body.environment_ids, users, flag_keys=body.flag_keys, flags_max=flags_max
    )
    return json_stream(_encode(answered))


class _WithUsers(msgspec.Struct, gc=False):
    users: list[msgspec.Raw]


_decode = msgspec.json.Decoder(_WithUsers).decode


def _read_users(body: bytes) -> list[GivenUser]:
    """The users in a request's body, each read as in an evaluation."""
    try:
        given = _decode(body).users
    except UNREADABLE as error:
        given = read_repaired(body, error, _decode, lambda _: ()).users
    users = []
    for place, context in enumerate(given):
        users.append(_read_user(f"users.{place}", context))
    return users


def _read_user(name: str, context: msgspec.Raw) -> GivenUser:
    try:
        user = given_user(read_context(b'{"context":' + bytes(context) + b"}"))
    except Error as error:
        fields = [FieldError(f"{name}{each.field.removeprefix('context')}", each.message) for each in error.fields]
        raise Error(error.code, error.message, fields=fields) from error
    if not user.fit:
        # Which ones an evaluation would compare depends on all flags of the environment.
        message = f"must have at most {ATTRIBUTES_MAX_BYTES:,} bytes and {LISTS_MAX} lists"
        raise invalid_field(f"{name}.custom_attributes", message)
    return user


def _encode(answered: Answered) -> Iterator[bytes]:
    """The response's JSON in pieces."""
    told = {"evaluated_at": format_moment(answered.evaluated_at), "more_flags": answered.more_flags}
    yield encode_json(told)[:-1] + b',"environments":['
    before = b""
    for each in answered.environments:
        head = {"environment_id": each.environment.id, "environment_key": each.environment.key}
        yield before + encode_json(head)[:-1] + b',"flags":['
        before = b""
        for answers in each.answers:
            if answers is None:
                yield b""
                continue
            yield before
            yield from _encode_flag(answers)
            before = b","
        yield b"]}"
        before = b","
    yield b"]}"


def _encode_flag(found: FlagAnswers) -> Iterator[bytes]:
    """One answer at a time: to find its rule among a thousand takes a while."""
    yield encode_json({"flag_key": found.flag.key, "flag_id": found.flag.id})[:-1] + b',"answers":['
    for place, decided in enumerate(found.answers):
        view = {**view_result(decided), "variant": decided.decision.variant}
        yield (b"," if place else b"") + encode_json(view)
    yield b"]," + encode_json({"of_users": found.of_users})[1:]
