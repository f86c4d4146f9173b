"""Webhooks of the whole instance: /api/admin/webhooks."""

from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, created, field_errors
from tests.support.receiver import Receiver
from tests.web.webhooks.conftest import settle

NETWORKS = {"FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8"}


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [NETWORKS])
async def test_those_of_the_instance_are_for_administrators(
    flagstaff: Flagstaff, root: Caller, ada: Caller, client: Caller
) -> None:
    async with Receiver() as receiver:
        await use(flagstaff, root, ada, client, receiver)


async def use(flagstaff: Flagstaff, root: Caller, ada: Caller, client: Caller, receiver: Receiver) -> None:
    body: dict[str, Any] = {"url": receiver.url, "events": ["account.registered", "project.*"]}
    assert (await client.post("/api/admin/webhooks", json=body)).status_code == 401
    assert (await ada.post("/api/admin/webhooks", json=body)).status_code == 403
    assert (await ada.get("/api/admin/webhooks")).status_code == 403
    unknown = await root.post("/api/admin/webhooks", json={**body, "events": ["account.register"]})
    assert "did you mean account.registered?" in field_errors(unknown)["events"]
    webhook = created(await root.post("/api/admin/webhooks", json=body))
    path = f"/api/admin/webhooks/{webhook['id']}"
    assert (webhook["project_id"], (await root.get(path)).json()["events"]) == (None, body["events"])
    project = await ada.create_project(name="Another shop")
    (message,) = await receiver.wait_for(1)
    assert (message.type, message.json["data"]["project"]["name"]) == ("project.created", "Another shop")
    assert message.json["data"]["resource_id"] == project["id"]
    assert (await ada.delete(f"/api/projects/{project['id']}")).status_code == 204
    message = (await receiver.wait_for(2))[1]
    assert message.type == "project.deleted"
    assert message.json["data"]["project"] == {"id": project["id"], "name": "Another shop"}
    assert (await root.put(path, json={"enabled": False})).json()["enabled"] is False
    assert (await root.post(f"{path}/rotate-secret")).status_code == 200
    await settle(flagstaff)
    assert len((await root.get(f"{path}/deliveries", params={"state": "delivered"})).json()["items"]) == 2
    assert (await root.delete(path)).status_code == 204
    assert (await root.get("/api/admin/webhooks")).json() == []
