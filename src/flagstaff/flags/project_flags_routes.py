"""HTTP of the flags of all environments of a project, side by side."""

from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.lists import BY_FLAG_KEY, Listing, ListQuery
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import FlagKey, Moment, Text
from flagstaff.flags.field_schemas import FallthroughName, RolloutPercentage
from flagstaff.flags.project_flags import Aspect, FlagInBrief, ProjectFlag, ProjectFlagFilter
from flagstaff.flags.project_flags_service import ProjectFlags
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.text import NAME_MAX_LENGTH, check_length
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}/flags", tags=["Flags"])


def _check_searched(given: str) -> str:
    return check_length(given, 0, NAME_MAX_LENGTH)


Searched = Annotated[Text, AfterValidator(_check_searched), Field(json_schema_extra={"maxLength": NAME_MAX_LENGTH})]


class FlagInBriefOut(ResponseModel, of=FlagInBrief, without=("key",)):
    """A flag of one environment, as far as its audience in a few words needs it."""

    archived_at: Moment | None = Field(description="When the flag was archived; null if it is not.")
    rollout_percentage: RolloutPercentage
    fallthrough: FallthroughName
    rules: int = Field(description="How many enabled rules it has.")
    variants: int = Field(description="How many variants it has.")
    prerequisites: int = Field(description="How many prerequisites it has.")


class ProjectFlagOut(ResponseModel, of=ProjectFlag):
    """The flags of a project with one key."""

    differs: list[Aspect] = Field(
        description="The parts in which the flags differ: `environments` if an environment has no such flag, "
        "`state`, `rules`, `rollout` (including `fallthrough` and the selection of users), "
        "`variants`, `prerequisites`. Names, descriptions, tags, disabled rules and the numbers "
        "of the rules' priorities are not compared."
    )
    flags: list[FlagInBriefOut] = Field(description="In the order of the environments, the oldest first.")


class ProjectFlagsQuery(ListQuery):
    """The filter of a project's flags."""

    q: Annotated[Searched | None, Field(description="Only flags whose key or name contains this, ignoring case.")] = (
        None
    )
    key: Annotated[
        FlagKey | None,
        Field(description="Only the flags with this key, even if all are archived; `q` is then ignored."),
    ] = None
    differs: Annotated[bool, Field(description="Only flags that differ between environments.")] = False


view_in_brief = view_of(FlagInBrief, without=("key",))
"""The flag as FlagInBriefOut describes it."""


def _view(listed: ProjectFlag) -> dict[str, Any]:
    return {"key": listed.key, "differs": listed.differs, "flags": [view_in_brief(each) for each in listed.flags]}


_listing = Listing(_view, lambda listed: (listed.key,), BY_FLAG_KEY)


@router.get(
    "",
    response_model=list[ProjectFlagOut],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def list_project_flags(
    project_id: Id,
    part: Annotated[ProjectFlagsQuery, Query()],
    actor: CurrentActor,
    project_flags: Annotated[ProjectFlags, Depends(service(ProjectFlags))],
) -> Response:
    """The flags of all environments by key, in the order of the keys, and in what those with one key differ.

    Keys whose flags are all archived are left out.
    """
    wanted = ProjectFlagFilter(part.q or "", part.key, part.differs)
    return await _listing.respond(part, partial(project_flags.list_project_flags, actor, project_id, wanted))
