"""What the watching of releases depends on fails: people are told once, nothing is lost, and the others are watched."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.metrics.request_metrics import Measure
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.guardian import actor_of, write_release
from flagstaff.releases.plans import Action, Guard, Threshold
from flagstaff.releases.release_judgements import FAILED_SECONDS
from flagstaff.releases.releases import Applied, Arms, Release, State
from flagstaff.releases.watching import TOLD_AFTER_SECONDS
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.watching import (
    IN_HISTORY,
    have_evaluated,
    list_told,
    mend_guard,
    missing,
    process_of,
    spoil_guard,
    unwatched,
    write_counts,
)

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
THRESHOLD = Threshold("errors", Measure.PER_MINUTE, Action.PAUSE, minutes=1, above=5.0)
MINUTE = TOLD_AFTER_SECONDS


@pytest.fixture(autouse=True)
def quick_logs() -> Iterator[None]:
    """Capture the log: to render the traceback of a failure takes longer than a turn, and one look is to see all."""
    with capture_logs():
        yield


@pytest.fixture
async def releases(database: Database) -> list[Release]:
    """Two releases with a guard and a threshold, in an environment each."""
    account = make_account()
    project = make_project(account.id)
    environments = [make_environment(project.id, key=key) for key in ("production", "staging")]
    flags = [make_flag(each) for each in environments]
    await store_all(database, account, project, *environments, *flags)
    arms = Arms(("off", "on"), (0.5, 0.5), by_variant=False)
    applied = Applied(0, LONG_AGO, LONG_AGO, arms=arms, rollout_percentage=50)
    made = [
        make_release(
            project_id=project.id,
            environment_id=flag.environment_id,
            flag_id=flag.id,
            author_id=account.id,
            author_email=account.email,
            guards=(Guard("errors", Action.TURN_OFF),),
            thresholds=(THRESHOLD,),
            applied=(applied,),
        )
        for flag in flags
    ]
    metric = Metric(
        UUID(int=7), project.id, "errors", "Errors", None, Kind.BINARY, Better.DOWN, None, LONG_AGO, LONG_AGO
    )
    async with database.transaction() as transaction:
        await metrics_store.create_metric(transaction.connection, metric)
        for release in made:
            await releases_store.create_release(transaction.connection, release)
    return made


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("table", ["releases", "metrics", *IN_HISTORY])
async def test_what_watching_needs_is_missing_for_a_minute_and_people_are_told_once_and_when_it_is_back(
    database: Database, releases: list[Release], table: str
) -> None:
    process = process_of(database)
    await process.observer.look()
    await process.watching.tell()
    await have_evaluated(database, releases)
    with capture_logs() as logs:
        async with missing(database, table):
            await process.pass_time(0)
            assert unwatched(process) == 2
            for _ in range(4):
                await process.pass_time(FAILED_SECONDS)
        await process.pass_time(FAILED_SECONDS)
    assert unwatched(process) == 0
    told = await list_told(database)
    for release in releases:
        mine = [action for action, environment_id in told if environment_id == release.environment_id]
        assert mine == ["release.unwatched", "release.watched"]
    lines = [each["event"] for each in logs]
    assert lines.count("release_not_watched") <= 4  # of each release, its guards and its thresholds
    assert lines.count("release_watched_again") == 2
    assert lines.count("releases_not_watched") <= 2
    await process.pass_time(MINUTE)
    assert await list_told(database) == told
    async with database.read_history() as connection:
        for release in releases:
            observed = await observations_store.find_observed(connection, release.id)
            assert observed is not None
            assert (observed.counted.users, observed.counted.failing_since) == (1, 0)


async def test_a_release_that_cannot_be_counted_is_told_and_the_other_one_is_watched(
    database: Database, releases: list[Release]
) -> None:
    process = process_of(database)
    await process.pass_time(MINUTE)
    broken, sound = releases
    before = await write_counts(database, broken, b"{")
    await have_evaluated(database, releases)
    await process.pass_time(0)
    await process.pass_time(MINUTE - 1)
    assert await list_told(database) == []
    await process.pass_time(1)
    assert unwatched(process) == 1
    assert await list_told(database) == [("release.unwatched", broken.environment_id)]
    async with database.read() as connection:
        found = await releases_store.find_release(connection, broken.id)
        other = await releases_store.find_release(connection, sound.id)
    assert found is not None
    assert other is not None
    assert found.unwatched_since is not None
    assert found.unwatched_since < found.updated_at
    assert other.unwatched_since is None
    # Another process, such as the next one after a kill, tells the end.
    await write_counts(database, broken, before)
    await process_of(database, "two").pass_time(0)
    assert await list_told(database) == [
        ("release.unwatched", broken.environment_id),
        ("release.watched", broken.environment_id),
    ]


async def test_an_outage_of_less_than_a_minute_is_told_nobody(database: Database, releases: list[Release]) -> None:
    assert releases
    process = process_of(database)
    for _ in range(3):
        async with missing(database, "releases"):
            await process.pass_time(0)
            await process.pass_time(MINUTE - 1)
        await process.pass_time(0)
    assert await list_told(database) == []


async def test_what_cannot_be_written_is_told_when_it_can(database: Database, releases: list[Release]) -> None:
    process = process_of(database)
    await process.pass_time(0)
    await have_evaluated(database, releases)
    async with missing(database, "changes"), missing(database, "metrics"):
        await process.pass_time(0)
        await process.pass_time(MINUTE)
    await process.pass_time(MINUTE)
    told = await list_told(database)
    assert sorted(told) == sorted(
        (action, each.environment_id) for action in ("release.unwatched", "release.watched") for each in releases
    )


async def hand_over(database: Database) -> None:
    """End the time in which only the process counts that did so last."""
    async with database.write_history() as connection:
        await connection.execute(tables.counted_releases.update().values(held_until=tables.moment(0)))


async def count_first(database: Database, releases: list[Release]) -> None:
    """Have a process count an evaluation of each release."""
    process = process_of(database, "one")
    await process.look()
    await have_evaluated(database, releases)
    await process.look()


@pytest.mark.both_databases
async def test_a_release_that_has_not_begun_is_not_unwatched_after_an_outage(
    database: Database, releases: list[Release]
) -> None:
    waiting, other = releases
    async with database.transaction() as transaction:
        await transaction.connection.execute(
            tables.releases.update()
            .where(tables.releases.c.id == waiting.id)
            .values(applied=[], thresholds=[], state=State.PAUSED)
        )
    process = process_of(database)
    await process.look()
    async with missing(database, "releases"):
        await process.pass_time(0)
        assert unwatched(process) == 1
    for _ in range(3):
        await process.pass_time(MINUTE)
    assert unwatched(process) == 0
    assert {environment_id for _, environment_id in await list_told(database)} <= {other.environment_id}


@pytest.mark.both_databases
async def test_processes_that_fail_together_tell_an_outage_once_and_the_next_one_again(
    database: Database, releases: list[Release]
) -> None:
    processes = process_of(database, "one"), process_of(database, "two")

    async def fail_for(seconds: float) -> None:
        for process in processes:
            await process.look()
        async with missing(database, "releases"):
            for process in processes:
                await process.pass_time(0)
                await process.pass_time(seconds)
        for process in processes:
            await process.pass_time(0)

    pair = ["release.unwatched", "release.watched"]
    for seconds, told in ((10 * MINUTE, pair), (MINUTE, pair * 2)):
        await fail_for(seconds)
        found = await list_told(database)
        for release in releases:
            assert [action for action, place in found if place == release.environment_id] == told


@pytest.mark.both_databases
async def test_processes_that_take_turns_at_a_guard_that_cannot_be_judged_tell_of_it_after_a_minute(
    database: Database, releases: list[Release]
) -> None:
    one, two = processes = process_of(database, "one"), process_of(database, "two")
    await count_first(database, releases)
    for release in releases:
        await spoil_guard(database, release.id)
    for turn, (counting, other) in enumerate((processes, processes[::-1]) * 2):
        await hand_over(database)
        await have_evaluated(database, releases, f"user-{turn}")
        for process in (counting, other):
            await process.pass_time(MINUTE / 3)
    assert sorted(await list_told(database)) == sorted(("release.unwatched", each.environment_id) for each in releases)
    for release in releases:
        await mend_guard(database, release.id)
    await hand_over(database)
    await have_evaluated(database, releases, "another")
    for process in (one, two):
        await process.pass_time(1)
    assert unwatched(one) == unwatched(two) == 0
    watched = [place for action, place in await list_told(database) if action == "release.watched"]
    assert sorted(watched) == sorted(each.environment_id for each in releases)


async def test_a_process_that_begins_in_an_outage_knows_how_long_a_guard_cannot_be_judged(
    database: Database, releases: list[Release]
) -> None:
    await count_first(database, releases)
    for release in releases:
        await spoil_guard(database, release.id)
    await have_evaluated(database, releases, "another")
    await process_of(database, "one").look()
    async with database.write_history() as connection:
        for release in releases:
            observed = await observations_store.find_observed(connection, release.id)
            assert observed is not None
            observed.counted.failing_since -= int(MINUTE)
            assert await observations_store.continue_observed(connection, observed, observed.counted, "one", 0.0)
    await process_of(database, "two").pass_time(0)
    assert [action for action, _ in await list_told(database)] == ["release.unwatched"] * 2


async def test_a_release_that_ends_is_not_unwatched_any_more(database: Database, releases: list[Release]) -> None:
    release = replace(releases[0], unwatched_since=LONG_AGO)
    async with database.transaction() as transaction:
        ended = replace(release, state=State.CANCELLED, ended_at=LONG_AGO)
        written = await write_release(
            transaction, actor_of(release), "release.cancelled", release, ended, datetime.now(UTC)
        )
    assert written.unwatched_since is None
