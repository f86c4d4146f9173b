"""Clients that released generators make of the OpenAPI document do what an automated caller does, on a real server."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from hatch_build import DASHBOARD, ROOT, find_node
from tests.support.description import COMMITTED
from tests.support.programs import printed
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

PROGRAMS = Path(__file__).parent
GENERATORS = ROOT / ".venv" / "generators" / "bin"
ACCOUNT = ("ada@example.com", "correct horse battery staple")
STRICT = ("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes")
DONE: dict[str, Any] = {
    "environments": ["canary", "production", "staging"],
    "refused": [400, "conditions.0.values.0"],
    "results": [[True, "Matched attributes targeting rule"], [False, "No targeting rule matched"]],
    "steps": [[3600, False], [None, True]],
    "undone": False,
    "trail": [
        *("flag.toggled", "release.created", "flag.toggled", "rule.created", "flag.created"),
        *("environment.created", "environment.created", "environment.created", "project.created"),
    ],
    "copied": ["new-checkout", "new-checkout"],
    "explained": True,
    "toggled": True,
    "forbidden": [403, "project:write"],
    "deleted": [204, 404],
}


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a client is generated."""
    made = tmp_path / "client"
    made.mkdir()
    return made


async def generate(folder: Path, name: str, *options: str) -> None:
    """Run a generator for Python."""
    assert GENERATORS.is_dir(), "make test installs it"
    path = f"{GENERATORS}{os.pathsep}{os.environ['PATH']}"
    await printed(str(GENERATORS / name), *options, folder=folder, environ={"PATH": path})


async def done_in_python(program: str, folder: Path, store: Store) -> Any:
    """What a program has done with the client in the folder."""
    command = (str(GENERATORS / "python"), str(PROGRAMS / program))
    async with ServerProcess(store) as server:
        environ = {"PYTHONPATH": str(folder)}
        return json.loads(await printed(*command, server.url, *ACCOUNT, folder=folder, environ=environ))


async def test_the_client_of_openapi_python_client_does_the_tasks(sqlite: Store, folder: Path) -> None:
    (folder / "config.yaml").write_text("post_hooks: []")  # which format the code
    output = ("--meta", "none", "--output-path", "flagstaff_client", "--config", "config.yaml")
    await generate(
        *(folder, "openapi-python-client", "generate"),
        *("--path", str(COMMITTED), "--fail-on-warning", *output),
    )
    assert await done_in_python("attrs_client.py", folder, sqlite) == DONE


async def test_the_models_of_datamodel_code_generator_do_the_tasks(sqlite: Store, folder: Path) -> None:
    output = ("--output-model-type", "pydantic_v2.BaseModel", "--output", "flagstaff_models.py")
    await generate(
        *(folder, "datamodel-codegen"),
        *("--input", str(COMMITTED), "--input-file-type", "openapi", "--formatters", "builtin", *output),
    )
    assert await done_in_python("pydantic_client.py", folder, sqlite) == DONE


async def test_the_types_of_openapi_typescript_fit_the_tasks_and_those_are_done(sqlite: Store, folder: Path) -> None:
    node = find_node()
    assert node is not None, "make test brings one"
    (folder / "node_modules").symlink_to(DASHBOARD / "node_modules")
    shutil.copy(PROGRAMS / "typescript_client.mts", folder)

    async def run(tool: str, *options: str) -> str:
        return await printed(str(node.binary), tool, *options, folder=folder)

    generator = "node_modules/openapi-typescript/bin/cli.js"
    await run(generator, str(COMMITTED), "--default-non-nullable", "false", "--output", "schema.d.ts")
    target = ("--target", "ES2022", "--module", "nodenext", "--types", "", "--skipLibCheck")
    await run("node_modules/typescript-native/bin/tsc", *STRICT, *target, "typescript_client.mts")
    async with ServerProcess(sqlite) as server:
        assert json.loads(await run("typescript_client.mjs", server.url, *ACCOUNT)) == DONE
