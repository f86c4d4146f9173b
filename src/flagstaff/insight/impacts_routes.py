"""HTTP of impacts."""

from typing import Annotated

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.operations import asks
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment
from flagstaff.concurrency.worker import in_worker
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.http.operations import CONDITIONS_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.insight.draft_schemas import FlagDraft, read_draft
from flagstaff.insight.impacts_service import ATTRIBUTES_MAX, Impacts
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}", tags=["Explanations"])


class PreviewImpact(Body):
    """The draft to preview."""

    flag: Annotated[FlagDraft, Field(description="The flag as it would be, with all of its rules.")]


class UnknownAttributeOut(ResponseModel):
    """An attribute that the history has not stored for some users."""

    name: str
    users: int


class ImpactOut(ResponseModel):
    """For how many of the last day's users the result of a flag would change."""

    since: Moment = Field(alias="from", description="A day ago, or later if it is not `complete`.")
    until: Moment = Field(alias="to")
    users: int = Field(description="The different users of the recorded evaluations: by `user_id`, or else by email.")
    changed: int = Field(description="Those whose result would change, in one of the following ways.")
    turned_on: int
    turned_off: int
    variant_changed: int = Field(description="Those for whom the flag stays on, with another variant or value.")
    without_attributes: int = Field(
        description="Those whose result is not known: the history has not stored an attribute that the flag "
        "uses before or after the change."
    )
    unknown_attributes: list[UnknownAttributeOut] = Field(
        description=f"At most {ATTRIBUTES_MAX} of the attributes that were not stored, those of most users first."
    )
    complete: bool = Field(description="Whether the whole day was examined. Large histories are examined only in part.")


Service = Annotated[Impacts, Depends(service(Impacts))]


@router.post(
    "/impact",
    response_model=ImpactOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@asks(Permission.EVALUATIONS_READ, body_max_bytes=CONDITIONS_BODY)
async def preview_impact(path: FlagIds, body: PreviewImpact, actor: CurrentActor, impacts: Service) -> Response:
    """Count the recorded users for whom a change to a flag would change its result. Nothing is stored."""
    impact = await impacts.preview(actor, path, await in_worker(read_draft, body.flag))
    return json_response(
        {
            "from": format_moment(impact.since),
            "to": format_moment(impact.until),
            "users": impact.users,
            "changed": impact.changed,
            "turned_on": impact.turned_on,
            "turned_off": impact.turned_off,
            "variant_changed": impact.variant_changed,
            "without_attributes": impact.without_attributes,
            "unknown_attributes": [{"name": name, "users": users} for name, users in impact.unknown],
            "complete": impact.complete,
        }
    )
