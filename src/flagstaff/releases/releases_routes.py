"""HTTP of releases. Their steps are applied by the server, at their times."""

from functools import partial
from typing import Annotated

from fastapi import Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.lists import BY_AGE, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.concurrency.claims import Priority
from flagstaff.database.preconditions import Precondition
from flagstaff.flags.flag_path_schemas import FlagIds
from flagstaff.http.operations import TEXT_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.releases.plans import WhenLate
from flagstaff.releases.releases import Release
from flagstaff.releases.releases_schemas import NewRelease, NewSchedules
from flagstaff.releases.releases_service import Releases
from flagstaff.releases.releases_view_schemas import ReleaseOut, view_release

router = Router(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Releases"])

_OF_FLAG = "/flags/{flag_id}/releases"
_RELEASE = _OF_FLAG + "/{release_id}"
_listing = Listing(view_release, lambda release: (release.created_at, release.id), BY_AGE)

Service = Annotated[Releases, Depends(service(Releases))]
IfMatch = Annotated[Precondition[Release], Depends(if_match("release", view_release))]


@router.post(_OF_FLAG, status_code=201, response_model=ReleaseOut, responses=problems(400, 401, 404, 409, 413, 503))
@writes(Permission.FLAGS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=False, repeatable=True)
async def create_release(path: FlagIds, body: NewRelease, actor: CurrentActor, releases: Service) -> Response:
    """Create a release of a flag: steps, each at its time, guards and thresholds. One step with `at` is a schedule.

    It acts for the account that makes it. A release that changes rules also needs `rules:write`. A flag has one release
    at a time that has not ended.
    """
    created = await releases.create_release(actor, path, body.read())
    return tagged_response(view_release(created), 201)


@router.get(_OF_FLAG, response_model=list[ReleaseOut], responses=problems(400, 401, 404, 503))
@reads(Permission.FLAGS_READ)
async def list_releases(path: FlagIds, part: ListPart, actor: CurrentActor, releases: Service) -> Response:
    """The releases of a flag, newest first. Of those that have ended, the last 50 are kept."""
    return await _listing.respond(part, partial(releases.list_releases, actor, path))


@router.post(
    "/releases", status_code=201, response_model=list[ReleaseOut], responses=problems(400, 401, 404, 409, 413, 503)
)
@writes(
    Permission.FLAGS_WRITE, body_max_bytes=TEXT_BODY, reports_revision=False, repeatable=True, priority=Priority.LONG
)
async def schedule_flags(
    project_id: Id, env_id: Id, body: NewSchedules, actor: CurrentActor, releases: Service
) -> Response:
    """Schedule changes of several flags for one moment, or of none of them: a release of each."""
    created = await releases.schedule_flags(
        actor,
        project_id,
        env_id,
        name=body.name,
        at=body.at,
        changes={each.flag_id: each.changes.given() for each in body.flags},
        when_late=WhenLate(body.when_late),
    )
    return await json_array_response(map(view_release, created), status=201)


@router.get("/releases", response_model=list[ReleaseOut], responses=problems(400, 401, 404, 503))
@reads(Permission.FLAGS_READ)
async def list_open_releases(
    project_id: Id, env_id: Id, part: ListPart, actor: CurrentActor, releases: Service
) -> Response:
    """The releases of an environment that have not ended, newest first."""
    return await _listing.respond(part, partial(releases.list_open_releases, actor, project_id, env_id))


@router.get(_RELEASE, response_model=ReleaseOut, responses=problems(401, 404, 503))
@reads(Permission.FLAGS_READ)
async def get_release(path: FlagIds, release_id: Id, actor: CurrentActor, releases: Service) -> Response:
    """One release."""
    return tagged_response(view_release(await releases.get_release(actor, path, release_id)))


@router.post(_RELEASE + "/pause", response_model=ReleaseOut, responses=problems(401, 404, 409, 503))
@writes(Permission.FLAGS_WRITE, reports_revision=False, repeatable=True, priority=Priority.KILL)
async def pause_release(
    path: FlagIds, release_id: Id, actor: CurrentActor, releases: Service, precondition: IfMatch
) -> Response:
    """Pause a release: no step begins until it is resumed. Its guards go on watching."""
    return tagged_response(view_release(await releases.pause_release(actor, path, release_id, precondition)))


@router.post(_RELEASE + "/resume", response_model=ReleaseOut, responses=problems(401, 404, 409, 503))
@writes(Permission.FLAGS_WRITE, reports_revision=False, repeatable=True)
async def resume_release(
    path: FlagIds, release_id: Id, actor: CurrentActor, releases: Service, precondition: IfMatch
) -> Response:
    """Resume a paused release. What others have changed meanwhile stays, until a step changes it.

    If the release has had the flag on and somebody has turned it off, turn it on first.
    """
    return tagged_response(view_release(await releases.resume_release(actor, path, release_id, precondition)))


@router.post(_RELEASE + "/cancel", response_model=ReleaseOut, responses=problems(401, 404, 409, 503))
@writes(Permission.FLAGS_WRITE, reports_revision=False, repeatable=True, priority=Priority.KILL)
async def cancel_release(
    path: FlagIds, release_id: Id, actor: CurrentActor, releases: Service, precondition: IfMatch
) -> Response:
    """End a release. The flag stays as it is, and so do the results."""
    return tagged_response(view_release(await releases.cancel_release(actor, path, release_id, precondition)))
