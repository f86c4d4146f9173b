"""HTTP of outlooks: how long the guards of a release take, and what they cannot find."""

from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import BeforeValidator, Field, model_validator
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import asks, reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, FlagKey, at_most, optional
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.releases.outlook import Basis, GuardOutlook, Outlook, Source, StepOutlook
from flagstaff.releases.outlook_service import Assumed, Outlooks
from flagstaff.releases.outlook_wording import say_guard_outlook, say_step_outlook
from flagstaff.releases.plans import GUARDS_MAX
from flagstaff.releases.releases_schemas import NewRelease, whole_as_float
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}/flags/{flag_id}", tags=["Releases"])

Rate = Annotated[float, Field(ge=1e-6, le=1), BeforeValidator(whole_as_float)]
Number = Annotated[float, Field(ge=-1e15, le=1e15), BeforeValidator(whole_as_float)]
Deviation = Annotated[float, Field(ge=0, le=1e15), BeforeValidator(whole_as_float)]
UsersPerDay = Annotated[float, Field(ge=0.01, le=1e9), BeforeValidator(whole_as_float)]


class AssumedMetric(Body):
    """Assumptions about users without the flag, instead of observations."""

    metric: FlagKey
    rate: Rate = optional()
    mean: Number = optional()
    deviation: Deviation = optional()

    def read(self) -> Basis:
        """The same as the domain has it."""
        given = {name: getattr(self, name) for name in self.model_fields_set - {"metric"}}
        return Basis(Source.GIVEN, **given)


class Assumptions(Body):
    """Assumptions instead of observations."""

    users_per_day: UsersPerDay = optional()
    metrics: Annotated[list[AssumedMetric], at_most(GUARDS_MAX)] = Field(
        default=[], json_schema_extra={"maxItems": GUARDS_MAX}
    )

    def read(self) -> Assumed:
        """The same as the domain has it."""
        users = self.users_per_day if "users_per_day" in self.model_fields_set else None
        return Assumed(users, {each.metric: each.read() for each in self.metrics})


class AskedOutlook(NewRelease):
    """A release that might be created."""

    assumes: Assumptions = Field(default_factory=Assumptions)

    @model_validator(mode="after")
    def _check_assumed(self) -> "AskedOutlook":
        keys = [each.metric for each in self.assumes.metrics]
        if len(set(keys)) < len(keys):
            raise ValueError("must not assume numbers of a metric twice")
        return self


class BasisOut(ResponseModel):
    """The known behaviour of users without the flag."""

    source: Literal["release", "events", "given"] = Field(
        description="The users of the release without the flag, the latest users of the flag with their events in at "
        "most a day, or the request."
    )
    users: int = Field(description="The users with an event who were seen.")
    rate: float | None = Field(description="The share of the users with an event.")
    mean: float | None = Field(description="The mean of a count per user, or of the values of users who have any.")
    deviation: float | None = Field(description="The standard deviation of the same numbers.")


class FindOut(ResponseModel):
    """A harm, and how long it takes to find it. About two of three such releases have found it by then."""

    effect: float = Field(description="A ratio of rates, or a difference of means.")
    users: int | None = Field(description="The users of all groups; null if it is never found.")
    days: float | None = Field(description="Null if it takes more than a year, or if the traffic is not known.")


class StepOutlookOut(ResponseModel):
    """A guard's findings from the beginning of a step on."""

    step: int
    days: float = Field(description="How long the step is in force; 28 days if it has no end.")
    arm: str | None = Field(
        description="The group, other than the control, for which it takes longest; null if nobody can be compared."
    )
    share: float = Field(description="The share of this group among the users who are compared.")
    finds: list[FindOut]
    least: float | None = Field(
        description="The smallest harm that is found in the time of the step: a ratio, or a difference. Null if none "
        "is, or if the traffic is not known."
    )
    words: str


class GuardOutlookOut(ResponseModel):
    """A guard's findings in each step that divides users, from the step in force on."""

    metric: str
    name: str
    kind: Literal["binary", "count", "value"]
    words: str
    basis: BasisOut | None = Field(description="Null if too little is known.")
    steps: list[StepOutlookOut]


class OutlookOut(ResponseModel):
    """How long the guards of a release take."""

    users_per_day: float | None = Field(
        description="The users who evaluate the flag in a day: on average over the last seven days, or as given."
    )
    guards: list[GuardOutlookOut]


_view_basis = view_of(Basis)


def _view_step(outlook: GuardOutlook, step: StepOutlook, found: Outlook) -> dict[str, Any]:
    words = say_step_outlook(outlook, step, found)
    return {
        "step": step.step,
        "days": step.days,
        "arm": step.arm,
        "share": step.share,
        "finds": [{"effect": each.effect, "users": each.users, "days": each.days} for each in step.finds],
        "least": step.least,
        "words": words[:1].upper() + words[1:],
    }


def _view(found: Outlook) -> dict[str, Any]:
    return {
        "users_per_day": found.traffic.users_per_day if found.traffic else None,
        "guards": [
            {
                "metric": each.metric.key,
                "name": each.metric.name,
                "kind": each.metric.kind,
                "words": say_guard_outlook(each, found),
                "basis": _view_basis(each.basis) if isinstance(each.basis, Basis) else None,
                "steps": [_view_step(each, step, found) for step in each.steps],
            }
            for each in found.guards
        ],
    }


Service = Annotated[Outlooks, Depends(service(Outlooks))]


@router.post("/outlook", response_model=OutlookOut, responses=problems(400, 401, 404, 409, 413, 503))
@asks(Permission.FLAGS_READ, Permission.EVALUATIONS_READ, body_max_bytes=TEXT_BODY)
async def preview_release_outlook(
    path: FlagIds, body: AskedOutlook, actor: CurrentActor, outlooks: Service
) -> Response:
    """How long the guards of a release would take to find harm, and what they could not find. Nothing is stored.

    The body is a new release, which is checked as if it were created. `assumes` has numbers that stand in for
    those that were seen.
    """
    return json_response(_view(await outlooks.ask_outlook(actor, path, body.read(), body.assumes.read())))


@router.get("/releases/{release_id}/outlook", response_model=OutlookOut, responses=problems(401, 404, 503))
@reads(Permission.EVALUATIONS_READ, takes_long=True)
async def get_release_outlook(path: FlagIds, release_id: Id, actor: CurrentActor, outlooks: Service) -> Response:
    """How long the guards of a release take to find harm, from the step in force on, and what they cannot find.

    It is computed from the users seen so far, and from the traffic of the last seven days.
    """
    return json_response(_view(await outlooks.get_outlook(actor, path, release_id)))
