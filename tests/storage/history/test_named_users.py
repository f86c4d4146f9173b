"""Distinct users of each flag of a key, of variants and rules, and of an environment, compared with sets."""

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import Decider, Decision, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.history.store.distinct_users.user_rows import MOST_FLAGS, MOST_NAMES, FlagUsers, KeyUsers
from flagstaff.history.store.distinct_users.user_sums import UsersOf, UserSums, sum_users
from tests.storage.history.test_distinct_users import TODAY, flag_of, number_of, roll_up, users
from tests.storage.history.test_summaries import random_bytes
from tests.support.history import make_batch, make_record, write

DETAILED = LayoutFlag(
    uuid4(),
    "checkout",
    30,
    Outcome.NOT_IN_ROLLOUT,
    (
        Decider(Outcome.SEGMENT_RULE, uuid4()),
        Decider(Outcome.USER_ID_RULE),
        Decider(Outcome.PREREQUISITE, prerequisite="a"),
        Decider(Outcome.ATTRIBUTES_RULE, uuid4()),
    ),
    variants=("red", "green", "blue"),
)
PLAIN = LayoutFlag(uuid4(), "checkout", 20, Outcome.NOT_IN_ROLLOUT)
RULES = frozenset(RULE_OUTCOMES.values())
Found = tuple[int, int, dict[str, int]]
Seen = tuple[int, str, Sequence[Decision]]


async def find(database: Database, environment_id: UUID, wanted: UsersOf, days: range) -> Found:
    """Return how many users had the flag on and off on the days, and those of names."""
    sums, number = UserSums(days, [days.start]), await number_of(database, environment_id)
    async with database.read_history() as connection:
        await sum_users(connection, number, wanted, sums)
    found = sums.of_all()
    assert found is not None
    assert sums.names_of_all() == sums.names_of_interval(days.start)
    return found.on, found.off, sums.names_of_all()


def names_of(decision: Decision) -> list[str]:
    """Return the names under which the user of a result is counted."""
    names = [] if decision.variant is None else [f"variant:{decision.variant}"]
    if decision.outcome in RULES:
        names.append(f"rule:{decision.rule_id}" if decision.rule_id else f"reason:{decision.reason}")
    return names


def recount(seen: Sequence[Seen], flag_id: UUID, days: range) -> Found:
    """Count with sets."""
    sides: dict[bool, set[str]] = {True: set(), False: set()}
    named: defaultdict[str, set[str]] = defaultdict(set)
    for day, user, decisions in seen:
        for each in decisions if day in days else ():
            if each.flag.id == flag_id:
                sides[each.outcome.enabled].add(user)
                for name in names_of(each):
                    named[name].add(user)
    return len(sides[True]), len(sides[False]), {name: len(found) for name, found in named.items()}


async def compare(database: Database, environment_id: UUID, layouts: Sequence[Layout], seen: Sequence[Seen]) -> None:
    """Compare the users of each flag and of the environment on each day, and on all, with a recount."""
    flags = {flag.id: flag.key for layout in layouts for flag in layout.flags}
    for days in (range(TODAY, TODAY + 1), range(TODAY + 1, TODAY + 2), range(TODAY, TODAY + 2)):
        on, _, _ = await find(database, environment_id, UsersOf(), days)
        assert on == len({user for day, user, _ in seen if day in days})
        for flag_id, key in flags.items():
            found = await find(database, environment_id, UsersOf(key, flag_id), days)
            assert found == recount(seen, flag_id, days)


@pytest.mark.parametrize("seed", range(4))
async def test_the_users_are_those_of_a_recount(database: Database, seed: int) -> None:
    chance, environment_id = random.Random(seed), uuid4()
    shared, shared_again = flag_of("shared"), flag_of("shared")
    layouts = [
        Layout((DETAILED,), (shared,)),
        Layout((replace(DETAILED, id=uuid4()), flag_of("b", Outcome.NOT_IN_ROLLOUT, 40)), (shared,)),
        Layout((replace(PLAIN, id=uuid4()),), (shared_again,)),
        Layout((), (flag_of("checkout"), shared_again)),
    ]
    seen: list[Seen] = []
    for _ in range(12):
        layout, day = chance.choice(layouts), chance.randrange(2)
        records, places = [], []
        for number in range(chance.randrange(1, 12)):
            place = chance.choice([None, *range(len(layout.flags))])
            shown = layout if place is None else layout.alone(place)
            row, user = random_bytes(shown, chance), f"user-{chance.randrange(15)}"
            records.append(make_record(day * 86_400 + number, user, row))
            places.append(place)
            seen.append((TODAY + day, user, shown.decisions(row)))
        await write(database, make_batch(environment_id, layout, *records, flags=places))
        if chance.random() < 0.4:
            await compare(database, environment_id, layouts, seen)
            await roll_up(database, environment_id)
    await compare(database, environment_id, layouts, seen)


async def test_days_that_an_earlier_release_has_counted_are_the_flags_from_its_first_day_on(database: Database) -> None:
    environment_id, flag = uuid4(), flag_of("a", Outcome.NOT_IN_ROLLOUT, 20)
    await write(database, make_batch(environment_id, Layout((flag,), (flag_of("c"),)), *users(1, 2, recorded=b"\5")))
    await roll_up(database, environment_id)
    async with database.write_history() as connection:
        await connection.execute(tables.flag_users.update().values(flag_id=None, details=None))
        await connection.execute(tables.environment_users.update().values(flag_ids=None, single_users=None))
    day = range(TODAY, TODAY + 1)
    for first, expected in ((TODAY, 2), (TODAY + 1, 0)):
        found = await find(database, environment_id, UsersOf("a", flag.id, first), day)
        assert found == (expected, 0, {})
    await write(database, make_batch(environment_id, Layout((flag,), ()), *users(3, recorded=b"\5")))
    await roll_up(database, environment_id)
    assert await find(database, environment_id, UsersOf("a", flag.id, TODAY), day) == (3, 0, {})
    assert await find(database, environment_id, UsersOf("a"), day) == (3, 0, {})


def test_the_flags_of_a_key_and_the_names_of_a_flag_are_bounded() -> None:
    key, one = KeyUsers(None), FlagUsers()
    for number in range(200):
        key.of_flag(UUID(int=number + 1))
        one.of_name(f"rule:{number}").add([number])
    assert len(key.by_flag) == MOST_FLAGS + 1
    assert len(one.named) == MOST_NAMES
