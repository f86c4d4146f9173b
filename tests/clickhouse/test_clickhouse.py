"""The history in ClickHouse, tested against its engine: each evaluation is there exactly once, even after failures."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import timedelta

import pytest

from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.history.clickhouse.client import ClickHouse, ClickHouseError
from flagstaff.history.clickhouse.erasing import erase_evaluations, erase_events
from flagstaff.history.clickhouse.rows import encode_events
from flagstaff.history.clickhouse.sender import Sender
from flagstaff.history.clickhouse.table import EVENT_TABLE, create_statement
from flagstaff.history.erased_users import Subject
from flagstaff.history.export_batches import EVENTS, ExportBatch, ExportBatches
from flagstaff.history.history_service import History
from flagstaff.history.sink import Sink
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, unit_of
from flagstaff.projects import sdk_keys_store
from flagstaff.projects.projects import Environment
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from tests.support.builders import make_sdk_key, store_environment
from tests.support.clickhouse import PASSWORD, PYTHON, QUOTED, ClickHouseEngine
from tests.support.clock import Clock
from tests.support.documented_code import code_in
from tests.support.history import START, make_batch, make_layout, make_record
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="make test-clickhouse installs ClickHouse's engine")

TABLE = "flagstaff.evaluations"
COUNT = f"SELECT count() AS rows, uniqExact(id) AS ids, uniqExact(user_id) AS users FROM {TABLE}"
LAYOUT = make_layout()


@pytest.fixture(scope="module")
def running() -> Iterator[ClickHouseEngine]:
    with ClickHouseEngine() as engine:
        engine.query("CREATE DATABASE flagstaff")
        yield engine


@pytest.fixture
def engine(running: ClickHouseEngine) -> ClickHouseEngine:
    """The engine with an empty table."""
    running.query(f"DROP TABLE IF EXISTS {TABLE}")
    running.query(create_statement(TABLE).strip().rstrip(";"))
    return running


@pytest.fixture
async def environment(database: Database) -> Environment:
    return await store_environment(database)


@pytest.fixture
async def sink(database: Database, clock: Clock, engine: ClickHouseEngine) -> AsyncIterator[Sink[ExportBatch]]:
    """An instance that sends blocks of 100, and waits two seconds for an answer."""
    deliveries = ExportBatches(database, clock, "first", evaluations=100)
    sender = Sender(ClickHouse(engine.url, TABLE, timeout_seconds=2))

    async def send(delivery: ExportBatch) -> None:
        parts = [(each.place, each.segments) for each in delivery.parts]
        await sender.send(delivery.block.token, parts)

    yield Sink(
        next_block=deliveries.next,
        send=send,
        record_sent=deliveries.record_sent,
        pause_seconds=0.01,
        first_retry_seconds=0.01,
    )
    await sender.close()


async def record(database: Database, clock: Clock, environment: Environment, count: int) -> None:
    records = [make_record(place, f"user-{place}") for place in range(count)]
    await History(database, clock).record(make_batch(environment.id, LAYOUT, *records))


async def run_until_sent(sink: Sink[ExportBatch], count: int) -> None:
    """Let the sink run as it does in a server."""
    task = asyncio.create_task(sink.run())
    try:
        async with asyncio.timeout(60):
            while sink.sent < count:
                await asyncio.sleep(0.02)
    finally:
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("", "does not exist; create it with the statement of: flagstaff clickhouse schema"),
        (create_statement(TABLE).replace("    rules Map", "    others Map"), "it lacks the columns rules Map"),
        (create_statement(TABLE).replace("user_id Nullable(String)", "user_id String"), "user_id is String and must"),
        (create_statement(TABLE).partition("SETTINGS")[0], "non_replicated_deduplication_window"),
        (create_statement(TABLE).partition("ENGINE")[0] + "ENGINE = Memory", "its engine is Memory"),
    ],
)
async def test_a_table_that_cannot_be_used_is_refused_with_words(
    engine: ClickHouseEngine, statement: str, reason: str
) -> None:
    engine.query(f"DROP TABLE {TABLE}")
    if statement:
        engine.query(statement.strip().rstrip(";"))
    clickhouse = ClickHouse(engine.url, TABLE)
    with pytest.raises(ClickHouseError) as refusal:
        await clickhouse.check()
    await clickhouse.close()
    assert reason in str(refusal.value)


async def test_refusals_and_redirects_are_errors_that_show_no_password(engine: ClickHouseEngine) -> None:
    wrong = ClickHouse(f"http://default:wrong-password@127.0.0.1:{engine.port}", TABLE)
    with pytest.raises(ClickHouseError, match=r"403.*Authentication failed") as refusal:
        await wrong.check()
    await wrong.close()
    assert "wrong-password" not in str(refusal.value)
    right = ClickHouse(engine.url, TABLE)
    assert await right.check() >= "26"
    engine.fault("redirect")
    with pytest.raises(ClickHouseError, match="answered 307") as refusal:
        await right.insert("token", [b"{}\n"])
    await right.close()
    assert PASSWORD not in str(refusal.value)
    assert engine.numbers(COUNT)["rows"] == 0


async def test_rows_have_the_results_and_reasons_of_flags(
    sink: Sink[ExportBatch], engine: ClickHouseEngine, database: Database, clock: Clock, environment: Environment
) -> None:
    await record(database, clock, environment, 3)
    await run_until_sent(sink, 3)
    found = engine.numbers(
        "SELECT countIf(flags['rollout']) AS rollout, countIf(flags['off']) AS off,"
        " countIf(reasons['off'] != '') AS reasons,"
        " countIf(environment = 'production') AS production, countIf(toHour(evaluated_at) = 10) AS hour"
        f" FROM {TABLE}"
    )
    assert found == {"rollout": 3, "off": 0, "reasons": 3, "production": 3, "hour": 3}


@pytest.mark.parametrize("kind", ["before", "after", "hang"])
async def test_every_evaluation_is_there_once_after_errors_and_answers_that_were_lost(
    sink: Sink[ExportBatch],
    engine: ClickHouseEngine,
    database: Database,
    clock: Clock,
    environment: Environment,
    kind: str,
) -> None:
    before = len(engine.received())
    engine.fault(kind, count=2)
    await record(database, clock, environment, 450)
    await run_until_sent(sink, 450)
    assert sink.failures == 2
    tokens = engine.received()[before:]
    assert (len(tokens) > len(set(tokens))) is (kind != "before"), "the engine was sent a block twice"
    assert engine.numbers(COUNT) == {"rows": 450, "ids": 450, "users": 450}


async def test_every_evaluation_is_there_once_after_clickhouse_was_away(
    sink: Sink[ExportBatch], engine: ClickHouseEngine, database: Database, clock: Clock, environment: Environment
) -> None:
    await record(database, clock, environment, 150)
    await run_until_sent(sink, 100)
    engine.kill()
    await record(database, clock, environment, 300)
    task = asyncio.create_task(sink.run())
    async with asyncio.timeout(30):
        while sink.failures < 3:
            await asyncio.sleep(0.01)
    assert sink.lag_seconds() > 0
    assert not sink.is_working
    engine.start()
    async with asyncio.timeout(60):
        while sink.sent < 450:
            await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
    assert engine.numbers(COUNT) == {"rows": 450, "ids": 450, "users": 300}


async def test_two_instances_at_once_send_everything_once(
    sink: Sink[ExportBatch], engine: ClickHouseEngine, database: Database, clock: Clock, environment: Environment
) -> None:
    await record(database, clock, environment, 450)
    sender = Sender(ClickHouse(engine.url, TABLE))
    eager = ExportBatches(database, lambda: clock.advance(days=1), "eager", evaluations=100)  # it always has the turn

    async def send(delivery: ExportBatch) -> None:
        parts = [(each.place, each.segments) for each in delivery.parts]
        await sender.send(delivery.block.token, parts)

    other = Sink(next_block=eager.next, send=send, record_sent=eager.record_sent, pause_seconds=0.01)
    tasks = [asyncio.create_task(each.run()) for each in (sink, other)]
    async with asyncio.timeout(60):
        while sink.sent + other.sent < 450:
            await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    await sender.close()
    assert engine.numbers(COUNT) == {"rows": 450, "ids": 450, "users": 450}


async def test_every_evaluation_is_there_once_after_the_sender_was_killed_before_it_noted_the_answer(
    store: Store, engine: ClickHouseEngine
) -> None:
    before = len(engine.received())
    environ = {"FLAGSTAFF_CLICKHOUSE_URL": engine.url, "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}
    async with ServerProcess(store, environ) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.sign_up()
            project = await caller.create_project()
            engine.fault("hang")
            for number in range(50):
                answer = await caller.evaluate(project["sdk_key"], context={"user_id": f"user-{number}"})
                assert answer.status_code == 200
            await _until(lambda: len(engine.received()) > before)
        assert PASSWORD not in server.log
        assert QUOTED not in server.log
        await server.kill()
        await server.start()
        await _until(lambda: len(engine.received()) >= before + 2, seconds=90)
        token, repeated = engine.received()[before : before + 2]
        await _until(lambda: engine.numbers(COUNT)["users"] == 50)
        assert token == repeated
    assert engine.numbers(COUNT) == {"rows": 50, "ids": 50, "users": 50}


EVENTS_TABLE = "flagstaff.events"


@pytest.fixture
def event_table(engine: ClickHouseEngine) -> None:
    """An empty table of events."""
    engine.query(f"DROP TABLE IF EXISTS {EVENTS_TABLE}")
    engine.query(create_statement(EVENTS_TABLE, EVENT_TABLE).strip().rstrip(";"))


@pytest.mark.usefixtures("event_table")
async def test_every_event_is_there_once_after_lost_answers_and_an_erasure_makes_a_users_those_of_nobody(
    engine: ClickHouseEngine, database: Database, clock: Clock, environment: Environment
) -> None:
    at, key = microseconds(START), make_sdk_key(environment, name="Shop")
    async with database.transaction() as transaction:
        await sdk_keys_store.create_key(transaction.connection, key, b"hash")
    for number in range(3):
        rows = [EventRow("checkout", f"user-{place}", at + number, 0.5, None) for place in range(40)]
        rows.append(EventRow("checkout", unit_of("user-7", "company"), at, None, None))
        known = [Origin(None, key_id, "events", "first") for key_id in (key.id, None)]
        origins = Origins(known, [place % 2 for place in range(41)]) if number else None
        batch = EventBatch(number, at, [EventGroup(environment.id, rows, {}, KeyKind.SERVER, origins)])
        await History(database, clock).record_events(batch)
    batches = ExportBatches(database, clock, "first", evaluations=50, records=EVENTS)
    events = ClickHouse(engine.url, EVENTS_TABLE, EVENT_TABLE, timeout_seconds=2)
    sender = Sender(events, encode_events)

    async def send(delivery: ExportBatch) -> None:
        await sender.send(delivery.block.token, [(each.place, each.segments) for each in delivery.parts])

    sink = Sink(
        next_block=batches.next,
        send=send,
        record_sent=batches.record_sent,
        pause_seconds=0.01,
        first_retry_seconds=0.01,
    )
    engine.fault("after", count=2)
    await run_until_sent(sink, 123)
    assert sink.failures == 2
    count = f"SELECT count() AS rows, uniqExact(id) AS ids, countIf(identifier = 'user-7') AS own FROM {EVENTS_TABLE}"
    assert engine.numbers(count) == {"rows": 123, "ids": 123, "own": 6}
    values = f"SELECT countIf(value = 0.5) AS halves, countIf(attribute = 'company') AS companies FROM {EVENTS_TABLE}"
    assert engine.numbers(values) == {"halves": 120, "companies": 3}
    by_origin = f"SELECT key_id, key_name, protocol, instance, count() AS rows FROM {EVENTS_TABLE} GROUP BY ALL"
    found = [tuple(each.values()) for each in json.loads(engine.query(f"{by_origin} FORMAT JSON"))["data"]]
    assert {(*each[:4], int(each[4])) for each in found} == {
        (str(key.id), "Shop", "events", "first", 42),
        (None, None, "events", "first", 40),
        (None, None, None, None, 41),
    }
    evaluations = ClickHouse(engine.url, TABLE)
    project_id, subject = environment.project_id, Subject("user-7", "ADA@example.com")
    until = START + timedelta(microseconds=1)
    await erase_evaluations(evaluations, project_id, subject, until)
    await erase_events(events, project_id, subject, until)
    # Those after the request stay, and so do attributes, by which the user is not known.
    assert engine.numbers(count) == {"rows": 123, "ids": 123, "own": 4}
    nobody = f"SELECT countIf(identifier = '') AS nobody FROM {EVENTS_TABLE}"
    assert engine.numbers(nobody) == {"nobody": 2}
    await evaluations.close()
    await sender.close()


@pytest.mark.usefixtures("event_table")
def test_the_query_of_the_guide_joins_exposures_with_later_events(engine: ClickHouseEngine) -> None:
    query = code_in("history.md", "In ClickHouse", "sql")[0].rstrip(";\n")
    place = "toUUID('00000000-0000-0000-0000-000000000001'), 'production'"
    users = (
        ("'ada', NULL", "red"),
        ("'bob', NULL", "red"),
        ("'eve', NULL", "blue"),
        ("NULL, 'Grace@Acme.com'", "blue"),
    )
    for user, variant in users:
        engine.query(
            f"/* a row */ INSERT INTO {TABLE} (environment_id, environment, id, user_id, user_email, evaluated_at,"
            f" variants) SELECT {place}, generateUUIDv4(), {user}, '2026-11-20 10:00:00',"
            f" map('new-checkout', '{variant}')"
        )
    for user, hour in (("ada", 11), ("ada", 12), ("bob", 9), ("grace@acme.com", 11)):
        engine.query(
            f"/* a row */ INSERT INTO {EVENTS_TABLE} (environment_id, environment, id, metric, occurred_at, identifier)"
            f" SELECT {place}, generateUUIDv4(), 'checkout', '2026-11-20 {hour:02}:00:00', '{user}'"
        )
    rows = json.loads(engine.query(f"{query} FORMAT JSON"))["data"]
    assert [(each["variant"], int(each["users"]), int(each["converted"])) for each in rows] == [
        ("blue", 2, 1),
        ("red", 2, 1),
    ]


async def _until(condition: Callable[[], bool], seconds: float = 60) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.2)
