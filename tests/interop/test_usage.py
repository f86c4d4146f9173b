"""The programs for Go, Java and Rust that the dashboard shows, compiled and run exactly as they are shown."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.interop.build import CARGO, SOURCES
from tests.sdks.test_usage import KINDS, VALUES, Shop, as_text
from tests.sdks.test_usage import shop as a_shop
from tests.support.api import Json
from tests.support.built import FOLDER, built
from tests.support.programs import printed
from tests.support.stores import Store
from tests.support.usage import render

each_way = pytest.mark.parametrize("way", KINDS)
OBJECTS = {"go": "map[colour:blue]", "java": "{colour=blue}", "rust": '{"colour": String("blue")}'}


def shown(language: str, way: str, kind: str | None) -> str:
    """Return a flag's value as a program prints it."""
    value = VALUES[kind] if kind else True
    if way == "unleash" and kind:
        return f"Some({json.dumps(as_text(value))})" if language == "rust" else as_text(value)
    if way == "http" and language != "go":
        return json.dumps(value, separators=(",", ":"))
    return OBJECTS[language] if isinstance(value, dict) else as_text(value)


def compiled(*command: str, folder: Path) -> None:
    """Run a compiler."""
    done = subprocess.run(command, cwd=folder, env={**os.environ, **CARGO}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def go(place: Shop, way: str, kind: str | None, folder: Path) -> str:
    """Return the output of the program in Go."""
    for name in ("go.mod", "go.sum"):
        shutil.copy(SOURCES / "go" / name, folder)
    (folder / "main.go").write_text(place.program("go", way, kind).code)
    compiled("go", "build", "-mod=mod", "-o", "program", "main.go", folder=folder)
    return await printed("./program", folder=folder)


async def java(place: Shop, way: str, kind: str | None, folder: Path) -> str:
    """Return the output of the program in Java."""
    (folder / "Main.java").write_text(place.program("java", way, kind).code)
    return await printed("java", "-cp", str(FOLDER / "java" / "dependency" / "*"), "Main.java", folder=folder)


async def rust(place: Shop, way: str, kind: str | None, folder: Path) -> str:
    """Return the output of the program in Rust. Its libraries were compiled for the other programs."""
    name = f"usage_{way}_{kind}"
    source = FOLDER / "rust" / "src" / "bin" / f"{name}.rs"
    source.write_text(place.program("rust", way, kind).code)
    try:
        compiled("cargo", "build", "--quiet", "--locked", "--bin", name, folder=FOLDER / "rust")
    finally:
        source.unlink()
    program = Path(CARGO["CARGO_TARGET_DIR"]) / "debug" / name
    shutil.move(program, folder / "program")
    return await printed("./program", folder=folder)


@pytest.mark.parametrize("run", [go, java, rust])
@each_way
async def test_each_program_prints_the_flags_value(sqlite: Store, tmp_path: Path, way: str, run: Any) -> None:
    built("unleash")[run.__name__]()
    async with a_shop(sqlite) as place:
        for kind in (None, *KINDS[way]):  # None is the flag without variants
            flag = f"flag-{kind or 'plain'}"
            output = await run(place, way, kind, tmp_path)
            assert output == f"{flag}: {shown(run.__name__, way, kind)}\n", output


@pytest.mark.parametrize(
    ("language", "file", "wanted", "written"),
    [
        ("go", "go/go.mod", r"(\S+)@(v[\d.]+)", "{} {}\n"),
        ("java", "java/pom.xml", r"\S+:(\S+):([\d.]+)", "<artifactId>{}</artifactId>\n      <version>{}</version>"),
        ("rust", "rust/locked.txt", r"(\S+)@([\d.]+)", 'name = "{}"\nversion = "{}"'),
    ],
)
def test_the_versions_to_install_are_those_that_are_tested(language: str, file: str, wanted: str, written: str) -> None:
    locked = (SOURCES / file).read_text()
    values: Json = dict.fromkeys(("address", "key", "environment", "flag"), "")
    for way in KINDS:
        for found in re.findall(wanted, render(language, way, **values).install):
            assert written.format(*found) in locked, found
