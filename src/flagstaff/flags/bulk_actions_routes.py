"""HTTP of bulk actions. Once the response is sent, no evaluation sees the state before it."""

import re
from typing import Annotated, Literal

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, at_most, converted, distinct
from flagstaff.concurrency.claims import Priority
from flagstaff.flags.bulk_actions import FLAGS_MAX, BulkAction
from flagstaff.flags.bulk_actions_service import BulkActions
from flagstaff.flags.field_schemas import Tags
from flagstaff.flags.flags_routes import FlagOut, view_flag
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_parts_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Flags"])


GivenFlags = Annotated[
    list[GivenId],
    at_most(FLAGS_MAX),
    distinct("a flag"),
    Field(json_schema_extra={"minItems": 1, "maxItems": FLAGS_MAX, "uniqueItems": True}),
]


Action = Annotated[Literal["enable", "disable", "archive", "add_tags", "remove_tags"], converted(BulkAction)]


_turns_off = re.compile(rb'"action"\s*:\s*"disable"')  # in a string of JSON, each quote follows a backslash


def _priority_of(body: bytes) -> Priority:
    """Return the class of a request: one that only turns flags off is a kill."""
    return Priority.KILL if _turns_off.search(body) else Priority.LONG


class BulkBody(Body):
    """The action, and the flags."""

    flags: GivenFlags = Field(description="The ids of flags of the environment.")
    action: Action
    tags: Tags = Field(default=[], description="The tags to add or to remove; only for these two actions.")


class BulkOut(ResponseModel):
    """The flags after the action, in the order of the request."""

    flags: list[FlagOut]
    changes: list[str] = Field(
        description="The ids of the changes, one for each flag that was changed. The other flags already had the state."
    )


Service = Annotated[BulkActions, Depends(service(BulkActions))]


@router.post(
    "/bulk-actions",
    response_model=BulkOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(
    Permission.FLAGS_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True, repeatable=True, priority=_priority_of
)
async def change_flags(
    project_id: Id, env_id: Id, body: BulkBody, actor: CurrentActor, bulk_actions: Service
) -> Response:
    """Apply an action to many flags of an environment, or to none of them.

    - `enable` and `disable` turn the flags on and off, and need only `flags:toggle`; the others need `flags:write`.
    - A flag that already has the state is unchanged. Each other flag is a separate change in the audit trail.
    - If the action is not possible for some flags, nothing changes (409), and `errors` has the reason for each: a
      prerequisite of flags that are neither chosen nor archived is not archived, an archived flag is not changed, and a
      flag has at most 20 tags.
    """
    done = await bulk_actions.act(actor, project_id, env_id, body.flags, BulkAction(body.action), body.tags)
    changes = encode_json([str(number) for number in done.numbers])
    return await json_parts_response(b'{"flags":[', map(view_flag, done.flags), b'],"changes":' + changes + b"}")
