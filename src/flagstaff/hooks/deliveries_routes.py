"""HTTP of what webhooks are sent."""

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.hooks.deliveries import State
from flagstaff.hooks.deliveries_schemas import (
    DeliveriesPageOut,
    DeliveriesQuery,
    DeliveryId,
    DeliveryOut,
    DeliveryWithBodyOut,
    RepeatBody,
    RepeatedOut,
    delivery_view,
    page_response,
)
from flagstaff.hooks.deliveries_service import Deliveries
from flagstaff.hooks.places import PLACES, Place
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_response
from flagstaff.http.services import service

router = Router(prefix="/api", tags=["Webhooks"])

Service = Annotated[Deliveries, Depends(service(Deliveries))]
Page = Annotated[DeliveriesQuery, Query()]


def _add_routes(found: Place) -> None:
    """Add the operations on what webhooks are sent."""
    base, kind, of, reading, writing, also, statuses = found
    project_id = Annotated[UUID | None, Depends(of)]
    one = f"{base}/{{webhook_id}}"
    deliveries = f"{one}/deliveries"

    @router.post(
        f"{one}/test",
        name=f"test_{kind}",
        status_code=202,
        response_model=DeliveryOut,
        responses=problems(*statuses, 404, 503),
    )
    @writes(writing, *also, reports_revision=False, repeatable=False)
    async def test_webhook(place: project_id, webhook_id: Id, actor: CurrentActor, sent: Service) -> Response:
        """Send a message of the type `webhook.test`, once, also to a webhook that is switched off.

        The list of deliveries shows what came of it.
        """
        return json_response(delivery_view(await sent.send_test(actor, place, webhook_id)), 202)

    @router.get(
        deliveries,
        name=f"list_{kind}_deliveries",
        response_model=DeliveriesPageOut,
        responses=problems(400, *statuses, 404, 503),
    )
    @reads(reading, *also)
    async def list_deliveries(
        place: project_id,
        webhook_id: Id,
        page: Page,
        actor: CurrentActor,
        sent: Service,
    ) -> Response:
        """The messages of the last 30 days, newest first, with each attempt and the beginning of its response."""
        state = State(page.state) if page.state else None
        found = await sent.list_deliveries(actor, place, webhook_id, state=state, before=page.cursor, limit=page.limit)
        return page_response(found)

    @router.get(
        f"{deliveries}/{{delivery_id}}",
        name=f"get_{kind}_delivery",
        response_model=DeliveryWithBodyOut,
        responses=problems(*statuses, 404, 503),
    )
    @reads(reading, *also)
    async def get_delivery(
        place: project_id,
        webhook_id: Id,
        delivery_id: DeliveryId,
        actor: CurrentActor,
        sent: Service,
    ) -> Response:
        """A message with its body."""
        delivery, content = await sent.get_delivery(actor, place, webhook_id, delivery_id)
        return json_response({**delivery_view(delivery), "body": content})

    @router.post(
        f"{deliveries}/{{delivery_id}}/repeat",
        name=f"repeat_{kind}_delivery",
        status_code=202,
        response_model=DeliveryOut,
        responses=problems(*statuses, 404, 503),
    )
    @writes(writing, *also, reports_revision=False, repeatable=False)
    async def repeat_delivery(
        place: project_id,
        webhook_id: Id,
        delivery_id: DeliveryId,
        actor: CurrentActor,
        sent: Service,
    ) -> Response:
        """Send a message again, with the same id."""
        return json_response(delivery_view(await sent.repeat_delivery(actor, place, webhook_id, delivery_id)), 202)

    @router.post(
        f"{one}/repeat",
        name=f"repeat_{kind}_deliveries",
        status_code=202,
        response_model=RepeatedOut,
        responses=problems(400, *statuses, 404, 413, 503),
    )
    @writes(writing, *also, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
    async def repeat_deliveries(
        place: project_id,
        webhook_id: Id,
        body: RepeatBody,
        actor: CurrentActor,
        sent: Service,
    ) -> Response:
        """Send the messages of a time again, with the same ids; at most a thousand, the oldest first."""
        count = await sent.repeat_deliveries(actor, place, webhook_id, body.since, body.until)
        return json_response({"repeated": count}, 202)


for _each in PLACES:
    _add_routes(_each)
