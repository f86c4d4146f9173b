"""What is left of a process of the tests that crashes."""

import asyncio
import os
import sys
from pathlib import Path

from tests.support.processes import is_running

_STARTS_A_SERVER = """
import asyncio, sys
from pathlib import Path
from tests.support.server import ServerProcess
from tests.support.stores import Store

async def start():
    server = ServerProcess(Store(None, Path(sys.argv[1])))
    await server.launch()
    print(server.pid, flush=True)

asyncio.run(start())
sys.stdin.read()
"""


async def test_a_forked_server_ends_with_the_tests_that_started_it(data_directory: Path) -> None:
    tests = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _STARTS_A_SERVER, str(data_directory)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"]},
    )
    assert tests.stdout
    server = int(await tests.stdout.readline())
    assert is_running(server)
    tests.kill()
    await tests.wait()
    async with asyncio.timeout(30):
        while is_running(server):
            await asyncio.sleep(0.02)
