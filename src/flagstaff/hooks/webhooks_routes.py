"""HTTP of webhooks and their previews: of a project, and of the whole instance for its administrators."""

from typing import TYPE_CHECKING, Annotated, TypeAlias
from uuid import UUID

from fastapi import Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import if_match
from flagstaff.api.ids import Id
from flagstaff.api.operations import asks, reads, writes
from flagstaff.api.routers import Router
from flagstaff.database.preconditions import Precondition
from flagstaff.hooks.access import WatchedWebhook
from flagstaff.hooks.places import PLACES, Place
from flagstaff.hooks.previews_service import Previews
from flagstaff.hooks.webhooks_schemas import (
    InstanceWebhookFilter,
    InstanceWebhookUpdate,
    NewInstanceWebhook,
    NewWebhook,
    PreviewOut,
    WebhookFilter,
    WebhookOut,
    WebhookUpdate,
    WebhookWithSecretOut,
    preview_response,
    tagged_webhook,
    view_webhook,
)
from flagstaff.hooks.webhooks_service import Webhooks
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service

router = Router(prefix="/api", tags=["Webhooks"])

Service = Annotated[Webhooks, Depends(service(Webhooks))]
PreviewService = Annotated[Previews, Depends(service(Previews))]


_BODIES = {
    "webhook": (NewWebhook, WebhookUpdate, WebhookFilter),
    "instance_webhook": (NewInstanceWebhook, InstanceWebhookUpdate, InstanceWebhookFilter),
}
"""The bodies of a new webhook, of an update and of a preview: webhooks of the instance can want more events."""


def _add_routes(found: Place) -> None:
    """Add the operations on webhooks in one place."""
    base, kind, of, reading, writing, also, statuses = found
    if TYPE_CHECKING:
        New: TypeAlias = NewWebhook
        Changed: TypeAlias = WebhookUpdate
        Wanted: TypeAlias = WebhookFilter
    else:
        New, Changed, Wanted = _BODIES[kind]  # noqa: N806 - they are types
    project_id = Annotated[UUID | None, Depends(of)]
    precondition = Annotated[Precondition[WatchedWebhook], Depends(if_match("webhook", view_webhook))]
    one = f"{base}/{{webhook_id}}"

    @router.get(base, name=f"list_{kind}s", response_model=list[WebhookOut], responses=problems(*statuses, 503))
    @reads(reading, *also)
    async def list_webhooks(place: project_id, actor: CurrentActor, webhooks: Service) -> Response:
        """The webhooks, oldest first, with their state."""
        return await json_array_response(map(view_webhook, await webhooks.list_webhooks(actor, place)))

    @router.post(
        base,
        name=f"create_{kind}",
        status_code=201,
        response_model=WebhookWithSecretOut,
        responses=problems(400, *statuses, 409, 413, 503),
    )
    @writes(writing, *also, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False)
    async def create_webhook(place: project_id, body: New, actor: CurrentActor, webhooks: Service) -> Response:
        """Create a webhook, which receives each chosen change, in order and repeatedly until its receiver accepts it.

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
    @asks(reading, *also, body_max_bytes=SMALL_BODY)
    async def preview_webhook(
        place: project_id, body: Wanted, actor: CurrentActor, previews: PreviewService
    ) -> Response:
        """The messages that a webhook would have received about the newest 500 changes of the last day."""
        return preview_response(await previews.preview(actor, place, **body.wanted()))

    @router.get(one, name=f"get_{kind}", response_model=WebhookOut, responses=problems(*statuses, 404, 503))
    @reads(reading, *also)
    async def get_webhook(place: project_id, webhook_id: Id, actor: CurrentActor, webhooks: Service) -> Response:
        """One webhook, with its state."""
        return tagged_webhook(await webhooks.get_webhook(actor, place, webhook_id))

    @router.put(
        one, name=f"update_{kind}", response_model=WebhookOut, responses=problems(400, *statuses, 404, 413, 503)
    )
    @writes(writing, *also, body_max_bytes=SMALL_BODY, reports_revision=False)
    async def update_webhook(
        place: project_id,
        webhook_id: Id,
        body: Changed,
        actor: CurrentActor,
        webhooks: Service,
        meant: precondition,
    ) -> Response:
        """Update a webhook. Only the given fields change.

        When a webhook is turned on again, its waiting messages are sent.
        """
        return tagged_webhook(await webhooks.update_webhook(actor, place, webhook_id, meant, **body.wanted()))

    @router.delete(one, name=f"delete_{kind}", status_code=204, responses=problems(*statuses, 404, 503))
    @writes(writing, *also, reports_revision=False)
    async def delete_webhook(
        place: project_id,
        webhook_id: Id,
        actor: CurrentActor,
        webhooks: Service,
        meant: precondition,
    ) -> Response:
        """Delete a webhook, with its waiting messages and the record of its deliveries."""
        await webhooks.delete_webhook(actor, place, webhook_id, meant)
        return no_content()

    @router.post(
        f"{one}/rotate-secret",
        name=f"rotate_{kind}_secret",
        response_model=WebhookWithSecretOut,
        responses=problems(*statuses, 404, 503),
    )
    @writes(writing, *also, reports_revision=False, repeatable=False)
    async def rotate_secret(
        place: project_id,
        webhook_id: Id,
        actor: CurrentActor,
        webhooks: Service,
        meant: precondition,
    ) -> Response:
        """Replace the secret. For 24 hours, messages are also signed with the previous one."""
        watched, secret = await webhooks.rotate_secret(actor, place, webhook_id, meant)
        return tagged_webhook(watched, secret=secret)


for _each in PLACES:
    _add_routes(_each)
