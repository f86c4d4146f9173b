"""A project's audit trail as CSV, sent page by page."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from itertools import chain
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Query
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.csv import csv_line
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.audit.changes_routes import ChangeFilters, Service
from flagstaff.changes.changes import NumberedChange
from flagstaff.concurrency.lots import Lot
from flagstaff.http.exports import ExportResponse, Exports
from flagstaff.http.problems import problems
from flagstaff.http.responses import encode_json
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix="/api", tags=["Audit"])

_AT_ONCE = 500
_COLUMNS = (
    *("id", "at", "actor", "token", "action", "resource_id", "environment", "environment_id", "flag_key", "flag_id"),
    *("restores", "before", "after", "batch_id"),
)
Running = Annotated[Exports, Depends(service(Exports))]
_HEADERS = {"content-disposition": 'attachment; filename="changes.csv"'}


@router.get(
    "/projects/{project_id}/changes.csv",
    response_class=Response,
    responses={
        **problems(400, 401, 404, 503),
        200: {"description": "CSV in UTF-8.", "content": {"text/csv": {"schema": {"type": "string"}}}},
    },
)
@reads(Permission.AUDIT_READ)
async def export_project_changes(
    project_id: Id, query: Annotated[ChangeFilters, Query()], actor: CurrentActor, changes: Service, exports: Running
) -> Response:
    """The changes in a project as CSV, newest first, with the same filters as the list.

    A text that a spreadsheet would interpret as a formula starts with an apostrophe.
    """
    wanted, lot = query.filter(), Lot(_AT_ONCE)
    keys = await changes.name_environments(actor, project_id)
    first = await changes.read_project_changes(actor, project_id, wanted, limit=lot.rows)

    async def batches() -> AsyncIterator[Iterable[bytes]]:
        page = first
        yield chain((csv_line(_COLUMNS).encode(),), _lines(page.items, keys))
        while page.next_before is not None:
            page = await changes.read_project_changes(
                actor, project_id, wanted, limit=lot.rows, before=page.next_before
            )
            yield _lines(page.items, keys)

    made = exports.made(batches(), lot)
    return ExportResponse(exports, actor.account_id, made, media_type="text/csv", headers=_HEADERS)


def _lines(changes: Iterable[NumberedChange], keys: Mapping[UUID, str]) -> Iterator[bytes]:
    return (csv_line(_cells(each, keys)).encode() for each in changes)


def _cells(numbered: NumberedChange, keys: Mapping[UUID, str]) -> tuple[Any, ...]:
    change, scope = numbered.change, numbered.change.scope
    return (
        numbered.number,
        format_moment(change.at),
        change.actor.email,
        change.actor.token and change.actor.token.name,
        change.action,
        change.resource_id,
        keys.get(scope.environment_id) if scope.environment_id else None,
        scope.environment_id,
        scope.flag_key,
        scope.flag_id,
        change.restores,
        *(each and encode_json(each).decode() for each in (change.before, change.after)),
        change.batch and change.batch.id,
    )
