"""Searches by a rule and by a variant, on both databases."""

import random
from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import NO_BUCKET, RULE_BASE, Decider, Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.pages import BOUNDS, Bounds
from tests.support.history import make_batch, make_layout, make_record, read, write

GOLD, ADA, BETA = (
    Decider(outcome, uuid4()) for outcome in (Outcome.ATTRIBUTES_RULE, Outcome.USER_ID_RULE, Outcome.SEGMENT_RULE)
)
NEEDED = Decider(Outcome.PREREQUISITE, prerequisite="other")
RULED = LayoutFlag(uuid4(), "ruled", 0, Outcome.NO_RULE, (GOLD, ADA))
VARIED = LayoutFlag(uuid4(), "varied", 30, Outcome.NOT_IN_ROLLOUT, (NEEDED, BETA), True, ("red", "blue"))
OLD = LayoutFlag(uuid4(), "old", 20, Outcome.NOT_IN_ROLLOUT)
OFF = LayoutFlag(uuid4(), "off", 0, Outcome.OFF)
LAYOUT = Layout((RULED, VARIED, OLD), (OFF,))
NONE, FIRST, SECOND = NO_BUCKET, RULE_BASE, RULE_BASE + 1


async def find(database: Database, environment_id: UUID, flag: FlagFilter, bounds: Bounds = BOUNDS) -> list[str | None]:
    """Return the users of the evaluations that are found, oldest first."""
    found = await read(database, environment_id, EvaluationFilter(flag=flag), bounds=bounds)
    return [each.user_id for each in found][::-1]


@pytest.fixture
async def environment_id(database: Database) -> UUID:
    """An environment with evaluations in which different rules matched, and with each variant."""
    environment_id = uuid4()
    recorded = {
        "gold, red": (FIRST, 10, 5, 10, 0),
        "ada, blue": (SECOND, 10, 5, 10, 1),
        "beta, blue": (NONE, SECOND, 5, 40, 1),
        "off": (NONE, 40, 5, 40, 1),
        "needed": (NONE, FIRST, 5, 10, 0),
    }
    records = [make_record(place, user, bytes(each)) for place, (user, each) in enumerate(recorded.items())]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    return environment_id


async def test_a_rule_is_found_with_its_flag_or_without(database: Database, environment_id: UUID) -> None:
    for decider, flag, expected in (
        (GOLD, RULED, "gold, red"),
        (ADA, RULED, "ada, blue"),
        (BETA, VARIED, "beta, blue"),
    ):
        for wanted in (FlagFilter(), FlagFilter(key=flag.key), FlagFilter(flag_id=flag.id), FlagFilter(enabled=True)):
            by_rule = replace(wanted, rule_id=decider.rule_id)
            assert await find(database, environment_id, by_rule) == [expected]


@pytest.mark.parametrize(
    "wanted",
    [
        FlagFilter(rule_id=uuid4()),
        FlagFilter(rule_id=GOLD.rule_id, key="varied"),
        FlagFilter(rule_id=GOLD.rule_id, key="off"),
        FlagFilter(rule_id=GOLD.rule_id, key="nothing"),
        FlagFilter(rule_id=GOLD.rule_id, enabled=False),
        FlagFilter(rule_id=BETA.rule_id, key="varied", variant="red"),
        FlagFilter(key="varied", variant="green"),
        FlagFilter(key="ruled", variant="red"),
        FlagFilter(key="off", variant="red"),
        FlagFilter(key="varied", variant="red", enabled=False),
    ],
)
async def test_what_nothing_matches_is_an_empty_list(
    database: Database, environment_id: UUID, wanted: FlagFilter
) -> None:
    assert await find(database, environment_id, wanted) == []


async def test_a_variant_is_found_where_the_flag_was_on(database: Database, environment_id: UUID) -> None:
    assert await find(database, environment_id, FlagFilter(key="varied", variant="red")) == ["gold, red"]
    assert await find(database, environment_id, FlagFilter(flag_id=VARIED.id, variant="blue")) == [
        "ada, blue",
        "beta, blue",
    ]
    both = FlagFilter(key="varied", variant="blue", rule_id=BETA.rule_id, enabled=True)
    assert await find(database, environment_id, both) == ["beta, blue"]


async def test_records_that_do_not_name_rules_are_searched_all_the_same(
    database: Database, environment_id: UUID
) -> None:
    await write(database, make_batch(environment_id, make_layout(), make_record(8, "older", b"\x05\x66")))
    assert await find(database, environment_id, FlagFilter(rule_id=GOLD.rule_id)) == ["gold, red"]
    assert await find(database, environment_id, FlagFilter(key="ruled", enabled=True)) == [
        "gold, red",
        "ada, blue",
        "older",
    ]


async def test_a_rule_or_a_variant_that_was_deleted_is_still_found(database: Database, environment_id: UUID) -> None:
    without_gold = replace(RULED, deciders=(ADA,))
    without_red = replace(VARIED, variants=("blue", "green"))
    later = Layout((without_gold, without_red), (OLD, OFF))
    await write(database, make_batch(environment_id, later, make_record(9, "later", bytes((FIRST, 5, 5, 0)))))
    for wanted, expected in (
        (FlagFilter(rule_id=GOLD.rule_id), ["gold, red"]),
        (FlagFilter(rule_id=ADA.rule_id), ["ada, blue", "later"]),
        (FlagFilter(key="varied", variant="red"), ["gold, red"]),
        (FlagFilter(key="varied", variant="blue"), ["ada, blue", "beta, blue", "later"]),
    ):
        assert await find(database, environment_id, wanted) == expected


async def test_a_search_for_a_rule_examines_few_segments_at_a_time(database: Database, environment_id: UUID) -> None:
    for place in range(5):
        layout = make_layout()
        await write(database, make_batch(environment_id, layout, make_record(10 + place)))
    one = Bounds(searched=1, examined=1)
    assert await find(database, environment_id, FlagFilter(rule_id=GOLD.rule_id), one) == ["gold, red"]


async def test_a_rule_is_found_among_thousands(database: Database) -> None:
    flags = [
        LayoutFlag(uuid4(), f"flag-{each}", 0, Outcome.ON, (Decider(Outcome.ATTRIBUTES_RULE, uuid4()),))
        for each in range(3000)
    ]
    environment_id, layout = uuid4(), Layout(tuple(flags), ())
    await write(database, make_batch(environment_id, layout, make_record(recorded=bytes([FIRST]) * 3000)))
    (found,) = await read(
        database, environment_id, EvaluationFilter(flag=FlagFilter(rule_id=flags[-1].deciders[0].rule_id))
    )
    assert found.layout == layout
    assert FlagFilter(rule_id=uuid4()).search(layout) is None


@pytest.mark.parametrize("seed", range(2))
async def test_every_filter_finds_what_a_naive_search_finds(database: Database, seed: int) -> None:
    chance, environment_id = random.Random(seed), uuid4()
    reordered = Layout((OLD, VARIED, replace(RULED, has_bucket=True, deciders=(ADA, GOLD))), (OFF,))
    start = 0
    for _ in range(8):
        layout = chance.choice((LAYOUT, reordered))
        records = [make_record(start := start + 1, recorded=random_bytes(layout, chance)) for _ in range(50)]
        await write(database, make_batch(environment_id, layout, *records))
    everything = await read(database, environment_id)
    for _ in range(25):
        key = chance.choice((None, "ruled", "varied", "old", "off"))
        rule_id = chance.choice((None, GOLD.rule_id, ADA.rule_id, BETA.rule_id)) if key else GOLD.rule_id
        enabled = chance.choice((None, None, True, False))
        variant = chance.choice((None, None, "red", "blue")) if key else None
        wanted = FlagFilter(None, key, enabled, rule_id, variant)
        expected = [each.id for each in everything if is_wanted(each, wanted)]
        found = await read(database, environment_id, EvaluationFilter(flag=wanted), bounds=Bounds(3, 3))
        assert [each.id for each in found] == expected, wanted


def random_bytes(layout: Layout, chance: random.Random) -> bytes:
    first, others = [], []
    for flag in layout.recorded:
        deciders = range(RULE_BASE, RULE_BASE + len(flag.deciders)) or (RULE_BASE + 1,)
        first.append(chance.choice((*deciders, chance.randrange(101))))
        others += [chance.randrange(101)] if flag.has_bucket else []
        others += [chance.randrange(len(flag.variants))] if flag.variants else []
    return bytes(first + others)


def is_wanted(evaluation: RecordedEvaluation, wanted: FlagFilter) -> bool:
    return any(
        wanted.key in (None, decision.flag.key)
        and wanted.enabled in (None, decision.outcome.enabled)
        and wanted.rule_id in (None, decision.rule_id)
        and wanted.variant in (None, decision.variant)
        for decision in evaluation.decisions()
    )
