"""HTTP of the flags that may be removed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import FlagKey, Moment, Uuid
from flagstaff.flags.project_flags_routes import FlagInBriefOut, view_in_brief
from flagstaff.history.history_routes import ENVIRONMENT
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_stream
from flagstaff.http.services import service
from flagstaff.insight.cleanup import CARE, Candidate, CleanupFilter, Reason
from flagstaff.insight.cleanup_service import LIMIT_MAX, CandidatesPage, Cleanup
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

DAYS_MAX = 365
_CARE = f"{', '.join(f'`{name}`' for name in CARE[:-1])} and `{CARE[-1]}`"

router = Router(prefix=ENVIRONMENT, tags=["Flags"])


class CleanupQuery(BaseModel):
    """The filter of candidates."""

    model_config = ConfigDict(extra="forbid")

    days: Annotated[int, Field(ge=1, le=DAYS_MAX, description="The period: so many days before now.")] = 30
    reason: Annotated[Reason | None, Field(description="Only candidates for this reason.")] = None
    kept: Annotated[bool, Field(description="The flags that are marked with `keep`, instead of all others.")] = False
    limit: Annotated[int, Field(ge=1, le=LIMIT_MAX, description="The maximum number of candidates.")] = 50
    after: Annotated[FlagKey | None, Field(description="The `next_after` of the previous part.")] = None


class EvaluationCountsOut(ResponseModel):
    """The evaluations of a flag in the period: those in the history and those that applications reported."""

    on: int
    off: int
    reported: int = Field(description="How many of them applications that evaluate flags themselves reported.")
    variant: str | None = Field(description="The variant that all of them got; null if there is no such variant.")


class CandidateOut(ResponseModel):
    """A flag that may be removed, with the evidence and with what that would alter."""

    id: Uuid
    key: str
    name: str
    enabled: bool
    owner: str | None
    tags: list[str]
    keep: bool
    created_at: Moment
    changed_at: Moment = Field(
        description=f"When the flag or its rules were changed last. Recent changes only of {_CARE} do not count."
    )
    reasons: list[Reason]
    evaluations: EvaluationCountsOut
    needed_by: list[str] = Field(description="The flags of the environment that have it as a prerequisite.")
    elsewhere: list[FlagInBriefOut] = Field(
        description="The flags with this key in the other environments that you may see, archived ones too."
    )


class CleanupOut(ResponseModel):
    """The flags that may be removed, in the order of their keys."""

    since: Moment = Field(description="The start of the period, rounded down to a whole hour.")
    history_since: Moment | None = Field(
        description="When the history begins, if it is shorter than the period: the evaluations are since then."
    )
    hidden_environments: int = Field(description="The number of other environments whose flags you may not see.")
    candidates: list[CandidateOut]
    next_after: str | None = Field(
        description="Pass it as `after` to get the next part; null if this is the last. "
        "A part of the flags is examined at a time, so any part may be short or empty."
    )


@router.get(
    "/cleanup",
    response_model=CleanupOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.EVALUATIONS_READ, Permission.FLAGS_READ)
async def list_cleanup_candidates(
    project_id: Id,
    env_id: Id,
    query: Annotated[CleanupQuery, Query()],
    actor: CurrentActor,
    cleanup: Annotated[Cleanup, Depends(service(Cleanup))],
) -> Response:
    """The flags that may be removed, with the reasons and the effects.

    A flag is a candidate if in the whole period it was on for everyone, off for everyone, not evaluated or not
    changed. Flags that are younger than the period or archived are left out.
    """
    wanted = CleanupFilter(query.days, query.reason, query.kept)
    page = await cleanup.list_candidates(actor, project_id, env_id, wanted, after=query.after or "", limit=query.limit)
    return json_stream(_encode(page))


def _encode(page: CandidatesPage) -> Iterator[bytes]:
    """The response's JSON in pieces."""
    told = {
        "since": format_moment(page.since),
        "history_since": _moment(page.history_since),
        "hidden_environments": page.hidden_environments,
        "next_after": page.next_after,
    }
    yield encode_json(told)[:-1] + b',"candidates":['
    for place, each in enumerate(page.candidates):
        yield (b"," if place else b"") + encode_json(_view(each))
    yield b"]}"


def _view(candidate: Candidate) -> dict[str, Any]:
    flag, tally = candidate.flag, candidate.tally
    return {
        "id": flag.id,
        "key": flag.key,
        "name": flag.name,
        "enabled": flag.enabled,
        "owner": flag.owner,
        "tags": flag.tags,
        "keep": flag.keep,
        "created_at": format_moment(flag.created_at),
        "changed_at": format_moment(candidate.changed_at),
        "reasons": candidate.reasons,
        "evaluations": {"on": tally.on, "off": tally.off, "reported": tally.reported, "variant": tally.only_variant},
        "needed_by": candidate.needed_by,
        "elsewhere": [view_in_brief(each) for each in candidate.elsewhere],
    }


def _moment(at: datetime | None) -> str | None:
    return None if at is None else format_moment(at)
