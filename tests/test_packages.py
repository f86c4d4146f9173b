"""`packaging/` names settings that exist and the version of the project, and its parts fit together.

`make check-packages` runs its contents with real tools.
"""

import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from flagstaff.machine.descriptors import RESERVE
from flagstaff.settings import Settings
from flagstaff.settings.environment import is_secret, variable_of

ROOT = Path(__file__).parents[1]
PACKAGING = ROOT / "packaging"
CHART = PACKAGING / "helm" / "flagstaff"
SERVICE = PACKAGING / "systemd" / "flagstaff.service"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
SETTINGS = {row.variable: row.default for row in Settings.rows()}
FILES = sorted(
    path
    for path in [ROOT / "Containerfile", ROOT / "compose.yaml", *PACKAGING.rglob("*")]
    if path.is_file() and path.suffix != ".md"  # tests/test_docs.py checks those
)
# A server needs ten seconds after its drain: docs/operations/scaling.md.
STOP_SECONDS = 10


def compose() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return services


def values() -> Any:
    return yaml.safe_load((CHART / "values.yaml").read_text())


def unit() -> list[tuple[str, str]]:
    """The settings of the unit, in order."""
    lines = [line for line in SERVICE.read_text().splitlines() if "=" in line and not line.startswith("#")]
    return [(name, value) for name, _, value in (line.partition("=") for line in lines)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_named_setting_is_one(path: Path) -> None:
    named = set(re.findall(r"FLAGSTAFF_[A-Z_]*[A-Z]", path.read_text()))
    assert {name.removesuffix("_FILE") for name in named} <= SETTINGS.keys()


@pytest.mark.parametrize("environ", ["compose", "chart", "unit", "image"])
def test_the_settings_are_accepted(environ: str) -> None:
    given = {"compose": compose_settings, "chart": chart_settings, "unit": unit_settings, "image": image_settings}
    settings = Settings.load(given[environ]())
    assert str(settings.data_dir).startswith(("/data", "/var/lib"))


def compose_settings() -> dict[str, str]:
    """Return the settings of the first instance, with the values that `new-secrets` would create."""
    made = {"SITE": "flags.example.com", "POSTGRES_PASSWORD": "a" * 64, "VALKEY_PASSWORD": "b" * 64}
    made["FLAGSTAFF_SECRET_KEY"] = "c" * 64

    def fill_in(found: re.Match[str]) -> str:
        return made.get(found["name"]) or found["default"] or ""

    environment = compose()["flagstaff-1"]["environment"]
    variable = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?[^}]*)?\}")
    return image_settings() | {name: variable.sub(fill_in, value) for name, value in environment.items()}


def chart_settings() -> dict[str, str]:
    """Return the settings that the chart's template sets literally, and those of its values."""
    template = (CHART / "templates" / "deployment.yaml").read_text()
    literal = dict(re.findall(r'- name: (FLAGSTAFF_\w+)\n +value: "?([^"{\n]+)"?\n', template))
    assert literal["FLAGSTAFF_PORT"] == "8000"
    drain = {"FLAGSTAFF_DRAIN_SECONDS": str(values()["drainSeconds"])}
    return image_settings() | literal | drain | values()["settings"]


def unit_settings() -> dict[str, str]:
    lines = [value for name, value in unit() if name == "Environment"]
    lines += (PACKAGING / "systemd" / "flagstaff.env").read_text().splitlines()
    lines = [line.removeprefix("#") for line in lines if re.match("#?FLAGSTAFF_", line)]
    return dict(line.split("=", 1) for line in lines)


def image_settings() -> dict[str, str]:
    return dict(re.findall(r"(FLAGSTAFF_\w+)=(\S+)", (ROOT / "Containerfile").read_text()))


def test_the_image_and_the_chart_have_the_version_of_the_project() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (VERSION, VERSION)
    assert f"ARG VERSION={VERSION}\n" in (ROOT / "Containerfile").read_text()
    assert {compose()[name]["image"] for name in ("flagstaff-1", "flagstaff-2")} == {f"flagstaff:{VERSION}"}


def test_the_image_reads_what_the_wheel_is_built_from() -> None:
    copied = {
        word
        for line in re.findall(r"^COPY (?!--)(.+) \S+$", (ROOT / "Containerfile").read_text(), re.MULTILINE)
        for word in line.split()
    }
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert {line.removeprefix("!") for line in ignored if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)


def test_there_is_time_to_stop() -> None:
    drain = int(SETTINGS["FLAGSTAFF_DRAIN_SECONDS"])
    assert int(dict(unit())["TimeoutStopSec"]) > drain + STOP_SECONDS
    assert int(compose()["flagstaff-1"]["stop_grace_period"].removesuffix("s")) > drain + STOP_SECONDS
    deployment = (CHART / "templates" / "deployment.yaml").read_text()
    grace = re.search(r"terminationGracePeriodSeconds: {{ add .Values.drainSeconds (\d+) }}", deployment)
    assert grace
    assert int(grace[1]) > STOP_SECONDS


def test_there_are_descriptors_for_all_connections() -> None:
    needed = int(SETTINGS["FLAGSTAFF_MAX_CONNECTIONS"]) + RESERVE
    assert int(dict(unit())["LimitNOFILE"]) >= needed
    assert compose()["flagstaff-1"]["ulimits"]["nofile"] >= needed


def test_no_service_of_compose_has_more_rights_or_memory_than_it_needs() -> None:
    for name, service in compose().items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["mem_limit"], name
        assert name == "caddy" or "cap_add" not in service
        assert name == "caddy" or "ports" not in service


def test_compose_contains_no_password_and_says_how_to_make_each() -> None:
    text = (ROOT / "compose.yaml").read_text()
    for name in ("POSTGRES_PASSWORD", "VALKEY_PASSWORD", "FLAGSTAFF_SECRET_KEY", "SITE"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", text)
        assert ":?is not set. Run packaging/compose/new-secrets" in uses
        assert not [use for use in uses if use.startswith((":-", "-"))]


def test_the_chart_has_a_value_for_every_secret_and_takes_none_as_a_setting() -> None:
    secrets = {variable_of(setting) for setting in fields(Settings) if is_secret(setting)}
    helpers = (CHART / "templates" / "_helpers.tpl").read_text()
    assert {name.removesuffix("_FILE") for name in re.findall(r'"(FLAGSTAFF_\w+_FILE)"', helpers)} == secrets
    schema = json.loads((CHART / "values.schema.json").read_text())
    refused = set(schema["properties"]["settings"]["propertyNames"]["not"]["enum"])
    named = set(re.findall(r"- name: (FLAGSTAFF_\w+)\n", (CHART / "templates" / "deployment.yaml").read_text()))
    headers = {f"OTEL_EXPORTER_OTLP_{signal}HEADERS" for signal in ("", "TRACES_", "METRICS_")}
    assert refused == secrets | named | headers | {"FLAGSTAFF_DATA_DIR"}


def test_the_chart_describes_every_value() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())["properties"]
    assert values().keys() == schema.keys() - {"global"}
    table = (CHART / "README.md").read_text()
    described = {
        name for column in re.findall(r"^\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)", column)
    }
    assert described == values().keys()
