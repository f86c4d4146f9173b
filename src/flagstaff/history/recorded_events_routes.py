"""HTTP of the events of metrics that applications have sent."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from fastapi import Depends, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import NOT_A_CURSOR, DatesZone, FlagKey, Moment, Since, Text, Until, Uuid
from flagstaff.history.history_routes import ENVIRONMENT
from flagstaff.history.recorded_events_service import RecordedEvents
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.metrics.events import EventFilter, EventPlace, RecordedEvent
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment
from flagstaff.values.numbers import number_text

router = Router(prefix=ENVIRONMENT, tags=["Metrics"])

_cursor = re.compile("[0-3][0-9a-f]{15}[0-9a-f]{4}")
_SEGMENT_BYTES = 8


def _read_cursor(given: str) -> bytes:
    if not _cursor.fullmatch(given):
        raise ValueError(NOT_A_CURSOR)
    return bytes.fromhex(given)


Cursor = Annotated[bytes, BeforeValidator(_read_cursor), WithJsonSchema({"type": "string"})]


class EventsQuery(BaseModel):
    """The filter of events."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[Text | None, Field(description="Only of this user.")] = None
    user_email: Annotated[
        Text | None,
        Field(
            description="Only of this user, ignoring case. Events with a `user_id` have no email. With both, of either."
        ),
    ] = None
    metric: Annotated[FlagKey | None, Field(description="Only of the metric with this key.")] = None
    tz: DatesZone = "UTC"
    since: Since = None
    until: Until = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50
    cursor: Annotated[Cursor | None, Field(description="The `next_cursor` of the previous page.")] = None


class EventOriginOut(ResponseModel):
    """How an event came."""

    key_kind: Literal["server", "browser"] | None = Field(
        description="The kind of the SDK key with which it was sent; null if it is not known."
    )
    key_id: Uuid | None = Field(description="The SDK key; null for the project's own key. It may have been revoked.")
    key_name: str | None = Field(description="The name of the key now; null if it was revoked.")
    protocol: str | None = Field(description="`events`; null if it is not known, as is `instance`.")
    instance: str | None = Field(description="The name of the instance that accepted it.")


class RecordedEventOut(EventOriginOut):
    """An event. If flags are sticky by an attribute, it has another item for the attribute's value."""

    id: Uuid
    metric: str
    occurred_at: Moment
    identifier: str = Field(
        description="The event's `user_id`, or else its `user_email` in lower case; empty if the user was erased."
    )
    attribute: str | None = Field(description="The attribute whose value `identifier` is; null if that is the user.")
    value: float | None


class RecordedEventsPageOut(ResponseModel):
    """Some events, those that were stored last first. A short or empty page is not necessarily the last."""

    items: list[RecordedEventOut]
    next_cursor: str | None = Field(description="The cursor of the next page; null if there is none.")


Service = Annotated[RecordedEvents, Depends(service(RecordedEvents))]


@router.get("/events", response_model=RecordedEventsPageOut, responses=problems(400, 401, 404, 409, 503))
@reads(Permission.EVALUATIONS_READ)
async def list_events(
    project_id: Id, env_id: Id, query: Annotated[EventsQuery, Query()], actor: CurrentActor, events: Service
) -> Response:
    """List the events of metrics that applications have sent, such as the events of a user.

    A page searches some 200,000 events, in at most 20,000 batches: the events of an hour if events arrive all the time.
    """
    wanted = EventFilter(query.user_id, query.user_email, query.metric, query.since, query.until)
    before = None if query.cursor is None else _place(query.cursor)
    page, names = await events.list_events(actor, project_id, env_id, wanted, limit=query.limit, before=before)
    cursor = None if page.before is None else "{:016x}{:04x}".format(*page.before)
    return json_response({"items": [_view(each, names) for each in page.items], "next_cursor": cursor})


def _place(cursor: bytes) -> EventPlace:
    return int.from_bytes(cursor[:_SEGMENT_BYTES], "big"), int.from_bytes(cursor[_SEGMENT_BYTES:], "big")


def origin_view(event: RecordedEvent, names: Mapping[UUID, str]) -> dict[str, object]:
    """The members that say how an event came, with the names of the keys that exist."""
    origin = event.origin
    return {
        "key_kind": event.key_kind,
        "key_id": origin and origin.key_id,
        "key_name": origin and origin.key_name(names),
        "protocol": origin and origin.protocol,
        "instance": origin and origin.instance,
    }


def _view(event: RecordedEvent, names: Mapping[UUID, str]) -> dict[str, object]:
    return {
        "id": event.id,
        "metric": event.metric,
        "occurred_at": format_moment(event.occurred_at),
        "identifier": event.identifier,
        "attribute": event.attribute,
        **origin_view(event, names),
        "value": None if event.value is None else msgspec.Raw(number_text(event.value).encode()),
    }
