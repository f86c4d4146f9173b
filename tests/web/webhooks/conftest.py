"""A receiver on loopback, which the server may reach, and webhooks that send to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, created, project_path
from tests.support.receiver import Receiver

Hook = Callable[..., Awaitable[Json]]


@pytest.fixture
def environ() -> dict[str, str]:
    """The networks that webhooks may reach."""
    return {"FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8"}


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """A receiver."""
    async with Receiver() as started:
        yield started


@pytest.fixture
async def hook(ada: Caller, project: Json, receiver: Receiver) -> Hook:
    """Create a webhook of the project for the receiver."""

    async def create(**values: Any) -> Json:
        body = {"url": receiver.url, "events": ["flag.*"], **values}
        return created(await ada.post(hooks_path(project), json=body))

    return create


def hooks_path(project: Json) -> str:
    """The path of a project's webhooks."""
    return f"{project_path(project)}/webhooks"


def hook_path(webhook: Json) -> str:
    """The path of a webhook of a project."""
    return f"/api/projects/{webhook['project_id']}/webhooks/{webhook['id']}"


async def deliveries(ada: Caller, webhook: Json, **query: Any) -> list[Json]:
    """The deliveries of a webhook, newest first."""
    items: list[Json] = (await ada.get(f"{hook_path(webhook)}/deliveries", params=query)).json()["items"]
    return items


async def settle(flagstaff: Flagstaff) -> None:
    """Wait until no due message is left."""
    sender = flagstaff.hooks.sender
    while await sender.look():
        await sender.finish()
