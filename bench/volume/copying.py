"""Copies a history to ClickHouse's engine as a server does, and reads it there."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

from bench.machine import cpu_seconds
from bench.volume.costs import find_postmaster, read_meters
from bench.volume.reading import PAGE
from bench.volume.traffic import FREQUENT_USERS, START, USERS, known_id
from flagstaff.database.database import Database
from flagstaff.database.tables import moment
from flagstaff.history.clickhouse.client import ClickHouse
from flagstaff.history.clickhouse.sender import Sender
from flagstaff.history.clickhouse.table import COLUMNS, create_statement
from flagstaff.history.export_batches import ExportBatch, ExportBatches
from flagstaff.history.sink import Sink
from tests.support.clickhouse import ClickHouseEngine

TABLE = "flagstaff.evaluations"
_SIZES = (
    "SELECT sum(rows), sum(bytes_on_disk), count() FROM system.parts"
    " WHERE database = 'flagstaff' AND table = 'evaluations' AND active"
)
_ENDS = f"SELECT toUnixTimestamp64Micro(min(evaluated_at)), toUnixTimestamp64Micro(max(evaluated_at)) FROM {TABLE}"
_PRODUCTION = f"environment_id = '{known_id('production')}'"
_LONG_SECONDS = 3_600
_MOMENT = "%Y-%m-%d %H:%M:%S"


async def copy(database: Database, engine: ClickHouseEngine, minutes: float) -> None:
    """Send blocks until all are sent, or for some minutes."""
    deliveries = ExportBatches(database, lambda: START, "bench")
    sender = Sender(ClickHouse(engine.url, TABLE))

    async def send(delivery: ExportBatch) -> None:
        parts = [(each.place, each.segments) for each in delivery.parts]
        await sender.send(delivery.block.token, parts)

    sink = Sink(next_block=deliveries.next, send=send, record_sent=deliveries.record_sent)
    postmaster, ends_at = await find_postmaster(database), time.monotonic() + 60 * minutes
    before, engine_before = await read_meters(database, postmaster), cpu_seconds(engine.process_id)
    while time.monotonic() < ends_at and await sink.send_next():
        pass
    used = await read_meters(database, postmaster) - before
    each = 1e6 / max(1, sink.sent)
    print(f"{sink.sent:,} evaluations copied in {used.elapsed:.0f} s, {sink.sent / used.elapsed:,.0f} a second")
    print(f"  processor {used.own * each:.1f} µs here, {used.server * each:.1f} µs in PostgreSQL", end=" ")
    print(f"and {(cpu_seconds(engine.process_id) - engine_before) * each:.1f} µs in ClickHouse each")
    await sender.close()


def prepare(engine: ClickHouseEngine) -> None:
    """Create the table."""
    engine.query("CREATE DATABASE IF NOT EXISTS flagstaff")
    engine.query(create_statement(TABLE).strip().rstrip(";"))


def double(engine: ClickHouseEngine, times: int) -> None:
    """Repeat all rows later in time, with other ids, so many times: copying millions one by one takes too long."""
    columns = ", ".join(COLUMNS)
    for _ in range(times):
        span = f"(SELECT dateDiff('second', min(evaluated_at), max(evaluated_at)) + 1 FROM {TABLE})"
        replaced = f"generateUUIDv7() AS id, evaluated_at + toIntervalSecond({span}) AS evaluated_at"
        # The front takes what begins with INSERT for rows of a server.
        engine.query(
            f" INSERT INTO {TABLE} ({columns}) SELECT * REPLACE ({replaced}) FROM {TABLE}",
            timeout_seconds=_LONG_SECONDS,
        )


def measure(engine: ClickHouseEngine, *, repeat: int = 3) -> None:
    """Print the size of the table, and how long each query takes."""
    rows, size, parts = map(int, engine.query(_SIZES).split())
    print(f"  {rows:,} rows in {parts} parts, {size / rows:.1f} bytes each")
    start, end = (moment(int(each)) for each in engine.query(_ENDS).split())
    print(f"  {'':50} {'ms':>7} {'worst':>7}   processor")
    for name, query in _queries(start, end):
        took, before = [], cpu_seconds(engine.process_id)
        for _ in range(repeat):
            began = time.perf_counter()
            found = engine.query(query, timeout_seconds=_LONG_SECONDS)
            took.append((time.perf_counter() - began) * 1000)
        used = (cpu_seconds(engine.process_id) - before) / repeat * 1000
        lines = found.splitlines()
        outcome = f"{len(lines)} rows" if len(lines) > 1 else found[:30]
        print(f"  {name:50} {min(took):7.1f} {max(took):7.1f} {used:7.1f}  {outcome}", flush=True)


def _queries(start: datetime, end: datetime) -> Iterator[tuple[str, str]]:
    middle = start + (end - start) / 2
    columns = "id, evaluated_at, user_id, user_email, attributes, flags, reasons, variants, rules"

    def page(condition: str) -> str:
        return (
            f"SELECT {columns} FROM {TABLE} WHERE {_PRODUCTION} AND {condition}"
            f" ORDER BY evaluated_at DESC, id DESC LIMIT {PAGE}"
        )

    def within(since: datetime, until: datetime) -> str:
        return f"evaluated_at >= '{since:{_MOMENT}}' AND evaluated_at < '{until:{_MOMENT}}'"

    yield "first page", page("true")
    yield "page before the middle, by time", page(f"evaluated_at < '{middle:{_MOMENT}}'")
    yield "page of a minute in the middle", page(within(middle - timedelta(minutes=1), middle))
    yield "a frequent user", page(f"user_id = 'user-{FREQUENT_USERS - 1}'")
    yield "a rare user", page(f"user_id = 'user-{USERS - 1}'")
    yield "an unknown user", page("user_id = 'nobody'")
    yield "a rollout, on", page("flags['flag-01']")
    yield "a variant", page("variants['flag-03'] = 'c'")
    for name, since in (("a day", end - timedelta(days=1)), ("everything", start)):
        of_time = f"FROM {TABLE} WHERE {_PRODUCTION} AND {within(since, end)}"
        hour = "toStartOfHour(evaluated_at) AS hour"
        each_flag = of_time.replace(" WHERE", " ARRAY JOIN flags AS flag WHERE")
        yield f"20 flags, {name} by hour", f"SELECT {hour}, flag.1, flag.2, count() {each_flag} GROUP BY ALL"
        yield f"a flag, {name} by hour", f"SELECT {hour}, countIf(flags['flag-01']), count() {of_time} GROUP BY hour"
        yield (
            f"a rollout, {name} with distinct users",
            f"SELECT uniqIf(user_id, flags['flag-01']), uniqIf(user_id, NOT flags['flag-01']) {of_time}",
        )
    yield "evaluations", f"SELECT count() FROM {TABLE}"


def delete_oldest(engine: ClickHouseEngine) -> None:
    """Delete a day, and drop a month."""
    (month,) = engine.query("SELECT min(partition) FROM system.parts WHERE table = 'evaluations' AND active").split()
    start = moment(int(engine.query(_ENDS).split()[0]))
    day = f"DELETE FROM {TABLE} WHERE evaluated_at < '{start + timedelta(days=1):{_MOMENT}}'"
    for name, query in (
        ("a day, by DELETE", day),
        ("a month, by its partition", f"ALTER TABLE {TABLE} DROP PARTITION {month}"),
    ):
        began = time.perf_counter()
        engine.query(query)
        print(f"  {name}: {(time.perf_counter() - began) * 1000:.0f} ms, {engine.query(_SIZES)} left")
