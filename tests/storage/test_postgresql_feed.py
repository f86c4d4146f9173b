"""The session that holds the lease: renewals do not wait for other questions, and their time is right."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from flagstaff.cluster.instance_reports_store import encode_report
from flagstaff.cluster.instances import Load, Report
from flagstaff.cluster.lease import HOLD_SECONDS, LEASE_SECONDS
from flagstaff.cluster.leases_store import Member
from flagstaff.cluster.postgresql_feed import PostgresqlFeed
from flagstaff.database.messages import Message
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

FIRST, SECOND = Member("first", "first:8000", "1"), Member("second", "second:8000", "1")


@pytest.fixture
async def store(postgres_template: PostgresServer, tmp_path: Path) -> AsyncIterator[Store]:
    async with postgresql_store(postgres_template, tmp_path) as made:
        yield made


@pytest.fixture
async def feed(store: Store) -> AsyncIterator[PostgresqlFeed]:
    """The feed of the first instance, which has renewed its lease once."""
    assert store.database_url is not None
    made = PostgresqlFeed(store.database_url, FIRST.id)
    async with made.session():
        await made.renew(FIRST, None)
        yield made


async def test_a_renewal_waits_for_the_statement_that_runs_and_for_no_other(feed: PostgresqlFeed) -> None:
    ended: list[str] = []

    async def note(name: str, work: Awaitable[object]) -> None:
        await work
        ended.append(name)

    waiting = [("sent", feed.send([Message("x")])), ("read", feed.read(FIRST.id)), ("listed", feed.list_instances())]
    for _ in range(10):
        waiting += [("sent", feed.send([Message("x")])), ("read", feed.read(FIRST.id))]
    await asyncio.gather(*(note(*each) for each in waiting), note("renewed", feed.renew(FIRST, None)))
    assert ended.index("renewed") == 1
    assert len(ended) == 24


async def test_a_lease_counts_from_the_moment_at_which_its_renewal_is_sent(feed: PostgresqlFeed, store: Store) -> None:
    read_at: list[float] = []

    async def read() -> None:
        await feed.read(FIRST.id)
        read_at.append(time.monotonic())

    *_, renewal = await asyncio.gather(*(read() for _ in range(5)), feed.renew(FIRST, None))
    assert renewal is not None
    assert read_at[0] <= renewal.began_at <= read_at[1]
    connection = await asyncpg.connect(store.database_url)
    try:
        expires_at = await connection.fetchval("SELECT expires_at FROM instances WHERE id = 'first'") / 1_000_000
    finally:
        await connection.close()
    began_at = renewal.began_at + time.time() - time.monotonic()
    assert began_at + HOLD_SECONDS < expires_at, "it is believed longer than it is valid by PostgreSQL's clock"
    assert expires_at < began_at + LEASE_SECONDS + 1


async def test_an_instance_acknowledges_once_its_report_says_so(feed: PostgresqlFeed, store: Store) -> None:
    async def acknowledges(report: Report | None) -> bool:
        await second.renew(SECOND, encode_report(report) if report else None)
        (row,) = (await feed.read(FIRST.id)).rows
        return row.acknowledges

    def report(*, acknowledges: bool) -> Report:
        load = Load(0, 0, 0, 0, 0, 0)
        return Report(datetime(2026, 11, 20, tzinfo=UTC), 1, False, None, load, acknowledges=acknowledges)

    assert store.database_url is not None
    second = PostgresqlFeed(store.database_url, SECOND.id)
    async with second.session():
        assert not await acknowledges(None), "the previous release"
        assert not await acknowledges(report(acknowledges=False))
        assert await acknowledges(report(acknowledges=True))
        assert await acknowledges(None), "a renewal without a report keeps the last one"
