"""Many releases of one environment: what each news costs, and whom it delays. Bounds are numbers of statements."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.events import write_events
from flagstaff.metrics import metrics_store
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.followed_releases import STORE_SECONDS
from flagstaff.releases.judging import Verdict
from flagstaff.releases.observations import Observations
from flagstaff.releases.observer import Observer
from flagstaff.releases.plans import Action, Guard
from flagstaff.releases.releases import Applied, Release, arms_of
from tests.services.test_observer import statements
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.history import make_batch, make_layout, write
from tests.support.watching import Process, process_of

BEGAN = datetime(2026, 11, 20, 10, tzinfo=UTC)
AT = int(BEGAN.timestamp()) * 1_000_000 + 1_000_000
MANY = 40

pytestmark = pytest.mark.both_databases


async def make_releases(database: Database, many: int = MANY) -> list[Release]:
    """Store releases of an environment, each of a flag, which watch one of two metrics."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flags = [make_flag(environment, key=f"flag-{place}", rollout_percentage=50) for place in range(many)]
    await store_all(database, account, project, environment, *flags)
    applied = Applied(0, BEGAN, BEGAN, arms=arms_of(flags[0]), rollout_percentage=50)
    releases = [
        make_release(
            project_id=project.id,
            environment_id=environment.id,
            flag_id=flag.id,
            author_id=account.id,
            guards=(Guard(("even", "odd")[place % 2], Action.NOTIFY),),
            applied=(replace(applied, hashed_key=flag.key),),
        )
        for place, flag in enumerate(flags)
    ]
    async with database.transaction() as transaction:
        for key in ("even", "odd"):
            metric = Metric(uuid4(), project.id, key, key, None, Kind.BINARY, Better.DOWN, None, BEGAN, BEGAN)
            await metrics_store.create_metric(transaction.connection, metric)
        for release in releases:
            await releases_store.create_release(transaction.connection, release)
    return releases


async def evaluate(database: Database, releases: Sequence[Release], *users: str) -> None:
    """Store an evaluation of the flags of these releases for each user: every other one gets them."""
    flags = tuple(LayoutFlag(each.flag_id, f"flag-{each.flag_id}", 50, Outcome.OFF) for each in releases)
    records = [(AT * 1000, user, None, bytes([5 + 90 * (place % 2)]) * len(flags)) for place, user in enumerate(users)]
    await write(database, make_batch(releases[0].environment_id, make_layout(recorded=flags), *records))


async def report(database: Database, releases: Sequence[Release], metric: str, *users: str) -> None:
    """Store an event of each user."""
    rows = [EventRow(metric, user, AT + 1, None, None) for user in users]
    async with database.write_history() as connection:
        await write_events(
            connection, EventBatch(uuid4().int >> 80, AT, [EventGroup(releases[0].environment_id, rows, {})])
        )


async def find_counted(database: Database, releases: Sequence[Release]) -> dict[UUID, tuple[int, Observations]]:
    """The versions and the counts of releases."""
    async with database.read_history() as connection:
        found = await observations_store.find_all_observed(connection, [each.id for each in releases])
    return {
        release_id: (each.version, each.counted)
        for release_id, each in found.items()
        if not isinstance(each, Exception)
    }


async def settle(process: Process) -> None:
    """Look until there is nothing to do: on a busy machine, a look ends before everything is counted."""
    while await process.observer.look():
        pass


async def changed_by(
    database: Database, process: Process, releases: Sequence[Release]
) -> tuple[list[int], dict[UUID, tuple[int, Observations]]]:
    """Look, and return the places of the releases whose counts were written, and all counts."""
    before = await find_counted(database, releases)
    await settle(process)
    after = await find_counted(database, releases)
    return [place for place, each in enumerate(releases) if before[each.id][0] != after[each.id][0]], after


async def test_while_nothing_is_new_a_look_costs_the_same_few_statements_for_one_release_and_for_many(
    database: Database,
) -> None:
    releases = await make_releases(database)
    process = process_of(database)
    await settle(process)
    await evaluate(database, releases, "ada")
    await settle(process)
    with statements() as seen:
        assert not await process.observer.look()
    assert len([each for each in seen if "SELECT" in each]) == 2


async def test_an_evaluation_that_says_nothing_new_writes_nothing_whatever_the_number_of_releases(
    database: Database,
) -> None:
    releases = await make_releases(database)
    process = process_of(database)
    await settle(process)
    await evaluate(database, releases, "ada")
    assert (await changed_by(database, process, releases))[0] == [*range(MANY)]
    await evaluate(database, releases, "ada")
    with statements() as seen:
        assert (await changed_by(database, process, releases))[0] == []
    assert len(seen) < MANY


async def test_an_evaluation_of_one_flag_touches_its_release_alone_and_an_event_those_that_watch_its_metric(
    database: Database,
) -> None:
    releases = await make_releases(database)
    process = process_of(database)
    await settle(process)
    await evaluate(database, releases, "ada")  # the first news: what cuts the buckets is read for all
    await settle(process)
    await evaluate(database, releases[7:8], "eve")
    changed, counted = await changed_by(database, process, releases)
    assert changed == [7]
    assert counted[releases[7].id][1].exposed == [[0, 2]]
    await report(database, releases, "odd", "ada", "eve", "nobody")
    changed, counted = await changed_by(database, process, releases)
    assert changed == [place for place in range(MANY) if place % 2]
    assert [counted[each.id][1].metrics[0].cells[0][1].users for each in releases] == [
        2 if place == 7 else place % 2 for place in range(MANY)
    ]
    await report(database, releases, "even", "nobody")
    assert (await changed_by(database, process, releases))[0] == []


async def test_what_was_passed_over_is_read_again_by_the_next_process_and_counts_once(database: Database) -> None:
    releases = await make_releases(database, 4)
    process = process_of(database)
    await settle(process)
    await evaluate(database, releases, "ada")
    await settle(process)
    await report(database, releases, "even", "eve")  # nobody who was exposed, so no position is stored
    assert (await changed_by(database, process, releases))[0] == []
    await evaluate(database, releases, "eve")
    other = process_of(database, "one")  # the same one, after a restart
    await settle(other)
    await settle(process)
    for place, release in enumerate(releases):
        _, counted = (await find_counted(database, [release]))[release.id]
        assert (counted.users, counted.metrics[0].cells[0][1].users) == (2, 1 - place % 2)


async def test_positions_are_stored_after_a_while_so_that_a_restart_reads_little(database: Database) -> None:
    releases = await make_releases(database, 4)
    process = process_of(database)
    await settle(process)
    await evaluate(database, releases, "ada")
    await settle(process)
    await report(database, releases, "even", "nobody")
    assert (await changed_by(database, process, releases))[0] == []
    process.clock.seconds += STORE_SECONDS
    changed, counted = await changed_by(database, process, releases)
    assert changed == [0, 1, 2, 3]
    assert {each.event for _, each in counted.values()} == {1}
    process.clock.seconds += STORE_SECONDS
    assert (await changed_by(database, process, releases))[0] == []


async def test_a_release_far_behind_delays_no_other_of_its_environment(database: Database) -> None:
    releases = await make_releases(database, 3)
    process = process_of(database)
    await settle(process)
    await evaluate(database, releases, "ada")
    await settle(process)
    behind, *others = releases
    async with database.write_history() as connection:  # as another process would leave it
        observed = await observations_store.find_observed(connection, behind.id)
        assert observed is not None
        observed.counted.segment, observed.counted.unfinished = 0, {}
        assert await observations_store.continue_observed(connection, observed, observed.counted, "one", 0.0)
    await evaluate(database, releases, "eve")
    await settle(process)
    assert [each.exposed for _, each in (await find_counted(database, [behind, *others])).values()] == [[[0, 2]]] * 3


async def test_a_guard_acts_before_the_releases_of_another_project_are_counted(database: Database) -> None:
    many, (own,) = await make_releases(database), await make_releases(database, 1)
    seen = list[set[int]]()

    async def act(release: Release, _verdict: Verdict, _metrics: object) -> None:
        assert release.id == own.id
        counted = await find_counted(database, many)
        seen.append({each.users for _, each in counted.values()})

    observer = Observer(database, "one", act, process_of(database).watching)
    while await observer.look():
        pass
    await evaluate(database, many, *(f"first-{place}" for place in range(200)))
    while await observer.look():  # the other project has had time lately
        pass
    await evaluate(database, many, *(f"then-{place}" for place in range(200)))
    users = [f"user-{place}" for place in range(60)]
    await evaluate(database, [own], *users)
    await report(database, [own], "even", *users[::2])
    await observer.look()
    assert seen[:1] == [{200}]
