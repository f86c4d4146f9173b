"""What is counted for a release equals a recount from the history: to the last user, whoever is killed when."""

import asyncio
import multiprocessing
import os
import random
import signal
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from uuid import UUID

import pytest

from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.events import write_events
from flagstaff.metrics import metrics_store
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, digest_id
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.projects.record_origins import Origin, Origins
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.counting import TOLERANCE
from flagstaff.releases.observations import Observations
from flagstaff.releases.plans import Action, Counts, Guard
from flagstaff.releases.releases import Applied, Arms, Release
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.history import make_batch, make_layout, write
from tests.support.observing import observe
from tests.support.stores import Store

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
BEGAN = microseconds(START)
SECOND = 1_000_000
HOUR = 3600 * SECOND
MINUTE = 60 * SECOND
SKEWS = (0, 3 * SECOND, -3 * SECOND)
PERCENTAGES = (20, 50, 100)
EDITED, EDITED_FROM, EDITED_UNTIL = 35, HOUR + 20 * MINUTE, HOUR + 40 * MINUTE
"""A percentage that a person sets for a while, and takes back before anybody has counted."""
VARIANTS = ("blue", "green")
USERS = 300
KILLS = 2

KINDS = (KeyKind.SERVER, KeyKind.BROWSER, None)

Evaluation = tuple[int, str, int, int, KeyKind | None]
"""A time in microseconds as its instance stamped it, a user, the user's bucket, the percentage that was in force and
the kind of the SDK key, which the release before does not record."""
Event = tuple[EventRow, KeyKind | None]


def applied(step: int) -> Applied:
    """A step, an hour after the one before."""
    at, share = START + timedelta(hours=step), PERCENTAGES[step] / 100
    arms = Arms(("off", "on"), (1 - share, share), by_variant=False)
    if share == 1:
        arms = Arms(VARIANTS, (0.5, 0.5), by_variant=True)
    return Applied(step, at, at, arms=arms, rollout_percentage=PERCENTAGES[step])


async def store_release(database: Database, counts: Counts) -> Release:
    """A release that watches errors, with two steps of the rollout, and one that compares variants."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment)
    await store_all(database, account, project, environment, flag)
    metric = Metric(UUID(int=7), project.id, "errors", "Errors", None, Kind.BINARY, Better.DOWN, None, START, START)
    release = make_release(
        project_id=project.id,
        environment_id=environment.id,
        flag_id=flag.id,
        guards=(Guard("errors", Action.NOTIFY),),
        applied=tuple(map(applied, range(len(PERCENTAGES)))),
        counts=counts,
    )
    async with database.transaction() as transaction:
        await metrics_store.create_metric(transaction.connection, metric)
        await releases_store.create_release(transaction.connection, release)
    return release


def variant_of(user: str) -> int:
    """The place of a user's variant."""
    return int(user.removeprefix("u-")) // 2 % 2


def state_at(at: int) -> int:
    """The percentage that was in force at a time since the first step began."""
    return EDITED if EDITED_FROM <= at < EDITED_UNTIL else PERCENTAGES[at // HOUR]


def step_of(at: int) -> int:
    """The step that was in force at a time; negative before the first."""
    return min((at - BEGAN) // HOUR, len(PERCENTAGES) - 1)


def make_history(generator: random.Random) -> tuple[list[Evaluation], list[Event]]:
    """Evaluations by three instances, whose clocks differ, and events: late, repeated, and around the steps.

    Some are exactly at the start of a step, and some events as long before their exposure as is tolerated.
    """
    evaluations, events = list[Evaluation](), list[Event]()
    for number in range(USERS):
        user = f"u-{number}"
        for _ in range(generator.randrange(4)):
            start = generator.randrange(1, len(PERCENTAGES)) * HOUR
            at = generator.choice(
                (generator.randrange(3 * HOUR), start + generator.randrange(-5, 5) * SECOND, start, start - 1, 0)
            )
            stamp = BEGAN + at + generator.choice(SKEWS)
            evaluations.append((stamp, user, number % 100, state_at(at), generator.choice(KINDS)))
            near = stamp + generator.choice((-TOLERANCE - 1, -TOLERANCE, -1, 1, HOUR))
            near = generator.choice((near, near, BEGAN + start, BEGAN + start - 1))
            kind = generator.choice(KINDS)
            event = EventRow(
                "errors", user, near, None, digest_id("errors", f"{user} {near} {kind}", kind or KeyKind.SERVER)
            )
            events += [(event, kind)] * generator.randrange(3)
    generator.shuffle(evaluations)
    generator.shuffle(events)
    return evaluations, events


async def store_part(
    database: Database, release: Release, evaluations: list[Evaluation], events: list[Event], number: int
) -> None:
    """Store some evaluations and events, in the order in which they arrive."""
    for percentage in (*PERCENTAGES, EDITED):
        flag = LayoutFlag(release.flag_id, "flag", percentage, Outcome.OFF, variants=VARIANTS)
        some = sorted((each for each in evaluations if each[3] == percentage), key=itemgetter(0))
        if some:
            records = [(at * 1000, user, None, bytes([bucket, variant_of(user)])) for at, user, bucket, *_ in some]
            batch = make_batch(release.environment_id, make_layout(recorded=(flag,)), *records)
            known = [None if kind is None else Origin(1, None, kind, "") for kind in KINDS]
            origins = Origins(known, [KINDS.index(kind) for *_, kind in some], KINDS)
            await write(database, replace(batch, groups=[replace(batch.groups[0], origins=origins)]))
    groups = [
        EventGroup(release.environment_id, [event for event, of in events if of is kind], {}, kind) for kind in KINDS
    ]
    async with database.write_history() as connection:
        await write_events(connection, EventBatch(number + 1, BEGAN, groups))


def recount(
    evaluations: list[Evaluation], events: list[Event], counts: Counts
) -> tuple[list[list[int]], list[list[list[int]]]]:
    """The users by step and arm, and those with an event and with one before, computed from everything at once."""
    counted_kinds = KINDS if counts is Counts.ALL else (KeyKind.SERVER,)
    first: defaultdict[str, dict[int, tuple[int, int]]] = defaultdict(dict)  # by user and step: the time and the arm
    for at, user, bucket, percentage, kind in sorted(evaluations, key=itemgetter(0)):
        step = step_of(at)
        if step >= 0 and percentage == PERCENTAGES[step] and kind in counted_kinds:
            first[user].setdefault(step, (at, variant_of(user) if percentage == 100 else int(bucket < percentage)))
    exposed, cells = [[0, 0] for _ in PERCENTAGES], [[[0, 0], [0, 0]] for _ in PERCENTAGES]
    for user, of_steps in first.items():
        counted = set()
        for at in {each.at for each, kind in events if each.unit == user and kind in counted_kinds}:
            possible = [step for step in sorted(of_steps) if step >= step_of(at)]
            if possible and at >= of_steps[possible[0]][0] - TOLERANCE:
                counted.add(possible[0])
        for step, (_, arm) in of_steps.items():
            exposed[step][arm] += 1
            if counted:
                cells[step][arm][0] += step == min(counted)
                cells[step][arm][1] += step > min(counted)
    return exposed, cells


async def find_counted(database: Database, release: Release) -> Observations:
    """What was counted for a release up to now; nothing if it was not begun."""
    async with database.read_history() as connection:
        observed = await observations_store.find_observed(connection, release.id)
    return observed.counted if observed else Observations()


@pytest.mark.parametrize("counts", Counts)
async def test_after_kills_with_clocks_apart_and_late_and_repeated_events_the_counts_equal_a_recount(
    store: Store, database: Database, counts: Counts
) -> None:
    generator = random.Random(20261130)
    release = await store_release(database, counts)
    evaluations, events = make_history(generator)
    spawn = multiprocessing.get_context("spawn")
    parts = KILLS + 1
    expected = recount(evaluations, events, counts)
    for number in range(parts):
        arguments = (store.database_url, store.data_directory, f"process {number}")
        process = spawn.Process(target=observe, args=arguments, daemon=True)
        process.start()
        assert process.pid is not None
        try:
            async with asyncio.timeout(60):
                before = (await find_counted(database, release)).rows
                for small in range(5):
                    await store_part(
                        database,
                        release,
                        evaluations[5 * number + small :: 5 * parts],
                        events[5 * number + small :: 5 * parts],
                        5 * number + small,
                    )
                while not await is_far_enough(database, release, before, expected, is_last=number == KILLS):
                    await asyncio.sleep(0.01)
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.join()


async def is_far_enough(
    database: Database,
    release: Release,
    before: int,
    expected: tuple[list[list[int]], list[list[list[int]]]],
    *,
    is_last: bool,
) -> bool:
    """Return whether a process has counted something, and the last one everything."""
    counted = await find_counted(database, release)
    if not is_last:
        return counted.rows > before
    cells = (
        [[[cell.users, cell.before] for cell in step] for step in counted.metrics[0].cells] if counted.metrics else []
    )
    return (counted.exposed, cells) == expected
