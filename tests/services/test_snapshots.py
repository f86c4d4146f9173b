"""Snapshots from remembered compiled flags, compared with snapshots for which everything is read again."""

from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from flagstaff.changes.changes import Actor
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.database.database import Database
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import RuleType
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.settings import Settings
from flagstaff.snapshots.changed_flags_store import MANY
from flagstaff.snapshots.snapshots_service import REMEMBERED, SnapshotSource
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_rule, store_all

SETTINGS = Settings.load({"FLAGSTAFF_MAX_CONDITION_WORK": "1000000"})
WORK = WorkBudgets(SETTINGS.max_condition_work)


class Shop:
    """A project with some flags, and a source that has loaded it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        account = make_account()
        self.actor = Actor(account.id, account.email)
        self.environment = make_environment(make_project(account.id).id)
        self.account = account
        self.project = make_project(account.id, id=self.environment.project_id)
        self.flags = Flags(database, lambda: datetime.now(UTC), SETTINGS, WORK)
        self.rules = Rules(database, lambda: datetime.now(UTC), SETTINGS, WORK)
        self.source = SnapshotSource(database)
        self.loaded: EnvironmentSnapshot | None = None

    async def store(self) -> None:
        flags = [make_flag(self.environment, key=f"flag-{number}") for number in range(5)]
        rules = [make_rule(flag) for flag in flags[:2]]
        await store_all(self.database, self.account, self.project, self.environment, *flags, *rules)

    def path(self, flag_id: Any) -> FlagPath:
        return FlagPath(self.project.id, self.environment.id, flag_id)

    async def listed(self) -> list[Any]:
        return await self.flags.list_flags(self.actor, self.project.id, self.environment.id)

    async def require_the_same_as_anew(self) -> None:
        kept, _ = await self.source.load_environment(self.project.id, self.environment.id, self.loaded)
        anew = await SnapshotSource(self.database).load_first(self.project.id, self.environment.id)
        assert kept is not None
        self.loaded = kept
        for each in fields(kept):
            if each.name == "number":  # the latest change of the environment, or of the project
                continue
            if each.name == "use":
                continue
            assert getattr(kept, each.name) == getattr(anew, each.name), each.name


@pytest.fixture
async def shop(database: Database) -> Shop:
    made = Shop(database)
    await made.store()
    await made.require_the_same_as_anew()
    return made


async def test_a_changed_flag_is_taken_over_whatever_becomes_of_it(shop: Shop) -> None:
    for flag in await shop.listed():
        await shop.flags.toggle_flag(shop.actor, shop.path(flag.id))
        await shop.require_the_same_as_anew()
    for flag in await shop.listed():
        await shop.flags.update_flag(shop.actor, shop.path(flag.id), enabled=True, rollout_percentage=30)
        await shop.require_the_same_as_anew()
    for key in ("a-first", "z-last"):
        values = {"name": "New", "description": None, "enabled": True, "rollout_percentage": 0}
        await shop.flags.create_flag(shop.actor, shop.project.id, shop.environment.id, key=key, **values)
        await shop.require_the_same_as_anew()
    for flag in await shop.listed():
        await shop.flags.delete_flag(shop.actor, shop.path(flag.id))
        await shop.require_the_same_as_anew()


async def test_a_changed_rule_is_taken_over(shop: Shop) -> None:
    for flag in await shop.listed():
        path = shop.path(flag.id)
        rule = await shop.rules.create_rule(
            shop.actor, path, rule_type=RuleType.EMAIL_DOMAIN, rule_value="acme.com", priority=3, enabled=True
        )
        await shop.require_the_same_as_anew()
        await shop.rules.update_rule(shop.actor, path, rule.id, rule_value="example.com")
        await shop.require_the_same_as_anew()
        await shop.rules.delete_rule(shop.actor, path, rule.id)
        await shop.require_the_same_as_anew()


async def test_a_changed_segment_is_taken_over_with_the_next_change(shop: Shop) -> None:
    first, *_ = await shop.listed()
    segments = Segments(shop.database, lambda: datetime.now(UTC), SETTINGS, WORK)
    conditions = (Condition("plan", Operator.IN, ("gold",)),)
    segment = await segments.create_segment(
        shop.actor, shop.project.id, key="beta", name="Beta", description=None, conditions=conditions
    )
    values = {"rule_type": RuleType.SEGMENT, "rule_value": "beta", "priority": 0, "enabled": True}
    await shop.rules.create_rule(shop.actor, shop.path(first.id), **values)
    await shop.require_the_same_as_anew()
    await segments.update_segment(shop.actor, shop.project.id, segment.id, conditions=())
    await shop.require_the_same_as_anew()


async def test_several_changes_since_the_last_look_are_taken_over_together(shop: Shop) -> None:
    first, second, third, *_ = await shop.listed()
    await shop.flags.toggle_flag(shop.actor, shop.path(first.id))
    await shop.flags.delete_flag(shop.actor, shop.path(second.id))
    await shop.flags.toggle_flag(shop.actor, shop.path(third.id))
    await shop.require_the_same_as_anew()
    await shop.require_the_same_as_anew()


async def test_so_many_changes_that_everything_is_read_again_are_taken_over(shop: Shop) -> None:
    values = {"name": "New", "description": None, "enabled": True, "rollout_percentage": 7}
    for number in range(MANY + 1):
        key = f"many-{number}"
        await shop.flags.create_flag(shop.actor, shop.project.id, shop.environment.id, key=key, **values)
    await shop.require_the_same_as_anew()


async def test_the_compiled_flags_of_few_environments_are_kept(shop: Shop) -> None:
    others = [make_environment(shop.project.id, key=f"environment-{number}") for number in range(REMEMBERED + 5)]
    await store_all(shop.database, *others)
    for each in others:
        assert (await shop.source.load_environment(shop.project.id, each.id, None))[0]
    assert len(shop.source._compiled) == REMEMBERED
    for each in others:
        shop.source.forget(each.id)
    assert not shop.source._compiled


async def test_a_first_load_keeps_no_compiled_flags(shop: Shop) -> None:
    shop.source.forget(shop.environment.id)
    assert await shop.source.load_first(shop.project.id, shop.environment.id)
    assert not shop.source._compiled


async def test_changes_outside_the_trail_are_seen_when_an_environment_is_loaded_anew(shop: Shop) -> None:
    await store_all(shop.database, make_flag(shop.environment, key="written-by-hand"))
    environment, _ = await shop.source.load_environment(shop.project.id, shop.environment.id, None)
    assert environment is not None
    assert b"written-by-hand" in environment.default_tail
    await shop.require_the_same_as_anew()
