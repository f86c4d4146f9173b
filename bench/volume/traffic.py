"""Evaluations of an application with many users, as the engine records them."""

import random
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from flagstaff.conditions.conditions import Condition, check_condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordGroup
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.flags import RuleType
from flagstaff.flags.variants import Variant
from flagstaff.history.buffer import Buffer
from flagstaff.projects.projects import Environment
from flagstaff.serving.attributes import encode_attributes
from tests.support.builders import make_environment, make_flag, make_rule

START = datetime(2026, 6, 1, tzinfo=UTC)
FLAGS = 20
USERS = 400_000
FREQUENT_USERS = USERS // 10  # have half of the evaluations
STAGING_USERS = 500
STAGING_SHARE = 100  # one of so many evaluations is of the second environment

_COUNTRIES = [f"C{number}" for number in range(30)]
_VERSIONS = [f"{number // 10}.{number % 10}.0" for number in range(30)]
_PLANS = ("free", "pro", "team")


def known_id(name: str) -> UUID:
    """The same id for a name in each run, so that a database can be filled further."""
    return uuid5(NAMESPACE_URL, f"flagstaff:bench:volume:{name}")


PROJECT = known_id("project")


def make_flags(environment: Environment, day: int = 0) -> list[TargetedFlag]:
    """A quarter off, a quarter in a rollout, a quarter with conditions, a quarter with variants and a rollout.

    Each day, the percentage of one rollout changes, which makes another layout.
    """
    return [_make_flag(environment, number, day) for number in range(FLAGS)]


def _make_flag(environment: Environment, number: int, day: int) -> TargetedFlag:
    kind = number % 4
    flag_id = known_id(f"{environment.key}:flag:{number}")
    values: dict[str, Any] = {"enabled": kind != 0}
    if kind in (1, 3):
        values["rollout_percentage"] = 1 + (5 * number + day) % 99
    if kind == 3:
        values["variants"] = tuple(Variant(key, 250, f'"{key}"') for key in "abcd")
    flag = make_flag(environment, id=flag_id, key=f"flag-{number:02}", **values)
    if kind != 2:
        return TargetedFlag(flag, ())
    conditions = (
        Condition("country", Operator.IN, tuple(_COUNTRIES[number : number + 5])),
        Condition("plan", Operator.IN, ("pro", "team")),
        Condition("app_version", Operator.SEMVER_GTE, (f"1.{number % 10}.0",)),
    )
    rule_id = known_id(f"{environment.key}:rule:{number}")
    rule = make_rule(
        flag,
        id=rule_id,
        rule_type=RuleType.ATTRIBUTES,
        rule_value=None,
        conditions=tuple(map(check_condition, conditions)),
    )
    return TargetedFlag(flag, (rule,))


@dataclass(slots=True)
class Population:
    """An environment's users, with what the engine records for each: it is the same at each of their evaluations."""

    environment: Environment
    group: RecordGroup
    chances: Sequence[int]
    layouts: dict[int, Layout]

    def choose(self, times: Sequence[int], day: int) -> RecordGroup:
        """Evaluations at some times by users drawn at random."""
        if day not in self.layouts:
            self.layouts[day] = compile_environment(self.environment, make_flags(self.environment, day)).layout
        chosen = random.choices(self.chances, k=len(times))
        if len(chosen) == 1:
            chosen *= 2  # an itemgetter of one item returns no tuple
        pick = itemgetter(*chosen)
        users, emails, recorded = pick(self.group.users), pick(self.group.emails), pick(self.group.recorded)
        attributes = pick(self.group.attributes or ())
        size = len(times)
        return replace(
            self.group,
            layout=self.layouts[day],
            times=times,
            users=users[:size],
            emails=emails[:size],
            recorded=recorded[:size],
            attributes=attributes[:size],
        )


def make_population(key: str, users: int, frequent: int, *, long_ids: bool = False) -> Population:
    """Evaluate all flags of an environment once for each user."""
    environment = make_environment(PROJECT, id=known_id(key), key=key, name=key)
    snapshot = compile_environment(environment, make_flags(environment))
    buffer, drawn = Buffer(), random.Random(1)
    for number in range(users):
        user = str(known_id(f"user:{number}")) if long_ids else f"user-{number}"
        email = f"{user}@example.com"
        given = {
            "app_version": drawn.choice(_VERSIONS),
            "country": drawn.choice(_COUNTRIES),
            "plan": drawn.choice(_PLANS),
        }
        _, recorded = evaluate(snapshot, user, email, given)
        buffer.record(snapshot, user, email, recorded, encode_attributes(given))
    ((group,),) = [batch.groups for batch in buffer.take()]
    often = list(range(frequent))
    chances = [*range(users), *(often * ((users - frequent) // frequent))] if frequent else range(users)
    return Population(environment, group, chances, {0: snapshot.layout})


class Traffic:
    """The evaluations of some days, evenly spread, each with its number."""

    def __init__(self, evaluations: int, days: int, *, long_ids: bool = False) -> None:
        self.production = make_population("production", USERS, FREQUENT_USERS, long_ids=long_ids)
        self.staging = make_population("staging", STAGING_USERS, 0)
        self.start = int(START.timestamp()) * 10**9
        self.gap = days * 86_400 * 10**9 // evaluations

    def batch(self, first: int, size: int) -> RecordBatch:
        """So many evaluations from the number `first` on."""
        times = [self.start + number * self.gap for number in range(first, first + size)]
        day = first * self.gap // (86_400 * 10**9)
        many = size - size // STAGING_SHARE
        groups = [self.production.choose(times[:many], day)]
        if many < size:
            groups.append(self.staging.choose(times[many:], day))
        return RecordBatch(secrets.randbelow(BATCH_IDS), groups)

    def moment(self, number: int) -> datetime:
        """The time of the evaluation with a number."""
        return START + timedelta(microseconds=number * self.gap // 1000)

    def number_after(self, microseconds: int) -> int:
        """The number of the first evaluation after a time."""
        return (microseconds * 1000 - self.start) // self.gap + 1
