"""Rewriting of states in the audit trail: parts, threads, and what is written at the same time."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.audit.redacting import Turn, redact
from flagstaff.audit.redactions_store import Recorded, Wanted, find_parts
from flagstaff.database import tables
from flagstaff.database.database import Database
from tests.support.builders import AT

ACTIONS = ("rule.created",)
PROJECT = uuid4()
WANTED = Wanted(("ada",), ACTIONS, project_id=PROJECT)


async def add_change(database: Database, after: Any, action: str = "rule.created", actor: UUID | None = None) -> int:
    values = {"at": AT, "action": action, "resource_id": uuid4(), "project_id": PROJECT, "after": after}
    insert = tables.changes.insert().values(**values, actor_id=actor).returning(tables.changes.c.id)
    async with database.transaction() as transaction:
        return int((await transaction.connection.execute(insert)).scalar_one())


async def read_states(database: Database) -> list[Any]:
    async with database.read() as connection:
        return list(
            (await connection.execute(sa.select(tables.changes.c.after).order_by(tables.changes.c.id))).scalars()
        )


def without(text: str, change: Recorded) -> Mapping[str, Any]:
    values = [each for each in change.after["values"] if each != text]
    return {} if values == change.after["values"] else {"after": {"values": values}}


async def turns(database: Database, wanted: Wanted, text: str, until: int) -> list[Turn]:
    return [each async for each in redact(database, wanted, lambda change: without(text, change), after=0, until=until)]


async def test_a_part_has_as_many_bytes_as_a_statement_may_search(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flagstaff.audit.redactions_store.BYTES_AT_ONCE", 1_000)
    short = [await add_change(database, {"values": ["ada"]}) for _ in range(3)]
    long = [await add_change(database, {"values": [str(uuid4()) for _ in range(200)]}) for _ in range(2)]
    last = await add_change(database, {"values": ["ada", "eve"]})
    await add_change(database, {"values": [str(uuid4()) for _ in range(200)]}, "flag.created")
    async with database.read() as connection:
        assert await find_parts(connection, WANTED, after=0, until=last + 1) == ([short[-1], *long, last + 1], False)
        monkeypatch.setattr("flagstaff.audit.redactions_store.EXAMINED_AT_ONCE", 4)
        assert await find_parts(connection, WANTED, after=0, until=last + 1) == ([short[-1], long[0]], True)
    done = await turns(database, WANTED, "ada", last)
    assert done == [Turn(3, short[-1]), Turn(0, long[0]), Turn(0, long[1]), Turn(1, None)]
    states = await read_states(database)
    assert [len(each["values"]) for each in states] == [0, 0, 0, 200, 200, 1, 200]


async def test_states_of_other_actions_are_neither_searched_nor_read(database: Database) -> None:
    account = uuid4()
    number = await add_change(database, {"values": ["ada"]}, actor=account)
    found: list[Recorded] = []

    def rewrite(change: Recorded) -> Mapping[str, Any]:
        found.append(change)
        return {"actor_email": "nobody"}

    unwanted = Wanted(("ada",), ACTIONS, of_other_actions=True)
    assert [each async for each in redact(database, unwanted, rewrite, after=0, until=number)] == [Turn(0, None)]
    own = Wanted(("ada",), ACTIONS, of_other_actions=True, account_id=account)
    assert [each async for each in redact(database, own, rewrite, after=0, until=number)] == [Turn(1, None)]
    assert [(each.number, each.before, each.after) for each in found] == [(number, None, None)]
    assert await read_states(database) == [{"values": ["ada"]}]


async def test_a_state_is_rewritten_outside_of_the_writers_turn_and_again_if_it_became_another(
    database: Database,
) -> None:
    await add_change(database, {"values": ["ada", "eve", "größe"]})
    gone = await add_change(database, {"values": ["ada"]})
    is_rewriting, may_go_on = threading.Event(), threading.Event()

    def rewrite(change: Recorded) -> Mapping[str, Any]:
        is_rewriting.set()
        assert may_go_on.wait(30)
        return without("ada", change)

    async def first() -> list[Turn]:
        return [each async for each in redact(database, WANTED, rewrite, after=0, until=gone)]

    async def second() -> None:
        try:
            await asyncio.to_thread(is_rewriting.wait, 30)
            eves = Wanted(("eve",), ACTIONS, project_id=PROJECT)
            assert await turns(database, eves, "eve", gone) == [Turn(1, None)]
            async with database.transaction() as transaction:
                await transaction.connection.execute(tables.changes.delete().where(tables.changes.c.id == gone))
        finally:
            may_go_on.set()

    done, _ = await asyncio.gather(first(), second())
    assert done == [Turn(1, None)]
    assert await read_states(database) == [{"values": ["größe"]}]
