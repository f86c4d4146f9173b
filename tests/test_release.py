"""What a release consists of: every license stands in it, no test does, and each list of packages is complete."""

import io
import json
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

ROOT = Path(__file__).parents[1]
NOTICES = (ROOT / "dashboard" / "THIRD-PARTY-NOTICES.txt").read_text()
CONTAINED = re.findall(r"^(\S+) (\S+) \((\S+)\)\n=+$", NOTICES, re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def release() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "packaging" / "release.py"), run_name="release")


def schema(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((resources.files("cyclonedx") / "schema" / "_res" / name).read_text())
    return document


def test_the_license_of_the_project_names_that_of_each_package_in_the_dashboard() -> None:
    assert len(CONTAINED) > 30
    assert {license_ for _, _, license_ in CONTAINED} <= set(PROJECT["license"].split(" AND "))
    assert "dashboard/THIRD-PARTY-NOTICES.txt" in PROJECT["license-files"]


def test_every_package_in_the_dashboard_is_followed_by_a_text_with_its_copyright() -> None:
    _, *texts = re.split(r"^\S+ \S+ \(\S+\)\n=+$", NOTICES, flags=re.MULTILINE)
    named = [(name, text) for (name, _, _), text in zip(CONTAINED, texts, strict=True)]
    assert [name for name, text in named if "copyright" not in text.lower()] == []


def test_the_bill_of_materials_is_valid_and_names_every_package(release: dict[str, Any]) -> None:
    text = release["bill_of_materials"]()
    registry = jsonschema_rs.Registry(
        [
            (f"http://cyclonedx.org/schema/{name}", schema(name))
            for name in ("spdx.SNAPSHOT.schema.json", "jsf-0.82.SNAPSHOT.schema.json")
        ]
    )
    jsonschema_rs.validator_for(schema("bom-1.6.SNAPSHOT.schema.json"), registry=registry).validate(json.loads(text))
    named = {(each["name"], each["version"]) for each in json.loads(text)["components"]}
    locked = (ROOT / "requirements" / "constraints.txt").read_text()
    required = set(re.findall(r"^(\S+)==(\S+)", locked, re.MULTILINE))
    assert named == required | {(name, version) for name, version, _ in CONTAINED}


def test_two_bills_of_materials_and_two_charts_are_equal(release: dict[str, Any]) -> None:
    assert release["bill_of_materials"]() == release["bill_of_materials"]()
    chart = ROOT / "packaging" / "helm" / "flagstaff"
    packed = release["pack_chart"](chart)
    assert packed == release["pack_chart"](chart)
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        names = set(archive.getnames())
    assert {"flagstaff/Chart.yaml", "flagstaff/values.yaml", "flagstaff/templates/deployment.yaml"} <= names


def test_an_sdist_has_what_a_wheel_is_built_from_and_no_test(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (made,) = tmp_path.iterdir()
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"hatch_build.py", "requirements/node.txt", "dashboard/package-lock.json", "LICENSE"} <= names
    assert "dashboard/THIRD-PARTY-NOTICES.txt" in names
    assert [
        name for name in names if name.startswith(("tests/", "dashboard/node_modules/")) or name.endswith(".pem")
    ] == []
