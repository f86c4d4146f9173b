"""HTTP of the audit trail."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.domain.changes import NumberedChange
from flagstaff.domain.moments import format_moment
from flagstaff.services.changes import Changes
from flagstaff.web.edge.problems import problems
from flagstaff.web.edge.responses import json_response
from flagstaff.web.management.auth import CurrentActor
from flagstaff.web.management.ids import Id
from flagstaff.web.management.schemas import Moment, Text, Uuid

router = APIRouter(prefix="/api/projects/{project_id}/environments/{env_id}/changes", tags=["Audit"])


class ActorOut(BaseModel):
    """Who made a change; both are null for the command line."""

    id: Uuid | None
    email: str | None


class ChangeOut(BaseModel):
    """One change: `before` is null for a creation, `after` for a deletion."""

    id: str
    at: Moment
    actor: ActorOut
    action: str = Field(examples=["flag.toggled"])
    resource_id: Uuid
    flag_id: Uuid | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class ChangesPageOut(BaseModel):
    """Some changes, newest first."""

    items: list[ChangeOut]
    next_cursor: str | None = Field(description="Leads to older changes; null when there are none.")


class ChangesQuery(BaseModel):
    """Which changes to list."""

    model_config = ConfigDict(extra="forbid")

    flag_id: Annotated[UUID | None, Field(description="Only this flag's changes and its rules'.")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Text | None = None


def _view(numbered: NumberedChange) -> dict[str, Any]:
    change = numbered.change
    return {
        "id": str(numbered.number),
        "at": format_moment(change.at),
        "actor": {"id": change.actor.account_id, "email": change.actor.email},
        "action": change.action,
        "resource_id": change.resource_id,
        "flag_id": change.scope.flag_id,
        "before": change.before,
        "after": change.after,
    }


async def _changes(request: Request) -> Changes:
    changes: Changes = request.app.state.changes
    return changes


@router.get("", response_model=ChangesPageOut, responses=problems(400, 401, 404, 503))
async def list_changes(
    project_id: Id,
    env_id: Id,
    query: Annotated[ChangesQuery, Query()],
    actor: CurrentActor,
    changes: Annotated[Changes, Depends(_changes)],
) -> Response:
    """Who changed what in an environment, newest first; of deleted flags, too."""
    page = await changes.list_changes(actor, project_id, env_id, **query.model_dump())
    return json_response({"items": [_view(each) for each in page.items], "next_cursor": page.next_cursor})
