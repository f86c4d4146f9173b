"""The same flags in Flagstaff and in Unleash's own server, evaluated by the same released clients for the same users.

Run with `make test-sdks`. docs/unleash-sdks.md has the results.
"""

import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio

from tests.interop.equivalents import STICKINESS, constraint, dependencies, strategies
from tests.interop.examples import SEGMENTS, hashes, make_condition, make_context, make_flag
from tests.support.api import Json, created, environment_path
from tests.support.applications import Application, is_ascii
from tests.support.local_sdk import Result, read_payload
from tests.support.postgres import PostgresServer
from tests.support.providers import FrontendClient
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store
from tests.support.unleash_server import BROWSER_KEY, SERVER_KEY, UnleashServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

FLAGS, PARENTS, USERS, AT_ONCE = 60, 15, 2_000, 50
# The conditions together are dearer, and the browser asks more often, than the defaults allow.
SETTINGS = {
    "FLAGSTAFF_ACCESS_LOG": "off",
    "FLAGSTAFF_MAX_CONDITION_WORK": "100000",
    "FLAGSTAFF_BROWSER_RATE_LIMIT": "off",
}
KINDS = {"server": SERVER_KEY, "browser": BROWSER_KEY}
# Fields that only Unleash's server sends, by their parent; docs/unleash-sdks.md says what they are for.
ONLY_IN_UNLEASH = {
    "": {"meta"},
    "meta": {"etag", "queryHash", "revisionId"},
    "query": {"inlineSegmentConstraints", "project"},
    "segments": {"id", "name", "constraints"},
    "strategies": {"segments"},
    "variants": {"weightType"},
}


class Pair(NamedTuple):
    """Both servers with the same flags, and Flagstaff's SDK keys by kind.

    `left_out` has the keys of the flags that are off for some users in SDKs.
    """

    here: ServerProcess
    there: UnleashServer
    flags: Mapping[str, Json]
    keys: Mapping[str, str]
    left_out: set[str]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Pair]:
    random = Random(14)
    segments = {key: [make_condition(random)] for key in SEGMENTS}
    flags: list[Json] = []
    for number in range(FLAGS):
        flags.append(make_flag(random, f"flag-{number}", flags[:PARENTS] if number >= PARENTS else ()))
    folder = tmp_path_factory.mktemp("pair")
    (folder / "data").mkdir(mode=0o700)
    with PostgresServer() as postgres:
        async with AsyncExitStack() as stack:
            here = await stack.enter_async_context(
                ServerProcess(sqlite_store(sqlite_template, folder / "data"), SETTINGS)
            )
            there = await stack.enter_async_context(UnleashServer(postgres, folder))
            keys, left_out = await make_here(here, flags, segments)
            await make_there(there, flags, segments)
            yield Pair(here, there, {each["key"]: each for each in flags}, keys, left_out)


async def make_here(
    server: ServerProcess, flags: Sequence[Json], segments: Mapping[str, Sequence[Json]]
) -> tuple[dict[str, str], set[str]]:
    """Create flags by Flagstaff's API; return its SDK keys, and the flags that are off for some users in SDKs."""
    async with RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        environment = await caller.get_environment(project)
        for key, conditions in segments.items():
            await caller.create_segment(project, key=key, name=key, conditions=conditions)
        left_out, made = set(), []
        for flag in flags:
            made.append(await caller.create_flag(environment, **{k: v for k, v in flag.items() if k != "rules"}))
            for place, rule in enumerate(flag["rules"]):
                await caller.create_rule(made[-1], **rule, priority=-place)
        for each in made:
            answer = await caller.get(f"{environment_path(environment)}/flags/{each['id']}/sdk-differences")
            if any(difference["effect"] == "off" for difference in answer.json()):
                left_out.add(each["key"])
        keys = {}
        for kind in KINDS:
            body = {"name": kind, "environment": "production", "kind": kind}
            keys[kind] = created(await caller.post(f"/api/projects/{project['id']}/sdk-keys", json=body))["key"]
        return keys, left_out


async def make_there(server: UnleashServer, flags: Sequence[Json], segments: Mapping[str, Sequence[Json]]) -> None:
    """Create the equivalents of flags by the API of Unleash's server."""
    ids = {key: await server.create_segment(key, list(map(constraint, each))) for key, each in segments.items()}
    for flag in flags:
        await server.create_feature(flag["key"], strategies(flag, ids), is_on=flag["enabled"])
    for flag in flags:
        for dependency in dependencies(flag):
            await server.create_dependency(flag["key"], dependency)
    await server.settle()


def questions() -> Iterator[list[Json]]:
    """Yield the users, several at once."""
    random = Random(2026)
    for _ in range(0, USERS, AT_ONCE):
        yield [make_context(random) for _ in range(AT_ONCE)]


def reason(pair: Pair, flag: Json, context: Json, here: Result, *, is_local: bool) -> str:
    """Return why the results for a user may differ, in the words of the guide; empty if they must be equal."""
    families = [flag, *(pair.flags[each["flag_key"]] for each in flag["prerequisites"])]
    dividing = [each for each in families if hashes(each)]
    known = {"userId": context.get("userId"), **context["properties"]}
    if any(known.get(STICKINESS[each["stickiness"]]) is None for each in dividing):
        return "nothing to divide the user by"
    if is_local and not here.enabled and flag["key"] in pair.left_out:
        return "left out"
    if is_local and "" in context["properties"].values() and '"negate": true' in json.dumps(families):
        return "empty and negated"
    needs_off = [pair.flags[each["flag_key"]] for each in flag["prerequisites"] if not each["enabled"]]
    if not is_local and any(not each["enabled"] for each in needs_off):
        return "needs a flag that is turned off"
    if not is_local and dividing and not is_ascii(context):
        return "not ASCII"
    return ""


@pytest.mark.parametrize("language", ["python", "node"])
async def test_servers_sdks_have_the_same_results(pair: Pair, language: str) -> None:
    async with Application(language, pair.here.url) as here, Application(language, pair.there.url) as there:
        assert await here.connect(pair.keys["server"])
        assert await there.connect(SERVER_KEY)
        found: Counter[str] = Counter()
        for users in questions():
            asked = [(key, user) for user in users for key in pair.flags]
            answers = zip(asked, await here.ask(asked), await there.ask(asked), strict=True)
            compare(pair, answers, found, is_local=True)
    report(language, found)


async def test_browsers_have_the_same_results(pair: Pair) -> None:
    async with FrontendClient("POST", pair.here.url) as here, FrontendClient("POST", pair.there.url) as there:
        assert await here.connect(pair.keys["browser"])
        assert await there.connect(BROWSER_KEY)
        found: Counter[str] = Counter()
        for users in questions():
            asked = [(key, user) for user in users for key in pair.flags]
            ours, theirs = results(await here.ask(asked)), results(await there.ask(asked))
            compare(pair, zip(asked, ours, theirs, strict=True), found, is_local=False)
    report("browser", found)


def results(answers: Sequence[tuple[bool, str | None, Json | None]]) -> list[Result]:
    return [Result(is_on, variant, read_payload(payload)) for is_on, variant, payload in answers]


def compare(
    pair: Pair, answers: Iterator[tuple[tuple[str, Json], Result, Result]], found: Counter[str], *, is_local: bool
) -> None:
    """Count the equal results, and the different ones by their reason."""
    for (key, context), here, there in answers:
        why = "equal" if here == there else reason(pair, pair.flags[key], context, here, is_local=is_local)
        assert why, (pair.flags[key], context, here, there)
        found[why] += 1
        found["on"] += there.enabled


def report(client: str, found: Counter[str]) -> None:
    """Print the table of the guide; the flags must be on and off, and nearly all results be compared."""
    total = USERS * FLAGS
    print(f"\n{client}: {dict(found)}")  # noqa: T201
    assert found["equal"] > 0.9 * total
    assert 0.2 * total < found["on"] < 0.8 * total


async def test_the_flags_are_sent_in_the_same_form(pair: Pair) -> None:
    here = fields(await features(f"{pair.here.url}/unleash/api", pair.keys["server"]))
    there = fields(await features(f"{pair.there.url}/unleash/api", SERVER_KEY))
    only_there = {where: members.keys() - here[where].keys() for where, members in there.items()}
    assert {where: names for where, names in only_there.items() if names} == ONLY_IN_UNLEASH
    for where, members in here.items():
        for name, kinds in members.items():
            assert kinds <= there[where][name], (where, name)


async def features(url: str, key: str) -> Any:
    """Return the features that SDKs receive."""
    async with httpx.AsyncClient(headers={"authorization": key, "unleash-client-spec": "5.2.0"}) as client:
        return (await client.get(f"{url}/client/features")).raise_for_status().json()


def fields(document: Any, where: str = "") -> defaultdict[str, defaultdict[str, set[str]]]:
    """Return the types of the values of each field, by the name of the object that contains it."""
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each in document if isinstance(document, list) else [document]:
        for name, value in each.items() if isinstance(each, dict) else ():
            found[where][name].add(type(value).__name__)
            inner = fields(value, name) if name != "parameters" else {}
            for place, members in inner.items():
                for member, kinds in members.items():
                    found[place][member] |= kinds
    return found
