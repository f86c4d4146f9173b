"""HTTP of the instances that serve from one database, for administrators."""

from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment
from flagstaff.cluster.instances import Load
from flagstaff.cluster.instances_service import PlacedInstance, ServingInstances
from flagstaff.http.operations import Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/instances", tags=["Administration"])


class LeaseOut(ResponseModel):
    """The lease of an instance, which shows whether it is in touch with the others."""

    state: Literal["live", "leaving", "lapsed", "none"] = Field(
        description="`live`: it serves every change whose response has been sent. `leaving`: it is being stopped. "
        "`lapsed`: it is cut off, or has ended without giving up its lease. `none`: it needs no lease: only one "
        "process can serve from its database."
    )
    expires_in_seconds: float | None = Field(
        description="The seconds until the lease lapses unless it is renewed, by the database's clock; negative if it "
        "has lapsed. Null without PostgreSQL."
    )


class LoadOut(ResponseModel, of=Load):
    """The load of the instance: the rates and the lag over three seconds, up to six seconds before its report."""

    cpu: float = Field(description="Processor time per second: 1 is one core all the time.")
    event_loop_lag_seconds: float = Field(description="The longest time for which requests had to wait for others.")


class ListedInstanceOut(ResponseModel):
    """A process that serves: an instance, or one of the workers of an instance."""

    id: str
    name: str = Field(description="`FLAGSTAFF_INSTANCE_NAME`, and the worker if there are several.")
    answered: bool = Field(description="Whether this is the one that has answered the request.")
    version: str
    started_at: Moment | None
    workers: int | None = Field(description="How many processes its server has.")
    lease: LeaseOut
    change: int | None = Field(
        description="It has reported that it serves all changes up to the one with this number. Each entry of the "
        "audit trails of this server has a higher number than the ones before it."
    )
    changes_behind: int | None = Field(
        description="How many changes are newer, at most 1,000. An instance reports them within two seconds, so for "
        "a moment after a change all instances are behind."
    )
    seconds_behind: float | None = Field(description="How old the first of these changes is; 0 if there is none.")
    same_secret_key: bool | None = Field(
        description="Whether it has the same secret key as the one that has answered. If not, sessions from one are "
        "refused by the other: set `FLAGSTAFF_SECRET_KEY` to the same key in all of them."
    )
    load: LoadOut | None


def _view(placed: PlacedInstance) -> dict[str, Any]:
    instance, behind, answered, has_same_key = placed
    report = instance.report
    return {
        "id": instance.id,
        "name": instance.address,
        "answered": answered,
        "version": instance.version,
        "started_at": format_moment(instance.started_at) if instance.started_at else None,
        "workers": report.workers if report else None,
        "lease": {"state": instance.lease, "expires_in_seconds": instance.lease_seconds},
        "change": report.change if report else None,
        "changes_behind": behind.changes if behind else None,
        "seconds_behind": behind.seconds if behind else None,
        "same_secret_key": has_same_key,
        "load": report.load if report else None,
    }


Service = Annotated[ServingInstances, Depends(service(ServingInstances))]


@router.get("", response_model=list[ListedInstanceOut], responses=problems(401, 403, 503))
@reads(Caller.PERSON)
async def list_instances(actor: CurrentActor, instances: Service) -> Response:
    """The instances that serve from this one's database, by name. For administrators.

    Those that were not stopped but are not heard of any more stay for an hour. What an instance does not
    say of itself is null.
    """
    return json_response([_view(each) for each in await instances.list_instances(actor)])
