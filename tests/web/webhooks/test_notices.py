"""Events that the server creates by itself: stale flags, missing ones, instances that lag and late histories."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.hooks.notices_service import Lagging, Noticer, Recorded
from tests.support.api import Caller, Json, created, flag_path, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.receiver import Receiver
from tests.support.sdk_keys import create_key
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import SignUp
from tests.web.webhooks.conftest import Hook, settle

# Others are about instances: after a jump of the clock, one can lag for a moment.
TOLD_OF_FLAGS = sa.select(tables.notices).where(tables.notices.c.project_id.is_not(None))


def noticer_of(flagstaff: Flagstaff) -> Noticer:
    (found,) = (each for each in flagstaff.foundation.services if isinstance(each, Noticer))
    return found


async def ask_for(client: Caller, key: Json, *flags: str) -> None:
    """Ask for flags by their keys, as an application does."""
    for each in flags:
        await client.post(
            f"/ofrep/v1/evaluate/flags/{each}",
            json={"context": {"targetingKey": "u"}},
            headers={"authorization": f"Bearer {key['key']}"},
        )


@pytest.mark.both_databases
async def test_flags_that_become_stale_are_told_once_and_again_after_they_were_kept(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    environment = await ada.get_environment(project)
    flags = [await ada.create_flag(environment, key=f"old-{name}", name=f"Old {name}") for name in "ab"]
    await ada.create_flag(environment, key="meant-to-stay", keep=True)
    await hook(events=["flag.stale"])
    await do_now(flagstaff, "notices")
    await settle(flagstaff)
    assert receiver.messages == []
    clock.advance(days=31)
    await do_now(flagstaff, "notices", "notices")
    (message,) = await receiver.wait_for(1)
    assert message.type == "flag.stale"
    data = message.json["data"]
    assert (data["project"]["id"], data["actor"], data["notice"]["count"]) == (project["id"], None, 2)
    assert [each["key"] for each in data["notice"]["flags"]] == ["old-a", "old-b"]
    assert data["notice"]["flags"][0]["reasons"] == ["not_evaluated", "unchanged"]
    assert data["link"].endswith(f"/environments/{environment['id']}/cleanup")
    clock.advance(days=2)
    await do_now(flagstaff, "notices")
    await settle(flagstaff)
    assert len(receiver.messages) == 1
    for keep in (True, False):
        token = await log_in(flagstaff, email=ada.account["email"], password=PASSWORD)
        bearer = {"authorization": f"Bearer {token}"}
        (await ada.put(flag_path(flags[0]), json={"keep": keep}, headers=bearer)).raise_for_status()
        clock.advance(days=2)
        await do_now(flagstaff, "notices", "notices")
    messages = await receiver.wait_for(2)
    assert [each["key"] for each in messages[1].json["data"]["notice"]["flags"]] == ["old-a"]


@pytest.mark.both_databases
async def test_flags_that_are_asked_for_but_not_there_are_told_once(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    environment = await ada.get_environment(project)
    archived = await ada.create_flag(environment, key="put-away")
    (await ada.post(f"{flag_path(archived)}/archive")).raise_for_status()
    await hook(events=["flag.*"])
    await ask_for(client, await create_key(ada, project), "misspelt", "put-away", "misspelt")
    await flagstaff.applications.collector.write()
    await do_now(flagstaff, "notices")
    (message,) = await receiver.wait_for(1)
    assert message.type == "flag.missing"
    assert message.json["data"]["environment"]["key"] == "production"
    told = {each["key"]: each["archived"] for each in message.json["data"]["notice"]["flags"]}
    assert told == {"misspelt": False, "put-away": True}
    clock.advance(minutes=6)
    await do_now(flagstaff, "notices")
    await settle(flagstaff)
    assert len(receiver.messages) == 1


@pytest.mark.both_databases
async def test_a_webhook_is_told_only_of_flags_with_its_tags_and_in_its_environments(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    production, staging = await ada.get_environment(project), await ada.get_environment(project, "staging")
    await ada.create_flag(production, key="wanted", tags=["payments"])
    await ada.create_flag(production, key="untagged")
    await ada.create_flag(staging, key="elsewhere", tags=["payments"])
    await hook(events=["flag.stale"], tags=["payments"], environments=["production"])
    clock.advance(days=31)
    await do_now(flagstaff, "notices", "notices")
    (message,) = await receiver.wait_for(1)
    await settle(flagstaff)
    assert message.json["data"]["notice"] == {
        "count": 1,
        "flags": [
            {
                "key": "wanted",
                "name": "New checkout",
                "tags": ["payments"],
                "owner": None,
                "reasons": ["not_evaluated", "unchanged"],
            }
        ],
    }
    assert len(receiver.messages) == 1


@pytest.mark.both_databases
async def test_what_was_told_of_a_deleted_project_is_forgotten(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, clock: Clock
) -> None:
    await ada.create_flag(await ada.get_environment(project))
    await hook(events=["flag.stale"])
    clock.advance(days=31)
    await do_now(flagstaff, "notices", "notices")
    token = await log_in(flagstaff, email=ada.account["email"], password=PASSWORD)
    deleted = await ada.delete(project_path(project), headers={"authorization": f"Bearer {token}"})
    assert deleted.status_code == 204
    await do_now(flagstaff, "notices")
    async with flagstaff.database.read() as connection:
        for query in (TOLD_OF_FLAGS, sa.select(tables.noticed_flags), sa.select(tables.environment_looks)):
            assert (await connection.execute(query)).all() == []


@pytest.mark.both_databases
async def test_instances_that_lag_and_a_history_that_falls_behind_are_told_to_the_instances_webhooks(
    flagstaff: Flagstaff, sign_up: SignUp, receiver: Receiver
) -> None:
    root = await sign_up("root")
    created(await root.post("/api/admin/webhooks", json={"url": receiver.url, "events": ["instance.*", "history.*"]}))
    lagging: list[Lagging] = [Lagging("eu-1", {"seconds": 12, "changes": 3})]
    recorded, seconds = Recorded(10, 5), 100.0
    noticer = noticer_of(flagstaff)

    async def find_lagging() -> Sequence[Lagging]:
        return lagging

    def read_history() -> Recorded:
        return recorded

    noticer.sources = replace(noticer.sources, find_lagging=find_lagging, read_history=read_history)
    noticer.clock, noticer.name = lambda: seconds, "eu-2"
    for _ in range(2):
        await noticer.look_at_instances()
    lagging.clear()
    seconds += 59
    await noticer.look_at_instances()
    seconds += 1
    await noticer.look_at_instances()
    recorded = Recorded(11, 4)
    await noticer.look_at_instances()
    messages = await receiver.wait_for(4)
    await settle(flagstaff)
    told: list[tuple[str, dict[str, Any]]] = [(each.type, each.json["data"]["notice"]) for each in messages]
    assert told == [
        ("instance.lagging", {"instance": "eu-1", "seconds": 12, "changes": 3}),
        ("instance.recovered", {"instance": "eu-1"}),
        ("history.behind", {"instance": "eu-2", "waiting": 5}),
        ("history.recovered", {"instance": "eu-2"}),
    ]


@pytest.mark.both_databases
async def test_notices_are_kept_for_thirty_days(
    flagstaff: Flagstaff, ada: Caller, project: Json, hook: Hook, receiver: Receiver, clock: Clock
) -> None:
    await ada.create_flag(await ada.get_environment(project))
    await hook(events=["flag.stale"])
    clock.advance(days=31)
    await do_now(flagstaff, "notices", "notices")
    await receiver.wait_for(1)
    await settle(flagstaff)
    for days, count in ((29, 1), (2, 0)):
        clock.advance(days=days)
        await do_now(flagstaff, "notices-purge")
        async with flagstaff.database.read() as connection:
            assert len((await connection.execute(TOLD_OF_FLAGS)).all()) == count


@pytest.mark.both_databases
async def test_more_flags_than_a_message_has_are_more_messages(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.hooks.notices_service.FLAGS_MAX", 2)
    monkeypatch.setattr("flagstaff.assembly.notices._STALE_MAX", 4)
    environment = await ada.get_environment(project)
    for name in "abcde":
        await ada.create_flag(environment, key=f"old-{name}", tags=["late"] if name == "d" else [])
    await hook(events=["flag.stale"], tags=["late"])
    clock.advance(days=31)
    await do_now(flagstaff, "notices")
    (message,) = await receiver.wait_for(1)
    await settle(flagstaff)
    assert [each["key"] for each in message.json["data"]["notice"]["flags"]] == ["old-d"]
    async with flagstaff.database.read() as connection:
        told = (await connection.execute(TOLD_OF_FLAGS)).all()
    assert [each.details["count"] for each in told] == [2, 2]


@pytest.mark.both_databases
async def test_of_missing_flags_the_most_wanted_are_told_if_flags_can_have_their_keys(
    flagstaff: Flagstaff,
    client: Caller,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.assembly.notices._MISSING_MAX", 1)
    await hook(events=["flag.missing"])
    text = "URGENT see evil.example"
    await ask_for(client, await create_key(ada, project), text, text, text, "rare", "wanted", "wanted")
    await flagstaff.applications.collector.write()
    await do_now(flagstaff, "notices")
    (message,) = await receiver.wait_for(1)
    assert [each["key"] for each in message.json["data"]["notice"]["flags"]] == ["wanted"]


@pytest.mark.both_databases
async def test_so_many_environments_as_no_statement_could_name_are_examined(
    flagstaff: Flagstaff,
    client: Caller,
    ada: Caller,
    project: Json,
    hook: Hook,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flagstaff.hooks.notices_store._IDS_AT_ONCE", 1)
    await hook(events=["flag.missing"])
    for environment in ("production", "staging"):
        await ask_for(client, await create_key(ada, project, environment=environment), f"not-in-{environment}")
    await flagstaff.applications.collector.write()
    await do_now(flagstaff, "notices")
    messages = await receiver.wait_for(2)
    keys = {each.json["data"]["notice"]["flags"][0]["key"] for each in messages}
    assert keys == {"not-in-production", "not-in-staging"}


async def test_which_environments_are_asked_for_is_read_once_a_minute(flagstaff: Flagstaff, clock: Clock) -> None:
    noticer, times = noticer_of(flagstaff), []

    async def list_asked() -> Collection[UUID]:
        times.append(clock())
        return ()

    noticer.sources = replace(noticer.sources, list_asked=list_asked)
    clock.advance(minutes=2)
    for _ in range(12):
        await noticer.look()
        clock.advance(seconds=10)
    assert len(times) == 2
