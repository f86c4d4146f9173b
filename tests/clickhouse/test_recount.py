"""The recount: everywhere where evaluations can be found, there are exactly the answers that were given.

The same is true of events, with the key, the protocol and the instance by which each came.

Two instances on PostgreSQL, whose clocks pass midnight in Berlin and then in UTC, answer all protocols. A flag and an
environment are created again under their keys, and an instance is killed under load.
"""

import asyncio
import gzip
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pytest

from flagstaff.history.clickhouse.table import EVENT_TABLE, create_statement
from tests.faults.clock import find_faketime
from tests.faults.fleet import clock_variables
from tests.support.api import Json, environment_path
from tests.support.clickhouse import PYTHON, ClickHouseEngine
from tests.support.command import run_flagstaff
from tests.support.postgres import PostgresServer
from tests.support.releases import create_metric, send_events
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store, postgresql_store

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="make test-clickhouse installs ClickHouse's engine")

BERLIN, UTC = ZoneInfo("Europe/Berlin"), ZoneInfo("UTC")
TABLE, EVENTS_TABLE = "flagstaff.evaluations", "flagstaff.events"
KEYS = ("again", "checkout", "colour", "launch", "old")
EVALUATE, OFREP, FRONTEND = "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags", "/unleash/api/frontend"
FORMS = (("1d", "%Y-%m-%d"), ("1h", "%Y-%m-%d %H"))
SECONDS_BEFORE = 4
"""So long before a midnight the traffic begins; none is sent in the second around it, because nobody outside of the
server knows on which side an evaluation is."""
UNLIMITED = {
    f"FLAGSTAFF_{name}_RATE_LIMIT": "off" for name in ("EVALUATE", "API", "BROWSER", "REGISTER", "LOGIN", "REPORT")
}


class Result(NamedTuple):
    """Whether a flag was on."""

    flag_id: str
    key: str
    is_on: bool


class Answer(NamedTuple):
    """What one request was told, at about which time of the instances' clocks."""

    at: datetime
    user: str
    results: frozenset[Result]


Rows = Counter[tuple[str, frozenset[Any]]]
"""How many evaluations of a user had these results."""


class Key(NamedTuple):
    """An SDK key; the project's own has no id and no name."""

    text: str
    key_id: str | None
    name: str | None


class Came(NamedTuple):
    """Of whom an event was, and how it came."""

    identifier: str
    key_id: str | None
    key_name: str | None
    protocol: str
    instance: str


@dataclass
class Instances:
    """Two servers with one wrong clock."""

    servers: list[ServerProcess]
    clocks: list[Path]
    offset: int = 0

    def now(self) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=self.offset)

    async def jump(self, to: datetime) -> None:
        """Set both clocks forward, and wait until they have noticed it."""
        self.offset = round((to - datetime.now(UTC)).total_seconds())
        for clock in self.clocks:
            clock.write_text(f"{self.offset:+}\n")
        async with asyncio.timeout(20):
            for server in self.servers:
                while not await self._has_jumped(server):
                    await asyncio.sleep(0.1)

    async def _has_jumped(self, server: ServerProcess) -> bool:
        async with RemoteCaller(server.url) as caller:
            shown = parsedate_to_datetime((await caller.get("/health")).headers["date"])
        return abs(shown - self.now()) < timedelta(seconds=2)


@dataclass
class Traffic:
    """Applications that ask both instances by every protocol, for all flags and for single ones."""

    instances: Instances
    callers: list[RemoteCaller]
    keys: list[Key]
    flag_ids: dict[str, str]
    chance: random.Random
    answers: list[Answer] = field(default_factory=list)
    events: Counter[Came] = field(default_factory=Counter)

    async def report(self, count: int) -> None:
        """Send events, and keep how they came."""
        for _ in range(count):
            key, instance, who = self.chance.choice(self.keys), self.chance.randrange(2), self.anybody()
            await send_events(self.callers[instance], key.text, {"metric": "errors", "user_id": who})
            self.events[Came(who, key.key_id, key.name, "events", f"instance-{instance}")] += 1

    async def send(self, count: int, user: Callable[[], str], instances: tuple[int, ...] = (0, 1)) -> None:
        """Send requests one after the other, and keep what each was told."""
        for _ in range(count):
            asked = self.chance.choice(
                [self._evaluate, self._evaluate_one, self._ofrep, self._ofrep_one, self._frontend]
            )
            caller, who = self.callers[self.chance.choice(instances)], user()
            results = await asked(caller, who)
            told = frozenset(Result(self.flag_ids[key], key, is_on) for key, is_on in results.items())
            self.answers.append(Answer(self.instances.now(), who, told))

    def anybody(self) -> str:
        return f"user-{self.chance.randrange(60)}"

    async def _post(self, caller: RemoteCaller, path: str, body: Json) -> Json:
        key = self.keys[-1].text
        headers = {"x-sdk-key": key, "authorization": f"Bearer {key}" if "ofrep" in path else key}
        answer = await caller.post(path, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    async def _evaluate(self, caller: RemoteCaller, user: str) -> dict[str, bool]:
        body = {"environment": "production", "context": {"user_id": user}}
        flags = (await self._post(caller, EVALUATE, body))["flags"]
        return {key: each["enabled"] for key, each in flags.items()}

    async def _evaluate_one(self, caller: RemoteCaller, user: str) -> dict[str, bool]:
        key = self.chance.choice(KEYS)
        body = {"environment": "production", "context": {"user_id": user}}
        return {key: (await self._post(caller, f"{EVALUATE}/{key}", body))["enabled"]}

    async def _ofrep(self, caller: RemoteCaller, user: str) -> dict[str, bool]:
        flags = (await self._post(caller, OFREP, {"context": {"targetingKey": user}}))["flags"]
        return {each["key"]: _is_on(each) for each in flags}

    async def _ofrep_one(self, caller: RemoteCaller, user: str) -> dict[str, bool]:
        key = self.chance.choice(KEYS)
        return {key: _is_on(await self._post(caller, f"{OFREP}/{key}", {"context": {"targetingKey": user}}))}

    async def _frontend(self, caller: RemoteCaller, user: str) -> dict[str, bool]:
        toggles = (await self._post(caller, FRONTEND, {"context": {"userId": user}}))["toggles"]
        on = {each["name"] for each in toggles if each["enabled"]}
        return {key: key in on for key in KEYS}


def _is_on(result: Json) -> bool:
    """OFREP has a variant for every flag: without variants of its own, `on` or `off`."""
    return bool(result["variant"] != "off")


@pytest.fixture(scope="module")
def engine() -> Iterator[ClickHouseEngine]:
    with ClickHouseEngine() as running:
        running.query("CREATE DATABASE flagstaff")
        running.query(create_statement(TABLE).strip().rstrip(";"))
        running.query(create_statement(EVENTS_TABLE, EVENT_TABLE).strip().rstrip(";"))
        yield running


@pytest.fixture
async def store(postgres_template: PostgresServer, tmp_path: Path) -> AsyncIterator[Store]:
    async with postgresql_store(postgres_template, tmp_path / "data") as made:
        yield made


@pytest.fixture
async def instances(store: Store, engine: ClickHouseEngine, tmp_path: Path) -> AsyncIterator[Instances]:
    library = find_faketime()
    assert library is not None, "libfaketime is missing and could not be installed"
    tables = {"FLAGSTAFF_CLICKHOUSE_TABLE": TABLE, "FLAGSTAFF_CLICKHOUSE_EVENTS_TABLE": EVENTS_TABLE}
    environ = {**UNLIMITED, "FLAGSTAFF_CLICKHOUSE_URL": engine.url, **tables}
    async with AsyncExitStack() as stack:
        clocks = [tmp_path / f"clock-{number}" for number in range(2)]
        made = Instances([], clocks)
        yesterday = datetime.now(BERLIN) - timedelta(days=1)
        midnight = yesterday.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
        made.offset = round((midnight - timedelta(seconds=30) - datetime.now(UTC)).total_seconds())
        for number, clock in enumerate(clocks):
            place = Store(store.database_url, tmp_path / f"instance-{number}" / "data")
            place.data_directory.mkdir(parents=True)
            values = {**environ, "FLAGSTAFF_INSTANCE_NAME": f"instance-{number}", **clock_variables(clock, library)}
            clock.write_text(f"{made.offset:+}\n")
            made.servers.append(await stack.enter_async_context(ServerProcess(place, values, command=COMMAND)))
        yield made


async def test_every_answer_is_found_everywhere_and_nothing_else(
    instances: Instances, store: Store, engine: ClickHouseEngine, tmp_path: Path
) -> None:
    first, second = instances.servers
    async with RemoteCaller(first.url) as owner, RemoteCaller(second.url) as other:
        await owner.sign_up()
        project = await owner.create_project()
        production = await owner.get_environment(project)
        flag_ids = await _make_flags(owner, production)
        keys = await _make_keys(owner, project)
        traffic = Traffic(instances, [owner, other], keys, flag_ids, random.Random(50))
        staging = await owner.get_environment(project, "staging")
        await owner.create_flag(staging, key="checkout")
        await _evaluate_staging(owner, project, count=7)

        midnight = (instances.now() + timedelta(hours=2)).astimezone(BERLIN)
        midnight = midnight.replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
        await _pass(instances, midnight, traffic)

        for path in (f"{environment_path(production)}/flags/{flag_ids['again']}", environment_path(staging)):
            assert (await owner.delete(path)).status_code == 204
        flag_ids["again"] = (await owner.create_flag(production, key="again"))["id"]
        body = {"name": staging["name"], "key": "staging"}
        staging = {**(await owner.post(f"/api/projects/{project['id']}/environments", json=body)).json()}
        staging["project_id"] = project["id"]
        await owner.create_flag(staging, key="checkout")
        await _evaluate_staging(owner, project, count=5)

        await traffic.send(40, traffic.anybody)
        await traffic.report(40)
        await _list(owner, production, traffic)
        numbers = itertools.count()
        last_words = asyncio.create_task(traffic.send(100_000, lambda: f"last-{next(numbers)}", (1,)))

        async def first_is_recorded() -> bool:
            return any([each["user_id"] == "last-0" async for each in _pages(owner, production, user_id="last-0")])

        await _wait("the last words are not recorded", first_is_recorded)
        await second.kill()
        await asyncio.wait([last_words])
        assert last_words.exception() is not None
        await second.start()

        midnight = (instances.now() + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        await _pass(instances, midnight, traffic)
        await traffic.report(40)

        stored = await _list(owner, production, traffic)
        # A kill loses less than a second of what one instance answered: these users asked nobody else.
        recorded = {user for user, _ in stored}
        traffic.answers = [each for each in traffic.answers if not _is_last(each.user) or each.user in recorded]
        assert any(_is_last(each.user) for each in traffic.answers)
        given = _rows(traffic.answers, lambda each: (each.key, each.is_on))
        assert (stored - given, given - stored) == (Counter(), Counter())
        assert await _count_evaluations(owner, staging) == 5
        await _check_summaries(owner, production, traffic.answers)
        by_id = _rows(traffic.answers, lambda each: (each.flag_id, each.is_on))
        assert _export(store, project, tmp_path / "export") == by_id
        await _wait_for_clickhouse(engine, production, sum(by_id.values()))
        assert _copied(engine, production) == by_id
        await _check_events(owner, production, traffic.events, store, engine, tmp_path / "events")


def _is_last(user: str) -> bool:
    """Return whether this user asked the instance that was killed, and only that one."""
    return user.startswith("last-")


def _rows(answers: list[Answer], part: Callable[[Result], Any]) -> Rows:
    return Counter((each.user, frozenset(map(part, each.results))) for each in answers)


async def _make_flags(owner: RemoteCaller, environment: Json) -> dict[str, str]:
    """Flags of each kind: on, off, a rollout, a rule, variants."""
    variants = [{"key": key, "value": key, "weight": 50} for key in ("red", "blue")]
    kinds: dict[str, dict[str, Any]] = {
        "again": {},
        "checkout": {"rollout_percentage": 40},
        "colour": {"rollout_percentage": 50, "variants": variants},
        "launch": {"fallthrough": "off"},
        "old": {"enabled": False},
    }
    made = {key: await owner.create_flag(environment, key=key, **values) for key, values in kinds.items()}
    await owner.create_rule(made["launch"], rule_value="user-7")
    return {key: flag["id"] for key, flag in made.items()}


async def _make_keys(owner: RemoteCaller, project: Json) -> list[Key]:
    """The project's key and one of `production`, with a metric for their events."""
    await create_metric(owner, project)
    made = await create_key(owner, project, name="Shop")
    return [Key(project["sdk_key"], None, None), Key(made["key"], made["id"], "Shop")]


async def _evaluate_staging(owner: RemoteCaller, project: Json, count: int) -> None:
    for _ in range(count):
        assert (await owner.evaluate(project["sdk_key"], "staging", {"user_id": "ada"})).status_code == 200


async def _pass(instances: Instances, midnight: datetime, traffic: Traffic) -> None:
    """Send traffic before and after a midnight of the instances' clocks."""
    await instances.jump(midnight - timedelta(seconds=SECONDS_BEFORE))
    while instances.now() < midnight - timedelta(seconds=1):
        await traffic.send(1, traffic.anybody)
    while instances.now() < midnight + timedelta(seconds=1):
        await asyncio.sleep(0.05)
    await traffic.send(60, traffic.anybody)


async def _wait(what: str, is_true: Callable[[], Awaitable[bool]]) -> None:
    deadline = time.monotonic() + 60
    while not await is_true():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.2)


async def _pages(owner: RemoteCaller, environment: Json, **wanted: str) -> AsyncIterator[Json]:
    query: dict[str, Any] = {"limit": 100, **wanted}
    while True:
        page = (await owner.get(f"{environment_path(environment)}/evaluations", params=query)).json()
        for item in page["items"]:
            yield item
        if not page["next_cursor"]:
            return
        query["cursor"] = page["next_cursor"]


async def _count_evaluations(owner: RemoteCaller, environment: Json) -> int:
    return len([each async for each in _pages(owner, environment)])


async def _list(owner: RemoteCaller, environment: Json, traffic: Traffic) -> Rows:
    """Return the listed evaluations, when all that cannot be lost are there."""
    least = sum(not _is_last(each.user) for each in traffic.answers)

    async def all_there() -> bool:
        users = [each["user_id"] async for each in _pages(owner, environment)]
        return sum(not _is_last(user) for user in users) >= least

    await _wait("evaluations are missing in the list", all_there)
    return Counter(
        [
            (each["user_id"], frozenset((key, flag["enabled"]) for key, flag in each["flags"].items()))
            async for each in _pages(owner, environment)
        ]
    )


async def _check_summaries(owner: RemoteCaller, environment: Json, answers: list[Answer]) -> None:
    """Every cell by hour and by day, in both zones, and the users of each day of UTC."""
    path = f"{environment_path(environment)}/evaluations/summary"
    begin = min(each.at for each in answers) - timedelta(days=1)
    for flag_id, key in {(each.flag_id, each.key) for answer in answers for each in answer.results}:
        for zone, interval, form in (
            *((UTC, *each) for each in FORMS),
            *((BERLIN, *each) for each in FORMS),
        ):
            told = [
                (each.at.astimezone(zone).strftime(form), result.is_on, each.user)
                for each in answers
                for result in each.results
                if result.flag_id == flag_id
            ]
            query = {
                "tz": str(zone), "interval": interval, "since": begin.astimezone(zone).date().isoformat(),
                "flag_key": key, "flag_id": flag_id,
            }  # fmt: skip
            answer = await owner.get(path, params=query)
            assert answer.status_code == 200, answer.text
            cells = answer.json()["flags"][key]
            names = [datetime.fromisoformat(each["start"]).astimezone(zone).strftime(form) for each in cells]
            shown = Counter[tuple[str, bool]]()
            users = Counter[tuple[str, bool]]()
            for name, cell in zip(names, cells, strict=True):
                for side, is_on in (("on", True), ("off", False)):
                    shown[name, is_on] += cell[side]
                    users[name, is_on] += cell["distinct_users"][side] if (zone, interval) == (UTC, "1d") else 0
            assert +shown == Counter((name, is_on) for name, is_on, _ in told), (key, str(zone), interval)
            if (zone, interval) == (UTC, "1d"):
                assert +users == Counter((name, is_on) for name, is_on, _ in set(told)), key


def _export(store: Store, project: Json, directory: Path) -> Rows:
    options = ("--project", project["id"], "--environment", "production", "--directory", str(directory))
    ended = run_flagstaff("history", "export", *options, environ=store.environ)
    assert ended.returncode == 0, ended.stderr
    return Counter(
        (row["user_id"], frozenset((flag["id"], flag["enabled"]) for flag in row["flags"])) for row in _lines(directory)
    )


def _lines(directory: Path) -> list[Json]:
    files = directory.glob("*.jsonl.gz")
    return [json.loads(line) for file in files for line in gzip.decompress(file.read_bytes()).splitlines()]


async def _wait_for_clickhouse(engine: ClickHouseEngine, environment: Json, count: int) -> None:
    query = f"SELECT count() AS rows FROM {TABLE} WHERE environment_id = '{environment['id']}'"

    async def is_copied() -> bool:
        return engine.numbers(query)["rows"] >= count

    await _wait("evaluations are missing in ClickHouse", is_copied)


async def _check_events(
    owner: RemoteCaller,
    environment: Json,
    given: Counter[Came],
    store: Store,
    engine: ClickHouseEngine,
    directory: Path,
) -> None:
    """The list, the list of each user, the export and ClickHouse."""
    path = f"{environment_path(environment)}/events"

    async def listed(**wanted: str) -> Counter[Came]:
        page = (await owner.get(path, params={"limit": 100, **wanted})).json()
        assert page["next_cursor"] is None
        return Counter(map(_came, page["items"]))

    async def is_listed() -> bool:
        return (await listed()).total() >= given.total()

    await _wait("events are missing in the list", is_listed)
    assert await listed() == given
    for user in {each.identifier for each in given}:
        assert await listed(user_id=user) == Counter(
            {each: count for each, count in given.items() if each.identifier == user}
        )
    options = ("--project", environment["project_id"], "--directory", str(directory))
    ended = run_flagstaff("history", "export-events", *options, environ=store.environ)
    assert ended.returncode == 0, ended.stderr
    assert Counter(map(_came, _lines(directory))) == given

    async def is_copied() -> bool:
        return engine.numbers(f"SELECT count() AS rows FROM {EVENTS_TABLE}")["rows"] >= given.total()

    await _wait("events are missing in ClickHouse", is_copied)
    rows = json.loads(engine.query(f"SELECT {', '.join(Came._fields)} FROM {EVENTS_TABLE} FORMAT JSON"))["data"]
    assert Counter(map(_came, rows)) == given


def _came(row: Json) -> Came:
    return Came(*(row[name] for name in Came._fields))


def _copied(engine: ClickHouseEngine, environment: Json) -> Rows:
    query = f"SELECT user_id, flags, flag_ids FROM {TABLE} WHERE environment_id = '{environment['id']}'"
    rows = json.loads(engine.query(f"{query} FORMAT JSON"))["data"]
    return Counter(
        (row["user_id"], frozenset((row["flag_ids"][key], is_on) for key, is_on in row["flags"].items()))
        for row in rows
    )
