"""States in the audit trail: stored as what differs, and read as wholes."""

import random
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.changes.changes import COMMAND_LINE, Change, Scope
from flagstaff.changes.redaction import without_user
from flagstaff.database import tables
from flagstaff.database.change_states_store import DELTAS_MAX_BYTES
from flagstaff.database.changes_store import list_between, record, record_all
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.history.erased_users import Subject
from flagstaff.people.naming import names_user
from flagstaff.people.trail import count_in_trail, erase_from_trail
from tests.support.builders import AT
from tests.support.stores import Store

PROJECT, RESOURCE = uuid4(), uuid4()
LONG = "a long description 😀 " * 500
ALL = 2**62
columns = tables.changes.c

State = dict[str, Any] | None


def make_change(before: State, after: State, resource_id: UUID = RESOURCE, action: str = "view.updated") -> Change:
    return Change(AT, COMMAND_LINE, action, resource_id, Scope(PROJECT), before, after)


async def write(database: Database, *made: Change) -> None:
    for each in made:
        async with database.transaction() as transaction:
            await record(transaction, each)


async def read_states(database: Database) -> list[tuple[State, State]]:
    async with database.read() as connection:
        found = await list_between(connection, PROJECT, 0, ALL, 10_000)
    return [(each.change.before, each.change.after) for each in found]


async def stored_rows(database: Database) -> Sequence[sa.Row[Any]]:
    async with database.read() as connection:
        return (await connection.execute(sa.select(tables.changes).order_by(columns.id))).all()


def states_of(made: Sequence[Change]) -> list[tuple[State, State]]:
    return [(each.before, each.after) for each in made]


def chain(*states: State) -> list[Change]:
    return [make_change(before, after) for before, after in pairwise(states)]


async def test_a_change_of_a_state_that_the_trail_does_not_have_is_stored_whole(database: Database) -> None:
    first, second = (
        make_change(None, {"name": "a", "note": LONG}),
        make_change({"name": "b", "note": LONG}, {"name": "c", "note": LONG}),
    )
    await write(database, first, second)
    assert [(row.before, row.after, row.based_on) for row in await stored_rows(database)] == [
        (None, first.after, None),
        (second.before, second.after, None),
    ]


async def test_a_change_has_only_what_differs_from_the_change_before(database: Database) -> None:
    made = chain(None, {"name": "a", "note": LONG}, {"name": "b", "note": LONG}, {"name": "b", "note": ""})
    made += chain(made[-1].after, {"name": "c", "note": ""})
    await write(database, *made)
    first, second, third, fourth = await stored_rows(database)
    assert (second.before, second.after, second.based_on) == ({"name": "a"}, {"name": "b"}, first.id)
    assert third.based_on is None  # the text that it has taken away is longer than what is left
    assert (fourth.before, fourth.after, fourth.based_on) == ({"name": "b"}, {"name": "c"}, third.id)
    assert await read_states(database) == states_of(made)


async def test_fields_that_are_read_without_the_whole_state_are_always_stored(database: Database) -> None:
    state = {"enabled": True, "owner": None, "tags": ["a"], "name": "x"}
    await write(database, *chain(None, state, {**state, "name": "y"}))
    assert (await stored_rows(database))[1].before == state


async def test_values_that_python_takes_as_equal_differ(database: Database) -> None:
    made = chain(None, {"value": 1}, {"value": True}, {"value": 1.0}, {"value": 1})
    await write(database, *made)
    assert [repr(after) for _, after in await read_states(database)] == [repr(each.after) for each in made]


async def test_states_with_other_fields_are_stored_whole(database: Database) -> None:
    made = chain(None, {"name": "a"}, {"name": "a", "added": 1}, {"added": 1})
    await write(database, *made)
    assert [row.based_on for row in await stored_rows(database)] == [None, None, None]
    assert await read_states(database) == states_of(made)


async def test_a_new_base_is_stored_when_the_deltas_are_longer_than_the_state(database: Database) -> None:
    made = chain(None, *({"name": str(number), "note": "short"} for number in range(200)))
    await write(database, *made)
    rows = await stored_rows(database)
    assert max(row.delta_bytes for row in rows) <= DELTAS_MAX_BYTES
    assert 2 <= sum(row.based_on is None for row in rows) <= 5
    assert await read_states(database) == states_of(made)


async def test_a_long_state_is_stored_again_after_as_many_deltas_as_it_is_long(database: Database) -> None:
    made = chain(None, *({"note": LONG, "tags": [f"{number:02}" * 25] * 20} for number in range(20)))
    await write(database, *made)
    rows = await stored_rows(database)
    assert [row.based_on is None for row in rows] == ([True] + [False] * 5) * 3 + [True, False]


@pytest.mark.both_databases
async def test_any_sequence_of_changes_is_read_as_it_was_made(database: Database) -> None:
    chosen = random.Random(52)
    resources = [uuid4() for _ in range(5)]
    present: dict[UUID, State] = dict.fromkeys(resources)
    made: list[Change] = []
    for _ in range(60):
        some = []
        for _ in range(chosen.choice((1, 1, 1, 25))):
            resource = chosen.choice(resources)
            before = present[resource]
            after = _altered(chosen, before)
            if before is None and after is None:
                continue
            some.append(make_change(before, after, resource))
            # A write that the trail does not have, as an older version or a cascade makes.
            present[resource] = after if chosen.random() < 0.95 else _altered(chosen, after)
        made += some
        async with database.transaction() as transaction:
            if len(some) == 1:
                await record(transaction, some[0])
            else:
                await record_all(transaction, some, None)
    found = await read_states(database)
    assert found == states_of(made)
    rows = await stored_rows(database)
    assert sum(row.based_on is not None for row in rows) > len(rows) / 3
    # Whatever part is read, it is the same.
    async with database.read() as connection:
        for _ in range(20):
            first = chosen.randrange(len(rows))
            last = min(first + chosen.randrange(40), len(rows) - 1)
            part = await list_between(connection, PROJECT, rows[first].id, rows[last].id, 100)
            assert states_of([each.change for each in part]) == found[first : last + 1]


def _altered(chosen: random.Random, state: State) -> State:
    if state is not None and chosen.random() < 0.05:
        return None
    values = [None, True, 1, "", "x" * chosen.randrange(300), ["a", "b"], {"key": [1, 2.5]}]
    names = ["enabled", "name", "note", "conditions", "tags"]
    if state is None:
        return {name: chosen.choice(values) for name in names}
    changed: Mapping[str, Any] = {name: chosen.choice(values) for name in chosen.sample(names, chosen.randrange(3))}
    return {**state, **changed}


@pytest.mark.both_databases
async def test_a_row_that_an_older_version_has_written_is_whole_and_begins_anew(database: Database) -> None:
    made = chain(
        None,
        {"name": "a", "note": LONG},
        {"name": "b", "note": LONG},
        {"name": "c", "note": LONG},
        {"name": "d", "note": LONG},
    )
    await write(database, *made[:2])
    older = {"at": AT, "action": "view.updated", "resource_id": RESOURCE, "project_id": PROJECT}
    async with database.transaction() as transaction:
        row = {**older, "before": made[2].before, "after": made[2].after}
        await transaction.connection.execute(tables.changes.insert().values(row))
    await write(database, made[3])
    assert [row.based_on is None for row in await stored_rows(database)] == [True, False, True, True]
    assert await read_states(database) == states_of(made)


@pytest.mark.both_databases
async def test_a_downgrade_stores_all_changes_as_wholes(database: Database, store: Store) -> None:
    made = chain(None, {"name": "a", "note": LONG}, {"name": "b", "note": LONG}, {"name": "c", "note": ""}, None)
    other = make_change(None, {"name": "z"}, uuid4())
    await write(database, *made[:2], other, *made[2:])
    assert await migrate(store.database_url, store.data_directory, "1001")
    async with database.read() as connection:
        rows = (await connection.execute(sa.select(columns.before, columns.after).order_by(columns.id))).all()
    assert [tuple(row) for row in rows] == states_of([*made[:2], other, *made[2:]])


@pytest.mark.both_databases
async def test_a_user_is_erased_from_the_states_that_follow_from_others(database: Database) -> None:
    by_user = {"rule_type": "user_id", "rule_value": "ada", "conditions": [], "enabled": True, "note": LONG}
    listed = [{"attribute": "user_id", "operator": "in", "values": ["ada", "eve"]}]
    by_list = {**by_user, "rule_type": "attributes", "rule_value": None, "conditions": listed}
    states: list[State] = [None, {**by_user, "rule_value": "eve"}, by_user, {**by_user, "enabled": False}, by_user]
    states += [by_list, {**by_list, "enabled": False}]
    made = [make_change(each.before, each.after, action="rule.updated") for each in chain(*states)]
    await write(database, *made)
    assert [row.based_on is None for row in await stored_rows(database)] == [True, *[False] * 5]
    subject = Subject(user_id="ada")
    assert await count_in_trail(database, PROJECT, subject, most_parts=10) == (2, False)
    assert sum([turn.altered async for turn in erase_from_trail(database, PROJECT, subject)]) == 2
    named = partial(names_user, subject)
    assert await read_states(database) == [
        (without_user(each.before, named), without_user(each.after, named)) for each in made
    ]
    rows = await stored_rows(database)
    assert not [row for row in rows if "ada" in f"{row.before}{row.after}"]
    # The next change finds a state that the trail does not have any more as it was.
    erased = without_user(states[-1], named)
    await write(database, make_change(states[-1], {**(states[-1] or {}), "enabled": True}, action="rule.updated"))
    assert (await read_states(database))[-1][1] == {**(erased or {}), "enabled": True}
