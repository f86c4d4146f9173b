"""Distinct users by day, compared with sets, on both databases."""

import random
from collections.abc import Iterable
from uuid import UUID, uuid4

from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.storage.database import Database
from flagstaff.storage.history.batches import find_environment_number
from flagstaff.storage.history.user_rollups import roll_up_users
from flagstaff.storage.history.user_sums import UserSums, sum_users
from tests.support.history import START, make_batch, make_layout, make_record, write

DAY = int(START.timestamp()) // 86_400
A_DAY = 86_400
LAYOUT = make_layout()

Users = dict[str, tuple[set[str], set[str]]]


async def number_of(database: Database, environment_id: UUID) -> int:
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
    assert number is not None
    return number


async def roll_up(database: Database, environment_id: UUID) -> None:
    number, more = await number_of(database, environment_id), True
    while more:
        async with database.write_history() as connection:
            more = await roll_up_users(connection, number)


async def count(
    database: Database, environment_id: UUID, key: str, days: range = range(DAY, DAY + 1)
) -> tuple[float, float, float] | None:
    sums = UserSums(days, len(days))
    number = await number_of(database, environment_id)
    async with database.read_history() as connection:
        await sum_users(connection, number, key, sums)
    return sums.of_all()


def count_naively(batches: Iterable[RecordBatch], key: str, days: range = range(DAY, DAY + 1)) -> tuple[int, int, int]:
    """With sets, evaluation by evaluation."""
    found: tuple[set[str], set[str]] = set(), set()
    for group in (group for batch in batches for group in batch.groups):
        for time, user, email, recorded in zip(group.times, group.users, group.emails, group.recorded, strict=True):
            identifier = user or (email or "").lower()
            for flag, outcome in group.layout.outcomes(recorded):
                if flag.key == key and identifier and time // (A_DAY * 10**9) in days:
                    found[not outcome.enabled].add(identifier)
    return len(found[0]), len(found[1]), 0


async def test_everything(database: Database) -> None:
    environment_id = uuid4()
    random.seed(1)
    flags = [LayoutFlag(uuid4(), f"f{i}", 20, Outcome.NOT_IN_ROLLOUT) for i in range(5)]
    consts = [LayoutFlag(uuid4(), f"f{i}", 0, o) for i in range(5) for o in (Outcome.ON, Outcome.OFF)]
    batches = []
    for step in range(60):
        rec, con = [], []
        if random.random() < 0.3:
            i = random.randrange(5)
            f = random.choice([flags[i], consts[2 * i], consts[2 * i + 1]])
            (rec if f.rollout_percentage else con).append(f)
        else:
            for i in range(5):
                if random.random() < 0.1:
                    continue
                f = random.choice([flags[i], consts[2 * i], consts[2 * i], consts[2 * i], consts[2 * i + 1]])
                (rec if f.rollout_percentage else con).append(f)
        layout = Layout(tuple(rec), tuple(con))
        records = sorted(
            make_record(
                random.choice([0, A_DAY]) + random.random() * 40000,
                random.choice([None, f"u{random.randrange(30)}"]),
                bytes(random.choice([5, 50]) for _ in rec),
                user_email=random.choice([None, f"U{random.randrange(30)}"]),
            )
            for _ in range(random.randrange(1, 12))
        )
        batches.append(make_batch(environment_id, layout, *records))
        await write(database, batches[-1])
        if random.random() < 0.4:
            await roll_up(database, environment_id)
        for days in (range(DAY, DAY + 1), range(DAY + 1, DAY + 2), range(DAY, DAY + 2)):
            for i in range(5):
                assert await count(database, environment_id, f"f{i}", days) == count_naively(batches, f"f{i}", days), (
                    step,
                    i,
                )
