"""The messages that one operation causes: none to webhooks that do not want it, and to others up to a bound."""

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.receiver import Receiver
from tests.support.sdk_keys import create_key
from tests.web.webhooks.conftest import Hook, hook_path, settle


async def disable_all(ada: Caller, environment: Json, count: int) -> list[Json]:
    """Create flags, and turn them off in one operation."""
    flags = [await ada.create_flag(environment, key=f"flag-{number}") for number in range(count)]
    body = {"action": "disable", "flags": [each["id"] for each in flags]}
    (await ada.post(f"{environment_path(environment)}/bulk-actions", json=body)).raise_for_status()
    return flags


async def count_messages(flagstaff: Flagstaff) -> int:
    """Count the messages to webhooks."""
    async with flagstaff.database.read() as connection:
        count: int = (
            await connection.execute(sa.select(sa.func.count()).select_from(tables.webhook_deliveries))
        ).scalar_one()
        return count


@pytest.mark.both_databases
async def test_an_operation_that_a_webhook_does_not_want_writes_no_message(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook
) -> None:
    await hook(events=["sdk_key.revoked", "release.*"])
    await hook(events=["flag.toggled"], environments=["staging"])
    flags = await disable_all(ada, await ada.get_environment(project), 3)
    await ada.delete(flag_path(flags[0]))
    assert await count_messages(flagstaff) == 0


@pytest.mark.both_databases
async def test_each_pattern_of_events_gets_the_changes_that_it_covers(
    flagstaff: Flagstaff, ada: Caller, project: Json, receiver: Receiver, hook: Hook
) -> None:
    await hook(events=["webhook.*"])
    await hook(events=["sdk_key.created"])
    await hook(events=["*"], format="slack")
    await create_key(ada, project)
    messages = await receiver.wait_for(6)
    types = sorted(each.json.get("type", "chat") for each in messages)
    # Each is told of its own creation, too: the chat of itself and the key.
    assert types == ["chat", "chat", "sdk_key.created", *["webhook.created"] * 3]


@pytest.mark.both_databases
async def test_of_an_operation_with_more_changes_than_its_bound_the_newest_are_sent_and_the_others_counted(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.database.outbox_store.OF_OPERATION_MAX", 6)
    wanting = [await hook(events=["flag.toggled"]), await hook(events=["flag.*"])]
    await hook(events=["rule.*"])  # takes no share
    flags = await disable_all(ada, await ada.get_environment(project), 5)
    await settle(flagstaff)
    toggles = [each.json["data"] for each in receiver.messages if each.type == "flag.toggled"]
    assert sorted(each["flag_key"] for each in toggles) == sorted(each["key"] for each in 2 * flags[2:])
    assert sum(each.json["data"]["dropped"] for each in receiver.messages) == 4
    assert [(await ada.get(hook_path(each))).json()["dropped"] for each in wanting] == [2, 2]


@pytest.mark.both_databases
async def test_a_webhook_gets_at_most_its_own_bound_and_a_chat_one_message(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.database.outbox_store.TO_WEBHOOK_MAX", 2)
    await hook(events=["flag.toggled"])
    await hook(events=["flag.toggled"], format="slack")
    await disable_all(ada, await ada.get_environment(project), 4)
    await settle(flagstaff)
    assert [each.json.get("type", "chat") for each in receiver.messages].count("flag.toggled") == 2
    assert len(receiver.messages) == 3
