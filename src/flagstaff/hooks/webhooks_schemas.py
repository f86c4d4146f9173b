"""The bodies of requests about webhooks, and of their responses."""

import re
from typing import Annotated, Any, ClassVar, Literal

from fastapi import Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, StrictBool, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.entity_tags import TaggedOut, tagged_response
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
from flagstaff.hooks.deliveries import Attempt, Delivery, State
from flagstaff.hooks.webhooks import (
    ENVIRONMENTS_MAX,
    EVENTS_MAX,
    TAGS_MAX,
    URL_MAX_LENGTH,
    Format,
)
from flagstaff.hooks.webhooks_service import DeliveriesPage, Preview, WatchedWebhook
from flagstaff.http.responses import encode_json, json_page, json_response
from flagstaff.values.errors import not_found
from flagstaff.values.moments import format_moment

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


class WebhookFilter(Body):
    """The events that a webhook wants, and the form of its messages."""

    events: Events
    environments: Environments | None = None
    tags: Tags | None = None
    format: FormatName = Field(default="standard")

    def wanted(self) -> dict[str, Any]:
        """The fields for the service."""
        return {**self.model_dump(), "format": Format(self.format)}


class NewWebhook(WebhookFilter):
    """A webhook to create."""

    url: Url
    description: Description | None = None
    enabled: StrictBool = True


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


class DeliveryWithBodyOut(DeliveryOut):
    """A message to a webhook, with its body."""

    body: str | None = Field(
        description="The body of the message. Null if nothing is left that could be sent, such as of a deleted project."
    )


class MessageOut(BaseModel):
    """A message that would have been sent."""

    type: str
    timestamp: Moment
    body: str


class PreviewOut(BaseModel):
    """The messages that a webhook would have been sent."""

    since: Moment = Field(description="When the examined changes begin: a day ago, or later if there were too many.")
    examined: int = Field(description="How many changes were examined, the newest ones.")
    count: int = Field(description="How many messages would have been sent.")
    messages: list[MessageOut] = Field(description="The newest of them, newest first.")


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


def view_webhook(watched: WatchedWebhook) -> dict[str, Any]:
    """A webhook as responses have it."""
    webhook, health = watched.webhook, watched.health
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


def delivery_view(delivery: Delivery) -> dict[str, Any]:
    """A delivery as responses have it."""
    return {
        "id": str(delivery.number),
        "message_id": delivery.message_id,
        "type": delivery.type,
        "state": delivery.state,
        "created_at": format_moment(delivery.created_at),
        "next_attempt_at": format_moment(delivery.next_attempt_at) if delivery.next_attempt_at else None,
        "attempts": [_attempt_view(each) for each in delivery.made],
    }


def preview_response(preview: Preview) -> Response:
    """The response with what would have been sent."""
    messages = [
        {"type": each.type, "timestamp": format_moment(each.at), "body": each.body} for each in preview.messages
    ]
    return json_response(
        {
            "since": format_moment(preview.since),
            "examined": preview.examined,
            "count": preview.count,
            "messages": messages,
        }
    )


def page_response(page: DeliveriesPage) -> Response:
    """The response with a page of deliveries."""
    items = ([encode_json(delivery_view(each))] for each in page.items)
    return json_page(items, str(page.next_before) if page.next_before is not None else None)


def tagged_webhook(watched: WatchedWebhook, status: int = 200, secret: str | None = None) -> Response:
    """The response with a webhook, whose tag is the time of its last change, and with its secret where it is shown."""
    return tagged_response(view_webhook(watched), status, {} if secret is None else {"secret": secret})
