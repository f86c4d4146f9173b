"""Checks of the documentation: links work, and names, settings, errors and metrics match the code."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from socket import socketpair
from urllib.parse import unquote

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.cluster.lease import LEASE_SECONDS, RENEW_SECONDS
from flagstaff.cluster.worker import Worker, WorkerBoard
from flagstaff.conditions.operators import Operator
from flagstaff.database.schema_state import known_revisions
from flagstaff.hooks.webhooks import PROJECT_EVENTS
from flagstaff.http.errors import STATUSES
from flagstaff.settings import Settings
from flagstaff.telemetry.otel.assembly import Telemetry
from flagstaff.values.errors import Code
from tests.support.columns_page import renewed as renewed_columns
from tests.support.events_page import samples
from tests.support.matrix_page import matrix

ROOT = Path(__file__).parents[1]
PAPERS = sorted(
    [*ROOT.glob("*.md"), *(path for top in ("docs", "packaging", "spec") for path in (ROOT / top).rglob("*.md"))],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))

_FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^(?=#+ )", re.MULTILINE)
# A line that sets the percentage of a flag: not that of a rule, and not a response.
_SETS_ROLLOUT = re.compile(
    r'^(?!.*(?:rule_type|\$RULE|"updated_at"|"present")).*"rollout_percentage": \d', re.MULTILINE
)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_PICTURE = re.compile(r'(?:src|srcset)="([^"]+)"')
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CODE_SPAN = re.compile(r"`([^`\n]+)`")
_SETTING_ROW = re.compile(r"^\| `(FLAGSTAFF_\w+)` \| (.+?) \| (.+) \|$", re.MULTILINE)

each_paper = pytest.mark.parametrize("paper", PAPERS, ids=lambda path: path.relative_to(ROOT).as_posix())


def prose(paper: Path) -> str:
    return _FENCED.sub("", paper.read_text())


def anchors(paper: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    headings = _HEADING.findall(prose(paper))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(paper: Path) -> Iterator[str]:
    for link in [*_LINK.findall(prose(paper)), *_PICTURE.findall(prose(paper))]:
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (paper.parent / unquote(path)).resolve() if path else paper
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@each_paper
def test_every_link_leads_somewhere(paper: Path) -> None:
    assert not list(broken_links(paper))


def test_each_example_of_a_rollout_says_that_0_means_everyone() -> None:
    names = ("guide/evaluation", "releases", "targeting")
    papers = [ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in names)]
    examples = {
        (paper.name, section.partition("\n")[0]): "0 means everyone" in " ".join(section.split())
        for paper in papers
        for section in _SECTION.split(paper.read_text())
        if _SETS_ROLLOUT.search(section)
    }
    assert {paper for paper, _ in examples} == {paper.name for paper in papers}
    assert all(examples.values()), examples


@each_paper
def test_every_named_source_file_exists(paper: Path) -> None:
    tops = {path.name for path in [*ROOT.iterdir(), *(ROOT / "src" / "flagstaff").iterdir()] if path.is_dir()}
    named = {span for span in _CODE_SPAN.findall(prose(paper)) if re.fullmatch(r"[\w/.-]+\.(py|md|json|toml)", span)}
    places = [ROOT, ROOT / "src" / "flagstaff", paper.parent]
    paths = {name for name in named if name.partition("/")[0] in tops}
    assert not {name for name in paths if not any((place / name).exists() for place in places)}


@each_paper
def test_every_named_setting_is_one(paper: Path) -> None:
    known = {row.variable for row in Settings.rows()}
    named = set(re.findall(r"FLAGSTAFF_[A-Z_]*[A-Z]", paper.read_text()))
    assert {name.removesuffix("_FILE") for name in named} <= known


@each_paper
def test_no_paper_names_a_machine_or_a_registry(paper: Path) -> None:
    assert not re.search(r"/(home|Users|work)/\w|pypi|npmjs", paper.read_text())


def folder_list() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text().partition("\nsrc/flagstaff/")[2].partition("\ndashboard/")[0]


def test_the_architecture_lists_the_folders_in_the_order_in_which_they_may_import_others() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each.get("containers") == ["flagstaff"])
    assert ["__main__", *re.findall(r"^  (\w+)/ ", folder_list(), re.MULTILINE)] == layers


def test_the_architecture_shows_every_folder() -> None:
    source = ROOT / "src" / "flagstaff"
    shown: set[str] = set()
    above: list[str] = []
    for indent, name in re.findall(r"^( +)(\w+)/ ", folder_list(), re.MULTILINE):
        above[len(indent) // 2 - 1 :] = [name]
        shown.add("/".join(above))
    folders = {path.parent.relative_to(source).as_posix() for path in source.rglob("*.py")} - {"."}
    assert {folder for folder in folders if "migrations" not in folder} == shown


def test_every_module_says_its_duty() -> None:
    modules = [path for path in (ROOT / "src" / "flagstaff").rglob("*.py") if "versions" not in path.parts]
    assert not [path.as_posix() for path in modules if not path.read_text().lstrip().startswith('"""')]


def test_the_settings_reference_equals_the_settings() -> None:
    expected = [tuple(row) for row in Settings.rows()]
    found = _SETTING_ROW.findall((ROOT / "docs" / "reference" / "settings.md").read_text())
    assert [(variable, default.strip("`"), meaning) for variable, default, meaning in found] == expected


def test_the_api_reference_names_every_kind_of_error() -> None:
    reference = (ROOT / "docs" / "reference" / "api.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `urn:flagstaff:error:(\w+)`", reference, re.MULTILINE)
    documented = {kind: int(status) for status, kind in rows}
    assert {code.value: STATUSES[code] for code in Code}.items() <= documented.items()


async def test_the_metrics_reference_names_every_metric(data_directory: Path) -> None:
    environ = {
        "FLAGSTAFF_DATA_DIR": str(data_directory),
        "FLAGSTAFF_CLICKHOUSE_URL": "http://clickhouse.test",
        "FLAGSTAFF_CLICKHOUSE_EVENTS_TABLE": "flagstaff.events",
    }
    settings = Settings.load(environ)
    parent, ours = socketpair()
    with parent, ours:
        flagstaff = Flagstaff(
            settings, worker=Worker(0, WorkerBoard(2), ours, "k" * 32), telemetry=Telemetry(None, None)
        )
        try:
            text, _ = flagstaff.foundation.metrics.render()
        finally:
            await flagstaff.stop()
    exported = set(re.findall(r"^# HELP (flagstaff_\w+) ", text.decode(), re.MULTILINE))
    documented = set(re.findall(r"`(flagstaff_\w+)`", (ROOT / "docs" / "reference" / "metrics.md").read_text()))
    assert {name for name in exported if not name.endswith("_created")} == documented


def test_the_table_of_revisions_names_every_revision() -> None:
    text = (ROOT / "docs" / "operations" / "upgrades.md").read_text()
    assert re.findall(r"^\| `(\d{4})` \|", text, re.MULTILINE) == known_revisions()


def test_the_guide_to_operations_says_how_long_a_lease_lasts() -> None:
    text = (ROOT / "docs" / "operations" / "scaling.md").read_text()
    lease = f"holds a lease in the database for {LEASE_SECONDS:g} seconds and renews it every {RENEW_SECONDS:g} seconds"
    assert lease in " ".join(text.split())


def test_the_page_of_permissions_equals_the_table() -> None:
    page = (ROOT / "docs" / "reference" / "permissions.md").read_text()
    assert matrix() in page, "run `make permissions`"


def test_the_page_of_columns_equals_the_schema() -> None:
    page = (ROOT / "docs/reference/history-columns.md").read_text()
    assert renewed_columns(page) == page, "run `make columns`"


def test_the_samples_of_events_equal_what_is_sent() -> None:
    assert (ROOT / "docs/reference/events.json").read_text() == samples(), "run `make events`"


def test_the_guide_to_webhooks_has_every_type_of_event_of_a_project() -> None:
    guide = (ROOT / "docs/webhooks.md").read_text()
    assert [kind for kind in PROJECT_EVENTS if f"`{kind}`" not in guide] == []


def test_the_guide_lists_every_operator() -> None:
    guide = (ROOT / "docs/guide/evaluation.md").read_text()
    rows = guide.partition("| `operator` | is met if |")[2].partition("\n\n")[0]
    listed = [name for row in rows.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    assert sorted(listed) == sorted(Operator)


def test_the_decisions_are_numbered_without_gaps() -> None:
    numbers = [int(path.name[:4]) for path in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(path.read_text().startswith(f"# {path.name[:4]} ") for path in DECISIONS)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_says_what_why_and_what_was_refused_in_half_a_page(decision: Path) -> None:
    text = decision.read_text()
    assert _HEADING.findall(text)[1:] == ["Decision", "Why", "Refused"]
    assert len(text.split()) <= 400


def test_every_decision_is_listed() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert [path.name for path in DECISIONS] == [link for link in _LINK.findall(index) if link[:4].isdigit()]


def test_every_recipe_that_is_named_is_in_the_makefile() -> None:
    recipes = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {name for paper in PAPERS for name in re.findall(r"(?:`|^)make ([a-z-]+)", paper.read_text(), re.MULTILINE)}
    assert named <= recipes
