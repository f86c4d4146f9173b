"""Messages to webhooks while processes are killed: each change at least once, in order, with the same id."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

from tests.support.api import Json, created, flag_path, project_path
from tests.support.receiver import Message, Receiver
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

ENVIRON = {
    "FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_SECRET_KEY": "s" * 64,
}
KILLS = 6


async def begin(ada: RemoteCaller, receiver: Receiver) -> Json:
    """A flag, in a project with a webhook that is sent its toggles."""
    await ada.sign_up()
    project = await ada.create_project()
    flag = await ada.create_flag(await ada.get_environment(project))
    body = {"url": receiver.url, "events": ["flag.toggled"]}
    created(await ada.post(f"{project_path(project)}/webhooks", json=body))
    return flag


async def list_toggles(ada: RemoteCaller, flag: Json) -> list[str]:
    """The numbers of the toggles, oldest first."""
    found: list[str] = []
    cursor = None
    while True:
        path = f"/api/projects/{flag['project_id']}/changes"
        query = {"action": "flag.toggled", "limit": 100} | ({"cursor": cursor} if cursor else {})
        page = (await ada.get(path, params=query)).json()
        found += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found[::-1]


async def until_all(receiver: Receiver, numbers: list[str]) -> None:
    """Wait for the messages about changes, and check that they came in order and without another."""
    async with asyncio.timeout(60):
        while {number_of(each) for each in receiver.messages} != set(numbers):
            await asyncio.sleep(0.05)
    assert list(dict.fromkeys(map(number_of, receiver.messages))) == numbers
    assert len({(number_of(each), each.id) for each in receiver.messages}) == len(numbers)


def number_of(message: Message) -> str:
    number: str = message.json["data"]["id"]
    return number


async def test_no_change_is_lost_and_none_overtakes_another_when_the_sender_is_killed(
    sqlite_template: Path, data_directory: Path
) -> None:
    store = sqlite_store(sqlite_template, data_directory)
    async with Receiver() as receiver, ServerProcess(store, ENVIRON) as server, RemoteCaller(server.url) as ada:
        flag = await begin(ada, receiver)
        for kill in range(KILLS):
            for _ in range(5):
                assert (await ada.post(f"{flag_path(flag)}/toggle")).is_success
            await receiver.wait_for(5 * kill + 2)
            await server.kill()
            await server.start()
        await until_all(receiver, await list_toggles(ada, flag))
    assert len({number_of(each) for each in receiver.messages}) == 5 * KILLS


async def test_three_instances_send_each_change_once_in_order_and_go_on_when_one_is_killed(
    outage_store: Store,
) -> None:
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(Receiver())
        stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in ("a", "b", "c")]
        servers = [await stack.enter_async_context(ServerProcess(each, ENVIRON)) for each in stores]
        callers = [await stack.enter_async_context(RemoteCaller(each.url)) for each in servers]
        flag = await begin(callers[0], receiver)
        for caller in callers[1:]:
            await caller.log_in()
        for _ in range(10):
            for caller in callers:
                assert (await caller.post(f"{flag_path(flag)}/toggle")).is_success
        await until_all(receiver, await list_toggles(callers[0], flag))
        assert len(receiver.messages) == 30
        await servers[1].kill()
        for _ in range(5):
            assert (await callers[2].post(f"{flag_path(flag)}/toggle")).is_success
        await until_all(receiver, await list_toggles(callers[0], flag))
