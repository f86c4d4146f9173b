"""HTTP of webhooks: of a project, and of the whole instance for its administrators."""

import re
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, StrictBool, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tag_of, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.schemas import (
    NOT_A_CURSOR,
    Body,
    Description,
    EnvironmentKey,
    GivenMoment,
    Moment,
    Tag,
    Text,
    Update,
    Uuid,
    at_most,
    converted,
    optional,
)
from flagstaff.audit.changes import Actor
from flagstaff.hooks.deliveries import Attempt, Delivery, State
from flagstaff.hooks.webhooks import (
    ENVIRONMENTS_MAX,
    EVENTS_MAX,
    TAGS_MAX,
    URL_MAX_LENGTH,
    Format,
    Webhook,
)
from flagstaff.hooks.webhooks_service import DeliveriesPage, WatchedWebhook, Webhooks
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import encode_json, json_array_response, json_page, json_response, no_content
from flagstaff.http.services import service
from flagstaff.projects.permissions import Permission
from flagstaff.projects.preconditions import Precondition
from flagstaff.values.errors import not_found
from flagstaff.values.moments import format_moment

router = APIRouter(prefix="/api", tags=["Webhooks"])

_OF_PROJECT = "/projects/{project_id}/webhooks"
_OF_INSTANCE = "/admin/webhooks"
_number = re.compile("[0-9]{1,18}")


def _read_number(given: str) -> int:
    if not _number.fullmatch(given):
        raise not_found("delivery")
    return int(given)


def _read_cursor(given: str) -> int:
    if not _number.fullmatch(given):
        raise ValueError(NOT_A_CURSOR)
    return int(given)


DeliveryId = Annotated[int, Path(), PlainValidator(_read_number), WithJsonSchema({"type": "string"})]
FormatName = Annotated[
    Literal["standard", "slack", "teams", "discord"],
    converted(Format),
    Field(description="`standard` for programs; the others are messages for people in a chat."),
]
Url = Annotated[
    Text,
    Field(
        json_schema_extra={"format": "uri", "maxLength": URL_MAX_LENGTH},
        description="Where messages are sent. It must be https and lead to public addresses; see the documentation.",
    ),
]
Events = Annotated[
    list[Text],
    at_most(EVENTS_MAX),
    Field(
        json_schema_extra={"minItems": 1, "maxItems": EVENTS_MAX, "uniqueItems": True},
        description="Types of events, such as `flag.toggled`; all of a resource, such as `flag.*`; or `*`.",
        examples=[["flag.*", "rule.*"]],
    ),
]
Environments = Annotated[
    list[EnvironmentKey],
    at_most(ENVIRONMENTS_MAX),
    Field(
        json_schema_extra={"minItems": 1, "maxItems": ENVIRONMENTS_MAX},
        description="Only changes in these environments, by their keys, and those in none; null for all.",
    ),
]
Tags = Annotated[
    list[Tag],
    at_most(TAGS_MAX),
    Field(
        json_schema_extra={"maxItems": TAGS_MAX},
        description="Of flags, only those with one of these tags; null for all.",
    ),
]


class NewWebhook(Body):
    """A webhook to create."""

    url: Url
    events: Events
    environments: Environments | None = None
    tags: Tags | None = None
    format: FormatName = Field(default="standard")
    description: Description | None = None
    enabled: StrictBool = True

    def wanted(self) -> dict[str, Any]:
        """The fields for the service."""
        return {**self.model_dump(), "format": Format(self.format)}


class WebhookUpdate(Update):
    """The fields to change."""

    read_only: ClassVar[frozenset[str]] = frozenset(
        {
            "id",
            "project_id",
            "created_at",
            "updated_at",
            "disabled_reason",
            "waiting",
            "waiting_since",
            "dropped",
            "last_attempt_at",
            "last_status",
            "last_error",
        }
    )

    url: Url = optional()
    events: Events = optional()
    environments: Environments | None = optional()
    tags: Tags | None = optional()
    format: FormatName = optional()
    description: Description | None = optional()
    enabled: StrictBool = optional()

    def wanted(self) -> dict[str, Any]:
        """The given fields for the service."""
        given = self.given()
        return given | ({"format": Format(given["format"])} if "format" in given else {})


class WebhookOut(TaggedOut):
    """A webhook, without its secret, and how it fares."""

    id: Uuid
    project_id: Uuid | None
    url: str
    events: list[str]
    environments: list[str] | None
    tags: list[str] | None
    format: FormatName
    description: str | None
    enabled: bool
    disabled_reason: Literal["failed", "gone"] | None = Field(
        description="Why the server has switched it off: the last attempt has failed, or the receiver has answered 410."
    )
    created_at: Moment
    updated_at: Moment
    waiting: int = Field(description="How many messages wait.")
    waiting_since: Moment | None = Field(description="When the oldest waiting message was written.")
    dropped: int = Field(description="How many messages were dropped because too many waited.")
    last_attempt_at: Moment | None
    last_status: int | None = Field(description="The status of the newest response, if there was one.")
    last_error: str | None = Field(description="Why the newest attempt had no response.")


class WebhookWithSecretOut(WebhookOut):
    """A webhook, with the secret that signs its messages, which is shown only here."""

    secret: str = Field(json_schema_extra={"pattern": "^whsec_"})


class AttemptOut(BaseModel):
    """An attempt at a delivery."""

    at: Moment
    milliseconds: int
    status: int | None = Field(description="The status of the response; null without one.")
    error: str | None = Field(description="Why there was no response.")
    answer: str | None = Field(description="The first kilobyte of the response.")


class DeliveryOut(BaseModel):
    """A message to a webhook. `message_id` is the `webhook-id` of all attempts at it."""

    id: str
    message_id: str
    type: str | None = Field(description="The type of event; null until the first attempt.")
    state: Literal["waiting", "delivered", "failed"]
    created_at: Moment
    next_attempt_at: Moment | None
    attempts: list[AttemptOut] = Field(description="Oldest first.")


class DeliveriesPageOut(BaseModel):
    """Some deliveries, newest first."""

    items: list[DeliveryOut]
    next_cursor: str | None = Field(description="The cursor of the next page; null if there is none.")


class DeliveriesQuery(BaseModel):
    """The filter and the page of deliveries."""

    model_config = ConfigDict(extra="forbid")

    state: Annotated[
        Annotated[Literal["waiting", "delivered", "failed"], converted(State)] | None,
        Field(description="Only deliveries in this state."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Annotated[
        Annotated[int, BeforeValidator(_read_cursor), WithJsonSchema({"type": "string"})] | None,
        Field(description="The `next_cursor` of the previous page."),
    ] = None


class RepeatBody(Body):
    """The time whose messages are sent again."""

    since: GivenMoment = Field(alias="from", description="Messages about changes at or after this time.")
    until: GivenMoment = Field(alias="to", description="Messages about changes before this time.")


class RepeatedOut(BaseModel):
    """The number of messages that are sent again."""

    repeated: int


def _tagged_view(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": webhook.id,
        "project_id": webhook.project_id,
        "url": webhook.url,
        "events": webhook.events,
        "environments": webhook.environments,
        "tags": webhook.tags,
        "format": webhook.format,
        "description": webhook.description,
        "enabled": webhook.enabled,
        "disabled_reason": webhook.disabled_reason,
        "created_at": format_moment(webhook.created_at),
        "updated_at": format_moment(webhook.updated_at),
    }


def _view(watched: WatchedWebhook) -> dict[str, Any]:
    health = watched.health
    return {
        **_tagged_view(watched.webhook),
        "waiting": health.waiting,
        "waiting_since": format_moment(health.waiting_since) if health.waiting_since else None,
        "dropped": health.dropped,
        "last_attempt_at": format_moment(health.last_attempt_at) if health.last_attempt_at else None,
        "last_status": health.last_status,
        "last_error": health.last_error,
    }


def _attempt_view(attempt: Attempt) -> dict[str, Any]:
    return {
        "at": format_moment(attempt.at),
        "milliseconds": attempt.milliseconds,
        "status": attempt.status,
        "error": attempt.error,
        "answer": attempt.answer,
    }


def _delivery_view(delivery: Delivery) -> dict[str, Any]:
    return {
        "id": str(delivery.number),
        "message_id": delivery.message_id,
        "type": delivery.type,
        "state": delivery.state,
        "created_at": format_moment(delivery.created_at),
        "next_attempt_at": format_moment(delivery.next_attempt_at) if delivery.next_attempt_at else None,
        "attempts": [_attempt_view(each) for each in delivery.made],
    }


def _page(page: DeliveriesPage) -> Response:
    items = ([encode_json(_delivery_view(each))] for each in page.items)
    return json_page(items, str(page.next_before) if page.next_before is not None else None)


Service = Annotated[Webhooks, Depends(service(Webhooks))]
Page = Annotated[DeliveriesQuery, Query()]
IfMatch = Annotated[Precondition[Webhook], Depends(if_match("webhook", _tagged_view, Permission.KEYS_ROTATE))]
AdminIfMatch = Annotated[Precondition[Webhook], Depends(if_match("webhook", _tagged_view))]
_MANAGE = (Permission.KEYS_ROTATE, Permission.AUDIT_READ)


@router.get(_OF_PROJECT, response_model=list[WebhookOut], responses=problems(401, 404, 503))
@reads(*_MANAGE)
async def list_webhooks(project_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """The webhooks of the project, oldest first, and how each fares. You need the permission in the whole project."""
    return await json_array_response(map(_view, await webhooks.list_webhooks(actor, project_id)))


@router.post(
    _OF_PROJECT, status_code=201, response_model=WebhookWithSecretOut, responses=problems(400, 401, 404, 409, 413, 503)
)
@writes(*_MANAGE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def create_webhook(project_id: Id, body: NewWebhook, actor: CurrentActor, webhooks: Service) -> Response:
    """Create a webhook of the project, which is sent each change that it wants, in order and until it accepts it.

    The response has the secret that signs messages. It is not shown again, so an `Idempotency-Key` is ignored.
    You need the permission in the whole project.
    """
    watched, secret = await webhooks.create_webhook(actor, project_id, **body.wanted())
    return tagged_response(_view(watched), 201, {"secret": secret})


@router.get(_OF_PROJECT + "/{webhook_id}", response_model=WebhookOut, responses=problems(401, 404, 503))
@reads(*_MANAGE)
async def get_webhook(project_id: Id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """One webhook, and how it fares."""
    return _tagged(await webhooks.get_webhook(actor, project_id, webhook_id))


@router.put(_OF_PROJECT + "/{webhook_id}", response_model=WebhookOut, responses=problems(400, 401, 404, 413, 503))
@writes(*_MANAGE, body_max_bytes=SMALL_BODY, reports_revision=False)
async def update_webhook(
    project_id: Id, webhook_id: Id, body: WebhookUpdate, actor: CurrentActor, webhooks: Service, precondition: IfMatch
) -> Response:
    """Update a webhook. Only the given fields change. One that is switched on again is sent what has waited."""
    return _tagged(await webhooks.update_webhook(actor, project_id, webhook_id, precondition, **body.wanted()))


@router.delete(_OF_PROJECT + "/{webhook_id}", status_code=204, responses=problems(401, 404, 503))
@writes(*_MANAGE, reports_revision=False)
async def delete_webhook(
    project_id: Id, webhook_id: Id, actor: CurrentActor, webhooks: Service, precondition: IfMatch
) -> Response:
    """Delete a webhook, with what waits for it and the record of its deliveries."""
    await webhooks.delete_webhook(actor, project_id, webhook_id, precondition)
    return no_content()


@router.post(
    _OF_PROJECT + "/{webhook_id}/test", status_code=202, response_model=DeliveryOut, responses=problems(401, 404, 503)
)
@writes(*_MANAGE, reports_revision=False, repeatable=False)
async def test_webhook(project_id: Id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """Send a message of the type `webhook.test`, once, also to a webhook that is switched off.

    The list of deliveries shows what came of it.
    """
    return json_response(_delivery_view(await webhooks.send_test(actor, project_id, webhook_id)), 202)


@router.post(
    _OF_PROJECT + "/{webhook_id}/rotate-secret", response_model=WebhookWithSecretOut, responses=problems(401, 404, 503)
)
@writes(*_MANAGE, reports_revision=False, repeatable=False)
async def rotate_webhook_secret(project_id: Id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """Replace the secret. For 24 hours, messages are also signed with the one before."""
    watched, secret = await webhooks.rotate_secret(actor, project_id, webhook_id)
    return tagged_response(_view(watched), 200, {"secret": secret})


@router.get(
    _OF_PROJECT + "/{webhook_id}/deliveries", response_model=DeliveriesPageOut, responses=problems(400, 401, 404, 503)
)
@reads(*_MANAGE)
async def list_webhook_deliveries(
    project_id: Id, webhook_id: Id, page: Page, actor: CurrentActor, webhooks: Service
) -> Response:
    """The messages of the last 30 days, newest first, with each attempt and the beginning of its response."""
    return await _deliveries(webhooks, actor, project_id, webhook_id, page)


@router.post(
    _OF_PROJECT + "/{webhook_id}/deliveries/{delivery_id}/repeat",
    status_code=202,
    response_model=DeliveryOut,
    responses=problems(401, 404, 503),
)
@writes(*_MANAGE, reports_revision=False, repeatable=False)
async def repeat_webhook_delivery(
    project_id: Id, webhook_id: Id, delivery_id: DeliveryId, actor: CurrentActor, webhooks: Service
) -> Response:
    """Send a message again, with the same id."""
    return json_response(
        _delivery_view(await webhooks.repeat_delivery(actor, project_id, webhook_id, delivery_id)), 202
    )


@router.post(
    _OF_PROJECT + "/{webhook_id}/repeat",
    status_code=202,
    response_model=RepeatedOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(*_MANAGE, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def repeat_webhook_deliveries(
    project_id: Id, webhook_id: Id, body: RepeatBody, actor: CurrentActor, webhooks: Service
) -> Response:
    """Send the messages of a time again, with the same ids; at most a thousand, the oldest first."""
    count = await webhooks.repeat_deliveries(actor, project_id, webhook_id, body.since, body.until)
    return json_response({"repeated": count}, 202)


@router.get(_OF_INSTANCE, response_model=list[WebhookOut], responses=problems(401, 403, 503))
@reads(Caller.PERSON)
async def list_instance_webhooks(actor: CurrentActor, webhooks: Service) -> Response:
    """The webhooks of the whole instance, oldest first, and how each fares. For administrators."""
    return await json_array_response(map(_view, await webhooks.list_webhooks(actor, None)))


@router.post(
    _OF_INSTANCE,
    status_code=201,
    response_model=WebhookWithSecretOut,
    responses=problems(400, 401, 403, 404, 409, 413, 503),
)
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def create_instance_webhook(body: NewWebhook, actor: CurrentActor, webhooks: Service) -> Response:
    """Create a webhook of the whole instance, which is sent each change that it wants, until it accepts it.

    The response has the secret that signs messages. It is not shown again, so an `Idempotency-Key` is ignored.
    For administrators.
    """
    watched, secret = await webhooks.create_webhook(actor, None, **body.wanted())
    return tagged_response(_view(watched), 201, {"secret": secret})


@router.get(_OF_INSTANCE + "/{webhook_id}", response_model=WebhookOut, responses=problems(401, 403, 404, 503))
@reads(Caller.PERSON)
async def get_instance_webhook(webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """One webhook, and how it fares."""
    return _tagged(await webhooks.get_webhook(actor, None, webhook_id))


@router.put(_OF_INSTANCE + "/{webhook_id}", response_model=WebhookOut, responses=problems(400, 401, 403, 404, 413, 503))
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False)
async def update_instance_webhook(
    webhook_id: Id, body: WebhookUpdate, actor: CurrentActor, webhooks: Service, precondition: AdminIfMatch
) -> Response:
    """Update a webhook. Only the given fields change. One that is switched on again is sent what has waited."""
    return _tagged(await webhooks.update_webhook(actor, None, webhook_id, precondition, **body.wanted()))


@router.delete(_OF_INSTANCE + "/{webhook_id}", status_code=204, responses=problems(401, 403, 404, 503))
@writes(Caller.PERSON, reports_revision=False)
async def delete_instance_webhook(
    webhook_id: Id, actor: CurrentActor, webhooks: Service, precondition: AdminIfMatch
) -> Response:
    """Delete a webhook, with what waits for it and the record of its deliveries."""
    await webhooks.delete_webhook(actor, None, webhook_id, precondition)
    return no_content()


@router.post(
    _OF_INSTANCE + "/{webhook_id}/test",
    status_code=202,
    response_model=DeliveryOut,
    responses=problems(401, 403, 404, 503),
)
@writes(Caller.PERSON, reports_revision=False, repeatable=False)
async def test_instance_webhook(webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """Send a message of the type `webhook.test`, once, also to a webhook that is switched off.

    The list of deliveries shows what came of it.
    """
    return json_response(_delivery_view(await webhooks.send_test(actor, None, webhook_id)), 202)


@router.post(
    _OF_INSTANCE + "/{webhook_id}/rotate-secret",
    response_model=WebhookWithSecretOut,
    responses=problems(401, 403, 404, 503),
)
@writes(Caller.PERSON, reports_revision=False, repeatable=False)
async def rotate_instance_webhook_secret(webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
    """Replace the secret. For 24 hours, messages are also signed with the one before."""
    watched, secret = await webhooks.rotate_secret(actor, None, webhook_id)
    return tagged_response(_view(watched), 200, {"secret": secret})


@router.get(
    _OF_INSTANCE + "/{webhook_id}/deliveries",
    response_model=DeliveriesPageOut,
    responses=problems(400, 401, 403, 404, 503),
)
@reads(Caller.PERSON)
async def list_instance_webhook_deliveries(
    webhook_id: Id, page: Page, actor: CurrentActor, webhooks: Service
) -> Response:
    """The messages of the last 30 days, newest first, with each attempt and the beginning of its response."""
    return await _deliveries(webhooks, actor, None, webhook_id, page)


@router.post(
    _OF_INSTANCE + "/{webhook_id}/deliveries/{delivery_id}/repeat",
    status_code=202,
    response_model=DeliveryOut,
    responses=problems(401, 403, 404, 503),
)
@writes(Caller.PERSON, reports_revision=False, repeatable=False)
async def repeat_instance_webhook_delivery(
    webhook_id: Id, delivery_id: DeliveryId, actor: CurrentActor, webhooks: Service
) -> Response:
    """Send a message again, with the same id."""
    return json_response(_delivery_view(await webhooks.repeat_delivery(actor, None, webhook_id, delivery_id)), 202)


@router.post(
    _OF_INSTANCE + "/{webhook_id}/repeat",
    status_code=202,
    response_model=RepeatedOut,
    responses=problems(400, 401, 403, 404, 413, 503),
)
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
async def repeat_instance_webhook_deliveries(
    webhook_id: Id, body: RepeatBody, actor: CurrentActor, webhooks: Service
) -> Response:
    """Send the messages of a time again, with the same ids; at most a thousand, the oldest first."""
    count = await webhooks.repeat_deliveries(actor, None, webhook_id, body.since, body.until)
    return json_response({"repeated": count}, 202)


def _tagged(watched: WatchedWebhook) -> Response:
    """The response with a webhook; its tag does not cover how it fares."""
    response = json_response(_view(watched))
    response.headers["etag"] = tag_of(_tagged_view(watched.webhook))
    return response


async def _deliveries(
    webhooks: Webhooks, actor: Actor, project_id: UUID | None, webhook_id: UUID, page: DeliveriesQuery
) -> Response:
    state = State(page.state) if page.state else None
    return _page(
        await webhooks.list_deliveries(actor, project_id, webhook_id, state=state, before=page.cursor, limit=page.limit)
    )
