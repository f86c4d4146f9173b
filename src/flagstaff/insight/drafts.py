"""Drafts: flags as they might be saved, checked as if they were. Nothing is stored.

Quotas are not checked, but each draft has a budget of work, like an environment.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker
from flagstaff.conditions.compiled_conditions import check_conditions
from flagstaff.conditions.conditions import InvalidConditionError
from flagstaff.database.database import Connection
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.flags import flags_store
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import Flag, Rule, RuleType, check_rule_value
from flagstaff.flags.references import (
    missing_segment,
    require_free_key,
    require_given_conditions,
    require_prerequisites,
    require_unneeded_variants,
    require_variant,
)
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.flags.targeting.segments import Segment
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Error, invalid_field

_FIELD = "flag"
_RULES = f"{_FIELD}.rules"


@dataclass(frozen=True, slots=True)
class DraftRule:
    """A rule's fields. One with an id stands in for that rule of the saved flag; others are new."""

    id: UUID | None
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """A flag's fields and all of its rules. It stands in for the saved flag with the same key, or is new."""

    values: Mapping[str, Any]
    rules: Sequence[DraftRule]


@dataclass(frozen=True, slots=True)
class DraftedFlag:
    """A draft that could be saved; `new_rules` are the ids of rules that are not saved yet."""

    targeted: TargetedFlag
    saved: Flag | None
    new_rules: Collection[UUID]

    @property
    def key(self) -> str:
        """The flag's key."""
        return self.targeted.flag.key


async def check_values(draft: Draft) -> Draft:
    """Return a draft with its values as they are stored; raises Error INVALID at the first one that cannot be."""
    if not draft.rules:
        return draft
    return replace(draft, rules=await in_worker(_check_rules, draft.rules))


async def read_draft(
    connection: Connection, environment: Environment, draft: Draft, now: datetime, work: WorkBudgets
) -> DraftedFlag:
    """The flag as it would be after it is saved now; `check_values` returned the draft.

    Raises:
        Error: INVALID at its field, or CONFLICT, as when it is saved; INVALID at the condition with which it exceeds
            its budget of work.
    """
    saved = next(await flags_store.find_flags_by_key(connection, environment.id, [draft.values["key"]]), None)
    saved_rules: dict[UUID, Rule] = {}
    if saved is None:
        await require_free_key(connection, environment.id, draft.values["key"])
        flag = Flag(
            id=uuid7(),
            project_id=environment.project_id,
            environment_id=environment.id,
            created_at=now,
            updated_at=now,
            **draft.values,
        )
    else:
        flag = replace(saved, **draft.values)
        saved_rules = {rule.id: rule for rule in await collect(await rules_store.list_rules(connection, saved.id))}
    _require_own_rules(draft, saved_rules)
    # New rules come after those of the same priority, in the order of the draft.
    latest = max([now, *(rule.created_at for rule in saved_rules.values())])
    drafted = await collect(
        replace(saved_rules[each.id], **each.values)
        if each.id is not None
        else _new_rule(flag, each, latest + timedelta(microseconds=place + 1))
        for place, each in enumerate(draft.rules)
    )
    with inside_draft():
        await require_prerequisites(connection, flag)
    if saved is not None:
        await require_unneeded_variants(connection, saved, flag)
    named = await _require_what_rules_name(connection, flag, drafted)
    await _require_budget(work, drafted, list(saved_rules.values()), named)
    new_rules = {rule.id for rule in drafted} - saved_rules.keys()
    return DraftedFlag(TargetedFlag(flag, drafted), saved, new_rules)


def _check_rules(rules: Sequence[DraftRule]) -> list[DraftRule]:
    """Check the rules: thousands of values take milliseconds."""
    checked = []
    for place, rule in enumerate(rules):
        checked.append(_check_rule(rule, f"{_RULES}.{place}"))
    return checked


def _check_rule(rule: DraftRule, place: str) -> DraftRule:
    try:
        check_rule_value(rule.values["rule_type"], rule.values["rule_value"])
    except ValueError as error:
        raise invalid_field(f"{place}.rule_value", str(error)) from error
    with _inside(place):
        require_given_conditions(rule.values)
    try:
        conditions = check_conditions(rule.values.get("conditions", ()))
    except InvalidConditionError as error:
        raise invalid_field(error.inside("conditions").inside(place).path, str(error)) from error
    return replace(rule, values={**rule.values, "conditions": conditions})


def _require_own_rules(draft: Draft, saved_rules: Mapping[UUID, Rule]) -> None:
    given: set[UUID] = set()
    for place, each in enumerate(draft.rules):
        field = f"{_RULES}.{place}.id"
        if each.id is None:
            continue
        if each.id not in saved_rules:
            raise invalid_field(field, "must be the id of a rule of the saved flag; leave it out for a new rule")
        if each.id in given:
            raise invalid_field(field, "must not occur twice")
        given.add(each.id)


def _new_rule(flag: Flag, rule: DraftRule, at: datetime) -> Rule:
    return Rule(id=uuid7(), flag_id=flag.id, created_at=at, updated_at=at, **rule.values)


async def _require_what_rules_name(connection: Connection, flag: Flag, drafted: Sequence[Rule]) -> Collection[Segment]:
    """The segments that the rules name; raises Error INVALID for one, or a variant, that does not exist."""
    named = {rule.rule_value or "" for rule in drafted if rule.rule_type is RuleType.SEGMENT}
    found: Sequence[Segment] = ()
    if named:
        found = await collect(
            await segments_store.find_named_segments(connection, flag.project_id, flag_ids=(), keys=named)
        )
    await in_worker(_check_names, flag, drafted, named - {segment.key for segment in found})
    return found


def _check_names(flag: Flag, drafted: Sequence[Rule], missing: Collection[str]) -> None:
    for place, rule in enumerate(drafted):
        with _inside(f"{_RULES}.{place}"):
            require_variant(flag, rule)
            if rule.rule_type is RuleType.SEGMENT and rule.rule_value in missing:
                raise missing_segment()


async def _require_budget(
    work: WorkBudgets, drafted: Sequence[Rule], saved: Collection[Rule], named: Collection[Segment]
) -> None:
    excess = await in_worker(work.find_excess_of_draft, drafted, saved, named)
    if excess is not None:
        raise invalid_field(f"{_RULES}.{excess.place}.{excess.field}", excess.message)


@contextmanager
def inside_draft() -> Iterator[None]:
    """Place the invalid fields of an Error inside the draft."""
    with _inside(_FIELD):
        yield


@contextmanager
def _inside(parent: str) -> Iterator[None]:
    try:
        yield
    except Error as error:
        raise error.inside(parent) from error
