"""HTTP of flags. Once a change's response is sent, no evaluation sees the state before it."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import EnvironmentIds, Id
from flagstaff.api.lists import BY_AGE, Listing, ListQuery
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import (
    Body,
    Description,
    FlagKey,
    Moment,
    Text,
    Update,
    optional,
)
from flagstaff.concurrency.claims import Priority
from flagstaff.database.preconditions import Precondition
from flagstaff.flags.field_schemas import BucketingKey, FallthroughName, RolloutPercentage, Stickiness, Tags
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.flags.flags import DEFAULT_STICKINESS, Fallthrough, Flag
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.variant_schemas import (
    PrerequisiteBody,
    Prerequisites,
    VariantBody,
    Variants,
    read_prerequisites,
    read_variants,
    view_prerequisites,
    view_variants,
)
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}", tags=["Flags"])

_FLAGS = "/environments/{env_id}/flags"
_FLAG = _FLAGS + "/{flag_id}"


class FlagOut(TaggedOut, of=Flag):
    """A flag of one environment."""

    rollout_percentage: RolloutPercentage
    fallthrough: FallthroughName
    variants: list[VariantBody]
    prerequisites: list[PrerequisiteBody]
    archived_at: Moment | None = Field(description="When the flag was archived; null if it is not.")
    keep: bool = Field(description="Whether the flag is meant to stay, regardless of its age.")


class NewFlag(Body, of=Flag, without=("id", "project_id", "environment_id", "created_at", "updated_at", "archived_at")):
    """A new flag. Its key cannot be changed later."""

    key: FlagKey
    description: Description | None = None
    enabled: bool = False
    rollout_percentage: RolloutPercentage = 0
    fallthrough: FallthroughName = "rollout"
    bucketing_key: BucketingKey | None = None
    stickiness: Stickiness = DEFAULT_STICKINESS
    tags: Tags = Field(default=[])
    variants: Variants = Field(default=[])
    prerequisites: Prerequisites = Field(default=[])


class NewFlags(NewFlag):
    """A new flag in several environments."""

    environments: EnvironmentIds = Field(description="The ids of the environments.")


class FlagUpdate(Update, of=Flag, like=NewFlag):
    """The fields to change. `key` is accepted only if it equals the current key."""

    key: Text = optional()


class FlagListQuery(ListQuery):
    """The filter of an environment's flags."""

    archived: Annotated[bool, Field(description="The archived flags instead of the others.")] = False


view_flag = view_of(Flag, variants=view_variants, prerequisites=view_prerequisites)
"""A flag as responses have it."""

_listing = Listing(view_flag, lambda flag: (flag.created_at, flag.id), BY_AGE)


_readers: dict[str, Callable[[Any], Any]] = {
    "fallthrough": Fallthrough,
    "tags": tuple,
    "variants": read_variants,
    "prerequisites": read_prerequisites,
}


def read_values(given: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request's body as the domain has them."""
    return {name: _readers[name](value) if name in _readers else value for name, value in given.items()}


Service = Annotated[Flags, Depends(service(Flags))]
IfMatch = Annotated[Precondition[Flag], Depends(if_match("flag", view_flag))]


@router.post(
    _FLAGS,
    status_code=201,
    response_model=FlagOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(Permission.FLAGS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=True, repeatable=True)
async def create_flag(project_id: Id, env_id: Id, body: NewFlag, actor: CurrentActor, flags: Service) -> Response:
    """Create a flag."""
    values = read_values(body.model_dump())
    return tagged_response(view_flag(await flags.create_flag(actor, project_id, env_id, **values)), 201)


@router.post(
    "/flags",
    status_code=201,
    response_model=list[FlagOut],
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(
    Permission.FLAGS_WRITE,
    place="environment",
    body_max_bytes=TEXT_BODY,
    reports_revision=True,
    repeatable=True,
    priority=Priority.LONG,
)
async def create_flags(project_id: Id, body: NewFlags, actor: CurrentActor, flags: Service) -> Response:
    """Create the same flag in several environments, or in none of them.

    Needs `flags:write` in each of them.
    """
    values = read_values(body.model_dump(exclude={"environments"}))
    created = await flags.create_flags(actor, project_id, body.environments, **values)
    return await json_array_response(map(view_flag, created), status=201)


@router.get(
    _FLAGS,
    response_model=list[FlagOut],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def list_flags(
    project_id: Id, env_id: Id, part: Annotated[FlagListQuery, Query()], actor: CurrentActor, flags: Service
) -> Response:
    """The flags of an environment, newest first; archived flags only with `archived=true`."""
    fetch = partial(flags.list_flags, actor, project_id, env_id, archived=part.archived)
    return await _listing.respond(part, fetch)


@router.get(_FLAG, response_model=FlagOut, responses=problems(401, 404, 503))
@reads(Permission.FLAGS_READ)
async def get_flag(path: FlagIds, actor: CurrentActor, flags: Service) -> Response:
    """One flag."""
    return tagged_response(view_flag(await flags.get_flag(actor, path)))


@router.put(
    _FLAG,
    response_model=FlagOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(Permission.FLAGS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=True)
async def update_flag(
    path: FlagIds, body: FlagUpdate, actor: CurrentActor, flags: Service, precondition: IfMatch
) -> Response:
    """Update a flag. Only the given fields change."""
    return tagged_response(view_flag(await flags.update_flag(actor, path, precondition, **read_values(body.given()))))


@router.post(
    _FLAG + "/toggle",
    response_model=FlagOut,
    responses=problems(401, 404, 409, 503),
)
@writes(Permission.FLAGS_TOGGLE, reports_revision=True, repeatable=True, tells=("enabled",), priority=Priority.KILL)
async def toggle_flag(path: FlagIds, actor: CurrentActor, flags: Service, precondition: IfMatch) -> Response:
    """Toggle a flag. A flag that is off is off for everyone; its rules and rollout are kept."""
    return tagged_response(view_flag(await flags.toggle_flag(actor, path, precondition)))


@router.post(
    _FLAG + "/archive",
    response_model=FlagOut,
    responses=problems(401, 404, 409, 503),
)
@writes(Permission.FLAGS_WRITE, reports_revision=True, repeatable=True)
async def archive_flag(path: FlagIds, actor: CurrentActor, flags: Service, precondition: IfMatch) -> Response:
    """Archive a flag: no evaluation answers it any more. It keeps its id, key, state and rules.

    An archived flag can be read, unarchived and deleted. Everything else is refused with 409.
    """
    return tagged_response(view_flag(await flags.archive_flag(actor, path, precondition)))


@router.post(
    _FLAG + "/unarchive",
    response_model=FlagOut,
    responses=problems(401, 404, 409, 503),
)
@writes(Permission.FLAGS_WRITE, reports_revision=True, repeatable=True)
async def unarchive_flag(path: FlagIds, actor: CurrentActor, flags: Service, precondition: IfMatch) -> Response:
    """Put an archived flag back into the answers of evaluations, as it was."""
    return tagged_response(view_flag(await flags.unarchive_flag(actor, path, precondition)))


@router.delete(_FLAG, status_code=204, responses=problems(401, 404, 409, 503))
@writes(Permission.FLAGS_WRITE, reports_revision=True)
async def delete_flag(path: FlagIds, actor: CurrentActor, flags: Service, precondition: IfMatch) -> Response:
    """Delete a flag with its rules, archived or not. Its evaluation history is kept."""
    await flags.delete_flag(actor, path, precondition)
    return no_content()
