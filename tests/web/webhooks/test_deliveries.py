"""Messages to webhooks: each change at least once, in order, signed, and repeated until they are accepted."""

import asyncio
import io
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.hooks import deliveries as rules
from flagstaff.hooks.messages import BODY_MAX_BYTES
from tests.support.api import Caller, Json, created, environment_path, flag_path, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.ports import free_port
from tests.support.receiver import RESET, Receiver, response
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import ReadMails
from tests.web.webhooks.conftest import Hook, deliveries, hook_path, hooks_path, settle


async def test_a_change_is_sent_signed_with_what_it_was(
    ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook()
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment, name="Neue Käufe", key="new-checkout")
    toggled = await ada.post(f"{flag_path(flag)}/toggle")
    created, switched = await receiver.wait_for(2)
    assert (created.type, switched.type) == ("flag.created", "flag.toggled")
    assert all(each.is_signed_with(webhook["secret"]) for each in (created, switched))
    assert created.headers["content-type"] == "application/json"
    data = switched.json["data"]
    assert data["actor"]["email"] == "ada@example.com"
    assert data["project"] == {"id": project["id"], "name": project["name"]}
    assert data["environment"]["key"] == "production"
    assert (data["flag_key"], data["before"]["enabled"], data["after"]["enabled"]) == ("new-checkout", True, False)
    assert data["after"]["name"] == "Neue Käufe"
    assert data["revision"] >= int(toggled.headers["flagstaff-revision"])
    assert data["link"].endswith(f"/environments/{environment['id']}/flags/{flag['id']}")
    assert len({created.id, switched.id}) == 2


async def test_only_what_is_wanted_is_sent(ada: Caller, project: Json, hook: Hook, receiver: Receiver) -> None:
    await hook(events=["flag.toggled", "rule.*"], environments=["production"], tags=["payments"])
    production, staging = await ada.get_environment(project), await ada.get_environment(project, "staging")
    wanted = await ada.create_flag(production, key="wanted", tags=["payments", "web"])
    elsewhere = await ada.create_flag(staging, key="elsewhere", tags=["payments"])
    untagged = await ada.create_flag(production, key="untagged")
    for flag in (elsewhere, untagged, wanted):
        await ada.post(f"{flag_path(flag)}/toggle")
    await ada.create_rule(untagged)
    await ada.create_rule(wanted)
    messages = await receiver.wait_for(2)
    assert [(each.type, each.json["data"]["flag_key"]) for each in messages] == [
        ("flag.toggled", "wanted"),
        ("rule.created", "wanted"),
    ]


@pytest.mark.both_databases
async def test_what_is_rolled_back_is_not_sent(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["*"])
    environment = await ada.get_environment(project)
    flag = await ada.create_flag(environment)
    assert (await ada.post(f"{environment_path(environment)}/flags", json={"name": "x", "key": flag["key"]})).is_error
    await ada.post(f"{flag_path(flag)}/toggle")
    messages = await receiver.wait_for(3)
    await settle(flagstaff)
    assert [each.type for each in messages] == ["webhook.created", "flag.created", "flag.toggled"]
    assert {each["state"] for each in await deliveries(ada, webhook)} == {"delivered"}


@pytest.mark.both_databases
async def test_changes_are_sent_in_their_order_and_none_before_one_that_fails(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    receiver.answer = lambda _: response(500, b"out of order " * 200)
    toggled = [await ada.post(f"{flag_path(flag)}/toggle") for _ in range(5)]
    (failed,) = await receiver.wait_for(1)
    await settle(flagstaff)
    assert len(receiver.messages) == 1
    newest, *_, oldest = await deliveries(ada, webhook)
    assert (newest["attempts"], oldest["state"], len(oldest["attempts"])) == ([], "waiting", 1)
    assert (oldest["attempts"][0]["status"], len(oldest["attempts"][0]["answer"])) == (500, 1024)
    health = (await ada.get(hook_path(webhook))).json()
    assert (health["waiting"], health["last_status"]) == (5, 500)
    receiver.answer = lambda _: response()
    clock.advance(seconds=6)
    await settle(flagstaff)
    messages = await receiver.wait_for(6)
    assert messages[1].id == failed.id
    assert messages[1].body == failed.body
    assert [each.json["data"]["after"]["enabled"] for each in messages[1:]] == [
        each.json()["enabled"] for each in toggled
    ]


@pytest.mark.both_databases
async def test_attempts_are_made_at_the_stated_times_and_the_last_one_switches_the_webhook_off(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    clock: Clock,
    read_mails: ReadMails,
) -> None:
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    await do_now(flagstaff, "notifications")
    receiver.answer = lambda _: response(503)
    await ada.post(f"{flag_path(flag)}/toggle")
    for attempt, seconds in enumerate(rules.RETRY_SECONDS, 1):
        await settle(flagstaff)
        assert len(receiver.messages) == attempt
        (delivery,) = await deliveries(ada, webhook)
        due = datetime.fromisoformat(delivery["next_attempt_at"]) - clock()
        assert 0.9 * seconds <= due.total_seconds() <= 1.1 * seconds
        clock.advance(seconds=due.total_seconds() - 0.5)
        token = await log_in(flagstaff, email=ada.account["email"], password=PASSWORD)  # a session lasts for 24 hours
        ada.headers["authorization"] = f"Bearer {token}"
        await settle(flagstaff)
        assert len(receiver.messages) == attempt
        clock.advance(seconds=1)
    await settle(flagstaff)
    assert len(receiver.messages) == rules.ATTEMPTS_MAX
    found = (await ada.get(hook_path(webhook))).json()
    assert (found["enabled"], found["disabled_reason"]) == (False, "failed")
    assert (await deliveries(ada, webhook, state="failed"))[0]["next_attempt_at"] is None
    await do_now(flagstaff, "notifications")
    clock.advance(minutes=2)
    await do_now(flagstaff, "notifications")
    (mail,) = [each for each in await read_mails() if "webhook" in each["Subject"]]
    assert mail["To"] == "ada@example.com"
    await ada.post(f"{flag_path(flag)}/toggle")
    await settle(flagstaff)
    assert len(receiver.messages) == rules.ATTEMPTS_MAX


@pytest.mark.both_databases
async def test_one_that_is_switched_on_again_is_sent_what_has_waited(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    receiver.answer = lambda _: response(500)
    for _ in range(3):
        await ada.post(f"{flag_path(flag)}/toggle")
    await settle(flagstaff)
    await ada.put(hook_path(webhook), json={"enabled": False})
    receiver.answer = lambda _: response()
    receiver.messages.clear()
    await ada.put(hook_path(webhook), json={"enabled": True})
    assert [each.type for each in await receiver.wait_for(3)] == ["flag.toggled"] * 3


async def test_a_receiver_that_is_gone_is_asked_once(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.created"])
    receiver.answer = lambda _: response(410)
    await ada.create_flag(await ada.get_environment(project))
    await receiver.wait_for(1)
    await settle(flagstaff)
    found = (await ada.get(hook_path(webhook))).json()
    assert (found["enabled"], found["disabled_reason"], found["waiting"]) == (False, "gone", 0)


@pytest.mark.parametrize("headers", [{"retry_after": "1000"}, {"Retry-After": "Fri, 20 Nov 2099 10:16:40 GMT"}])
async def test_a_receiver_can_ask_for_patience(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    clock: Clock,
    headers: dict[str, Any],
) -> None:
    webhook = await hook(events=["flag.created"])
    receiver.answer = lambda _: response(429, **headers)
    await ada.create_flag(await ada.get_environment(project))
    await receiver.wait_for(1)
    await settle(flagstaff)
    (delivery,) = await deliveries(ada, webhook)
    due = datetime.fromisoformat(delivery["next_attempt_at"]) - clock()
    assert due == timedelta(seconds=1000) if "retry_after" in headers else due == timedelta(hours=24)


async def test_redirects_are_failures_and_not_followed(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.created"])
    receiver.answer = lambda _: response(302, location=receiver.url)
    await ada.create_flag(await ada.get_environment(project))
    await receiver.wait_for(1)
    await settle(flagstaff)
    assert len(receiver.messages) == 1
    (delivery,) = await deliveries(ada, webhook)
    assert (delivery["state"], delivery["attempts"][0]["status"]) == ("waiting", 302)


async def test_a_receiver_that_never_answers_or_never_ends_holds_up_nobody_else(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.hooks.client.client.ATTEMPT_SECONDS", 0.5)
    endless = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024 + b"\r\n"
    async with Receiver() as slow, Receiver() as without_end:
        slow.answer = lambda _: None
        without_end.answer = lambda _: endless
        first = await hook(url=slow.url)
        second = await hook(url=without_end.url)
        await hook()
        await ada.create_flag(await ada.get_environment(project))
        await receiver.wait_for(1)
        await slow.wait_for(1)
        await without_end.wait_for(1)
        await settle(flagstaff)
        assert (await deliveries(ada, first))[0]["attempts"][0]["error"] == "No response within 0.5 seconds."
        (delivered,) = await deliveries(ada, second)
        assert (delivered["state"], len(delivered["attempts"][0]["answer"])) == ("delivered", 1024)


async def test_nothing_that_listens_is_a_failure(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(url=f"http://127.0.0.1:{free_port()}/")
    await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    (delivery,) = await deliveries(ada, webhook)
    assert delivery["attempts"][0]["error"].startswith("No response: ")


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_WEBHOOK_NETWORKS": "203.0.113.0/24"}])
async def test_a_name_that_leads_inside_is_not_reached(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(url=f"http://localhost:{receiver.port}/")
    await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    assert receiver.messages == []
    (delivery,) = await deliveries(ada, webhook)
    assert "which is not in FLAGSTAFF_WEBHOOK_NETWORKS" in delivery["attempts"][0]["error"]


async def test_a_connection_that_is_reset_is_a_failure(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    webhook = await hook()
    receiver.answer = lambda _: RESET
    await ada.create_flag(await ada.get_environment(project))
    await receiver.wait_for(1)
    await settle(flagstaff)
    (delivery,) = await deliveries(ada, webhook)
    assert delivery["attempts"][0]["error"].startswith("No response: ")
    receiver.answer = lambda _: response()
    clock.advance(seconds=6)
    await settle(flagstaff)
    first, second = await receiver.wait_for(2)
    assert (first.id, first.body) == (second.id, second.body)


@pytest.mark.both_databases
async def test_what_happens_while_a_receiver_fails_for_an_hour_arrives_afterwards_in_order(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    receiver.answer = lambda _: response(500)
    for _ in range(12):
        await ada.post(f"{flag_path(flag)}/toggle")
        clock.advance(minutes=5)
        await settle(flagstaff)
    assert len({each.id for each in receiver.messages}) == 1
    receiver.answer = lambda _: response()
    receiver.messages.clear()
    clock.advance(hours=3)
    await settle(flagstaff)
    messages = await receiver.wait_for(12)
    assert [each.json["data"]["after"]["enabled"] for each in messages] == [False, True] * 6
    assert [int(each.json["data"]["id"]) for each in messages] == sorted(
        int(each.json["data"]["id"]) for each in messages
    )


async def test_after_a_rotation_both_secrets_sign_for_a_day(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    rotated = (await ada.post(f"{hook_path(webhook)}/rotate-secret")).json()
    for hours, signed in ((0, [True, True]), (25, [True, False])):
        clock.advance(hours=hours)
        receiver.messages.clear()
        token = await log_in(flagstaff, email=ada.account["email"], password=PASSWORD)
        await ada.post(f"{flag_path(flag)}/toggle", headers={"authorization": f"Bearer {token}"})
        (message,) = await receiver.wait_for(1)
        assert [message.is_signed_with(each["secret"]) for each in (rotated, webhook)] == signed


@pytest.mark.both_databases
async def test_a_secret_that_was_sealed_with_another_key_is_said_at_the_attempt(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.created"])
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.webhooks.update().values(secret=b"x" * 80))
    await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    (delivery,) = await deliveries(ada, webhook)
    assert "FLAGSTAFF_SECRET_KEY has changed since. Rotate the secret." in delivery["attempts"][0]["error"]
    assert receiver.messages == []


async def test_slow_receivers_do_not_take_the_turns_of_others(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.hooks.sender._AT_ONCE", 2)
    monkeypatch.setattr("flagstaff.hooks.sender._LONGEST_WORK_SECONDS", 0.0)
    monkeypatch.setattr("flagstaff.hooks.client.client.ATTEMPT_SECONDS", 0.2)
    async with Receiver() as slow:
        slow.answer = lambda _: None
        for _ in range(6):
            await hook(url=slow.url)
        await hook()
        flag = await ada.create_flag(await ada.get_environment(project))
        await ada.post(f"{flag_path(flag)}/toggle")
        await receiver.wait_for(2)


async def test_the_slow_receivers_of_a_project_leave_turns_to_other_projects(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.hooks.sender._AT_ONCE_OF_PROJECT", 4)
    async with Receiver() as slow:
        slow.answer = lambda _: None
        for _ in range(10):
            await hook(url=slow.url)
        await ada.create_flag(await ada.get_environment(project))
        await slow.wait_for(4)
        other = await ada.create_project(name="Another")
        created(await ada.post(hooks_path(other), json={"url": receiver.url, "events": ["flag.*"]}))
        await ada.create_flag(await ada.get_environment(other))
        await receiver.wait_for(1)
        assert len(slow.messages) == 4  # attempts that have not ended


@pytest.mark.both_databases
async def test_a_test_message_is_sent_at_once_also_when_others_wait_or_it_is_switched_off(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.created"])
    receiver.answer = lambda _: response(500)
    await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    await ada.put(hook_path(webhook), json={"enabled": False})
    receiver.answer = lambda _: response(404, b"no such hook")
    receiver.messages.clear()
    sent = (await ada.post(f"{hook_path(webhook)}/test")).json()
    (message,) = await receiver.wait_for(1)
    await settle(flagstaff)
    assert (message.type, message.id) == ("webhook.test", sent["message_id"])
    newest = (await deliveries(ada, webhook))[0]
    assert (newest["state"], newest["attempts"][0]["answer"]) == ("failed", "no such hook")
    assert (await ada.get(hook_path(webhook))).json()["disabled_reason"] is None


@pytest.mark.both_databases
async def test_a_message_is_repeated_with_the_same_id(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    for _ in range(3):
        clock.advance(minutes=1)
        await ada.post(f"{flag_path(flag)}/toggle")
    first = list(await receiver.wait_for(3))
    await settle(flagstaff)
    newest = (await deliveries(ada, webhook))[0]
    assert (await ada.post(f"{hook_path(webhook)}/deliveries/{newest['id']}/repeat")).status_code == 202
    assert (await receiver.wait_for(4))[3].id == first[2].id
    await settle(flagstaff)
    start = (clock() - timedelta(minutes=2)).isoformat().replace("+00:00", "Z")
    end = clock().isoformat().replace("+00:00", "Z")
    answer = await ada.post(f"{hook_path(webhook)}/repeat", json={"from": start, "to": end})
    assert answer.json() == {"repeated": 2}
    assert [each.id for each in (await receiver.wait_for(6))[4:]] == [each.id for each in first[:2]]
    wrong = await ada.post(f"{hook_path(webhook)}/repeat", json={"from": end, "to": start})
    assert wrong.status_code == 400


async def test_the_record_of_a_message_that_is_repeated_but_not_wanted_any_more_is_kept(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    await ada.post(f"{flag_path(flag)}/toggle")
    await receiver.wait_for(1)
    await settle(flagstaff)
    before = await deliveries(ada, webhook)
    (await ada.put(hook_path(webhook), json={"events": ["rule.*"]})).raise_for_status()
    assert (await ada.post(f"{hook_path(webhook)}/deliveries/{before[0]['id']}/repeat")).status_code == 202
    await settle(flagstaff)
    assert await deliveries(ada, webhook) == before
    assert len(before[0]["attempts"]) == len(receiver.messages) == 1


@pytest.mark.both_databases
async def test_many_changes_at_once_are_many_messages_for_programs_and_one_for_people(
    ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    environment = await ada.get_environment(project)
    flags = [await ada.create_flag(environment, key=f"flag-{name}", name=f"<!channel> {name}") for name in "abc"]
    async with Receiver() as chat:
        await hook(events=["flag.*"])
        await hook(events=["flag.*"], url=chat.url, format="slack")
        body = {"action": "disable", "flags": [each["id"] for each in flags]}
        (await ada.post(f"{environment_path(environment)}/bulk-actions", json=body)).raise_for_status()
        messages = await receiver.wait_for(3)
        assert [each.json["data"]["flag_key"] for each in messages] == [each["key"] for each in flags]
        (message,) = await chat.wait_for(1)
        text = message.json["blocks"][0]["text"]
        assert text["type"] == "plain_text"
        assert text["text"].startswith("ada@example.com changed 3 resources at once: ")
        assert "<" not in message.json["text"]


async def test_a_long_message_leaves_out_the_states(ada: Caller, project: Json, hook: Hook, receiver: Receiver) -> None:
    await hook(events=["flag.created"])
    await ada.create_flag(await ada.get_environment(project), description="ü" * 10_000)
    (message,) = await receiver.wait_for(1)
    assert len(message.body) <= BODY_MAX_BYTES
    assert (message.json["data"]["truncated"], message.json["data"]["after"]) == (True, None)


@pytest.mark.both_databases
async def test_beyond_the_bound_the_oldest_messages_are_dropped_and_the_next_one_names_them(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.hooks.purger.WAITING_MAX", 3)
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)  # the creation of the flag waits, too, until it is known that nobody wants it
    receiver.answer = lambda _: response(500)
    for _ in range(6):
        await ada.post(f"{flag_path(flag)}/toggle")
    await receiver.wait_for(1)
    await settle(flagstaff)
    clock.advance(seconds=6)
    receiver.answer = lambda _: response()
    receiver.messages.clear()
    await settle(flagstaff)
    messages = await receiver.wait_for(3)
    assert [each.json["data"]["dropped"] for each in messages] == [3, 0, 0]
    assert (await ada.get(hook_path(webhook))).json()["dropped"] == 3


async def test_messages_are_sent_when_they_are_due_also_after_others_were_dropped(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.hooks.purger.WAITING_MAX", 3)
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    receiver.answer = lambda _: response(500)
    for toggles in (1, 4):  # the first one is attempted, and the others wait behind it
        for _ in range(toggles):
            await ada.post(f"{flag_path(flag)}/toggle")
        await settle(flagstaff)
    clock.advance(seconds=6)
    await settle(flagstaff)
    assert (await ada.get(hook_path(webhook))).json()["dropped"] == 2
    await ada.post(f"{flag_path(flag)}/toggle")
    clock.advance(seconds=6)
    receiver.answer = lambda _: response()
    receiver.messages.clear()
    await settle(flagstaff)
    assert len(receiver.messages) == 3
    shown = (await ada.get(hook_path(webhook))).json()
    assert (shown["waiting"], shown["dropped"]) == (0, 3)


@pytest.mark.both_databases
async def test_the_bound_holds_while_the_next_attempt_is_far_away(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.hooks.purger.WAITING_MAX", 3)
    webhook = await hook(events=["flag.toggled"])
    flag = await ada.create_flag(await ada.get_environment(project))
    receiver.answer = lambda _: response(503, retry_after="86400")
    for _ in range(6):
        await ada.post(f"{flag_path(flag)}/toggle")
        await settle(flagstaff)
    assert len(receiver.messages) == 1
    await do_now(flagstaff, "webhooks-purge")  # the message whose next attempt is far away is dropped
    shown = (await ada.get(hook_path(webhook))).json()
    assert (shown["waiting"], shown["dropped"]) == (3, 3)


@pytest.mark.both_databases
async def test_records_are_kept_for_thirty_days(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    await hook(events=["flag.created"])
    await ada.create_flag(await ada.get_environment(project))
    await receiver.wait_for(1)
    await settle(flagstaff)
    for days, count in ((29, 1), (2, 0)):
        clock.advance(days=days)
        await do_now(flagstaff, "webhooks-purge")
        async with flagstaff.database.read() as connection:
            for table in (tables.webhook_deliveries, tables.webhook_attempts):
                found = (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()
                assert found == count


async def test_a_message_to_a_receiver_of_a_deleted_project_is_not_sent(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    await hook(events=["*"])
    receiver.answer = lambda _: response(500)
    await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    assert (await ada.delete(project_path(project))).status_code == 204
    receiver.messages.clear()
    await settle(flagstaff)
    assert receiver.messages == []


async def test_messages_about_a_deleted_environment_say_which_it_was_and_reach_only_who_wants_it(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    staging = await ada.get_environment(project, "staging")
    await hook(events=["environment.*", "flag.*"], environments=["production"])
    narrow = await hook(events=["flag.*", "environment.*"], environments=["staging"])
    receiver.answer = lambda _: response(500)
    await ada.create_flag(staging)
    assert (await ada.delete(environment_path(staging))).status_code == 204
    await settle(flagstaff)
    receiver.messages.clear()
    receiver.answer = lambda _: response()
    (await ada.put(hook_path(narrow), json={"enabled": False})).raise_for_status()
    (await ada.put(hook_path(narrow), json={"enabled": True})).raise_for_status()
    await settle(flagstaff)
    assert [each.type for each in receiver.messages] == ["flag.created", "environment.deleted"]
    for message in receiver.messages:
        shown = {"id": staging["id"], "key": "staging", "name": staging["name"], "critical": False}
        assert message.json["data"]["environment"] == shown
        assert message.json["data"]["link"].endswith(project["id"])
    assert [each["type"] for each in await deliveries(ada, narrow)] == ["environment.deleted", "flag.created"]


async def test_the_log_has_neither_urls_nor_secrets(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, log_stream: io.StringIO
) -> None:
    webhook = await hook()
    receiver.answer = lambda _: response(500)
    await ada.create_flag(await ada.get_environment(project))
    await settle(flagstaff)
    logged = log_stream.getvalue()
    assert "s3cret" not in logged
    assert webhook["secret"] not in logged


@pytest.mark.both_databases
async def test_a_process_that_was_paused_for_longer_than_its_turn_alters_nothing(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver
) -> None:
    webhook = await hook(events=["flag.created"])

    async def deliver_by_another() -> None:
        update = tables.webhook_deliveries.update().values(state="delivered", attempts=1)
        async with flagstaff.database.transaction() as transaction:
            await transaction.connection.execute(update)

    asked = asyncio.Event()
    receiver.answer = lambda _: asked.set()
    await ada.create_flag(await ada.get_environment(project))
    await asked.wait()
    await deliver_by_another()
    await receiver.refuse_all()
    await settle(flagstaff)
    (delivery,) = await deliveries(ada, webhook)
    assert (delivery["state"], delivery["attempts"]) == ("delivered", [])
    assert len(receiver.messages) == 1
