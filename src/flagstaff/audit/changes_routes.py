"""HTTP of the audit trail."""

import re
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.actor_schemas import ActorOut, view_actor
from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id, parse_id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import NOT_A_CURSOR, FlagKey, Moment, Since, Until, Uuid
from flagstaff.audit.changes_service import Changes, ChangesPage, ProjectChangeFilter
from flagstaff.changes.actions import IN_PROJECTS, PROJECT_ACTIONS
from flagstaff.changes.changes import Batch, NumberedChange
from flagstaff.http.operations import Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_page
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.emails import check_email
from flagstaff.values.keys import check_environment_key
from flagstaff.values.moments import format_moment

router = Router(prefix="/api", tags=["Audit"])

_number = re.compile("[0-9]{1,19}")
_NUMBER_MAX = 2**63 - 1

ACTIONS = tuple(action for action in PROJECT_ACTIONS if action != "project.deleted")  # its trail goes with it
if TYPE_CHECKING:
    Action = str
    Kind = str
else:
    Action = Literal[ACTIONS]
    Kind = Literal[tuple(IN_PROJECTS)]


def _read_cursor(given: str) -> int:
    if not _number.fullmatch(given) or int(given) > _NUMBER_MAX:
        raise ValueError(NOT_A_CURSOR)
    return int(given)


def _read_account(given: str) -> UUID | str:
    try:
        return parse_id(given) or check_email(given)
    except ValueError:
        raise ValueError("must be the id or the email of an account") from None


def _read_environment(given: str) -> UUID | str:
    try:
        return parse_id(given) or check_environment_key(given)
    except ValueError:
        raise ValueError("must be the id or the key of an environment") from None


_TEXT = WithJsonSchema({"type": "string"})
Cursor = Annotated[int, BeforeValidator(_read_cursor), _TEXT]
IdOrEmail = Annotated[UUID | str, BeforeValidator(_read_account), _TEXT]
IdOrKey = Annotated[UUID | str, BeforeValidator(_read_environment), _TEXT]


class BatchOut(ResponseModel, of=Batch):
    """An operation that made several changes in one step; they follow one another in every list."""

    changes: int = Field(description="How many changes it made.")
    flags: int = Field(description="How many flags they concern.")
    origin_id: Uuid | None = Field(description="The environment from which flags were copied; it may be deleted.")


class ChangeOut(ResponseModel):
    """One change: `before` is null for a creation, `after` for a deletion."""

    id: str
    at: Moment
    actor: ActorOut
    action: str = Field(examples=["flag.toggled"])
    resource_id: Uuid
    environment_id: Uuid | None
    flag_id: Uuid | None
    flag_key: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    restores: str | None = Field(description="The change that this one has restored, if any.")
    batch: BatchOut | None = Field(description="The operation that made this change together with others, if any.")
    comments: int = Field(description="The number of comments on it; 0 for changes outside projects.")


class ChangesPageOut(ResponseModel):
    """Some changes, newest first."""

    items: list[ChangeOut]
    next_cursor: str | None = Field(description="The cursor of the next page; null if there is none.")


class PageQuery(BaseModel):
    """The size of a page, and its start."""

    model_config = ConfigDict(extra="forbid")

    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Annotated[Cursor | None, Field(description="The `next_cursor` of the previous page.")] = None


class CommonFilters(BaseModel):
    """The filters of changes that a project and an environment have."""

    model_config = ConfigDict(extra="forbid")

    actor: Annotated[IdOrEmail | None, Field(description="Only changes by this account: its id or email.")] = None
    action: Annotated[Action | None, Field(description="Only this action.")] = None
    resource: Annotated[Kind | None, Field(description="Only changes to resources of this kind.")] = None
    flag_key: Annotated[
        FlagKey | None, Field(description="Only changes of flags with this key, even deleted, and their rules.")
    ] = None
    since: Since = None
    until: Until = None

    def filter(self) -> ProjectChangeFilter:
        """The filter for the service."""
        return ProjectChangeFilter(self.actor, self._actions(), self.flag_key, None, self.since, self.until)

    def _actions(self) -> list[str] | None:
        if self.action is None and self.resource is None:
            return None
        wanted = (self.action,) if self.action else ACTIONS
        return [each for each in wanted if self.resource in (None, each.partition(".")[0])]


class ChangeFilters(CommonFilters):
    """The filter of a project's changes."""

    environment: Annotated[
        IdOrKey | None, Field(description="Only changes in this environment, which may be deleted: its id or key.")
    ] = None

    def filter(self) -> ProjectChangeFilter:
        """The filter for the service."""
        return replace(super().filter(), environment=self.environment)


class EnvironmentChangesQuery(CommonFilters, PageQuery):
    """The filter and the page of an environment's changes."""

    flag_id: Annotated[
        UUID | None, Field(description="Only changes of this flag, its rules and the segments that they name.")
    ] = None


class ProjectChangesQuery(ChangeFilters, PageQuery):
    """The filter and the page of a project's changes."""


def view_change(numbered: NumberedChange, comments: Mapping[int, int]) -> dict[str, Any]:
    """A change as responses have it. `comments` has how many comments changes have, by number."""
    change = numbered.change
    return {
        "id": str(numbered.number),
        "at": format_moment(change.at),
        "actor": view_actor(change.actor),
        "action": change.action,
        "resource_id": change.resource_id,
        "environment_id": change.scope.environment_id,
        "flag_id": change.scope.flag_id,
        "flag_key": change.scope.flag_key,
        "before": change.before,
        "after": change.after,
        "restores": str(change.restores) if change.restores is not None else None,
        "batch": change.batch and asdict(change.batch),
        "comments": comments.get(numbered.number, 0),
    }


def _page_response(page: ChangesPage) -> Response:
    # A hundred changes of long descriptions are megabytes.
    items = ([encode_json(view_change(each, page.comments))] for each in page.items)
    return json_page(items, str(page.next_before) if page.next_before else None)


Service = Annotated[Changes, Depends(service(Changes))]


@router.get(
    "/projects/{project_id}/changes",
    response_model=ChangesPageOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.AUDIT_READ)
async def list_project_changes(
    project_id: Id, query: Annotated[ProjectChangesQuery, Query()], actor: CurrentActor, changes: Service
) -> Response:
    """The changes in a project, newest first: to itself, its SDK keys, environments, segments, flags and rules.

    Changes of deleted environments and flags are included.
    """
    page = await changes.list_project_changes(actor, project_id, query.filter(), limit=query.limit, before=query.cursor)
    return _page_response(page)


@router.get(
    "/projects/{project_id}/environments/{env_id}/changes",
    response_model=ChangesPageOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.AUDIT_READ)
async def list_changes(
    project_id: Id,
    env_id: Id,
    query: Annotated[EnvironmentChangesQuery, Query()],
    actor: CurrentActor,
    changes: Service,
) -> Response:
    """The changes in an environment, newest first, including changes of deleted flags and of shared resources.

    Shared resources are the project's segments and members, whose changes are listed if you may read the audit trail of
    the whole project. With `flag_id`, of the shared resources only the segments that a rule of the flag names now are
    listed; with `flag_key`, none.
    """
    page = await changes.list_environment_changes(
        actor,
        project_id,
        env_id,
        query.filter(),
        flag_id=query.flag_id,
        limit=query.limit,
        before=query.cursor,
    )
    return _page_response(page)


@router.get("/me/changes", response_model=ChangesPageOut, responses=problems(400, 401, 503))
@reads(Caller.ACCOUNT)
async def list_my_changes(query: Annotated[PageQuery, Query()], actor: CurrentActor, changes: Service) -> Response:
    """The changes of your account, newest first: its registration, new passwords, ended sessions and access tokens."""
    return _page_response(await changes.list_own_changes(actor, limit=query.limit, before=query.cursor))


@router.get("/admin/changes", response_model=ChangesPageOut, responses=problems(400, 401, 403, 503))
@reads(Caller.PERSON)
async def list_instance_changes(
    query: Annotated[PageQuery, Query()], actor: CurrentActor, changes: Service
) -> Response:
    """The changes of accounts and of this instance's settings, newest first. For administrators."""
    return _page_response(await changes.list_instance_changes(actor, limit=query.limit, before=query.cursor))
