"""POST …/webhooks/preview: the messages that a webhook would have received; and the body of a message."""

import json

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.clock import Clock
from tests.support.members import join
from tests.support.receiver import Receiver, response
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import SignUp
from tests.web.webhooks.conftest import Hook, deliveries, hook_path, hooks_path, settle

WANTED: Json = {"events": ["flag.*", "rule.*"]}


async def preview(caller: Caller, project: Json, **values: object) -> Json:
    """Return the messages that would have been sent."""
    answer = await caller.post(f"{hooks_path(project)}/preview", json={**WANTED, **values})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def test_what_is_malformed_is_refused_at_its_field(ada: Caller, project: Json) -> None:
    path = f"{hooks_path(project)}/preview"
    assert field_errors(await ada.post(path, json={})) == {"events": "is required"}
    wrong = await ada.post(path, json={"events": ["flag.toggle"]})
    assert "did you mean flag.toggled?" in field_errors(wrong)["events"]
    unknown = await ada.post(path, json={**WANTED, "url": "https://example.com"})
    assert field_errors(unknown) == {"url": "is not a known field; known fields are events, environments, tags, format"}


async def test_only_who_may_make_a_webhook_sees_what_it_would_have_been_sent(
    flagstaff: Flagstaff, sign_up: SignUp, client: Caller, eve: Caller, project: Json
) -> None:
    editor = await sign_up("ed")
    await join(flagstaff, project, editor, "editor")
    for caller, status in ((client, 401), (eve, 404), (editor, 403)):
        assert (await caller.post(f"{hooks_path(project)}/preview", json=WANTED)).status_code == status


@pytest.mark.both_databases
async def test_it_has_the_last_days_changes_that_are_wanted_newest_first(
    flagstaff: Flagstaff, ada: Caller, project: Json, clock: Clock
) -> None:
    environment = await ada.get_environment(project)
    old = await ada.create_flag(environment, key="yesterday")
    clock.advance(hours=25)
    ada.headers["authorization"] = f"Bearer {await log_in(flagstaff, email=ada.account['email'], password=PASSWORD)}"
    await ada.create_segment(project)
    flag = await ada.create_flag(environment, key="today", tags=["web"])
    await ada.create_rule(flag)
    await ada.post(f"{flag_path(old)}/toggle")
    found = await preview(ada, project)
    assert (found["examined"], found["count"]) == (4, 3)
    assert [each["type"] for each in found["messages"]] == ["flag.toggled", "rule.created", "flag.created"]
    body = json.loads(found["messages"][0]["body"])
    assert (body["type"], body["data"]["flag_key"]) == ("flag.toggled", "yesterday")
    tagged = await preview(ada, project, tags=["web"])
    assert [each["type"] for each in tagged["messages"]] == ["rule.created", "flag.created"]
    assert (await preview(ada, project, environments=["staging"]))["count"] == 0


@pytest.mark.both_databases
async def test_a_chat_would_have_got_one_message_for_many_changes_at_once(ada: Caller, project: Json) -> None:
    environment = await ada.get_environment(project)
    flags = [await ada.create_flag(environment, key=f"flag-{name}") for name in "abc"]
    body = {"action": "disable", "flags": [each["id"] for each in flags]}
    (await ada.post(f"{environment_path(environment)}/bulk-actions", json=body)).raise_for_status()
    for form, count in (("standard", 3), ("slack", 1)):
        found = await preview(ada, project, events=["flag.toggled"], format=form)
        assert found["count"] == count
    assert "changed 3 resources at once" in found["messages"][0]["body"]


@pytest.mark.both_databases
async def test_of_many_changes_the_newest_are_examined_and_the_first_messages_shown(
    ada: Caller, project: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.hooks.previews_service.PREVIEWED_MAX", 5)
    monkeypatch.setattr("flagstaff.hooks.previews_service._READ_AT_ONCE", 5)
    monkeypatch.setattr("flagstaff.hooks.previews_service.SHOWN_MAX", 2)
    flag = await ada.create_flag(await ada.get_environment(project))
    for _ in range(6):
        await ada.post(f"{flag_path(flag)}/toggle")
    found = await preview(ada, project)
    assert (found["examined"], found["count"], len(found["messages"])) == (5, 5, 2)


@pytest.mark.both_databases
async def test_the_body_of_a_message_is_what_was_sent(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.created"])
    receiver.answer = lambda _: response(500)
    await ada.create_flag(await ada.get_environment(project))
    (message,) = await receiver.wait_for(1)
    await settle(flagstaff)
    (delivery,) = await deliveries(ada, webhook)
    path = f"{hook_path(webhook)}/deliveries"
    found = (await ada.get(f"{path}/{delivery['id']}")).json()
    assert found.pop("body") == message.body.decode()
    assert found == delivery
    assert (await ada.get(f"{path}/999")).status_code == 404
    other = await hook()
    assert (await ada.get(f"{hook_path(other)}/deliveries/{delivery['id']}")).status_code == 404
