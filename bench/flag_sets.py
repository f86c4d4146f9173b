"""The flags to evaluate, written directly to a database: sets of several kinds and sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from flagstaff.conditions.conditions import Condition, check_condition
from flagstaff.conditions.operators import Operator
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.flags.flags import Fallthrough, Rule, RuleType
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.variants import Variant
from flagstaff.projects.projects import Environment, Project
from flagstaff.projects.sdk_keys import hash_sdk_key, new_environment_key
from flagstaff.projects.sdk_keys_store import create_key
from tests.support.builders import (
    make_account,
    make_environment,
    make_flag,
    make_project,
    make_rule,
    make_sdk_key,
    make_segment,
    store_all,
)


@dataclass(frozen=True)
class FlagSet:
    """A project's `production` with flags of a kind."""

    name: str
    project: Project
    environment: Environment
    flags: Sequence[TargetedFlag]
    segments: Sequence[Segment] = ()
    key: str = ""  # of the environment, for a set that is evaluated by OFREP

    @property
    def sdk_key(self) -> str:
        """The key for evaluating it."""
        return self.key or self.project.sdk_key or ""


def make_mixed_set(size: int, *, all_rollout: bool = False) -> FlagSet:
    """Return flags that are off, on or in a rollout, a third each, with three rules each; or all in a rollout."""
    project = make_project()
    environment = make_environment(project.id)
    flags = []
    for number in range(size):
        kind = 1 if all_rollout else (number + 1) % 3
        flag = make_flag(
            environment,
            key=f"flag-{number:04d}",
            enabled=kind != 0,
            rollout_percentage=number % 99 + 1 if kind == 1 else 0,
        )
        flags.append(TargetedFlag(flag, () if all_rollout else _three_rules(flag.id, number)))
    return FlagSet(f"{size} {'rollout' if all_rollout else 'mixed'}", project, environment, flags)


def make_attributes_set(size: int) -> FlagSet:
    """Return flags that one rule turns on, whose five conditions test three attributes."""
    project = make_project()
    environment = make_environment(project.id)
    flags = []
    for number in range(size):
        flag = make_flag(environment, key=f"flag-{number:04d}", fallthrough=Fallthrough.OFF)
        rule = make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=_five_conditions(number))
        flags.append(TargetedFlag(flag, (rule,)))
    return FlagSet(f"{size} attributes", project, environment, flags)


def make_segments_set(size: int) -> FlagSet:
    """Return ten segments, and flags that are on for two of them only."""
    project = make_project()
    environment = make_environment(project.id)
    segments = [
        make_segment(project.id, key=f"segment-{number}", conditions=_five_conditions(number)) for number in range(10)
    ]
    flags = []
    for number in range(size):
        flag = make_flag(environment, key=f"flag-{number:04d}", fallthrough=Fallthrough.OFF)
        named = (segments[number % 10].key, segments[(number + 3) % 10].key)
        rules = [make_rule(flag, rule_type=RuleType.SEGMENT, rule_value=key, priority=len(key)) for key in named]
        flags.append(TargetedFlag(flag, rules))
    return FlagSet(f"{size} segments", project, environment, flags, segments)


def make_variants_set(size: int) -> FlagSet:
    """Return flags that are on for everyone with one of four variants, whose weights differ between flags."""
    project = make_project()
    environment = make_environment(project.id)
    flags = []
    for number in range(size):
        first = 100 + number % 300
        weights = (first, 500 - first, 300, 200)
        variants = tuple(Variant(key, weight, f'"{key}-{number}"') for key, weight in zip("abcd", weights, strict=True))
        flag = make_flag(environment, key=f"flag-{number:04d}", variants=variants)
        flags.append(TargetedFlag(flag, ()))
    return FlagSet(f"{size} variants", project, environment, flags)


def make_ofrep_set(size: int) -> FlagSet:
    """Return the mixed set, evaluated by OFREP."""
    mixed = make_mixed_set(size)
    key = new_environment_key(mixed.project.id, mixed.environment.key)
    return replace(mixed, name=f"{size} OFREP", key=key)


async def store_flag_sets(data: Path, sets: Sequence[FlagSet], url: str | None = None) -> None:
    """Write sets into a new SQLite database in a folder, or into an empty one of PostgreSQL."""
    await migrate(url, data)
    database = Database(url, data)
    owner = make_account()
    try:
        await store_all(database, owner)
        for each in sets:
            project = make_project(owner.id, id=each.project.id, sdk_key=each.project.sdk_key)
            rules = [rule for targeted in each.flags for rule in targeted.rules]
            flags = [targeted.flag for targeted in each.flags]
            await store_all(database, project, each.environment, *each.segments, *flags, *rules)
            if each.key:
                key = make_sdk_key(each.environment, owner)
                async with database.transaction() as transaction:
                    await create_key(transaction.connection, key, hash_sdk_key(each.key))
    finally:
        await database.close()


def _five_conditions(number: int) -> tuple[Condition, ...]:
    """Return conditions on the three attributes that evaluate.lua sends; a few in a hundred users meet all."""
    countries = tuple(f"country-{(number + step) % 20}" for step in range(5))
    conditions = (
        Condition("country", Operator.IN, countries),
        Condition("country", Operator.NOT_IN, countries[3:]),
        Condition("plan", Operator.IN, (f"plan-{number % 4}", f"plan-{number % 3}")),
        Condition("plan", Operator.STARTS_WITH, ("plan-",)),
        Condition("app_version", Operator.SEMVER_GTE, (f"1.{number % 20}.0",)),
    )
    return tuple(map(check_condition, conditions))


def _three_rules(flag_id: object, number: int) -> list[Rule]:
    values = {
        RuleType.USER_ID: f"tester-{number}",
        RuleType.USER_EMAIL: f"tester-{number}@example.com",
        RuleType.EMAIL_DOMAIN: f"team-{number}.example.com",
    }
    return [make_rule(flag_id=flag_id, rule_type=kind, rule_value=value) for kind, value in values.items()]
