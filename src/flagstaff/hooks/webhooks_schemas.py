"""The bodies of requests about webhooks and previews, and of their responses."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StrictBool
from pydantic.config import JsonDict
from starlette.responses import Response

from flagstaff.api.entity_tags import TaggedOut, tagged_response
from flagstaff.api.schemas import (
    Body,
    Description,
    EnvironmentKey,
    Moment,
    Text,
    Update,
    Uuid,
    at_most,
    converted,
    optional,
)
from flagstaff.flags.field_schemas import Tag
from flagstaff.hooks.access import WatchedWebhook
from flagstaff.hooks.previews_service import Preview
from flagstaff.hooks.webhooks import (
    ENVIRONMENTS_MAX,
    EVENTS_MAX,
    INSTANCE_PATTERNS,
    PROJECT_PATTERNS,
    TAGS_MAX,
    URL_MAX_LENGTH,
    Format,
    Webhook,
)
from flagstaff.hooks.webhooks_store import Health
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.values.moments import format_moment
from flagstaff.values.views import view_of

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


def _describe_events(patterns: Sequence[str]) -> Any:
    """The description of events, which the service checks."""
    items: JsonDict = {"type": "string", "enum": list(patterns)}
    return Field(
        json_schema_extra={"minItems": 1, "maxItems": EVENTS_MAX, "uniqueItems": True, "items": items},
        description="Types of events, such as `flag.toggled`; all of a resource, such as `flag.*`; or `*`.",
    )


Events = Annotated[list[Text], at_most(EVENTS_MAX), _describe_events(PROJECT_PATTERNS)]
InstanceEvents = Annotated[list[Text], at_most(EVENTS_MAX), _describe_events(INSTANCE_PATTERNS)]
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
        description="Only changes of flags with one of these tags; null for all.",
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
            "owner_id",
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


class InstanceWebhookFilter(WebhookFilter):
    """The events that a webhook of the instance wants, and the form of its messages."""

    events: InstanceEvents


class NewInstanceWebhook(NewWebhook):
    """A webhook of the instance to create."""

    events: InstanceEvents


class InstanceWebhookUpdate(WebhookUpdate):
    """The fields to change."""

    events: InstanceEvents = optional()


class WebhookOut(TaggedOut, of=Webhook, without=("host",)):
    """A webhook, without its secret, and how it fares."""

    format: FormatName
    disabled_reason: Literal["failed", "gone", "no_owner"] | None = Field(
        description="Why the server has turned it off: the last attempt failed, the receiver answered 410, or its "
        "owner is not an administrator any more."
    )
    owner_id: Uuid | None = Field(
        description="Of a webhook of the whole instance: the administrator who has created it, or changed it last. It "
        "has contents of the projects of which this account is a member, and of those that share them."
    )
    waiting: int = Field(description="The number of waiting messages.")
    waiting_since: Moment | None = Field(description="When the oldest waiting message was written.")
    dropped: int = Field(description="How many messages were dropped because too many waited.")
    last_attempt_at: Moment | None
    last_status: int | None = Field(description="The status of the newest response, if there was one.")
    last_error: str | None = Field(description="Why the newest attempt had no response.")


class WebhookWithSecretOut(WebhookOut):
    """A webhook, with the secret that signs its messages, which is shown only here."""

    secret: str = Field(json_schema_extra={"pattern": "^whsec_"})


class PreviewedMessageOut(ResponseModel):
    """A message that would have been sent."""

    type: str
    timestamp: Moment
    body: str


class PreviewOut(ResponseModel):
    """The messages that a webhook would have been sent."""

    since: Moment = Field(description="When the examined changes begin: a day ago, or later if there were too many.")
    examined: int = Field(description="How many changes were examined, the newest ones.")
    count: int = Field(description="How many messages would have been sent.")
    messages: list[PreviewedMessageOut] = Field(description="The newest of them, newest first.")


_view_webhook, _view_health = view_of(Webhook, without=("host",)), view_of(Health)


def view_webhook(watched: WatchedWebhook) -> dict[str, Any]:
    """A webhook as responses have it."""
    return _view_webhook(watched.webhook) | _view_health(watched.health)


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


def tagged_webhook(watched: WatchedWebhook, status: int = 200, secret: str | None = None) -> Response:
    """The response with a webhook, whose tag is the time of its last change, and with its secret where it is shown."""
    return tagged_response(view_webhook(watched), status, {} if secret is None else {"secret": secret})
