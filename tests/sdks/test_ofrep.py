"""Released OFREP providers, unmodified, against a real server: all cases of spec/evaluation, and later changes."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff, open_service
from flagstaff.changes.changes import Actor
from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.identity.accounts.accounts import Account
from flagstaff.projects.projects import Environment
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.projects.sdk_keys_service import WantedKey
from flagstaff.settings import Settings
from tests.spec.test_evaluation_cases import FILES, read_condition, targeted
from tests.support.api import Json, flag_path
from tests.support.builders import make_environment, make_project, make_segment, store_all
from tests.support.built import LANGUAGES
from tests.support.providers import Details, Provider, Question, can_pass
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
KINDS = {bool: "boolean", str: "string", int: "integer", float: "float", dict: "object"}
DEFAULTS: dict[str, Any] = {"string": "the default", "integer": -1, "float": -1.5, "object": {"default": True}}
# Members of a context that identify the user, so no custom attribute can have these names.
IDENTIFIERS = {"targetingKey", "email", "user_email"}
each_language = pytest.mark.parametrize("language", LANGUAGES)


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


async def make_key(flagstaff: Flagstaff, account: Account, environment: Environment) -> str:
    wanted = WantedKey("Shop", environment.key, KeyKind.BROWSER, None)
    _, text = await flagstaff.sdk_keys.create_key(Actor(account.id, account.email), environment.project_id, wanted)
    return text


async def store_cases(store: Store) -> dict[str, tuple[Any, str]]:
    """Return each file's document with the key of an environment that has its flags, by the file's name."""
    keys = {}
    async with open_service(Settings.load(store.environ)) as flagstaff:
        account = await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
        for file in FILES:
            document = json.loads(file.read_text())
            project = make_project(account.id)
            environment = make_environment(project.id)
            await store_all(flagstaff.database, project, environment, *contents(document, environment))
            keys[file.stem] = document, await make_key(flagstaff, account, environment)
    return keys


def contents(document: Any, environment: Environment) -> Iterator[Any]:
    """The segments, flags and rules of a document, in an environment."""
    for key, conditions in document.get("segments", {}).items():
        checked = check_conditions(list(map(read_condition, conditions)))
        yield make_segment(environment.project_id, key=key, conditions=checked)
    for each in document["flags"]:
        found = targeted(each)
        yield replace(found.flag, project_id=environment.project_id, environment_id=environment.id)
        yield from found.rules


def questions_of(document: Any) -> Iterator[tuple[Question, Details]]:
    """Yield the questions that the protocol can ask, with the right answers.

    The server sets the time, so no case asks about it.
    """
    depends_on_time = {each["key"] for each in document["flags"] if "current_time" in json.dumps(each)}
    of_type = {each["key"]: [variant["value"] for variant in each.get("variants", ())] for each in document["flags"]}
    for case in document["cases"]:
        context = asked(case["context"] or {})
        if context is None or "current_time" in json.dumps(document.get("segments", {})):
            continue
        for flag, expected in case["expected"].items():
            if flag in depends_on_time:
                continue
            is_on, value = expected["enabled"], expected.get("value")
            sample = value if value is not None else (of_type[flag] or [is_on])[0]
            kind = KINDS[type(sample)]
            default = DEFAULTS.get(kind, not is_on)
            why = reason(expected["reason"])
            if value is None and kind == "boolean":
                value = is_on
            elif value is None:
                value, why = default, "DISABLED"
            variant = expected.get("variant") or ("on" if is_on else "off")
            yield Question(flag, kind, default, context), Details(value, variant, why, None)


def asked(context: Json) -> dict[str, Any] | None:
    """Return the context in OpenFeature's form, or None if OpenFeature cannot express it."""
    custom = context.get("custom_attributes", {})
    if custom.keys() & IDENTIFIERS:
        return None
    identifiers = {"targetingKey": context.get("user_id"), "email": context.get("user_email")}
    return {**custom, **{name: value for name, value in identifiers.items() if value is not None}}


def as_read(language: str, details: Details) -> Details:
    """Return an answer as the provider returns it: the one for Rust reads null inside an object as an empty text."""
    if language != "rust":
        return details
    return details._replace(value=json.loads(json.dumps(details.value).replace("null", '""')))


def reason(text: str) -> str:
    """Return the kind of a reason, or an empty text if it depends on the flag."""
    return "TARGETING_MATCH" if text.startswith("Matched ") else ""


@each_language
async def test_every_case_is_answered_as_the_specification_says(sqlite: Store, language: str) -> None:
    keys = await store_cases(sqlite)
    count = 0
    # There are more questions than an end user may ask in a minute.
    environ = {"FLAGSTAFF_BROWSER_RATE_LIMIT": "off"}
    async with ServerProcess(sqlite, environ) as server, Provider(language, server.url) as provider:
        for name, (document, key) in keys.items():
            await provider.connect(key, name)
            questions = [each for each in questions_of(document) if can_pass(language, each[0].context)]
            answers = await provider.ask([question for question, _ in questions], name)
            for theirs, (question, ours) in zip(answers, questions, strict=True):
                if language in ("node", "java", "rust") and ours.reason == "DISABLED":
                    # These versions report an answer without a value as an error.
                    assert theirs.value == question.default, (name, question)
                    continue
                assert theirs._replace(reason="") == as_read(language, ours)._replace(reason=""), (name, question)
                reasons = (ours.reason,) if ours.reason else ("STATIC", "SPLIT")
                assert theirs.reason in (("STATIC",) if language == "rust" else reasons), (name, question)
            count += len(questions)
        assert count > 1000
        assert "ofrep" not in server.log


@asynccontextmanager
async def shop(server: ServerProcess) -> AsyncIterator[tuple[RemoteCaller, Json, str]]:
    """A signed-in owner, an environment with a flag that is on, and the environment's key."""
    async with RemoteCaller(server.url) as caller:
        await caller.sign_up(EMAIL)
        flag = await caller.create_flag(key="checkout")
        environment = {"name": "Shop", "environment": "production", "kind": "server"}
        answer = await caller.post(f"/api/projects/{flag['project_id']}/sdk-keys", json=environment)
        assert answer.status_code == 201, answer.text
        yield caller, flag, answer.json()["key"]


@each_language
async def test_a_flag_that_is_killed_is_off_at_the_next_question(sqlite: Store, language: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        Provider(language, server.url) as provider,
    ):
        await provider.connect(key)
        assert await provider.is_on("checkout") == Details(True, "on", "STATIC", None)
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert await provider.is_on("checkout", default=True) == Details(False, "off", "STATIC", None)
        assert (await provider.is_on("missing", default=True))[::3] == (True, "FLAG_NOT_FOUND")


@each_language
async def test_a_revoked_key_gives_the_applications_default(sqlite: Store, language: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (caller, flag, key),
        Provider(language, server.url) as provider,
    ):
        await provider.connect(key)
        assert (await provider.is_on("checkout")).error is None
        keys = f"/api/projects/{flag['project_id']}/sdk-keys"
        for each in (await caller.get(keys)).json():
            assert (await caller.delete(f"{keys}/{each['id']}")).status_code == 204
        refused = await provider.is_on("checkout", default=False)
        assert (refused.value, refused.error) == (False, "GENERAL")


@each_language
async def test_a_client_beyond_the_limit_waits_as_long_as_it_is_told(sqlite: Store, language: str) -> None:
    limits = {"FLAGSTAFF_SDK_KEY_RATE_LIMIT": "2/minute"}
    async with (
        ServerProcess(sqlite, limits) as server,
        shop(server) as (_, _, key),
        Provider(language, server.url) as provider,
    ):
        await provider.connect(key)
        answers = [await provider.is_on("checkout") for _ in range(4)]
        assert [each.value for each in answers] == [True, True, False, False]
        assert [each.error for each in answers] == [None, None, "GENERAL", "GENERAL"]


@each_language
async def test_a_client_gets_its_flags_again_after_a_restart(sqlite: Store, language: str) -> None:
    async with (
        ServerProcess(sqlite) as server,
        shop(server) as (_, _, key),
        Provider(language, server.url) as provider,
    ):
        await provider.connect(key)
        assert (await provider.is_on("checkout")).value is True
        await server.kill()
        assert (await provider.is_on("checkout")).error == "GENERAL"
        await server.start()
        assert await provider.is_on("checkout") == Details(True, "on", "STATIC", None)
