"""The dashboard for Grafana and the alerts for Prometheus use only metrics that Flagstaff exports."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DASHBOARD = ROOT / "packaging" / "grafana" / "flagstaff.json"
ALERTS = ROOT / "packaging" / "prometheus" / "alerts.yaml"
_BUILT = ROOT / ".venv" / "promtool"
PROMTOOL = str(_BUILT) if _BUILT.exists() else shutil.which("promtool")
_NAME = re.compile(r"\b(?:flagstaff|process)_\w+")
_OF_HISTOGRAM = re.compile(r"_bucket$")


def documented() -> set[str]:
    """Return the metrics in the reference, which another test compares with the server."""
    text = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    return set(re.findall(r"`((?:flagstaff|process)_\w+)`", text))


def expressions(panels: list[dict[str, Any]]) -> list[str]:
    """The queries of the dashboard's panels."""
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


def test_every_metric_in_the_dashboard_exists() -> None:
    queries = expressions(json.loads(DASHBOARD.read_text())["panels"])
    assert len(queries) > 20
    assert {_OF_HISTOGRAM.sub("", name) for query in queries for name in _NAME.findall(query)} <= documented()


def test_every_metric_in_the_alerts_exists() -> None:
    named = {_OF_HISTOGRAM.sub("", name) for name in re.findall(r"\bflagstaff_\w+", ALERTS.read_text())}
    assert len(named) > 10
    assert named <= documented()


def test_panels_do_not_overlap_and_choose_their_instances() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells
        assert all('instance=~"$instance"' in query for query in expressions([panel]))


def test_every_alert_has_steps_to_take() -> None:
    names = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs" / "operations" / "alerts.md").read_text(), re.MULTILINE)
    assert headings == names
    links = re.findall(r"runbook: docs/operations/alerts\.md#(\w+)", ALERTS.read_text())
    assert links == [name.lower() for name in names]


@pytest.mark.skipif(not PROMTOOL, reason="`make alerts` builds promtool")
@pytest.mark.parametrize("command", [("check", "rules", "alerts.yaml"), ("test", "rules", "alerts_test.yaml")])
def test_promtool_accepts_the_alerts_and_their_tests(command: tuple[str, ...]) -> None:
    ended = subprocess.run([str(PROMTOOL), *command], cwd=ALERTS.parent, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
