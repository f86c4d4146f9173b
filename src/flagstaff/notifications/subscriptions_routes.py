"""HTTP of subscriptions: what an account wants to be mailed about."""

from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field, model_validator
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, tagged_response
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, Uuid
from flagstaff.flags.field_schemas import Tag
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.notifications.subscriptions import Subscription
from flagstaff.notifications.subscriptions_service import Subscriptions
from flagstaff.permissions.permissions import Permission
from flagstaff.values.moments import format_moment

router = Router(tags=["Notifications"])
_OF_PROJECT = "/api/projects/{project_id}/subscriptions"

Service = Annotated[Subscriptions, Depends(service(Subscriptions))]


class SubscriptionOut(TaggedOut):
    """A subscription: you are mailed when others change what it is to."""

    id: Uuid
    project_id: Uuid
    project: str = Field(description="The project's name.")
    kind: Literal["flag", "tag", "environment"]
    environment_id: Uuid | None
    environment: str | None = Field(description="The environment's key.")
    flag_key: str | None
    flag_id: Uuid | None = Field(description="The flag's id; null if it has been deleted.")
    tag: str | None
    created_at: Moment


class NewSubscription(Body):
    """The target of a subscription: a flag, with its environment; an environment; or a tag, in all environments."""

    environment_id: GivenId | None = None
    flag_id: GivenId | None = None
    tag: Tag | None = None

    @model_validator(mode="after")
    def _check(self) -> "NewSubscription":
        if (self.environment_id is None) == (self.tag is None) or (self.tag is not None and self.flag_id is not None):
            raise ValueError("must have environment_id, or environment_id and flag_id, or tag alone")
        return self


def _view(each: Subscription) -> dict[str, Any]:
    return {
        "id": each.id,
        "project_id": each.project_id,
        "project": each.project,
        "kind": each.kind,
        "environment_id": each.environment_id,
        "environment": each.environment,
        "flag_key": each.name if each.kind == "flag" else None,
        "flag_id": each.flag_id,
        "tag": each.name if each.kind == "tag" else None,
        "created_at": format_moment(each.created_at),
    }


@router.get("/api/me/subscriptions", response_model=list[SubscriptionOut], responses=problems(401, 503))
@reads(Caller.PERSON)
async def list_my_subscriptions(actor: CurrentActor, subscriptions: Service) -> Response:
    """Your subscriptions in all projects, newest first."""
    return await json_array_response(map(_view, await subscriptions.list_all(actor)))


@router.get(_OF_PROJECT, response_model=list[SubscriptionOut], responses=problems(401, 404, 503))
@reads(Permission.PROJECT_READ)
async def list_subscriptions(project_id: Id, actor: CurrentActor, subscriptions: Service) -> Response:
    """Your subscriptions in the project, newest first."""
    return await json_array_response(map(_view, await subscriptions.list_subscriptions(actor, project_id)))


@router.post(
    _OF_PROJECT, status_code=201, response_model=SubscriptionOut, responses=problems(400, 401, 404, 409, 413, 503)
)
@writes(Permission.PROJECT_READ, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=True, only_people=True)
async def create_subscription(
    project_id: Id, body: NewSubscription, actor: CurrentActor, subscriptions: Service
) -> Response:
    """Subscribe to the changes of a flag, of an environment, or of all flags with a tag.

    A flag also needs `flags:read` in its environment. You are mailed what the permission `audit:read` lets you see. If
    you have the subscription already, it is the response.
    """
    if body.tag is not None:
        made = await subscriptions.subscribe_to_tag(actor, project_id, body.tag)
    elif body.flag_id is not None and body.environment_id is not None:
        made = await subscriptions.subscribe_to_flag(actor, project_id, body.environment_id, body.flag_id)
    else:
        assert body.environment_id is not None
        made = await subscriptions.subscribe_to_environment(actor, project_id, body.environment_id)
    return tagged_response(_view(made), 201)


@router.delete(_OF_PROJECT + "/{subscription_id}", status_code=204, responses=problems(401, 404, 503))
@writes(Permission.PROJECT_READ, reports_revision=False, only_people=True)
async def delete_subscription(
    project_id: Id, subscription_id: Id, actor: CurrentActor, subscriptions: Service
) -> Response:
    """Remove a subscription of yours."""
    await subscriptions.delete_subscription(actor, project_id, subscription_id)
    return no_content()
