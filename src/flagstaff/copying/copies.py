"""Copying flags from one environment to another: which parts are carried, and what that makes of a flag and its rules.

The users of a rollout stay the same: a bucket is hashed from the bucketing key, or the flag's key, and the value that
the stickiness names, and never from the environment. So these two are carried with every share.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from itertools import groupby, zip_longest
from operator import attrgetter
from typing import Any
from uuid import UUID

from flagstaff.changes.changes import Scope, altered_values
from flagstaff.copying.comparisons import RULE_CONTENT, Side, same_rule
from flagstaff.flags.flags import DETAILS, Flag, Rule
from flagstaff.values.moments import later_than

RulePair = tuple[Rule | None, Rule | None]
"""A rule before a copy and after it. The first is None if it is created, the second if it is deleted."""

FLAGS_MAX = 100
RULES_MAX = 5_000
"""The most flags that one copy may have, and the most rules that these may have in both environments."""
ALTERED_MAX = 500
"""The most flags and rules that one copy may write, unless it is of one flag: other writes wait meanwhile."""
CLONED_MAX = 5_000
"""The most flags and rules together in an environment that is cloned."""


class Part(StrEnum):
    """A part of a flag that can be copied."""

    DETAILS = "details"
    STATE = "state"
    ROLLOUT = "rollout"
    RULES = "rules"
    VARIANTS = "variants"
    PREREQUISITES = "prerequisites"


_FIELDS = {
    Part.DETAILS: DETAILS,
    Part.STATE: ("enabled",),
    Part.ROLLOUT: ("rollout_percentage", "fallthrough"),
    Part.VARIANTS: ("variants",),
    Part.PREREQUISITES: ("prerequisites",),
}
# Without one of them, a flag that is on could be on for more users than in the environment that it comes from.
_LIMITING = frozenset({Part.ROLLOUT, Part.RULES, Part.PREREQUISITES})


@dataclass(frozen=True, slots=True)
class Alteration:
    """A write of a copy, to a flag or a rule. `before` is None if it is created, `after` if it is deleted."""

    action: str
    scope: Scope
    before: Flag | Rule | None
    after: Flag | Rule | None

    @property
    def resource(self) -> Flag | Rule:
        """The flag or the rule."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def fields(self) -> list[tuple[str, Any, Any]]:
        """The fields that are altered, with both values as the audit trail has them."""
        return altered_values(self.before, self.after)


def copied_flag(origin: Side, target: Flag | None, parts: Collection[Part], new: Flag) -> Flag:
    """Return the flag that a copy makes of the target's; the same object if nothing changes.

    If there is none, it is `new`, with the details and what is carried. It is off unless its state and all that limits
    its users are carried.
    """
    values = {name: getattr(origin.flag, name) for name in _carried(origin, parts)}
    if target is None:
        values["enabled"] = origin.flag.enabled and Part.STATE in parts and _LIMITING.issubset(parts)
        return replace(new, **values)
    updated = replace(target, **values)
    return target if updated == target else replace(updated, updated_at=later_than(target.updated_at, new.updated_at))


def parts_with_other_users(before: Side, after: Flag, parts: Collection[Part]) -> list[Part]:
    """The parts that stay as they are, but with other users, because what their shares are chosen by is carried."""
    flag = before.flag
    if (flag.bucketing_key, flag.stickiness) == (after.bucketing_key, after.stickiness):
        return []
    shares = {
        Part.ROLLOUT: 0 < flag.rollout_percentage < 100,
        Part.RULES: any(0 < rule.rollout_percentage < 100 for rule in before.rules),
        Part.VARIANTS: len(flag.variants) > 1,
    }
    return [part for part, has_share in shares.items() if has_share and part not in parts]


def new_flag(origin: Flag, environment_id: UUID, flag_id: UUID, at: datetime) -> Flag:
    """A flag like another in a new place, with nothing but its details."""
    return Flag(
        id=flag_id,
        project_id=origin.project_id,
        environment_id=environment_id,
        key=origin.key,
        enabled=False,
        rollout_percentage=0,
        created_at=at,
        updated_at=at,
        **{name: getattr(origin, name) for name in DETAILS},
    )


def copied_rules(
    origin: Sequence[Rule], target: Sequence[Rule], flag_id: UUID, new_id: Callable[[], UUID], at: datetime
) -> list[RulePair]:
    """The rules to write so that the target's say the same as the origin's in the same order.

    Both are in the order in which they are tried: by priority, and then by age. A rule that says the same stays.
    """
    at = max((later_than(each.created_at, at) for each in target), default=at)
    moments = (at + timedelta(microseconds=place) for place in range(len(origin)))
    wanted, present = _by_priority(origin), _by_priority(target)
    pairs: list[RulePair] = []
    for priority in sorted({*wanted, *present}, reverse=True):
        aligned = _aligned(wanted.get(priority, ()), present.get(priority, ()))
        for before, like in aligned:
            if like is None:
                pairs.append((before, None))
            elif before is None:
                pairs.append((None, rule_like(like, flag_id, new_id(), next(moments))))
            elif not same_rule(before, like):
                content = {name: getattr(like, name) for name in RULE_CONTENT}
                pairs.append((before, replace(before, **content, updated_at=later_than(before.updated_at, at))))
    return pairs


def rule_like(origin: Rule, flag_id: UUID, rule_id: UUID, at: datetime) -> Rule:
    """A new rule that says the same as another."""
    return replace(origin, id=rule_id, flag_id=flag_id, created_at=at, updated_at=at)


def fingerprint(alterations: Iterable[Alteration]) -> str:
    """Return a short text for a list of writes. It is the same each time, although ids are new."""
    digest = sha256()
    for each in alterations:
        place = str(each.before.id) if each.before else ""
        digest.update(json.dumps([each.action, each.scope.flag_key, place, each.fields]).encode())
    return digest.hexdigest()


def _carried(origin: Side, parts: Collection[Part]) -> Iterator[str]:
    for part, names in _FIELDS.items():
        if part in parts:
            yield from names
    has_shares = (
        Part.ROLLOUT in parts
        or (Part.VARIANTS in parts and origin.flag.variants)
        or (Part.RULES in parts and any(rule.rollout_percentage < 100 for rule in origin.rules))
    )
    if has_shares:
        yield from ("bucketing_key", "stickiness")


def _by_priority(rules: Iterable[Rule]) -> dict[int, list[Rule]]:
    return {priority: list(some) for priority, some in groupby(rules, key=attrgetter("priority"))}


def _aligned(wanted: Sequence[Rule], present: Sequence[Rule]) -> Iterable[RulePair]:
    """Each present rule with the one that it becomes. A new rule is younger than all others, so it can only be last."""
    waiting = list(reversed(wanted))
    kept = [waiting.pop() if waiting and same_rule(rule, waiting[-1]) else None for rule in present]
    return zip_longest(present, wanted) if waiting else zip(present, kept, strict=True)
