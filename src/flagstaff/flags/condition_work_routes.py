"""HTTP of the budget of conditions."""

from collections.abc import Iterable
from math import ceil
from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.flags.condition_work_service import ConditionWork, Part
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}/condition-work", tags=["Environments"])


class PartOut(ResponseModel):
    """The cost of a flag's rules, or of a segment, by themselves, in microseconds."""

    key: str
    work: int


class ConditionWorkOut(ResponseModel):
    """The highest cost of an environment's conditions for an evaluation, in microseconds, and the budget."""

    budget: int
    work: int = Field(description="Above the budget only if the conditions are older than the budget.")
    setting: str = Field(description="The setting of the budget, which the operator can raise.")
    flags: list[PartOut] = Field(description="The 20 flags whose rules cost most, without their segments.")
    segments: list[PartOut] = Field(description="The 20 segments that cost most, of those that rules name.")


Service = Annotated[ConditionWork, Depends(service(ConditionWork))]


@router.get(
    "",
    response_model=ConditionWorkOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.FLAGS_READ)
async def get_condition_work(project_id: Id, env_id: Id, actor: CurrentActor, condition_work: Service) -> Response:
    """Return how much of its budget the conditions of an environment use, and the flags and segments that use most."""
    found = await condition_work.describe(actor, project_id, env_id)
    quota = condition_work.settings.max_condition_work
    return json_response(
        {
            "budget": quota.maximum,
            "work": ceil(found.micros),
            "setting": quota.setting,
            "flags": _views(found.flags),
            "segments": _views(found.segments),
        }
    )


def _views(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [{"key": part.key, "work": ceil(part.micros)} for part in parts]
