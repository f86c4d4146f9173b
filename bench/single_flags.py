"""Writes and counts evaluations of single flags as server providers of OpenFeature request them, at steady rates.

`python -m bench.history --single RATE [postgresql://…]`: RATE evaluations a second of 1,000 flags, in the batches that
a recorder would collect, for two minutes, with the roll-ups of every five seconds between them. Times are processor
time of this process only, and shares are those of one core.
"""

import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.bucketing import bucket
from flagstaff.evaluation.history.layout import NO_BUCKET, Layout, LayoutFlag
from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.recorder import FLUSH_INTERVAL_SECONDS
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store.batches import find_environment_number, write_batches
from flagstaff.history.store.distinct_users.user_sums import UserSums, sum_users

FLAGS = 1_000
USERS = 200_000
SECONDS = 120
ROLL_UP_SECONDS = 5
START = datetime(2026, 11, 20, 10, tzinfo=UTC)
KINDS = ((20, Outcome.NOT_IN_ROLLOUT), (0, Outcome.ON), (0, Outcome.OFF))


@dataclass(frozen=True)
class Seen:
    """The distinct users of a flag today, None if they are not known, and the age of what is not yet counted."""

    users: object | None
    oldest_seconds: float


@dataclass(frozen=True)
class Stored:
    """Segments, and the bytes in them."""

    segments: int
    bytes: int


@dataclass
class Load:
    """An environment that is evaluated at a rate, and what that cost so far."""

    database: Database
    rate: float
    environment_id: UUID = field(default_factory=uuid4)
    seconds: float = 0.0
    evaluations: int = 0
    writing: float = 0.0
    counting: float = 0.0
    longest_wait: float = 0.0  # of the roll-up of all that was due
    unknown: int = 0  # times that the number of distinct users was not known
    largest_delay: float = 0.0  # from an evaluation until it was counted for good

    def __post_init__(self) -> None:
        made = [LayoutFlag(uuid4(), f"flag-{place}", *KINDS[place % 3]) for place in range(FLAGS)]
        constant = tuple(flag for flag in made if flag.default == Outcome.OFF)
        self.layout = Layout(tuple(flag for flag in made if flag.default != Outcome.OFF), constant)
        self.retention = HistoryRetention(self.database, self._now, timedelta(days=90))

    def _now(self) -> datetime:
        return START + timedelta(seconds=self.seconds)

    async def run(self) -> None:
        """Write for some minutes, with the roll-ups between."""
        batches = round(SECONDS / FLUSH_INTERVAL_SECONDS)
        for number in range(batches):
            self.seconds = number * FLUSH_INTERVAL_SECONDS
            batch = self._batch(round(self.rate * FLUSH_INTERVAL_SECONDS))
            began = time.process_time()
            async with self.database.write_history() as connection:
                await write_batches(connection, batch)
            self.writing += time.process_time() - began
            if number % round(ROLL_UP_SECONDS / FLUSH_INTERVAL_SECONDS) == 0:
                began, before = time.process_time(), time.perf_counter()
                await self.retention.roll_up()
                self.counting += time.process_time() - began
                self.longest_wait = max(self.longest_wait, time.perf_counter() - before)
                await self._look()

    def _batch(self, size: int) -> RecordBatch:
        start, flags = int(self._now().timestamp() * 1e6) * 1000, self.layout.flags
        step = int(FLUSH_INTERVAL_SECONDS * 1e9) // size
        places = [random.randrange(FLAGS) for _ in range(size)]
        users = [f"user-{random.randrange(USERS)}" for _ in range(size)]
        group = RecordGroup(
            self.environment_id,
            self.layout,
            times=[start + number * step for number in range(size)],
            users=users,
            emails=[None] * size,
            recorded=[_recorded(flags[place], user) for place, user in zip(places, users, strict=True)],
            flags=places,
        )
        self.evaluations += size
        return RecordBatch(random.randrange(BATCH_IDS), [group])

    async def _look(self) -> None:
        seen = await look(self.database, self.environment_id, self._now().timestamp())
        self.unknown += seen.users is None
        self.largest_delay = max(self.largest_delay, seen.oldest_seconds)

    async def report(self) -> str:
        """Return all figures."""
        stored = await measure_stored(self.database)
        size = self.evaluations
        return (
            f"{self.rate:,.0f} a second: {size:,} evaluations in {stored.segments:,} segments"
            f"\n    {stored.bytes / size:.1f} bytes each"
            f"\n    written in {self.writing / size * 1e6:.1f} µs each, counted in {self.counting / size * 1e6:.1f};"
            f" together {(self.writing + self.counting) / SECONDS:.1%} of a core"
            f"\n    counted after at most {self.largest_delay:.0f} s, in at most {self.longest_wait * 1000:.0f} ms;"
            f" users were unknown {self.unknown} times"
        )


async def look(database: Database, environment_id: UUID, now: float) -> Seen:
    """Return what is known of an environment at a time in seconds since 1970."""
    segments, environments = tables.segments.c, tables.recorded_environments.c
    day = int(now) // 86_400
    oldest = sa.select(sa.func.min(segments.first_time)).where(segments.id > environments.counted_segment)
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id) or 0
        of_environment = oldest.where(environments.number == number, segments.environment == number)
        first = (await connection.execute(of_environment)).scalar()
        sums = UserSums(range(day, day + 1), [day])
        await sum_users(connection, number, "flag-0", sums)
    return Seen(sums.of_all(), 0.0 if first is None else now - first / 1e6)


async def measure_stored(database: Database) -> Stored:
    """Return the number of all segments and the bytes in them."""
    segments = tables.segments.c
    columns = (segments.content, segments.user_hashes, segments.email_hashes)
    stored = sum((sa.func.length(each) for each in columns), start=sa.literal(0))
    async with database.read_history() as connection:
        count, size = (await connection.execute(sa.select(sa.func.count(), sa.func.sum(stored)))).one()
    return Stored(count, int(size or 0))


def _recorded(flag: LayoutFlag, user: str) -> bytes:
    if flag.default == Outcome.OFF:
        return b""
    return bytes((bucket(flag.key, user) if flag.rollout_percentage else NO_BUCKET,))
