"""HTTP of the mails that an account wants, and of the links that stop them."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query
from pydantic import Field, StrictBool
from starlette.responses import RedirectResponse, Response

from flagstaff.api.admission import admission
from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Update, Uuid, optional
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service
from flagstaff.notifications.notifications import Kind
from flagstaff.notifications.notifications_service import NotificationSettings
from flagstaff.notifications.unsubscribing import UNSUBSCRIBE_PAGE, UNSUBSCRIBE_PATH
from flagstaff.permissions.permissions import Permission

router = Router(tags=["Notifications"])
_OF_PROJECT = "/api/projects/{project_id}/notifications"

Service = Annotated[NotificationSettings, Depends(service(NotificationSettings))]
Token = Annotated[str, Query(max_length=1024, description="The token of a link from a mail.")]

_CRITICAL = Field(description="Others have changed evaluations in a critical environment.")
_OWNED = Field(description="Others have changed a flag whose `owner` is your address, or its rules.")
_STALE = Field(description="Flags whose `owner` is your address may be removed; once a week.")
_RELEASES = Field(
    description="A release of yours was stopped, paused, late or failed, a guard raised an alarm, or it is done; or a "
    "release that you can resume has lost its author's right."
)
_MENTIONS = Field(description="Others have mentioned you in a comment.")
_SUBSCRIBED = Field(description="Others have made changes to which you have subscribed.")
_WEBHOOKS = Field(description="A webhook was turned off, if you may manage webhooks.")


class NotificationsOut(TaggedOut):
    """The mails that you get about a project."""

    critical: Annotated[bool, _CRITICAL]
    owned: Annotated[bool, _OWNED]
    stale: Annotated[bool, _STALE]
    webhooks: Annotated[bool, _WEBHOOKS]
    releases: Annotated[bool, _RELEASES]
    mentions: Annotated[bool, _MENTIONS]
    subscribed: Annotated[bool, _SUBSCRIBED]


class NotificationsOfProjectOut(NotificationsOut):
    """The mails that you get about one of your projects."""

    project_id: Uuid
    project: str = Field(description="The project's name.")


class NotificationsUpdate(Update):
    """The mails to get, or not to get any more."""

    critical: Annotated[StrictBool, _CRITICAL] = optional()
    owned: Annotated[StrictBool, _OWNED] = optional()
    stale: Annotated[StrictBool, _STALE] = optional()
    webhooks: Annotated[StrictBool, _WEBHOOKS] = optional()
    releases: Annotated[StrictBool, _RELEASES] = optional()
    mentions: Annotated[StrictBool, _MENTIONS] = optional()
    subscribed: Annotated[StrictBool, _SUBSCRIBED] = optional()


def _view(wanted: Mapping[Kind, bool]) -> dict[str, Any]:
    return {kind.value: is_wanted for kind, is_wanted in wanted.items()}


_precondition = if_match("choice of mails", _view)
IfMatch = Annotated[Precondition[Mapping[Kind, bool]], Depends(_precondition)]


@router.get("/api/me/notifications", response_model=list[NotificationsOfProjectOut], responses=problems(401, 503))
@reads(Caller.PERSON)
async def list_my_notifications(actor: CurrentActor, settings: Service) -> Response:
    """The mails that you get about each of your projects, in the order of their names."""
    found = await settings.list_wanted(actor)
    return json_response([{"project_id": each.project_id, "project": each.project, **each.wanted} for each in found])


@router.get(_OF_PROJECT, response_model=NotificationsOut, responses=problems(401, 404, 503))
@reads(Permission.PROJECT_READ)
async def get_notifications(project_id: Id, actor: CurrentActor, settings: Service) -> Response:
    """The mails that you get about the project."""
    return tagged_response(_view(await settings.get_wanted(actor, project_id)))


@router.put(_OF_PROJECT, response_model=NotificationsOut, responses=problems(400, 401, 404, 413, 503))
@writes(Permission.PROJECT_READ, body_max_bytes=SMALL_BODY, reports_revision=False, only_people=True)
async def update_notifications(
    project_id: Id, body: NotificationsUpdate, actor: CurrentActor, settings: Service, precondition: IfMatch
) -> Response:
    """Choose the mails that you get about the project. Only the given fields change."""
    given = {Kind(name): value for name, value in body.given().items()}
    return tagged_response(_view(await settings.update_wanted(actor, project_id, given, precondition)))


@router.post(
    UNSUBSCRIBE_PATH,
    status_code=204,
    responses=problems(400, 429, 503),
    dependencies=[Depends(admission(lambda limits: limits.unsubscribe))],
)
@writes(Caller.ANYONE, reports_revision=False, repeatable=False, lenient=True)
async def unsubscribe(token: Token, settings: Service) -> Response:
    """Stop the mails about a project that go to the account of a link, as mail programs do (RFC 8058)."""
    await settings.unsubscribe(token)
    return no_content()


@router.get(UNSUBSCRIBE_PATH, status_code=303, responses=problems(400), response_class=RedirectResponse)
@reads(Caller.ANYONE, lenient=True)
async def open_unsubscribe_page(token: Token) -> Response:
    """Send a browser that opens the link to a page that asks first, because programs open links, too."""
    return RedirectResponse(f"..{UNSUBSCRIBE_PAGE}?{urlencode({'token': token})}", 303)
