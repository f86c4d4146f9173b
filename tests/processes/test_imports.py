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
    await flagstaff.stop()

asyncio.run(serve())
print(*(name for name, module in sys.modules.items() if module is not None))
"""
_MODELS = """
from flagstaff.__main__ import main
from fastapi.openapi.models import OpenAPI
from pydantic import BaseModel

class Model(BaseModel):
    name: str

print(OpenAPI.__pydantic_complete__, Model.__pydantic_complete__)
"""


@pytest.mark.parametrize(
    "library",
    [
        "alembic",
        "asyncpg",
        "httpx",
        "pydantic.v1",
        "rich",
        "sqlalchemy.dialects.postgresql",
        "sqlalchemy.orm",
        "valkey",
        "webauthn",
    ],
)
def test_a_new_server_with_sqlite_does_not_load(library: str, loaded: set[str]) -> None:
    assert "flagstaff.serving.fast_path.fast_path" in loaded
    assert [name for name in loaded if name == library or name.startswith(f"{library}.")] == []


def test_the_models_of_an_openapi_document_are_not_built_but_others_are() -> None:
    command = [sys.executable, "-c", _MODELS]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    assert outcome.stdout.split() == ["False", "True"]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that a server with the default settings has loaded, from its first start to its end."""
    folder: Path = tmp_path_factory.mktemp("data")
    command = [sys.executable, "-c", _PROGRAM, str(folder)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True, env={})
    return set(outcome.stdout.splitlines()[-1].split())
