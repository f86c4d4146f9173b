"""HTTP of causes: why the results of flags changed between recorded evaluations of a user."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import asks
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, FlagKey, Uuid, at_most
from flagstaff.audit.changes_routes import ChangeOut, view_change
from flagstaff.changes.changes import NumberedChange
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.http.services import service
from flagstaff.insight.causes import AttributeDifference
from flagstaff.insight.causes_service import AskedResult, CauseFinder, Causes
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

RESULTS_MAX = 50

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Explanations"])


class ChangedResult(Body):
    """A flag whose result changed, as a list of a user's changes has it."""

    flag_key: FlagKey
    before_evaluation_id: Annotated[GivenId, Field(description="An evaluation of the user.")]
    after_evaluation_id: Annotated[GivenId, Field(description="A later one, in which the flag has another result.")]


def _check_some(given: list[Any]) -> list[Any]:
    if not given:
        raise ValueError("must not be empty")
    return given


class FindCauses(Body):
    """The results of which to find the causes."""

    results: Annotated[
        list[ChangedResult],
        at_most(RESULTS_MAX),
        AfterValidator(_check_some),
        Field(json_schema_extra={"minItems": 1, "maxItems": RESULTS_MAX}),
    ]


class AttributeDifferenceOut(ResponseModel):
    """An attribute in which the users of two evaluations differ; null where it was not given."""

    name: str = Field(description="`user_id`, `user_email`, `current_time`, or a custom attribute.")
    before: Any
    after: Any


class CauseOut(ResponseModel):
    """The cause of a flag's changed result."""

    flag_key: str
    before_evaluation_id: Uuid
    after_evaluation_id: Uuid
    kind: Literal["change", "user", "change_and_user", "possible", "unrecorded", "unavailable", "not_examined"] = Field(
        description="`change`: of a flag, rule or segment. `user`: another id, email or attribute, or the time. "
        "`change_and_user`: either both together, or each would have sufficed. `possible`: the recorded results could "
        "not be repeated, so these are only what has changed in the meantime. `unrecorded`: nothing recorded explains "
        "it. `unavailable`: an evaluation has been deleted, or what has changed since takes too long to replay. "
        "`not_examined`: the time for the request ran out; send it again."
    )
    change_ids: list[str] = Field(
        description="The change that made the difference; for `possible`, up to five that may have, newest first."
    )
    hidden_changes: int = Field(
        description="The number of further changes of segments, which you may not see: they require "
        "`audit:read` in the whole project."
    )
    attributes: list[AttributeDifferenceOut]
    unknown_attributes: list[str] = Field(
        description="Attributes that the flag used and the history has not stored. If there are any, the "
        "cause is likely but not certain."
    )


class CausesOut(ResponseModel):
    """The causes, in the order of the request."""

    items: list[CauseOut]
    changes: list[ChangeOut] = Field(description="All changes that `change_ids` name, each once.")


@router.post(
    "/evaluations/changes/causes",
    response_model=CausesOut,
    responses=problems(400, 401, 404, 413, 503),
)
@asks(Permission.EVALUATIONS_READ, Permission.AUDIT_READ, body_max_bytes=TEXT_BODY)
async def find_causes(
    project_id: Id,
    env_id: Id,
    body: FindCauses,
    actor: CurrentActor,
    finder: Annotated[CauseFinder, Depends(service(CauseFinder))],
) -> Response:
    """Find why results of flags changed between two evaluations of a user: which change, or what about the user.

    Both evaluations are decided again in the states before and after each change to the flag, its rules, the segments
    that they name, and the flags that it needs. Nothing is recorded.
    """
    asked = [AskedResult(each.flag_key, each.before_evaluation_id, each.after_evaluation_id) for each in body.results]
    causes = await finder.find(actor, project_id, env_id, asked)
    return json_stream(_encode(asked, causes))


def _encode(asked: list[AskedResult], causes: Causes) -> Iterator[bytes]:
    """The response's JSON in pieces."""
    named: dict[int, NumberedChange] = {}
    before = b'{"items":['
    for result, cause in zip(asked, causes.found, strict=True):
        shown = [each for each in cause.changes if each.number not in causes.hidden]
        named.update((each.number, each) for each in shown)
        item = {
            "flag_key": result.flag_key,
            "before_evaluation_id": result.earlier,
            "after_evaluation_id": result.later,
            "kind": cause.kind,
            "change_ids": [str(each.number) for each in shown],
            "hidden_changes": len(cause.changes) - len(shown),
            "attributes": [_view_difference(each) for each in cause.attributes],
            "unknown_attributes": cause.unknown,
        }
        yield before + encode_json(item)
        before = b","
    before = b'],"changes":['
    for numbered in named.values():
        yield before + encode_json(view_change(numbered, causes.comments))
        before = b","
    yield (b"" if named else before) + b"]}"


def _view_difference(difference: AttributeDifference) -> dict[str, Any]:
    before, after = (
        format_moment(each) if isinstance(each, datetime) else each for each in (difference.before, difference.after)
    )
    return {"name": difference.name, "before": before, "after": after}
