"""The server ends the work of a request when its client has left."""

import asyncio
import json
import random
import time
from urllib.parse import urlsplit

from tests.support.api import Json, environment_path, project_path
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

USERS, RULES = 200, 4
WELL_UNDER_WAY_SECONDS = 0.3
# All of the answers together take about 30 seconds of processor time.
AT_MOST_SECONDS = 5
NO_BUDGET = {"FLAGSTAFF_MAX_CONDITION_WORK": "100000000"}


def cpu_seconds(server: ServerProcess) -> float:
    """Return the processor time that the server has used."""
    return time.clock_gettime(~server.pid << 3 | 2)  # the id of a process's clock: see clock_getcpuclockid(3)


async def ask_and_leave(server: ServerProcess, caller: RemoteCaller, path: str, body: Json) -> None:
    """Send a request, and close the connection when the server is working on it."""
    address, content = urlsplit(server.url), json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: {caller.headers['authorization']}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    before = cpu_seconds(server)
    writer.write(head.encode() + content)
    await writer.drain()
    async with asyncio.timeout(30):
        while cpu_seconds(server) - before < WELL_UNDER_WAY_SECONDS:
            await asyncio.sleep(0.01)
    writer.close()


async def test_a_playground_ends_when_its_client_leaves(store: Store) -> None:
    conditions = [
        {"attribute": "x", "operator": "matches", "values": [f"[ab]*a[ab]{{200}}c{place}"], "negate": True}
        for place in range(50)
    ]
    texts = random.Random(1)
    users = [{"user_id": "ada", "custom_attributes": {"x": "".join(texts.choices("ab", k=1024))}} for _ in range(USERS)]
    async with ServerProcess(store, NO_BUDGET) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        environment = await caller.get_environment(await caller.create_project())
        flag = await caller.create_flag(environment)
        for _ in range(RULES):
            await caller.create_rule(flag, rule_type="attributes", rule_value=None, conditions=conditions)
        body = {"environment_ids": [environment["id"]], "users": users}
        await ask_and_leave(server, caller, f"{project_path({'id': environment['project_id']})}/playground", body)

        left_at = cpu_seconds(server)
        # An account has one such request at a time, so this one waits until the other ends.
        answer = await caller.post(f"{environment_path(environment)}/answers", json={})

        assert answer.status_code == 200
        assert cpu_seconds(server) - left_at < AT_MOST_SECONDS
        assert "Traceback" not in server.log
