"""HTTP of exports of flags, and of what SDKs that evaluate flags in the application answer differently."""

from typing import Annotated, Literal

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Uuid
from flagstaff.applications.flag_exports_service import FLAGS_AT_ONCE, ExportFormat, FlagExports
from flagstaff.concurrency.lots import Lot
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.http.exports import ExportResponse, Exports
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["SDKs"])


class DifferenceOut(ResponseModel):
    """A difference of a flag in SDKs that evaluate it in the application."""

    effect: Annotated[
        Literal["off", "unusual"],
        Field(
            description="`off` if the flag is off there for some users for whom it is on here; `unusual` if the "
            "results differ only for unusual values in some SDKs."
        ),
    ]
    message: str
    rule_id: Annotated[Uuid | None, Field(description="The rule that causes it, if one does.")]


class ExportQuery(BaseModel):
    """The format of the file."""

    model_config = ConfigDict(extra="forbid")

    format: Annotated[
        Literal["unleash", "flagstaff"],
        Field(description="`unleash` for SDKs at their start; `flagstaff` for the flags in Flagstaff's own form."),
    ] = "unleash"


Service = Annotated[FlagExports, Depends(service(FlagExports))]
Running = Annotated[Exports, Depends(service(Exports))]


@router.get(
    "/export",
    response_model=dict[str, object],
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def export_environment(
    project_id: Id,
    env_id: Id,
    actor: CurrentActor,
    exports: Service,
    running: Running,
    query: Annotated[ExportQuery, Query()],
) -> Response:
    """Return all flags of an environment as one document, such as a bootstrap file for SDKs."""
    lot = Lot(FLAGS_AT_ONCE)
    batches = await exports.export(actor, project_id, env_id, ExportFormat(query.format), lot)
    made = running.made(batches, lot)
    return ExportResponse(running, actor.account_id, made, media_type="application/json")


@router.get(
    "/flags/{flag_id}/sdk-differences",
    response_model=list[DifferenceOut],
    responses=problems(401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def list_sdk_differences(path: FlagIds, actor: CurrentActor, exports: Service) -> Response:
    """List the differences in SDKs that evaluate the flag in the application, and the reasons."""
    found = await exports.list_differences(actor, path)
    return json_response([{"effect": e.effect, "message": e.message, "rule_id": e.rule_id} for e in found])
