"""The programs that the dashboard shows under “Use in code”, run exactly as they are shown."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Page

from hatch_build import CLIENTS, ROOT, find_node
from tests.sdks.test_browsers import opened, origin, sqlite  # noqa: F401  (fixtures)
from tests.support.api import Json, environment_path, flag_path
from tests.support.programs import printed
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.snippets import needs_shell
from tests.support.stores import Store
from tests.support.usage import render

VALUES: dict[str, Any] = {
    "boolean": True,
    "string": "blue",
    "integer": 7,
    "float": 1.5,
    "object": {"colour": "blue"},
}
# Only OpenFeature has a method for each type.
KINDS: dict[str, list[str]] = {"http": ["object"], "openfeature": [*VALUES], "unleash": ["object"]}


class Shop(NamedTuple):
    """A server with an environment that has a flag for each type of value, all of them on."""

    server: ServerProcess
    caller: RemoteCaller
    project: Json
    environment: Json
    keys: dict[str, str]

    def program(self, language: str, way: str, kind: str | None = None) -> Any:
        """The program for the flag of a type, or without one for a flag without variants."""
        is_own = way == "http" and language != "browser"
        return render(
            language,
            way,
            kind=kind or "boolean",
            has_variants=kind is not None,
            address=self.server.url,
            key=self.project["sdk_key"] if is_own else self.keys["browser" if language == "browser" else "server"],
            environment="production",
            flag=f"flag-{kind or 'plain'}",
        )


@asynccontextmanager
async def shop(store: Store) -> AsyncIterator[Shop]:
    """The server, and what is needed to ask it."""
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up("ada@example.com")
        project = await caller.create_project()
        environment = await caller.get_environment(project)
        await caller.create_flag(environment, key="flag-plain")
        for kind, value in VALUES.items():
            variants = [{"key": "one", "weight": 1000, "value": value}]
            await caller.create_flag(environment, key=f"flag-{kind}", variants=variants)
        keys = {kind: (await create_key(caller, project, kind=kind))["key"] for kind in ("server", "browser")}
        yield Shop(server, caller, project, environment, keys)


async def in_python(code: str, folder: Path) -> str:
    """Run a program in Python; return its output."""
    (folder / "main.py").write_text(code)
    return await printed(sys.executable, "main.py", folder=folder)


async def in_node(code: str, folder: Path) -> str:
    """Run a program in Node.js; return its output."""
    node = find_node()
    assert node is not None, "make test brings one"
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(CLIENTS / "node_modules")
    (folder / "main.mjs").write_text(code)
    return await printed(str(node.binary), "main.mjs", folder=folder)


@needs_shell
async def test_the_call_of_curl_gets_the_flag(sqlite: Store, tmp_path: Path) -> None:  # noqa: F811
    async with shop(sqlite) as place:
        answer = json.loads(await printed("bash", "-c", place.program("curl", "http").code, folder=tmp_path))
        assert answer["enabled"] is True


async def test_each_program_in_python_prints_the_flags_value(sqlite: Store, tmp_path: Path) -> None:  # noqa: F811
    async with shop(sqlite) as place:
        for way, kinds in KINDS.items():
            assert await in_python(place.program("python", way).code, tmp_path) == "flag-plain: True\n"
            for kind in kinds:
                output = await in_python(place.program("python", way, kind).code, tmp_path)
                assert output == f"flag-{kind}: {as_text(VALUES[kind]) if way == 'unleash' else VALUES[kind]}\n"


async def test_each_program_in_node_prints_the_flags_value(sqlite: Store, tmp_path: Path) -> None:  # noqa: F811
    async with shop(sqlite) as place:
        for way, kinds in KINDS.items():
            assert await in_node(place.program("node", way).code, tmp_path) == "flag-plain: true\n"
            for kind in kinds:
                output = await in_node(place.program("node", way, kind).code, tmp_path)
                shown = "{ colour: 'blue' }" if kind == "object" and way != "unleash" else as_text(VALUES[kind])
                assert output == f"flag-{kind}: {shown}\n"


async def test_each_program_in_a_browser_logs_the_flags_value(sqlite: Store, origin: str) -> None:  # noqa: F811
    async with shop(sqlite) as place, opened(origin) as page:
        for way, kinds in KINDS.items():
            assert await logged(page, place.program("browser", way).code) == ["flag-plain:", True]
            for kind in kinds:
                found = await logged(page, place.program("browser", way, kind).code)
                assert found == [f"flag-{kind}:", as_text(VALUES[kind]) if way == "unleash" else VALUES[kind]]


async def logged(page: Page, code: str) -> list[Any]:
    """Return the first log entry of a program, in a page that has just been opened."""
    await page.reload()
    await page.wait_for_function("window.isReady")
    async with page.expect_console_message() as message:
        await page.add_script_tag(type="module", content=code)
    return [await each.json_value() for each in (await message.value).args]


async def test_each_is_an_evaluation_of_this_flag_alone(sqlite: Store, tmp_path: Path) -> None:  # noqa: F811
    async with shop(sqlite) as place:
        await in_python(place.program("python", "http").code, tmp_path)
        path = f"{environment_path(place.environment)}/evaluations"
        async with asyncio.timeout(30):
            while not (items := (await place.caller.get(path)).json()["items"]):
                await asyncio.sleep(0.05)
        assert [(each["user_id"], list(each["flags"])) for each in items] == [("user-42", ["flag-plain"])]


async def test_a_flag_that_is_off_is_off_in_each(sqlite: Store, tmp_path: Path) -> None:  # noqa: F811
    async with shop(sqlite) as place:
        environment = environment_path(place.environment)
        for flag in (await place.caller.get(f"{environment}/flags")).json():
            assert (await place.caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        for way in KINDS:
            default = "default" if way == "openfeature" else "None"
            assert await in_python(place.program("python", way, "string").code, tmp_path) == f"flag-string: {default}\n"


def test_the_versions_to_install_are_those_that_are_tested() -> None:
    locked = (ROOT / "requirements" / "dev.txt").read_text().lower()
    packages = json.loads((CLIENTS / "package.json").read_text())["dependencies"]
    values: Json = dict.fromkeys(("address", "key", "environment", "flag"), "")
    for way in ("openfeature", "unleash"):
        for wanted in re.findall(r"\S+==\S+", render("python", way, **values).install.lower()):
            assert f"{wanted} " in locked or f"{wanted}\n" in locked, wanted
        for language in ("node", "browser"):
            for name, version in re.findall(r" (\S+)@([\d.]+)", render(language, way, **values).install):
                assert packages[name] == version, name


def as_text(value: Any) -> str:
    """Return a value in the form in which Unleash's SDKs have it."""
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
