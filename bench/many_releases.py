"""`python -m bench.many_releases`: what many running releases cost the process that watches them, and their neighbours.

A thousand releases of one environment watch the same ten metrics. Times are of the processor, which others on the
machine do not change much, and the observer's work alone: nothing is served meanwhile.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic, perf_counter, process_time
from uuid import uuid4
from zlib import crc32

from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import write_batches
from flagstaff.history.store.events import write_events
from flagstaff.metrics import metrics_store
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.projects.projects import Environment
from flagstaff.releases import releases_store
from flagstaff.releases.judging import Verdict
from flagstaff.releases.observer import LOOK_SECONDS, Observer
from flagstaff.releases.plans import Action, Guard
from flagstaff.releases.releases import Applied, Release, arms_of
from flagstaff.releases.watching import Watching
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.history import make_batch

GUARDS = 10
REST_SECONDS = 5.0
FLOOD_SECONDS, FLOOD_EACH = 20.0, 0.1
_BATCHES = random.Random(7)


def now() -> datetime:
    """The time."""
    return datetime.now(UTC)


@dataclass
class Watched:
    """An environment whose releases watch the same metrics."""

    environment: Environment
    releases: list[Release]

    @property
    def layout(self) -> Layout:
        """What an evaluation of all flags records."""
        flags = (LayoutFlag(each.flag_id, f"flag-{place}", 50, Outcome.OFF) for place, each in enumerate(self.releases))
        return Layout(tuple(flags), ())

    async def evaluate(self, database: Database, *users: str) -> None:
        """Store an evaluation of all flags for each user."""
        at = time.time_ns()
        records = [(at, user, None, bytes([crc32(user.encode()) % 100]) * len(self.releases)) for user in users]
        async with database.write_history() as connection:
            await write_batches(connection, make_batch(self.environment.id, self.layout, *records))

    async def report(self, database: Database, *users: str, metric: int = 0) -> None:
        """Store an event of each user."""
        rows = [EventRow(f"metric-{metric}", user, time.time_ns() // 1000, None, None) for user in users]
        async with database.write_history() as connection:
            group = EventGroup(self.environment.id, rows, {}, None)
            await write_events(connection, EventBatch(_BATCHES.randrange(1 << 60), time.time_ns() // 1000, [group]))


async def make_watched(database: Database, many: int, guards: int = GUARDS) -> Watched:
    """Store a project with an environment in which so many releases run."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flags = [make_flag(environment, key=f"flag-{place}", enabled=True, rollout_percentage=50) for place in range(many)]
    await store_all(database, account, project, environment, *flags)
    began = now() - timedelta(seconds=1)
    applied = Applied(0, began, began, arms=arms_of(flags[0]), rollout_percentage=50)
    watched = tuple(Guard(f"metric-{place}", Action.NOTIFY) for place in range(guards))
    releases = [
        make_release(
            project_id=project.id,
            environment_id=environment.id,
            flag_id=each.id,
            author_id=account.id,
            guards=watched,
            applied=(replace(applied, hashed_key=each.key),),
        )
        for each in flags
    ]
    async with database.transaction() as transaction:
        for place in range(guards):
            key = f"metric-{place}"
            metric = Metric(uuid4(), project.id, key, key, None, Kind.BINARY, Better.DOWN, None, began, began)
            await metrics_store.create_metric(transaction.connection, metric)
        for release in releases:
            await releases_store.create_release(transaction.connection, release)
    return Watched(environment, releases)


async def until_quiet(observer: Observer) -> None:
    """Look until there is nothing to do."""
    while await observer.look():
        pass


async def cost_of(observer: Observer, work: Awaitable[None]) -> float:
    """The milliseconds of processor time until something that was just stored is counted."""
    await work
    began = process_time()
    await until_quiet(observer)
    return (process_time() - began) * 1000


async def rest(observer: Observer) -> float:
    """The share of a core that the observer uses while nothing is new, as a percentage."""
    began, used = perf_counter(), process_time()
    while perf_counter() - began < REST_SECONDS:
        await observer.look_if_due()
        await asyncio.sleep(LOOK_SECONDS)
    return (process_time() - used) / (perf_counter() - began) * 100


class Neighbour:
    """Notes when the neighbour's evidence was looked at."""

    def __init__(self) -> None:
        self.acted = asyncio.Event()
        self.environment_id = uuid4()

    async def act(self, release: Release, _verdict: Verdict, _metrics: object) -> None:
        """Have a guard act."""
        if release.environment_id == self.environment_id:
            self.acted.set()


async def flood(database: Database, watched: Watched, rate: int, until: Callable[[], bool]) -> None:
    """Store evaluations of new users, so many a second."""
    number, began = 0, monotonic()
    while not until():
        await watched.evaluate(database, *(f"new-{number + each}" for each in range(int(rate * FLOOD_EACH))))
        number += int(rate * FLOOD_EACH)
        await asyncio.sleep(max(0.0, began + number / rate - monotonic()))


async def delays_beside(
    database: Database, observer: Observer, neighbour: Neighbour, watched: list[Watched], rate: int
) -> list[float]:
    """The seconds from the storing of a neighbour's deciding events until its guard is to act, in a row of trials."""
    ended = False

    async def look_again_and_again() -> None:
        while not ended:
            await observer.look_if_due()
            await asyncio.sleep(LOOK_SECONDS)

    own = await make_watched(database, 1, guards=1)
    neighbour.environment_id = own.environment.id
    await until_quiet(observer)
    found = list[float]()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(look_again_and_again())
        for each in watched:
            tasks.create_task(flood(database, each, rate, lambda: ended))
        end = monotonic() + FLOOD_SECONDS
        trial = 0
        while monotonic() < end:
            await asyncio.sleep(0.5)
            at, names = time.time_ns(), [f"trial-{trial}-{place}" for place in range(100)]
            records = [(at, name, None, bytes([place])) for place, name in enumerate(names)]
            neighbour.acted.clear()
            async with database.write_history() as connection:
                await write_batches(connection, make_batch(own.environment.id, own.layout, *records))
            await own.report(database, *names[:50])
            began = perf_counter()
            await neighbour.acted.wait()
            found.append(perf_counter() - began)
            trial += 1
        ended = True
    return found


def say(what: str, value: float) -> None:
    """Print a row as soon as it is known: the whole takes minutes where it is slow."""
    print(f"{what:50} {value:10,.1f}", flush=True)


async def main() -> None:
    """Measure, and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=200, help="evaluations a second of all flags, of new users")
    parser.add_argument("--projects", type=int, default=1, help="projects with so many releases and evaluations")
    parser.add_argument("--url", help="a migrated, empty database of PostgreSQL instead of SQLite")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        await migrate(options.url, Path(folder))
        database, neighbour = Database(options.url, Path(folder)), Neighbour()
        observer = Observer(database, "bench", neighbour.act, Watching(database, now, monotonic))
        try:
            print(f"{options.releases} releases with {GUARDS} guards in each of {options.projects} projects")
            watched = [await make_watched(database, options.releases) for _ in range(options.projects)]
            await until_quiet(observer)
            for each in watched:
                await each.evaluate(database, "first")
            await until_quiet(observer)
            say("at rest, % of a core", await rest(observer))
            for what in ("an evaluation of a new user, ms", "the same again, ms"):
                say(what, await cost_of(observer, watched[0].evaluate(database, "ada")))
            say("an event of this user, ms", await cost_of(observer, watched[0].report(database, "ada")))
            say("an event of nobody, ms", await cost_of(observer, watched[0].report(database, "nobody")))
            delays = sorted(await delays_beside(database, observer, neighbour, watched, options.rate))
            say(f"a neighbour's guard, median of {len(delays)}, ms", delays[len(delays) // 2] * 1000)
            say("a neighbour's guard, longest, ms", delays[-1] * 1000)
        finally:
            await database.close()


if __name__ == "__main__":
    asyncio.run(main())
