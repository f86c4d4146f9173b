"""HTTP of segments. Once a change's response is sent, no evaluation sees the state before it."""

from functools import partial
from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.lists import BY_AGE, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Description, FlagKey, Text, Update, optional
from flagstaff.database.preconditions import Precondition
from flagstaff.flags.targeting.condition_schemas import ConditionBody, Conditions, read_conditions
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.http.operations import CONDITIONS_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}/segments", tags=["Segments"])


class SegmentOut(TaggedOut, of=Segment):
    """A segment: conditions that rules of all environments of the project can refer to."""

    conditions: list[ConditionBody]


class SegmentUse(ResponseModel):
    """A flag with a rule for the segment."""

    environment_key: str
    flag_key: str
    archived: bool = Field(description="Whether the flag is archived. Its rules count until the flag is deleted.")


class NewSegment(Body, of=Segment, without=("id", "project_id", "created_at", "updated_at")):
    """A new segment. Its key cannot be changed later."""

    key: FlagKey
    description: Description | None = None
    conditions: Conditions


class SegmentUpdate(Update, of=Segment, like=NewSegment):
    """The fields to change. `key` is accepted only if it equals the current key."""

    key: Text = optional()


_view = view_of(Segment)


def _values(given: dict[str, Any]) -> dict[str, Any]:
    return {name: read_conditions(value) if name == "conditions" else value for name, value in given.items()}


_listing = Listing(_view, lambda segment: (segment.created_at, segment.id), BY_AGE)


Service = Annotated[Segments, Depends(service(Segments))]
IfMatch = Annotated[Precondition[Segment], Depends(if_match("segment", _view))]


@router.post(
    "",
    status_code=201,
    response_model=SegmentOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(Permission.SEGMENTS_WRITE, body_max_bytes=CONDITIONS_BODY, reports_revision=True, repeatable=True)
async def create_segment(project_id: Id, body: NewSegment, actor: CurrentActor, segments: Service) -> Response:
    """Create a segment."""
    return tagged_response(_view(await segments.create_segment(actor, project_id, **_values(body.model_dump()))), 201)


@router.get(
    "",
    response_model=list[SegmentOut],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def list_segments(project_id: Id, part: ListPart, actor: CurrentActor, segments: Service) -> Response:
    """The segments of a project, newest first."""
    return await _listing.respond(part, partial(segments.list_segments, actor, project_id))


@router.get(
    "/{segment_id}",
    response_model=SegmentOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def get_segment(project_id: Id, segment_id: Id, actor: CurrentActor, segments: Service) -> Response:
    """One segment."""
    return tagged_response(_view(await segments.get_segment(actor, project_id, segment_id)))


@router.get(
    "/{segment_id}/flags",
    response_model=list[SegmentUse],
    responses=problems(401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def list_flags_in_segment(project_id: Id, segment_id: Id, actor: CurrentActor, segments: Service) -> Response:
    """The flags with a rule for the segment, by the keys of their environments and their own."""
    found = await segments.list_flags_in(actor, project_id, segment_id)
    return json_response(
        [
            {"environment_key": each.environment_key, "flag_key": each.flag_key, "archived": each.is_archived}
            for each in found
        ]
    )


@router.put(
    "/{segment_id}",
    response_model=SegmentOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(Permission.SEGMENTS_WRITE, body_max_bytes=CONDITIONS_BODY, reports_revision=True)
async def update_segment(
    project_id: Id, segment_id: Id, body: SegmentUpdate, actor: CurrentActor, segments: Service, precondition: IfMatch
) -> Response:
    """Update a segment. Only the given fields change."""
    return tagged_response(
        _view(await segments.update_segment(actor, project_id, segment_id, precondition, **_values(body.given())))
    )


@router.delete(
    "/{segment_id}",
    status_code=204,
    responses=problems(401, 404, 409, 503),
)
@writes(Permission.SEGMENTS_WRITE, reports_revision=True)
async def delete_segment(
    project_id: Id, segment_id: Id, actor: CurrentActor, segments: Service, precondition: IfMatch
) -> Response:
    """Delete a segment that no rule refers to."""
    await segments.delete_segment(actor, project_id, segment_id, precondition)
    return no_content()
