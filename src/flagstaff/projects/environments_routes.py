"""HTTP of environments."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, ClassVar
from uuid import UUID

import msgspec
from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.lists import AwareDatetime, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import (
    Body,
    EnvironmentKey,
    RetentionDays,
    Text,
    Update,
    Uuid,
    at_most,
    distinct,
    optional,
)
from flagstaff.concurrency.claims import Priority
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.part_schemas import EnvironmentItem, view_item
from flagstaff.projects.projects import LAST_POSITION, Environment

ORDERED_MAX = 1_000
"""Environments in an order: more than a project has, unless the operator has raised the quota very far."""

router = Router(prefix="/api/projects/{project_id}/environments", tags=["Environments"])


class EnvironmentOut(EnvironmentItem, TaggedOut):
    """An environment."""

    project_id: Uuid


class EnvironmentBody(
    Body,
    of=Environment,
    without=("id", "project_id", "created_at", "critical", "position", "history_retention_days"),
):
    """An environment, as far as new ones and changes of them have the same fields."""

    key: EnvironmentKey


class EnvironmentUpdate(Update, like=EnvironmentBody):
    """The fields to change. `key` is accepted only if it equals the current key."""

    read_only: ClassVar[frozenset[str]] = frozenset({"id", "project_id", "created_at"})

    key: Text = optional()
    critical: bool = optional()
    history_retention_days: RetentionDays | None = Field(
        default=None,
        description="Evaluations and events that are older are deleted within minutes. At most what the server keeps; "
        "null if as long as in the project.",
    )


class EnvironmentOrder(Body):
    """The environments of a project in an order."""

    environment_ids: Annotated[
        list[GivenId],
        at_most(ORDERED_MAX),
        distinct("an environment"),
        Field(
            description="The ids of all environments of the project, each once.",
            json_schema_extra={"minItems": 1, "maxItems": ORDERED_MAX, "uniqueItems": True},
        ),
    ]


class EnvironmentOrderOut(TaggedOut):
    """The order of a project's environments, in which all lists have them. New environments come last."""

    environment_ids: list[Uuid]


def view_environment(environment: Environment) -> dict[str, Any]:
    """An environment as responses have it."""
    return {**view_item(environment), "project_id": environment.project_id}


def _order_view(environments: Sequence[Environment]) -> dict[str, Any]:
    return {"environment_ids": [each.id for each in environments]}


_POSITION: Any = tuple[Annotated[int, msgspec.Meta(ge=0, le=LAST_POSITION)], AwareDatetime, UUID]
_listing = Listing(view_item, lambda each: (each.position, each.created_at, each.id), _POSITION)


Service = Annotated[Environments, Depends(service(Environments))]
IfMatch = Annotated[Precondition[Environment], Depends(if_match("environment", view_environment))]
IfOrderMatches = Annotated[Precondition[Sequence[Environment]], Depends(if_match("order", _order_view))]


@router.get(
    "",
    response_model=list[EnvironmentItem],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def list_environments(project_id: Id, part: ListPart, actor: CurrentActor, environments: Service) -> Response:
    """The environments of a project in their order: until somebody sets one, oldest first."""
    return await _listing.respond(part, partial(environments.list_environments, actor, project_id))


@router.get("/order", response_model=EnvironmentOrderOut, responses=problems(401, 404, 503))
@reads(Permission.PROJECT_READ)
async def get_environment_order(project_id: Id, actor: CurrentActor, environments: Service) -> Response:
    """The order of the environments."""
    return tagged_response(_order_view(await environments.list_environments(actor, project_id)))


@router.put("/order", response_model=EnvironmentOrderOut, responses=problems(400, 401, 404, 413, 503))
@writes(Permission.ENVIRONMENTS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=True)
async def order_environments(
    project_id: Id, body: EnvironmentOrder, actor: CurrentActor, environments: Service, precondition: IfOrderMatches
) -> Response:
    """Put the environments in an order, for all members: lists and menus have it, and new environments come last."""
    ordered = await environments.order_environments(actor, project_id, body.environment_ids, precondition)
    return tagged_response(_order_view(ordered))


@router.get(
    "/{env_id}",
    response_model=EnvironmentOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def get_environment(project_id: Id, env_id: Id, actor: CurrentActor, environments: Service) -> Response:
    """One environment."""
    return tagged_response(view_environment(await environments.get_environment(actor, project_id, env_id)))


@router.put(
    "/{env_id}",
    response_model=EnvironmentOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(Permission.ENVIRONMENTS_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True)
async def update_environment(
    project_id: Id,
    env_id: Id,
    body: EnvironmentUpdate,
    actor: CurrentActor,
    environments: Service,
    precondition: IfMatch,
) -> Response:
    """Rename an environment, or set whether it is critical or for how long it keeps its history.

    Its key does not change.
    """
    return tagged_response(
        view_environment(await environments.update_environment(actor, project_id, env_id, precondition, **body.given()))
    )


@router.delete("/{env_id}", status_code=204, responses=problems(401, 404, 503))
@writes(Permission.ENVIRONMENTS_WRITE, reports_revision=True, priority=Priority.LONG)
async def delete_environment(
    project_id: Id, env_id: Id, actor: CurrentActor, environments: Service, precondition: IfMatch
) -> Response:
    """Delete an environment with its flags, rules and evaluation history."""
    await environments.delete_environment(actor, project_id, env_id, precondition)
    return no_content()
