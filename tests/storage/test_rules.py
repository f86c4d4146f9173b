"""Targeting rules in the database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from flagstaff.database.database import Database
from flagstaff.flags.flags import PRIORITY_MAX, PRIORITY_MIN, RuleType
from flagstaff.flags.targeting.rules_store import (
    delete_rule,
    get_rule,
    list_rules,
    list_rules_of_environment,
    update_rule,
)
from flagstaff.values.errors import Code, Error
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_environment, make_flag, make_rule, store_all


async def test_a_rule_of_a_missing_flag_is_refused(database: Database) -> None:
    with pytest.raises(Error) as refusal:
        await store_all(database, make_rule())
    assert refusal.value.code is Code.NOT_FOUND


async def test_a_rule_is_not_found_through_another_flag(database: Database, stored: Stored) -> None:
    other, rule = make_flag(stored.environment, key="other"), make_rule(stored.flag)
    await store_all(database, other, rule)
    async with database.read() as connection:
        for flag, rule_id in ((other, rule.id), (stored.flag, make_rule().id)):
            with pytest.raises(Error) as refusal:
                await get_rule(connection, flag.id, rule_id)
            assert refusal.value.code is Code.NOT_FOUND


@pytest.mark.parametrize("rule_type", RuleType)
async def test_a_rule_is_found_as_it_was_written(database: Database, stored: Stored, rule_type: RuleType) -> None:
    rule = make_rule(stored.flag, rule_type=rule_type, rule_value="Größe@😀", enabled=False)
    await store_all(database, rule)
    async with database.read() as connection:
        found = await get_rule(connection, stored.flag.id, rule.id)
    assert found == rule
    assert isinstance(found.rule_type, RuleType)


async def test_rules_are_listed_in_the_order_in_which_they_are_tried(database: Database, stored: Stored) -> None:
    order = [
        make_rule(stored.flag, priority=PRIORITY_MAX),
        make_rule(stored.flag, priority=1),
        make_rule(stored.flag, priority=0, created_at=AT - timedelta(microseconds=1)),
        make_rule(stored.flag, priority=0),
        make_rule(stored.flag, priority=0),
        make_rule(stored.flag, priority=PRIORITY_MIN),
    ]
    await store_all(database, order[5], order[1], order[3], order[0], order[4], order[2])
    async with database.read() as connection:
        assert list(await list_rules(connection, stored.flag.id)) == order


async def test_the_rules_of_an_environment_are_those_of_all_its_flags(database: Database, stored: Stored) -> None:
    elsewhere = make_environment(stored.project.id, key="staging")
    second, foreign = make_flag(stored.environment, key="second"), make_flag(elsewhere)
    rules = [make_rule(stored.flag), make_rule(second)]
    await store_all(database, elsewhere, second, foreign, *rules, make_rule(foreign))
    async with database.read() as connection:
        found = list(await list_rules_of_environment(connection, stored.environment.id))
    assert sorted(found, key=lambda rule: rule.id) == rules


async def test_an_update_writes_what_can_change(database: Database, stored: Stored) -> None:
    rule = make_rule(stored.flag)
    await store_all(database, rule)
    updated = replace(
        rule,
        rule_type=RuleType.EMAIL_DOMAIN,
        rule_value="acme.com",
        priority=-5,
        enabled=False,
        updated_at=AT + timedelta(seconds=1),
    )
    async with database.transaction() as transaction:
        await update_rule(transaction.connection, updated)
    async with database.read() as connection:
        assert list(await list_rules(connection, stored.flag.id)) == [updated]


async def test_a_deleted_rule_is_gone(database: Database, stored: Stored) -> None:
    rule, other = make_rule(stored.flag), make_rule(stored.flag)
    await store_all(database, rule, other)
    async with database.transaction() as transaction:
        await delete_rule(transaction.connection, rule.id)
    async with database.read() as connection:
        assert list(await list_rules(connection, stored.flag.id)) == [other]
