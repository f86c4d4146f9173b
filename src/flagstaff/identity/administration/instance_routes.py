"""HTTP of the instance itself, for its administrators."""

from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal

from fastapi import Depends, Request
from pydantic import Field, StrictBool
from starlette.responses import Response

from flagstaff import __version__
from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Update, optional
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.probes import Probes
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service, service_of
from flagstaff.identity.administration.instance import InstanceSettings
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.values.errors import Error

router = Router(prefix="/api/admin", tags=["Administration"])


class InstanceOut(ResponseModel):
    """The size of this instance, its quotas, and its health."""

    version: str
    database: Literal["sqlite", "postgresql"]
    accounts: int
    active_accounts: int
    projects: int
    sessions: int = Field(description="How many sessions are open.")
    quotas: dict[str, int] = Field(description="The quotas by the names of their settings.")
    ready: bool = Field(description="What `/ready` says.")
    problem: str | None = Field(description="Why it is not ready.")
    tasks: dict[str, bool] = Field(description="Whether each background task works.")


class InstanceSettingsOut(TaggedOut):
    """The settings that are changed while the instance runs."""

    registration: Literal["open", "closed"]
    is_default: bool = Field(description="Whether `registration` is the value of `FLAGSTAFF_REGISTRATION`.")
    demands_second_factor: bool = Field(
        description="Whether every account needs a second factor for everything except its own settings."
    )
    demands_second_factor_is_default: bool = Field(
        description="Whether `demands_second_factor` is the value of `FLAGSTAFF_DEMAND_SECOND_FACTOR`."
    )


class InstanceSettingsUpdate(Update):
    """The settings to change. Null is the value of the environment variable."""

    read_only: ClassVar[frozenset[str]] = frozenset({"is_default", "demands_second_factor_is_default"})

    registration: Literal["open", "closed"] | None = optional()
    demands_second_factor: StrictBool | None = optional()


def _view(settings: InstanceSettings) -> dict[str, Any]:
    return asdict(settings)


Service = Annotated[Instance, Depends(service(Instance))]
IfMatch = Annotated[Precondition[InstanceSettings], Depends(if_match("configuration of the instance", _view))]


@router.get("/instance", response_model=InstanceOut, responses=problems(401, 403, 503))
@reads(Caller.PERSON)
async def get_instance(request: Request, actor: CurrentActor, instance: Service) -> Response:
    """Return the size of this instance, its quotas and its health."""
    overview = await instance.get_overview(actor)
    supervisor = service_of(request, Supervisor)
    problem = None
    try:
        await service_of(request, Probes).check()
    except Error as error:
        problem = error.message
    return json_response(
        {
            "version": __version__,
            "database": overview.database,
            **overview.counts._asdict(),
            "quotas": overview.quotas,
            "ready": problem is None,
            "problem": problem,
            "tasks": supervisor.up,
        }
    )


@router.get("/settings", response_model=InstanceSettingsOut, responses=problems(401, 403, 503))
@reads(Caller.PERSON)
async def get_settings(actor: CurrentActor, instance: Service) -> Response:
    """The settings that are changed while the instance runs."""
    return tagged_response(_view(await instance.get_settings(actor)))


@router.put("/settings", response_model=InstanceSettingsOut, responses=problems(400, 401, 403, 413, 503))
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False)
async def update_settings(
    body: InstanceSettingsUpdate, actor: CurrentActor, instance: Service, precondition: IfMatch
) -> Response:
    """Open or close registration, and set whether every account needs a second factor, on every instance.

    These settings take precedence over the environment variables. To require a second factor, you need one.
    """
    return tagged_response(_view(await instance.update_settings(actor, precondition, **body.given())))
