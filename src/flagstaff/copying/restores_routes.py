"""HTTP of restoring changes. Once the response is sent, no evaluation sees the state before it."""

import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Self

from fastapi import Depends
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic.config import JsonDict
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import ChangeId, Id
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import CASES, Body, Uuid, at_most, distinct, optional
from flagstaff.concurrency.claims import Priority
from flagstaff.concurrency.pacing import Turns, collect
from flagstaff.copying.restored_batches import BatchOf
from flagstaff.copying.restores import Alteration
from flagstaff.copying.restores_service import RestoredChange, Restores
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encoded, json_parts_response, json_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission

router = Router(prefix="/api", tags=["Audit"])

Handler = Callable[..., Awaitable[Response]]

CHANGES_MAX = 100
_given_number = re.compile("[1-9][0-9]{0,17}")


class RestoreBody(Body):
    """Options of a restore."""

    dry_run: bool = Field(default=False, description="Only return the changes that it would make.")
    if_unchanged: bool = Field(
        default=False, description="Refuse (409) if the same fields have been changed again since."
    )


_CHANGE_ID = WithJsonSchema({"type": "string", "pattern": f"^{_given_number.pattern}$"})


def _read_given_number(given: object) -> int:
    if not isinstance(given, str) or not _given_number.fullmatch(given):
        raise ValueError("must be the id of a change")
    return int(given)


_CHOICES: JsonDict = {
    "RestoreChosen": {
        "description": "Restores the changes with these ids.",
        "required": ["changes"],
        "without": ["batch_of"],
    },
    "RestoreBatch": {
        "description": "Restores all changes of the operation that made the change `batch_of`, such as a copy.",
        "required": ["batch_of"],
        "without": ["changes"],
    },
}


class RestoreAllBody(RestoreBody, json_schema_extra={CASES: _CHOICES}):
    """The changes to put back, or one change of an operation that is put back whole, with the options of a restore."""

    changes: Annotated[
        list[Annotated[int, BeforeValidator(_read_given_number), _CHANGE_ID]],
        at_most(CHANGES_MAX),
        distinct("a change"),
        Field(json_schema_extra={"minItems": 1, "maxItems": CHANGES_MAX, "uniqueItems": True}),
    ] = optional()
    batch_of: Annotated[int, BeforeValidator(_read_given_number), _CHANGE_ID] = optional()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len({"changes", "batch_of"} & self.model_fields_set) != 1:
            raise ValueError("must have either changes or batch_of")
        return self

    def chosen(self) -> list[int] | BatchOf:
        """The changes that are put back."""
        return BatchOf(self.batch_of) if "batch_of" in self.model_fields_set else self.changes


class FieldAlterationOut(ResponseModel):
    """A field that is altered. `present` is null for a resource that comes back, `restored` for one that is deleted."""

    field: str
    present: Any
    restored: Any


class AlterationOut(ResponseModel):
    """A change that a restore makes to one resource."""

    action: str = Field(examples=["flag.updated"])
    resource_id: Uuid
    environment_id: Uuid | None = Field(description="The environment of a flag or a rule; null for a segment.")
    flag_key: str | None
    turns_on: bool = Field(
        description="Whether this turns a flag on: it is on afterwards, and was off, archived or not there before."
    )
    fields: list[FieldAlterationOut]


class RestoreOut(ResponseModel):
    """The changes that were restored, or with `dry_run` would be."""

    change_id: str | None = Field(description="The change that this made; null for a dry run.")
    alterations: list[AlterationOut]


class RestoredChangeOut(ResponseModel):
    """One of several changes, and what came of it."""

    change_id: str = Field(description="The change that is restored.")
    restored_by: str | None = Field(description="The change that this made; null for a dry run.")
    refusal: str | None = Field(description="Why it cannot be restored. Only in the response to a dry run.")
    alterations: list[AlterationOut]


class RestoreAllOut(ResponseModel):
    """The changes, newest first."""

    items: list[RestoredChangeOut]


def _view(alteration: Alteration) -> dict[str, Any]:
    return {
        "action": alteration.action,
        "resource_id": alteration.resource.id,
        "environment_id": alteration.scope.environment_id,
        "flag_key": alteration.scope.flag_key,
        "turns_on": alteration.turns_on,
        "fields": alteration.fields,
    }


Service = Annotated[Restores, Depends(service(Restores))]


def _restores(priority: Priority) -> Callable[[Handler], Handler]:
    return writes(
        Permission.FLAGS_WRITE,
        Permission.AUDIT_READ,
        place="environment",
        body_max_bytes=SMALL_BODY,
        reports_revision=True,
        repeatable=True,
        priority=priority,
    )


@router.post(
    "/projects/{project_id}/changes/{change_id}/restore",
    response_model=RestoreOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@_restores(Priority.SHORT)
async def restore_change(
    project_id: Id, change_id: ChangeId, actor: CurrentActor, restores: Service, body: RestoreBody | None = None
) -> Response:
    """Restore the fields that a change of a flag, a rule or a segment has changed to their values before the change.

    Only the fields that the change has changed are restored. A deleted flag is restored with its rules, and a deleted
    rule or segment, with the same ids. This is a change of its own, which names the other in `restores`, and needs the
    permission for it: `flags:write`, `flags:toggle` for a toggle, `rules:write` for a rule and `segments:write` for a
    segment. It also needs `audit:read`, because the old values come from the audit trail.

    Restoring a creation deletes what was created, unless it has been changed since (409, which names the change).
    """
    asked = body or RestoreBody()
    restored = await restores.restore(
        actor, project_id, change_id, dry_run=asked.dry_run, if_unchanged=asked.if_unchanged
    )
    number = str(restored.number) if restored.number is not None else None
    # A flag has a thousand rules, for instance.
    alterations = await collect(encoded(_view(each)) for each in restored.alterations)
    return json_response({"change_id": number, "alterations": alterations})


@router.post(
    "/projects/{project_id}/changes/restore",
    response_model=RestoreAllOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@_restores(Priority.LONG)
async def restore_changes(project_id: Id, body: RestoreAllBody, actor: CurrentActor, restores: Service) -> Response:
    """Restore several changes together, the newest first, as if each were restored alone; or none of them.

    With `batch_of`, these are all changes of the operation that made this change, such as a copy. What it created is
    deleted last. The rules of a flag that it created are deleted with the flag, and are not among the `items`.

    A dry run shows for each change what it would change, or why it cannot be restored.
    """
    items = await restores.restore_all(
        actor, project_id, body.chosen(), dry_run=body.dry_run, if_unchanged=body.if_unchanged
    )
    views, turns = [], Turns()
    for item in items:
        views.append(await _view_restored(item))
        await turns.give()
    return await json_parts_response(b'{"items":[', views, b"]}")


async def _view_restored(item: RestoredChange) -> dict[str, Any]:
    number = item.restored.number
    return {
        "change_id": str(item.restores),
        "restored_by": None if number is None else str(number),
        "refusal": item.refusal and item.refusal.message,
        "alterations": await collect(encoded(_view(each)) for each in item.restored.alterations),
    }
