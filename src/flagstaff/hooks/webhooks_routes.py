"""HTTP of webhooks: of a project, and of the whole instance for its administrators."""

from collections.abc import Awaitable, Callable
from typing import Annotated, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Depends, Query
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import if_match
from flagstaff.api.ids import Id
from flagstaff.api.operations import Needs, asks, reads, writes
from flagstaff.hooks.deliveries import State
from flagstaff.hooks.webhooks_schemas import (
    DeliveriesPageOut,
    DeliveriesQuery,
    DeliveryId,
    DeliveryOut,
    DeliveryWithBodyOut,
    NewWebhook,
    PreviewOut,
    RepeatBody,
    RepeatedOut,
    WebhookFilter,
    WebhookOut,
    WebhookUpdate,
    WebhookWithSecretOut,
    delivery_view,
    page_response,
    preview_response,
    tagged_webhook,
    view_webhook,
)
from flagstaff.hooks.webhooks_service import WatchedWebhook, Webhooks
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, json_response, no_content
from flagstaff.http.services import service
from flagstaff.projects.permissions import Permission
from flagstaff.projects.preconditions import Precondition

router = APIRouter(prefix="/api", tags=["Webhooks"])

Service = Annotated[Webhooks, Depends(service(Webhooks))]
Page = Annotated[DeliveriesQuery, Query()]


async def _of_project(project_id: Id) -> UUID | None:
    return project_id


async def _of_instance() -> None:
    return None


class _Place(NamedTuple):
    """Where webhooks are: the beginning of the paths, and what finds the project, which the whole instance has not.

    `kind` is part of the operations' names, `shown` the permission to see a webhook, and `statuses` those of every
    refusal.
    """

    base: str
    kind: str
    of: Callable[..., Awaitable[UUID | None]]
    needs: Needs
    also: tuple[Permission, ...]
    shown: Permission | None
    statuses: tuple[int, ...]


def _add_routes(found: _Place) -> None:
    """Add the operations on webhooks in one place."""
    base, kind, of, needs, also, shown, statuses = found
    project_id = Annotated[UUID | None, Depends(of)]
    precondition = Annotated[Precondition[WatchedWebhook], Depends(if_match("webhook", view_webhook, shown))]
    one = f"{base}/{{webhook_id}}"

    @router.get(base, name=f"list_{kind}s", response_model=list[WebhookOut], responses=problems(*statuses, 503))
    @reads(needs, *also)
    async def list_webhooks(place: project_id, actor: CurrentActor, webhooks: Service) -> Response:
        """The webhooks, oldest first, and how each fares."""
        return await json_array_response(map(view_webhook, await webhooks.list_webhooks(actor, place)))

    @router.post(
        base,
        name=f"create_{kind}",
        status_code=201,
        response_model=WebhookWithSecretOut,
        responses=problems(400, *statuses, 409, 413, 503),
    )
    @writes(needs, *also, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
    async def create_webhook(place: project_id, body: NewWebhook, actor: CurrentActor, webhooks: Service) -> Response:
        """Create a webhook, which is sent each change that it wants, in order and until its receiver accepts it.

        The response has the secret that signs messages. It is not shown again, so an `Idempotency-Key` is ignored.
        """
        watched, secret = await webhooks.create_webhook(actor, place, **body.wanted())
        return tagged_webhook(watched, 201, secret)

    @router.post(
        f"{base}/preview",
        name=f"preview_{kind}",
        response_model=PreviewOut,
        responses=problems(400, *statuses, 413, 503),
    )
    @asks(needs, *also, body_max_bytes=SMALL_BODY)
    async def preview_webhook(
        place: project_id, body: WebhookFilter, actor: CurrentActor, webhooks: Service
    ) -> Response:
        """The messages that a webhook would have been sent of the last day's changes, up to the newest 500 of them."""
        return preview_response(await webhooks.preview(actor, place, **body.wanted()))

    @router.get(one, name=f"get_{kind}", response_model=WebhookOut, responses=problems(*statuses, 404, 503))
    @reads(needs, *also)
    async def get_webhook(place: project_id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
        """One webhook, and how it fares."""
        return tagged_webhook(await webhooks.get_webhook(actor, place, webhook_id))

    @router.put(
        one, name=f"update_{kind}", response_model=WebhookOut, responses=problems(400, *statuses, 404, 413, 503)
    )
    @writes(needs, *also, body_max_bytes=SMALL_BODY, reports_revision=False)
    async def update_webhook(
        place: project_id,
        webhook_id: Id,
        body: WebhookUpdate,
        actor: CurrentActor,
        webhooks: Service,
        meant: precondition,
    ) -> Response:
        """Update a webhook. Only the given fields change. One that is switched on again is sent what has waited."""
        return tagged_webhook(await webhooks.update_webhook(actor, place, webhook_id, meant, **body.wanted()))

    @router.delete(one, name=f"delete_{kind}", status_code=204, responses=problems(*statuses, 404, 503))
    @writes(needs, *also, reports_revision=False)
    async def delete_webhook(
        place: project_id,
        webhook_id: Id,
        actor: CurrentActor,
        webhooks: Service,
        meant: precondition,
    ) -> Response:
        """Delete a webhook, with what waits for it and the record of its deliveries."""
        await webhooks.delete_webhook(actor, place, webhook_id, meant)
        return no_content()

    @router.post(
        f"{one}/rotate-secret",
        name=f"rotate_{kind}_secret",
        response_model=WebhookWithSecretOut,
        responses=problems(*statuses, 404, 503),
    )
    @writes(needs, *also, reports_revision=False, repeatable=False)
    async def rotate_secret(place: project_id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
        """Replace the secret. For 24 hours, messages are also signed with the one before."""
        watched, secret = await webhooks.rotate_secret(actor, place, webhook_id)
        return tagged_webhook(watched, secret=secret)


def _add_delivery_routes(found: _Place) -> None:
    """Add the operations on what webhooks are sent."""
    base, kind, of, needs, also, _, statuses = found
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
    @writes(needs, *also, reports_revision=False, repeatable=False)
    async def test_webhook(place: project_id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
        """Send a message of the type `webhook.test`, once, also to a webhook that is switched off.

        The list of deliveries shows what came of it.
        """
        return json_response(delivery_view(await webhooks.send_test(actor, place, webhook_id)), 202)

    @router.get(
        deliveries,
        name=f"list_{kind}_deliveries",
        response_model=DeliveriesPageOut,
        responses=problems(400, *statuses, 404, 503),
    )
    @reads(needs, *also)
    async def list_deliveries(
        place: project_id,
        webhook_id: Id,
        page: Page,
        actor: CurrentActor,
        webhooks: Service,
    ) -> Response:
        """The messages of the last 30 days, newest first, with each attempt and the beginning of its response."""
        state = State(page.state) if page.state else None
        found = await webhooks.list_deliveries(
            actor, place, webhook_id, state=state, before=page.cursor, limit=page.limit
        )
        return page_response(found)

    @router.get(
        f"{deliveries}/{{delivery_id}}",
        name=f"get_{kind}_delivery",
        response_model=DeliveryWithBodyOut,
        responses=problems(*statuses, 404, 503),
    )
    @reads(needs, *also)
    async def get_delivery(
        place: project_id,
        webhook_id: Id,
        delivery_id: DeliveryId,
        actor: CurrentActor,
        webhooks: Service,
    ) -> Response:
        """A message with its body."""
        delivery, content = await webhooks.get_delivery(actor, place, webhook_id, delivery_id)
        return json_response({**delivery_view(delivery), "body": content})

    @router.post(
        f"{deliveries}/{{delivery_id}}/repeat",
        name=f"repeat_{kind}_delivery",
        status_code=202,
        response_model=DeliveryOut,
        responses=problems(*statuses, 404, 503),
    )
    @writes(needs, *also, reports_revision=False, repeatable=False)
    async def repeat_delivery(
        place: project_id,
        webhook_id: Id,
        delivery_id: DeliveryId,
        actor: CurrentActor,
        webhooks: Service,
    ) -> Response:
        """Send a message again, with the same id."""
        return json_response(delivery_view(await webhooks.repeat_delivery(actor, place, webhook_id, delivery_id)), 202)

    @router.post(
        f"{one}/repeat",
        name=f"repeat_{kind}_deliveries",
        status_code=202,
        response_model=RepeatedOut,
        responses=problems(400, *statuses, 404, 413, 503),
    )
    @writes(needs, *also, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
    async def repeat_deliveries(
        place: project_id,
        webhook_id: Id,
        body: RepeatBody,
        actor: CurrentActor,
        webhooks: Service,
    ) -> Response:
        """Send the messages of a time again, with the same ids; at most a thousand, the oldest first."""
        count = await webhooks.repeat_deliveries(actor, place, webhook_id, body.since, body.until)
        return json_response({"repeated": count}, 202)


for _each in (
    _Place(
        "/projects/{project_id}/webhooks",
        "webhook",
        _of_project,
        Permission.KEYS_ROTATE,
        (Permission.AUDIT_READ,),
        Permission.KEYS_ROTATE,
        (401, 404),
    ),
    _Place("/admin/webhooks", "instance_webhook", _of_instance, Caller.PERSON, (), None, (401, 403)),
):
    _add_routes(_each)
    _add_delivery_routes(_each)
