"""The bodies of requests about deliveries, and of their responses."""

import re
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema
from starlette.responses import Response

from flagstaff.api.schemas import NOT_A_CURSOR, Body, GivenMoment, Moment, converted
from flagstaff.hooks.deliveries import Attempt, Delivery, State
from flagstaff.hooks.deliveries_service import DeliveriesPage
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import encode_json, json_page
from flagstaff.values.errors import not_found
from flagstaff.values.moments import format_moment
from flagstaff.values.views import view_of

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


class AttemptOut(ResponseModel, of=Attempt):
    """An attempt at a delivery."""

    status: int | None = Field(description="The status of the response; null without one.")
    error: str | None = Field(description="Why there was no response.")
    answer: str | None = Field(description="The first kilobyte of the response.")


class DeliveryOut(ResponseModel):
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
        description="The body of the message. Null if it cannot be sent any more, for example because the "
        "project was deleted."
    )


class DeliveriesPageOut(ResponseModel):
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


class RepeatedOut(ResponseModel):
    """The number of messages that are sent again."""

    repeated: int


_attempt_view = view_of(Attempt)


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


def page_response(page: DeliveriesPage) -> Response:
    """The response with a page of deliveries."""
    items = ([encode_json(delivery_view(each))] for each in page.items)
    return json_page(items, str(page.next_before) if page.next_before is not None else None)
