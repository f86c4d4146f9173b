"""HTTP of the callers of an environment: who asks for its flags, how often, and when last."""

from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Since, Uuid
from flagstaff.applications.callers_service import Callers
from flagstaff.history.callers import CallerUse, SdkProtocol
from flagstaff.history.history_routes import ENVIRONMENT
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_array_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(prefix=f"{ENVIRONMENT}/callers", tags=["Applications"])


class CallersQuery(BaseModel):
    """The filter and the order of a list of callers."""

    model_config = ConfigDict(extra="forbid")

    since: Since = None
    sdk_key_id: Annotated[GivenId | None, Field(description="Only those with this SDK key.")] = None


class CallerOut(ResponseModel):
    """A protocol, an SDK key, a user agent and a network from which requests come."""

    protocol: SdkProtocol = Field(
        description="`evaluate`, `ofrep` or `unleash` for evaluations on the server, by OFREP and in Unleash's SDKs, "
        "`unleash_frontend` for Unleash's frontend API, `stream` for open streams, `events` for events of metrics."
    )
    sdk_key_id: Uuid | None = Field(description="Null for the project's own key. The key may have been revoked.")
    user_agent: str = Field(description="The first 200 characters of the caller's user agent; may be empty.")
    network: str | None = Field(
        description="The /24 or, with IPv6, the /48 of its address; null if it has none. Addresses are not stored."
    )
    is_others: bool = Field(
        description="Whether it counts all further callers with this protocol and key together: at most 200 "
        "callers per key and 1,000 per environment are counted separately."
    )
    requests_per_minute: float = Field(description="In about the last five minutes.")
    requests_last_24_hours: int = Field(description="In the current hour and the 23 hours before.")
    first_used_at: Moment
    last_used_at: Moment = Field(
        description="Accurate to a few seconds. An open stream counts as in use, accurate to a minute."
    )


Service = Annotated[Callers, Depends(service(Callers))]


@router.get("", response_model=list[CallerOut], responses=problems(400, 401, 404, 503))
@reads(Permission.EVALUATIONS_READ)
async def list_callers(
    project_id: Id, env_id: Id, query: Annotated[CallersQuery, Query()], actor: CurrentActor, callers: Service
) -> Response:
    """List the callers of the last 30 days, the most recent first: at most 1,000.

    Requests whose SDK key is not valid, or that a limit refuses, are not counted, and neither are refused requests
    with the project's own key.
    """
    return await json_array_response(
        map(_view, await callers.list_callers(actor, project_id, env_id, query.since, query.sdk_key_id))
    )


def _view(use: CallerUse) -> dict[str, Any]:
    caller = use.caller
    return {
        "protocol": caller.protocol,
        "sdk_key_id": caller.key_id,
        "user_agent": caller.user_agent,
        "network": None if caller.is_others else caller.network or None,
        "is_others": caller.is_others,
        "requests_per_minute": round(use.requests_per_minute, 1),
        "requests_last_24_hours": use.requests_last_day,
        "first_used_at": format_moment(use.first_at),
        "last_used_at": format_moment(use.last_at),
    }
