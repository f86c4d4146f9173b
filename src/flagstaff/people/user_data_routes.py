"""HTTP of everything that is stored about one user, as one JSON document that is sent in parts."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import asks
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Moment, Uuid
from flagstaff.history.erased_users import Subject
from flagstaff.history.history_routes import EvaluationEncoder, EvaluationOut
from flagstaff.history.recorded_events_routes import EventOriginOut, origin_view
from flagstaff.http.exports import ExportResponse, Exports
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json
from flagstaff.http.services import service
from flagstaff.metrics.events import RecordedEvent
from flagstaff.people.erasures_routes import UserOfApplication
from flagstaff.people.exposures import UserExposure
from flagstaff.people.user_data_service import UserData
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.projects import Environment
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/projects/{project_id}/user-data", tags=["Users' data"])

T = TypeVar("T")
_HEADERS = {"content-disposition": 'attachment; filename="user-data.json"'}


class UserEventOut(EventOriginOut):
    """An event of the user."""

    metric: str
    user: str
    at: Moment
    value: float | None


class UserExposureOut(ResponseModel):
    """A release for which the user was counted."""

    release_id: Uuid
    user: str
    stretch: int
    arm: int
    exposed_at: Moment


class UserDataInEnvironmentOut(ResponseModel):
    """The data stored about the user in one environment."""

    environment_id: Uuid
    environment: str
    evaluations: list[EvaluationOut]
    events: list[UserEventOut]
    releases: list[UserExposureOut]


class UserDataOut(ResponseModel):
    """Everything that is stored about one user of a project's applications."""

    project_id: Uuid
    user_id: str | None
    user_email: str | None
    exported_at: Moment
    environments: list[UserDataInEnvironmentOut]


Service = Annotated[UserData, Depends(service(UserData))]
Running = Annotated[Exports, Depends(service(Exports))]


@router.post("", response_model=UserDataOut, responses=problems(400, 401, 404, 413, 503))
@asks(Permission.USERS_EXPORT, body_max_bytes=SMALL_BODY)
async def export_user(
    project_id: Id, body: UserOfApplication, actor: CurrentActor, data: Service, exports: Running
) -> Response:
    """Return everything that is stored about a user of the project's applications, in one document.

    That is evaluations with all results, events of metrics, and releases for which the user was counted. Whoever has
    the id or the email is the user. The document is sent while it is read; if reading fails, it ends without its end.
    """
    subject = body.subject()
    environments = await data.list_environments(actor, project_id)
    start = {"project_id": project_id, "user_id": subject.user_id, "user_email": subject.user_email}
    made = exports.made(write_user_data(data, start, environments, subject, data.now()))
    return ExportResponse(exports, actor.account_id, made, media_type="application/json", headers=_HEADERS)


async def write_user_data(
    data: UserData, start: dict[str, Any], environments: Sequence[Environment], subject: Subject, now: datetime
) -> AsyncIterator[Iterable[bytes]]:
    """The document in parts, each in pieces that are made when they are read. It begins with the members of `start`."""
    yield (encode_json({**start, "exported_at": format_moment(now)})[:-1] + b',"environments":[',)
    before = b""
    for environment in environments:
        names = encode_json({"environment_id": environment.id, "environment": environment.key})
        yield (before + names[:-1] + b',"evaluations":[',)
        encode = EvaluationEncoder()
        async for part in _items(data.evaluations(environment, subject), lambda each: b"".join(encode(each))):  # noqa: B023
            yield part
        yield (b'],"events":[',)
        view = partial(_event, names=await data.key_names(environment))
        async for part in _items(data.events(environment, subject), view):
            yield part
        exposures = await data.exposures(environment, subject)
        yield (b'],"releases":[' + b",".join(map(_exposure, exposures)) + b"]}",)
        before = b","
    yield (b"]}",)


async def _items(pages: AsyncIterator[list[T]], encode: Callable[[T], bytes]) -> AsyncIterator[Iterable[bytes]]:
    before = b""
    async for page in pages:
        if page:
            yield chain((before,), _separated(map(encode, page)))
            before = b","


def _separated(items: Iterable[bytes]) -> Iterator[bytes]:
    for place, each in enumerate(items):
        yield b"," + each if place else each


def _event(event: RecordedEvent, names: Mapping[UUID, str]) -> bytes:
    return encode_json(
        {
            "metric": event.metric,
            "user": event.unit,
            "at": format_moment(event.occurred_at),
            **origin_view(event, names),
            "value": event.value,
        }
    )


def _exposure(exposure: UserExposure) -> bytes:
    return encode_json(
        {
            "release_id": exposure.release_id,
            "user": exposure.unit,
            "stretch": exposure.stretch,
            "arm": exposure.arm,
            "exposed_at": format_moment(exposure.exposed_at),
        }
    )
