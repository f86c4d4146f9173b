"""The tracking providers of docs/openfeature.md, and the page of docs/releases.md, run unchanged on a real server."""

import asyncio
import re
import shutil
import sys
from pathlib import Path

import pytest

from flagstaff.database.database import Database
from tests.sdks import test_browsers
from tests.sdks.test_browsers import opened
from tests.support.documented_code import code_in
from tests.support.releases import create_metric, list_stored
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

ROOT = Path(__file__).parents[2]


PYTHON, JAVASCRIPT = (code_in("openfeature.md", "Tracking", language) for language in ("python", "js"))
OF_PAGE, BEACON = code_in("releases.md", "Events from pages", "js")
PUBLIC_URL = "https://flags.example.com"
SECONDS = 60
origin = test_browsers.origin


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


def python_program(url: str, key: str) -> list[str]:
    """Return the page's program in Python, with the address and the key, and time for the thread to send."""
    define, use = PYTHON
    head = (
        "import time\nfrom openfeature import api\nfrom openfeature.evaluation_context import EvaluationContext\n"
        f"from openfeature.track import TrackingEventDetails\nkey = {key!r}\n"
    )
    return [sys.executable, "-c", f"{head}{define}{use.replace(PUBLIC_URL, url)}\ntime.sleep(3)\n"]


def javascript_program(url: str, key: str) -> list[str]:
    """Return the page's program in JavaScript, with the address and the key."""
    define, use = JAVASCRIPT
    head = (
        'import { OFREPProvider } from "@openfeature/ofrep-provider";\n'
        f'import {{ OpenFeature }} from "@openfeature/server-sdk";\nconst key = "{key}";\n'
    )
    node = shutil.which("node") or str(ROOT / ".venv" / "bin" / "node")
    return [node, "--input-type=module", "-e", f"{head}{define}{use.replace(PUBLIC_URL, url)}"]


@pytest.mark.parametrize("language", ["python", "javascript"])
async def test_what_is_tracked_arrives_as_events(sqlite: Store, language: str) -> None:
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as ada:
        await ada.sign_up()
        project = await ada.create_project()
        await create_metric(ada, project, key="checkout-error")
        await create_metric(ada, project, key="latency", kind="value")
        key = (await create_key(ada, project))["key"]
        program = (python_program if language == "python" else javascript_program)(server.url, key)
        process = await asyncio.create_subprocess_exec(*program, cwd=ROOT / "tests" / "sdks" / "node")
        async with asyncio.timeout(SECONDS):
            assert await process.wait() == 0
        await until_stored(sqlite, [("checkout-error", "user-42", None), ("latency", "user-42", 81.5)])


@pytest.mark.parametrize("way", ["fetch", "beacon"])
@pytest.mark.parametrize("end", ["is left", "is closed"])
async def test_what_a_page_has_tracked_arrives_when_it(sqlite: Store, origin: str, end: str, way: str) -> None:
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as ada, opened(origin) as first:
        await ada.sign_up()
        project = await ada.create_project()
        await create_metric(ada, project, key="checkout-error")
        await create_metric(ada, project, key="latency", kind="value")
        key = (await create_key(ada, project, kind="browser"))["key"]
        assert first.context.browser is not None
        context = await first.context.browser.new_context()
        await context.new_page()  # so that the browser has a window left
        page = await context.new_page()
        await page.goto(f"{origin}/browser.html")
        code = OF_PAGE if way == "fetch" else re.sub(r"^  fetch\(.*\n", BEACON, OF_PAGE, flags=re.MULTILINE)
        assert ("sendBeacon" in code, "keepalive" in code) == (way == "beacon", way == "fetch")
        await page.add_script_tag(content=f"const key = '{key}';\n{code.replace(PUBLIC_URL, server.url)}")
        await page.evaluate("track('checkout-error', 'user-42')")
        await page.evaluate("track('latency', 'user-42', 81.5)")
        await (page.goto("about:blank") if end == "is left" else page.close())
        await until_stored(sqlite, [("checkout-error", "user-42", None), ("latency", "user-42", 81.5)])


async def until_stored(store: Store, expected: list[tuple[str, str, float | None]]) -> None:
    """Wait until the history has these events."""
    database = Database(store.database_url, store.data_directory)
    try:
        async with asyncio.timeout(SECONDS):
            while True:
                found = [(each.metric, each.unit, each.value) for each in await list_stored(database)]
                if found == expected:
                    return
                await asyncio.sleep(0.05)
    finally:
        await database.close()
