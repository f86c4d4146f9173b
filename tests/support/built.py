"""Programs in compiled languages with released clients. `python -m tests.interop.build` builds them."""

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from tests.support.debian import leave_out

FOLDER = Path(__file__).parents[2] / "build" / "sdks"
CARGO_TARGET = FOLDER / "target"
EDGE = FOLDER / "edge" / "bin" / "unleash-edge"
# `make test-sdks` names the languages of the programs that it built, and the client tests also run for these.
LANGUAGES = os.environ.get("SDK_LANGUAGES", "python node").split()


def built(protocol: str) -> Mapping[str, Callable[[], list[str]]]:
    """Return the commands of the programs with clients of a protocol, by language."""
    return {
        "go": partial(_command, "go", FOLDER / "go" / protocol),
        "java": partial(_command, "java", FOLDER / "java" / "classes" / "interop" / f"{protocol.capitalize()}.class"),
        "rust": partial(_command, "rust", CARGO_TARGET / "debug" / protocol),
    }


def _command(language: str, program: Path) -> list[str]:
    require(language, program)
    if language != "java":
        return [str(program)]
    folder = FOLDER / "java"
    path = os.pathsep.join((str(folder / "classes"), str(folder / "dependency" / "*")))
    return ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, f"interop.{program.stem}"]


def require(name: str, program: Path) -> None:
    """Skip the test if a program was not built."""
    if not program.is_file():
        leave_out(f"{name}: {program.name} was not built; `make test-sdks` builds it if it finds the tools")
