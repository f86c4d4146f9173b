"""The modules that a server loads. Libraries that few instances use would add a seventh to its memory and its start."""

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import asyncio, sys
from flagstaff.__main__ import main
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.settings import Settings

async def serve():
    flagstaff = Flagstaff(Settings.load({"FLAGSTAFF_DATA_DIR": sys.argv[1]}))
    await flagstaff.start()
    print_modules()
    await flagstaff.edge.load_api()
    await flagstaff.stop()

def print_modules():
    print(*(name for name, module in sys.modules.items() if module is not None))

asyncio.run(serve())
print_modules()
"""


@pytest.mark.parametrize(
    "library",
    [
        "aiosmtplib",
        "alembic",
        "argon2",
        "argparse",
        "asyncpg",
        "cryptography",
        "ctypes",
        "email.headerregistry",
        "email.policy",
        "flagstaff.assembly.openapi",
        "flagstaff.cli.commands",
        "flagstaff.cli.doctor",
        "flagstaff.cli.workers",
        "httpcore",
        "httpx",
        "idna",
        "pyotp",
        "re2",
        "sqlalchemy.dialects.postgresql",
        "tarfile",
        "valkey",
        "webauthn",
    ],
)
def test_a_new_server_with_sqlite_does_not_load(library: str, loaded: set[str]) -> None:
    assert "flagstaff.assembly.api" in loaded
    assert [name for name in loaded if name == library or name.startswith(f"{library}.")] == []


@pytest.mark.parametrize("library", ["fastapi", "pydantic", "flagstaff.assembly.api"])
def test_before_its_first_answer_it_does_not_load(library: str, loaded_first: set[str]) -> None:
    assert "flagstaff.serving.fast_path.fast_path" in loaded_first
    assert library not in loaded_first


@pytest.fixture(scope="module")
def loaded(printed: list[set[str]]) -> set[str]:
    """The modules that a server with the default settings has loaded, from its first start to its end."""
    return printed[-1]


@pytest.fixture(scope="module")
def loaded_first(printed: list[set[str]]) -> set[str]:
    """Those that it has loaded before it answers."""
    return printed[-2]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[set[str]]:
    folder: Path = tmp_path_factory.mktemp("data")
    command = [sys.executable, "-c", _PROGRAM, str(folder)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    return [set(line.split()) for line in outcome.stdout.splitlines()]
