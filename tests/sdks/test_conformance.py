"""OpenFeature's provider conformance suite through released OFREP providers, unmodified, against a real server."""

from pathlib import Path
from typing import Any

import pytest

from tests.sdks.canonical_flags import SCENARIOS, TARGETED, TARGETING_RULE, Scenario, canonical_flags
from tests.sdks.test_ofrep import EMAIL, each_language
from tests.support.api import Json, flag_path
from tests.support.providers import Details, Provider, Question
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

DISABLED = {("disabled-string-flag", "string"), ("disabled-integer-flag", "integer"), ("disabled-float-flag", "float")}
WIDENED, NARROWED = ("integer-flag", "float"), ("integral-float-flag", "integer")
# The scenarios that a provider answers differently, because of itself or of its language: Python's booleans are
# numbers, JavaScript has one kind of number, Java's integers have 32 bits. The providers for Python and Java convert no
# numbers, and those for Node.js, Java and Rust treat an answer without a value as an error.
DIFFERENCES: dict[str, set[tuple[str, str]]] = {
    "python": {("boolean-flag", "integer"), WIDENED, NARROWED},
    "node": {("float-flag", "integer"), *DISABLED},
    "go": set(),
    "java": {("huge-integer-flag", "integer"), WIDENED, NARROWED, *DISABLED},
    "rust": {NARROWED, *DISABLED},
}


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


async def seed(caller: RemoteCaller, **more: Any) -> tuple[dict[str, Json], str]:
    """Create the canonical flags, with more fields; return them by key, and a key of their environment."""
    await caller.sign_up(EMAIL)
    environment = await caller.get_environment(await caller.create_project())
    flags = {values["key"]: await caller.create_flag(environment, **values, **more) for values in canonical_flags()}
    await caller.create_rule(flags[TARGETED], **TARGETING_RULE)
    wanted = {"name": "Shop", "environment": environment["key"], "kind": "server"}
    answer = await caller.post(f"/api/projects/{environment['project_id']}/sdk-keys", json=wanted)
    assert answer.status_code == 201, answer.text
    return flags, answer.json()["key"]


def question(scenario: Scenario) -> Question:
    context = {"targetingKey": scenario.user} if scenario.user else {}
    return Question(scenario.flag, scenario.kind, scenario.default, context)


def is_as_expected(language: str, scenario: Scenario, details: Details) -> bool:
    """Return whether an answer is the scenario's, as far as the language can express it."""
    value, reason, error = scenario.value, scenario.reason, scenario.error
    if language in ("node", "go") and isinstance(value, float) and value.is_integer():
        value = int(value)  # its JSON has no fraction
    if language == "rust":  # this provider has one reason, and one error for all values that it does not expect
        reason = reason if error else "STATIC"
        error = error and error.replace("TYPE_MISMATCH", "PARSE_ERROR")
    variant = scenario.variant or details.variant
    return type(details.value) is type(value) and details == Details(value, variant, reason, error)


@each_language
async def test_the_canonical_flags_are_answered_as_openfeatures_suite_says(sqlite: Store, language: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        RemoteCaller(server.url) as caller,
        Provider(language, server.url) as provider,
    ):
        flags, key = await seed(caller)
        await provider.connect(key)
        pairs = zip(SCENARIOS, await provider.ask(list(map(question, SCENARIOS))), strict=True)
        different = {
            (each.flag, each.kind): found for each, found in pairs if not is_as_expected(language, each, found)
        }
        assert different.keys() == DIFFERENCES[language], different

        changing = Question("changing-flag", "string", "fallback", {})
        assert [each.value for each in await provider.ask([changing])] == ["foo"]
        weights = [{**each, "weight": 1000 - each["weight"]} for each in flags["changing-flag"]["variants"]]
        changed = await caller.put(flag_path(flags["changing-flag"]), json={"variants": weights})
        assert changed.status_code == 200, changed.text
        assert [each.value for each in await provider.ask([changing])] == ["bar"]


@each_language
async def test_applications_get_the_metadata_of_a_flag_and_of_its_environment(sqlite: Store, language: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        RemoteCaller(server.url) as caller,
        Provider(language, server.url) as provider,
    ):
        flags, key = await seed(caller, owner="Team Shop", keep=True)
        await provider.connect(key)
        metadata = await provider.metadata(question(SCENARIOS[0]))
        if language == "rust":
            assert metadata == {}  # this provider leaves it out
            return
        assert metadata.keys() == {"flagSetId", "version", "owner", "keep"}
        assert metadata["flagSetId"] == flags["boolean-flag"]["environment_id"]
        assert int(metadata["version"]) > len(flags)  # each flag was a change
        assert (metadata["owner"], metadata["keep"]) == ("Team Shop", True)
