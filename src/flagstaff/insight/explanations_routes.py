"""HTTP of explanations."""

from collections.abc import Collection, Iterator
from datetime import datetime
from functools import partial
from typing import Annotated, Any
from uuid import UUID

import msgspec
from fastapi import Depends, Request
from pydantic import Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import asks
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, FlagKey, at_most
from flagstaff.concurrency.pacing import pause
from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.explanations.traces import (
    ConditionTrace,
    FlagTrace,
    PrerequisiteTrace,
    RolloutTrace,
    RuleTrace,
    SegmentTrace,
    VariantsTrace,
)
from flagstaff.evaluation.explanations.tracing import DecidedFlag
from flagstaff.http.operations import CONDITIONS_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.http.services import service
from flagstaff.insight.draft_schemas import FlagDraft, read_draft
from flagstaff.insight.explanation_schemas import MAX_TEXT, MAX_VALUES, ExplanationOut
from flagstaff.insight.explanations_service import Explained, Explanations, GivenUser
from flagstaff.permissions.permissions import Permission
from flagstaff.serving.context import (
    CONTEXT_SCHEMA,
    Context,
    fit,
    given_attributes,
    read_attributes,
    read_context,
)
from flagstaff.values.moments import format_moment

MAX_KEYS = 1000
RESPONSE_MAX_BYTES = 4 * 1024 * 1024
"""After so many bytes, the rest of a flag's rules and of the flags are left out, but for what is being written."""
_SEGMENT_BYTES = 512  # about what each condition of a segment takes, which is written at the end
_END_OF_FLAG, _CUT_OFF = b'],"more_rules":false},', b'],"more_rules":true},'
_MAX_INTEGER_BITS = 63

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Explanations"])


class Explain(Body):
    """The user, and the flags to explain."""

    context: Annotated[Any, WithJsonSchema(CONTEXT_SCHEMA), Field(description="As in an evaluation.")] = None
    flag_keys: Annotated[
        Annotated[list[FlagKey], at_most(MAX_KEYS), Field(json_schema_extra={"maxItems": MAX_KEYS})] | None,
        Field(description="Only these flags; by default all."),
    ] = None
    flag: Annotated[
        FlagDraft | None,
        Field(description="A flag that is not saved: it is explained as if it were, and nothing is stored."),
    ] = None


Service = Annotated[Explanations, Depends(service(Explanations))]


@router.post(
    "/explain",
    response_model=ExplanationOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@asks(Permission.FLAGS_READ, body_max_bytes=CONDITIONS_BODY)
async def explain(
    project_id: Id, env_id: Id, body: Explain, request: Request, actor: CurrentActor, explanations: Service
) -> Response:
    """Explain why flags are on or off for a user, saved or not. This is not an evaluation, and it is not recorded."""
    explained = await explanations.explain(
        actor,
        project_id,
        env_id,
        await read_user(request),
        flag_keys=body.flag_keys,
        draft=await in_worker(read_draft, body.flag) if body.flag is not None else None,
    )
    return json_stream(_encode(explained))


async def read_user(request: Request) -> GivenUser:
    """The user in a request's body."""
    await pause()  # the body has been read once already, and each step takes milliseconds if it is large
    context = read_context(await request.body())  # from the bytes, so that it is read as in an evaluation
    await pause()
    return given_user(context)


def given_user(context: Context) -> GivenUser:
    """The user in a context."""
    given = given_attributes(context)
    return GivenUser(
        user_id=context.user_id,
        user_email=context.user_email,
        names=given.keys(),
        fit=fit(given),
        read=partial(read_attributes, given),
    )


def _encode(explained: Explained) -> Iterator[bytes]:
    """The response's JSON in pieces."""
    head = {"environment_key": explained.environment_key, "evaluated_at": format_moment(explained.evaluated_at)}
    yield encode_json(head)[:-1] + b',"flags":['
    segments: dict[str, SegmentTrace] = {}
    end, before_rule, room = b"", b"", RESPONSE_MAX_BYTES
    more_flags = more_rules = False
    for trace in explained.traces:
        if isinstance(trace, FlagTrace):
            if room <= 0:
                more_flags = True
                break
            piece = encode_json(_view_flag(trace, explained.new_rules))[:-1] + b',"rules":['
            yield end + piece
            end, before_rule, more_rules = _END_OF_FLAG, b"", False
            room -= len(piece)
        elif room > 0:
            piece = encode_json(_view_rule(trace, explained.new_rules))
            yield before_rule + piece
            before_rule = b","
            room -= len(piece)
            if trace.segment is not None and trace.segment.segment.key not in segments:
                segments[trace.segment.segment.key] = trace.segment
                room -= _SEGMENT_BYTES * (1 + len(trace.segment.conditions))
        elif not more_rules:
            more_rules, end = True, _CUT_OFF
    yield end.removesuffix(b",") + b'],"segments":['
    for place, each in enumerate(segments.values()):
        yield (b"," if place else b"") + encode_json(_view_segment(each))
    yield b'],"more_flags":' + encode_json(more_flags) + b"}"


def _view_flag(trace: FlagTrace, new_rules: Collection[UUID]) -> dict[str, Any]:
    """A flag without its rules."""
    view: dict[str, Any] = {"flag_key": trace.flag.key, **view_result(trace, new_rules)}
    if trace.variants:
        view["variant"] = trace.decision.variant
        view["value"] = None if trace.value is None else msgspec.Raw(trace.value.encode())
    return view | {
        "prerequisites": [_view_prerequisite(each) for each in trace.prerequisites],
        "rollout": _view_rollout(trace.rollout) if trace.rollout else None,
        "variants": _view_variants(trace.variants) if trace.variants else None,
    }


def view_result(trace: FlagTrace | DecidedFlag, new_rules: Collection[UUID] = ()) -> dict[str, Any]:
    """A flag's result and what decided it."""
    decision, rule = trace.decision, trace.rule
    return {
        "enabled": decision.outcome.enabled,
        "reason": decision.reason,
        "decided_by": {
            "step": trace.step,
            "prerequisite": decision.prerequisite or None,
            "rule_id": rule.id if rule is not None and rule.id not in new_rules else None,
            "rule_name": rule.name if rule is not None else None,
        },
    }


def _view_prerequisite(trace: PrerequisiteTrace) -> dict[str, Any]:
    actual = trace.actual
    return {
        "flag_key": trace.prerequisite.flag_key,
        "enabled": trace.prerequisite.enabled,
        "variants": trace.prerequisite.variants,
        "actual": {"enabled": actual.outcome.enabled, "variant": actual.variant} if actual else None,
        "holds": trace.holds,
    }


def _view_rollout(trace: RolloutTrace) -> dict[str, Any]:
    return {
        "identifier": trace.hashed.identifier,
        "hashed": trace.hashed.text,
        "bucket": trace.bucket,
        "percentage": trace.percentage,
        "inside": trace.inside,
    }


def _view_variants(trace: VariantsTrace) -> dict[str, Any]:
    return {
        "identifier": trace.hashed.identifier,
        "hashed": trace.hashed.text,
        "position": trace.position,
        "total_weight": trace.total_weight,
        "ranges": [{"key": key, "from": start, "to": end} for key, start, end in trace.ranges],
        "chosen": trace.chosen,
        "by": trace.by,
    }


def _view_rule(trace: RuleTrace, new_rules: Collection[UUID]) -> dict[str, Any]:
    rule = trace.rule
    return {
        "id": None if rule.id in new_rules else rule.id,
        "name": rule.name,
        "rule_type": rule.rule_type,
        "rule_value": rule.rule_value,
        "priority": rule.priority,
        "enabled": rule.enabled,
        "status": trace.status,
        "matches": trace.matches,
        "conditions": list(map(_view_condition, trace.conditions)),
        "segment": {"key": trace.segment.segment.key, "name": trace.segment.segment.name} if trace.segment else None,
        "bucket": trace.bucket,
        "rollout_percentage": rule.rollout_percentage,
        "variant": rule.variant,
    }


def _view_segment(trace: SegmentTrace) -> dict[str, Any]:
    return {
        "key": trace.segment.key,
        "name": trace.segment.name,
        "holds": trace.holds,
        "conditions": list(map(_view_condition, trace.conditions)),
    }


def _view_condition(trace: ConditionTrace) -> dict[str, Any]:
    condition = trace.condition
    return {
        "attribute": condition.attribute,
        "operator": condition.operator,
        "values": condition.values[:MAX_VALUES],
        "values_total": len(condition.values),
        "case_insensitive": condition.case_insensitive,
        "negate": condition.negate,
        "actual": _shorten(trace.actual),
        "holds": trace.holds,
    }


def _shorten(value: object) -> object:
    """An attribute as it is shown: long texts and lists are cut, and an object, which is never compared, is empty."""
    match value:
        case str():
            return value if len(value) <= MAX_TEXT else f"{value[:MAX_TEXT]}…"
        case datetime():
            return format_moment(value)
        case list():
            return _shorten_list(value)
        case dict():
            return {}
        case int() if value.bit_length() > _MAX_INTEGER_BITS:
            return float(value) if value.bit_length() < 1024 else None
        case _:
            return value


def _shorten_list(values: list[Any]) -> list[object]:
    """The first elements, with about as many characters as a text."""
    shown: list[object] = []
    room = MAX_TEXT
    for each in values[:MAX_VALUES]:
        if room <= 0:
            break
        if not isinstance(each, list):
            shown.append(_shorten(each))
            room -= len(each) if isinstance(each, str) else 1
    return shown
