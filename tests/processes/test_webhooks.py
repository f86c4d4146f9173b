"""Messages to webhooks while processes are killed: each change at least once, in order, with the same id."""

import asyncio
import os
import re
import sys
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from hatch_build import find_node
from tests.support.api import Json, created, flag_path, project_path
from tests.support.clients import open_client
from tests.support.ports import free_port, is_listening
from tests.support.receiver import Message, Receiver
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.snippets import needs_shell
from tests.support.stores import Store, sqlite_store

ENVIRON = {
    "FLAGSTAFF_WEBHOOK_NETWORKS": "127.0.0.0/8",
    "FLAGSTAFF_API_RATE_LIMIT": "off",
    "FLAGSTAFF_SECRET_KEY": "s" * 64,
}
KILLS = int(os.environ.get("WEBHOOK_KILLS", "6"))  # `make test-faults` has fifty


async def begin(ada: RemoteCaller, receiver: Receiver) -> tuple[Json, Webhook]:
    """Create a flag whose toggles a webhook receives; return it with an object that verifies the messages."""
    await ada.sign_up()
    project = await ada.create_project()
    flag = await ada.create_flag(await ada.get_environment(project))
    body = {"url": receiver.url, "events": ["flag.toggled"]}
    webhook = created(await ada.post(f"{project_path(project)}/webhooks", json=body))
    return flag, Webhook(webhook["secret"])


async def list_toggles(ada: RemoteCaller, flag: Json) -> list[str]:
    """Return the numbers of the toggles, oldest first."""
    found: list[str] = []
    cursor = None
    while True:
        path = f"/api/projects/{flag['project_id']}/changes"
        query: Json = {"action": "flag.toggled", "limit": 100} | ({"cursor": cursor} if cursor else {})
        page = (await ada.get(path, params=query)).json()
        found += [each["id"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found[::-1]


async def until_all(receiver: Receiver, numbers: list[str]) -> None:
    """Wait for the messages about changes, and check their order and that there are no others."""
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
        flag, verifier = await begin(ada, receiver)
        for kill in range(KILLS):
            for _ in range(5):
                assert (await ada.post(f"{flag_path(flag)}/toggle")).is_success
            await receiver.wait_for(5 * kill + 2)
            await server.kill()
            await server.start()
        await until_all(receiver, await list_toggles(ada, flag))
    assert len({number_of(each) for each in receiver.messages}) == 5 * KILLS
    for message in receiver.messages[-10:]:  # the changes of the last five minutes
        assert verifier.verify(message.body, message.headers) == message.json
        with pytest.raises(WebhookVerificationError):
            verifier.verify(message.body.replace(b"flag", b"flog"), message.headers)


async def test_three_instances_send_each_change_once_in_order_and_go_on_when_one_is_killed(
    outage_store: Store,
) -> None:
    async with AsyncExitStack() as stack:
        receiver = await stack.enter_async_context(Receiver())
        stores = [Store(outage_store.database_url, outage_store.data_directory / name) for name in ("a", "b", "c")]
        servers = [await stack.enter_async_context(ServerProcess(each, ENVIRON)) for each in stores]
        callers = [await stack.enter_async_context(RemoteCaller(each.url)) for each in servers]
        flag, _ = await begin(callers[0], receiver)
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


def read_guide(language: str, port: int) -> list[str]:
    """Return the code blocks of docs/webhooks.md in a language, with another port for the receiver."""
    guide = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text().replace("9000", str(port))
    return re.findall(rf"```{language}\n(.*?)```", guide, re.DOTALL)


async def run(commands: str, environ: dict[str, str]) -> str:
    """Return the output of commands in a shell."""
    process = await asyncio.create_subprocess_exec(
        "bash", "-euc", commands, env=environ, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    return output.decode()


@needs_shell
@pytest.mark.parametrize(("language", "name"), [("python", "receiver.py"), ("js", "receiver.mjs")])
async def test_the_guide_ends_with_a_message_that_its_receivers_verify(
    sqlite_template: Path, data_directory: Path, tmp_path: Path, language: str, name: str
) -> None:
    program, port = tmp_path / name, free_port()
    (source,), (prepare, create, toggle) = read_guide(language, port), read_guide("bash", port)
    program.write_text(source)
    node = find_node()
    assert node is not None, "make test brings one"
    command = sys.executable if language == "python" else str(node.binary)
    async with ServerProcess(sqlite_store(sqlite_template, data_directory), ENVIRON) as server:
        environ = {"PATH": os.environ["PATH"], "BASE": server.url}
        state = "declare -f; declare -p BASE TOKEN FLAG WEBHOOK_SECRET"
        prepared = await run(f"{{ {prepare}\n{create} }} >&2\n{state}", environ)
        (secret,) = re.findall('WEBHOOK_SECRET="(whsec_.*)"', prepared)
        running = await asyncio.create_subprocess_exec(
            command,
            str(program),
            env={**os.environ, "WEBHOOK_SECRET": secret},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            async with asyncio.timeout(30):
                while not await is_listening(port):
                    await asyncio.sleep(0.05)
            await run(f"{prepared}\n{toggle}", environ)
            assert running.stdout is not None
            line = (await asyncio.wait_for(running.stdout.readline(), 30)).decode()
            assert re.fullmatch(r"msg_\w+ flag\.toggled\n", line), line
            await check_receiver(f"http://127.0.0.1:{port}/", secret)
        finally:
            running.kill()
            await running.wait()


async def check_receiver(url: str, secret: str) -> None:
    """Check that a receiver accepts exactly the messages that the Standard Webhooks package signs."""
    now, body = datetime.now(UTC), '{"type": "flag.toggled"}'
    headers = {"webhook-id": "msg_2", "webhook-timestamp": str(int(now.timestamp()))}
    async with open_client() as stranger:
        for signature, status in ((Webhook(secret).sign("msg_2", now, body), 204), ("v1,x", 400)):
            given = {**headers, "webhook-signature": signature}
            assert (await stranger.post(url, headers=given, content=body)).status_code == status
