"""The flags to evaluate, written directly to a database: a mixed set and an all-rollout set of each size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flagstaff.domain.flags import Rule, RuleType
from flagstaff.domain.projects import Environment, Project
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.storage.database import Database
from flagstaff.storage.migrate import migrate
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_rule, store_all


@dataclass(frozen=True)
class FlagSet:
    """A project's `production` with flags of a kind."""

    name: str
    project: Project
    environment: Environment
    flags: Sequence[TargetedFlag]


def make_flag_set(size: int, *, all_rollout: bool = False) -> FlagSet:
    """Mixed: a third off, a third on, a third in a rollout, and three rules on each flag."""
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


async def store_flag_sets(data: Path, sets: Sequence[FlagSet]) -> None:
    """Write sets into a new SQLite database in a folder."""
    await migrate(None, data)
    database = Database(None, data)
    owner = make_account()
    try:
        await store_all(database, owner)
        for each in sets:
            project = make_project(owner.id, id=each.project.id, sdk_key=each.project.sdk_key)
            rules = [rule for targeted in each.flags for rule in targeted.rules]
            await store_all(database, project, each.environment, *(targeted.flag for targeted in each.flags), *rules)
    finally:
        await database.close()


def _three_rules(flag_id: object, number: int) -> list[Rule]:
    values = {
        RuleType.USER_ID: f"tester-{number}",
        RuleType.USER_EMAIL: f"tester-{number}@example.com",
        RuleType.EMAIL_DOMAIN: f"team-{number}.example.com",
    }
    return [make_rule(flag_id=flag_id, rule_type=kind, rule_value=value) for kind, value in values.items()]
