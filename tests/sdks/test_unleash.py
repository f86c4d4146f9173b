"""Released SDKs of Unleash, unmodified, against a real server: all cases of spec/evaluation, and later changes.

The SDKs evaluate flags in the application. Answers that must differ are on the flags' lists of differences.
"""

import json
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest

from flagstaff.assembly.bootstrap import Flagstaff, open_service
from flagstaff.changes.changes import Actor
from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.evaluation.unleash.differences import EMAIL_CASE, NON_ASCII
from flagstaff.flags.flags import Flag
from flagstaff.identity.accounts.accounts import Account
from flagstaff.projects.projects import Environment
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.projects.sdk_keys_service import WantedKey
from flagstaff.settings import Settings
from tests.spec.test_evaluation_cases import FILES, read_condition, targeted
from tests.spec.test_local_evaluation import asked, translated
from tests.support.api import Json, environment_path, flag_path
from tests.support.applications import WITHOUT_STREAM, Application, is_ascii, until
from tests.support.builders import make_environment, make_flag, make_project, make_segment, store_all
from tests.support.built import LANGUAGES
from tests.support.local_sdk import Result, is_unusual, written
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

EMAIL, PASSWORD = "ada@example.com", "correct horse battery staple"
TOGGLES = 20
STREAMING = [language for language in LANGUAGES if language not in WITHOUT_STREAM]
each_language = pytest.mark.parametrize("language", LANGUAGES)
each_language_that_streams = pytest.mark.parametrize("language", STREAMING)
each_mode = pytest.mark.parametrize(
    ("language", "mode"),
    [*((language, "polling") for language in LANGUAGES), *((language, "streaming") for language in STREAMING)],
)


class Shop(NamedTuple):
    """An environment with one flag, which is on, and its key for servers."""

    environment: Environment
    flag: Flag
    key: str

    @property
    def path(self) -> str:
        return environment_path({"id": self.environment.id, "project_id": self.environment.project_id})

    @property
    def flag_path(self) -> str:
        flag = self.flag
        return flag_path({"id": flag.id, "project_id": flag.project_id, "environment_id": flag.environment_id})


async def make_key(flagstaff: Flagstaff, account: Account, environment: Environment) -> str:
    wanted = WantedKey("Servers", environment.key, KeyKind.SERVER, None)
    _, text = await flagstaff.sdk_keys.create_key(Actor(account.id, account.email), environment.project_id, wanted)
    return text


@asynccontextmanager
async def signed_in(server: ServerProcess) -> AsyncIterator[RemoteCaller]:
    async with RemoteCaller(server.url) as caller:
        await caller.log_in(EMAIL, PASSWORD)
        yield caller


@asynccontextmanager
async def running(
    store: Store, language: str, mode: str = "polling"
) -> AsyncIterator[tuple[ServerProcess, Application]]:
    async with ServerProcess(store) as server, Application(language, server.url, mode) as app:
        yield server, app


async def toggle(caller: RemoteCaller, shop: Shop) -> None:
    assert (await caller.post(f"{shop.flag_path}/toggle")).status_code == 200


async def until_it_is(app: Application, shop: Shop, *, on: bool) -> None:
    """Wait until the flag of the shop is on or off in the application."""

    async def is_so() -> bool:
        return await app.is_on(shop.flag.key) is on

    await until(is_so)


async def until_it_streams(caller: RemoteCaller, shop: Shop) -> None:
    """Wait until the server knows the application's stream."""

    async def streams() -> bool:
        answer = await caller.get(f"{shop.path}/connections")
        return any(each["streams"] for each in answer.json()["connections"])

    await until(streams)


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture
async def shop(sqlite: Store) -> Shop:
    """Stored before the server starts."""
    async with open_service(Settings.load(sqlite.environ)) as flagstaff:
        account = await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
        project = make_project(account.id)
        environment = make_environment(project.id)
        flag = make_flag(environment)
        await store_all(flagstaff.database, project, environment, flag)
        return Shop(environment, flag, await make_key(flagstaff, account, environment))


@each_language
async def test_every_case_is_answered_as_the_specification_says(sqlite: Store, language: str) -> None:
    keys = await store_cases(sqlite)
    async with (
        ServerProcess(sqlite, {"FLAGSTAFF_ACCESS_LOG": "off"}) as server,
        Application(language, server.url) as app,
    ):
        for name, (document, key) in keys.items():
            assert await app.connect(key, name) or not document["flags"]
            questions = list(questions_of(document, language))
            answers = await app.ask([(flag, context) for flag, context, _, _ in questions], name)
            for theirs, (flag, context, ours, is_exact) in zip(answers, questions, strict=True):
                if theirs.enabled or is_exact:
                    assert theirs == ours, (name, flag, context)


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
        found = targeted(each, environment)
        yield found.flag
        yield from found.rules


def questions_of(document: Any, language: str) -> Iterator[tuple[str, dict[str, Any], Result, bool]]:
    """Yield a flag, a user, our result, and whether the SDK must have the same result if it is off there."""
    translation = translated(document)
    for case in document["cases"]:
        context = asked(case)
        if context is None:
            continue
        email = context["properties"].get("email", "")
        for flag, expected in case["expected"].items():
            differences = translation[flag].differences
            if EMAIL_CASE in differences and email != email.lower() and "userId" not in context:
                continue
            if is_unusual(differences, context["properties"]):
                continue
            if language == "node" and NON_ASCII in differences and not is_ascii(context):
                continue
            ours = Result(expected["enabled"], expected.get("variant"), written(expected.get("value")))
            yield flag, context, ours, translation[flag].is_exact


@each_mode
async def test_a_flag_that_is_killed_is_off_soon(sqlite: Store, shop: Shop, language: str, mode: str) -> None:
    async with running(sqlite, language, mode) as (server, app), signed_in(server) as caller:
        assert await app.connect(shop.key)
        assert await app.is_on(shop.flag.key)
        await toggle(caller, shop)
        await until_it_is(app, shop, on=False)


@each_language_that_streams
async def test_a_stream_tells_of_every_change_within_moments(sqlite: Store, shop: Shop, language: str) -> None:
    """Clients would ask for their flags only after a minute, so these changes come through the stream."""
    seconds = []
    async with running(sqlite, language, "streaming") as (server, app), signed_in(server) as caller:
        assert await app.connect(shop.key)
        await until_it_streams(caller, shop)
        for number in range(TOGGLES):
            await toggle(caller, shop)
            began = time.perf_counter()
            await until_it_is(app, shop, on=bool(number % 2))
            seconds.append(time.perf_counter() - began)
    told = f"{language}: {median(seconds) * 1000:.1f} ms in the median, {max(seconds) * 1000:.1f} ms at most"
    sys.stdout.write(f"From the response to a change until the application answers with it: {told}\n")
    assert median(seconds) < 0.5, seconds


@each_mode
async def test_an_application_keeps_its_flags_while_the_server_restarts(
    sqlite: Store, shop: Shop, language: str, mode: str
) -> None:
    async with running(sqlite, language, mode) as (server, app):
        assert await app.connect(shop.key)
        await server.stop()
        assert await app.is_on(shop.flag.key)
        await server.start()
        assert await app.is_on(shop.flag.key)
        async with signed_in(server) as caller:
            await toggle(caller, shop)
        await until_it_is(app, shop, on=False)


@each_language
async def test_a_revoked_key_gives_a_new_application_nothing_and_takes_nothing_from_a_running_one(
    sqlite: Store, shop: Shop, language: str
) -> None:
    async with running(sqlite, language) as (server, app), signed_in(server) as caller:
        assert await app.connect(shop.key)
        path = f"/api/projects/{shop.environment.project_id}/sdk-keys"
        (key,) = (await caller.get(path)).json()
        assert (await caller.delete(f"{path}/{key['id']}")).is_success
        assert not await app.connect(shop.key, "later")
        assert not await app.is_on(shop.flag.key, name="later")
        assert await app.is_on(shop.flag.key)


@pytest.mark.parametrize("language", ["node", "python"])
async def test_what_an_application_measures_is_kept_by_the_flag_that_its_users_have(
    sqlite: Store, shop: Shop, language: str
) -> None:
    async with running(sqlite, language) as (server, app), signed_in(server) as caller:
        assert await app.connect(shop.key)
        await app.measure(shop.flag.key)

        async def value(name: str, measure: str) -> float | None:
            query = f"name={name}&measure={measure}&label={shop.flag.key}:enabled"
            answer = await caller.get(f"{shop.path}/request-metrics/chart?{query}")
            if answer.status_code == 404:
                return None  # not reported yet
            assert answer.status_code == 200, answer.text
            (line,) = answer.json()["lines"]
            points = line["points"]
            return max((point for point in points if point is not None), default=None)

        async def is_reported() -> bool:
            return await value("orders", "per_minute") == 2

        await until(is_reported)
        assert await value("seconds", "mean") == 0.5
        assert await value("seconds", "p50") == pytest.approx(0.55)
        assert await value("queue", "mean") == 7


@each_language
async def test_what_an_application_counts_is_reported(sqlite: Store, shop: Shop, language: str) -> None:
    async with running(sqlite, language) as (server, app), signed_in(server) as caller:
        assert await app.connect(shop.key)
        for _ in range(3):
            assert await app.is_on(shop.flag.key)

        async def is_reported() -> bool:
            await app.is_on(shop.flag.key)
            answer = await caller.get(f"{shop.path}/reports")
            assert answer.status_code == 200, answer.text
            flags: list[Json] = answer.json()["flags"]
            return any(each["flag_key"] == shop.flag.key and each["yes"] >= 3 for each in flags)

        await until(is_reported)
        (connection,) = (await caller.get(f"{shop.path}/connections")).json()["connections"]
        assert (connection["application"], connection["is_current"]) == ("shop", True)
        assert connection["sdk"].startswith(f"unleash-{language}-sdk:")
