"""Plans a copy of flags from one environment to another, and says why some cannot be copied."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.concurrency.pacing import Turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.copying.comparisons import Side
from flagstaff.copying.copies import (
    RULES_MAX,
    Alteration,
    Part,
    RulePair,
    copied_flag,
    copied_rules,
    new_flag,
    parts_with_other_users,
)
from flagstaff.copying.environment_flags import read_environment_flags
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.flags.access import scope_of
from flagstaff.flags.flags import Flag
from flagstaff.flags.prerequisites import find_cyclic
from flagstaff.flags.references import (
    NeededVariants,
    find_needed_variants,
    list_needs,
    require_known_prerequisites,
    require_no_cycle,
    require_no_needed_variant,
)
from flagstaff.flags.targeting import rules_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error, FieldError, invalid_field

FLAG_KEYS = "flag_keys"


@dataclass(frozen=True, slots=True)
class CopiedFlag:
    """A flag in the target environment before the copy, if there is one, and after it, with its rules."""

    before: Flag | None
    after: Flag
    rules: Sequence[RulePair]
    rule_count: int
    """How many rules the flag will have."""
    given: Collection[str]
    """The variants that its rules will give."""
    other_users: Sequence[Part]
    """The parts that would stay as they are, but with other users."""

    def alterations(self) -> Iterator[Alteration]:
        """The writes, in their order."""
        scope = scope_of(self.after)
        if self.before is None:
            yield Alteration("flag.created", scope, None, self.after)
        elif self.after != self.before:
            only_state = replace(self.after, enabled=self.before.enabled, updated_at=self.before.updated_at)
            action = "flag.toggled" if only_state == self.before else "flag.updated"
            yield Alteration(action, scope, self.before, self.after)
        for before, after in self.rules:
            verb = "created" if before is None else "deleted" if after is None else "updated"
            yield Alteration(f"rule.{verb}", scope, before, after)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The flags to copy, and the parts of them."""

    keys: Sequence[str]
    parts: Collection[Part]


async def plan_copy(
    connection: Connection, origin: Environment, target: Environment, wanted: Wanted, now: datetime
) -> list[CopiedFlag]:
    """Plan the copy of each flag.

    Raises:
        Error: INVALID, which names them, for flags that the origin does not have; CONFLICT, with the reason for each,
            for flags that cannot be copied.
    """
    await _require_few_rules(connection, origin, target, wanted.keys)
    sources = await read_environment_flags(connection, origin.id, wanted.keys)
    targets = await read_environment_flags(connection, target.id, wanted.keys)
    archived = await flags_store.find_archived_keys(connection, target.id, wanted.keys)
    origins, present = await in_worker(sources.collect), await in_worker(targets.collect)
    _require_known(wanted.keys, origins.keys(), origin)
    copied = await in_worker(_copy_each, [(origins[key], present.get(key)) for key in wanted.keys], wanted, target, now)
    problems = dict.fromkeys(
        archived, f"is the key of an archived flag of {target.key}; unarchive or delete that one first"
    )
    problems = {**await _find_problems(connection, target, copied), **problems}
    if problems:
        fields = [
            FieldError(f"{FLAG_KEYS}.{at}", problems[key]) for at, key in enumerate(wanted.keys) if key in problems
        ]
        count = "1 of the flags" if len(fields) == 1 else f"{len(fields)} of the flags"
        raise Error(Code.CONFLICT, f"{count} cannot be copied to {target.key}. Nothing was copied.", fields=fields)
    return copied


def _copy_each(
    pairs: Iterable[tuple[Side, Side | None]], wanted: Wanted, target: Environment, now: datetime
) -> list[CopiedFlag]:
    copied = []
    for place, (origin, present) in enumerate(pairs):
        # A microsecond apart, so that the order of new flags by age is defined.
        at = now + timedelta(microseconds=place)
        copied.append(_copy(origin, present, wanted.parts, target.id, at))
    return copied


def _copy(
    origin: Side, present: Side | None, parts: Collection[Part], environment_id: UUID, at: datetime
) -> CopiedFlag:
    new = new_flag(origin.flag, environment_id, present.flag.id if present else uuid7(), at)
    after = copied_flag(origin, present.flag if present else None, parts, new)
    own = present.rules if present else ()
    pairs = copied_rules(origin.rules, own, after.id, uuid7, at) if Part.RULES in parts else []
    giving = origin.rules if Part.RULES in parts else own
    given = {rule.variant for rule in giving if rule.variant is not None}
    others = parts_with_other_users(present, after, parts) if present else ()
    count = len(own) + sum(new is not None for _, new in pairs) - sum(old is not None for old, _ in pairs)
    return CopiedFlag(present.flag if present else None, after, pairs, count, given, others)


def _require_known(keys: Sequence[str], known: Collection[str], origin: Environment) -> None:
    message = f"must be the key of a flag of {origin.key} that is not archived"
    fields = [FieldError(f"{FLAG_KEYS}.{place}", message) for place, key in enumerate(keys) if key not in known]
    if fields:
        raise Error(Code.INVALID, "The request is invalid.", fields=fields)


async def _require_few_rules(
    connection: Connection, origin: Environment, target: Environment, keys: Collection[str]
) -> None:
    count = await rules_store.count_rules_of_keys(connection, (origin.id, target.id), keys)
    if count > RULES_MAX:
        raise invalid_field(
            FLAG_KEYS,
            f"have {count:,} rules in both environments; at most {RULES_MAX:,} can be copied at once. Copy fewer flags",
        )


@dataclass(frozen=True, slots=True)
class _Present:
    """The target environment as it would be after the copy."""

    environment: Environment
    variants: Mapping[str, Collection[str]]
    needs: Mapping[str, Sequence[str]]
    cyclic: Collection[str]
    needed_variants: NeededVariants


async def _find_problems(connection: Connection, target: Environment, copied: Sequence[CopiedFlag]) -> dict[str, str]:
    """The reasons why flags cannot be copied, by key, as the target environment would be after the copy."""
    needed = {each.flag_key for one in copied for each in one.after.prerequisites}
    variants: dict[str, Collection[str]] = dict(await flags_store.list_variant_keys(connection, target.id, needed))
    variants |= {each.after.key: [variant.key for variant in each.after.variants] for each in copied}
    prerequisites = await flags_store.list_prerequisites(connection, target.id)
    prerequisites |= {each.after.key: each.after.prerequisites for each in copied}
    needs = await list_needs(prerequisites)
    cyclic = await in_worker(find_cyclic, needs)
    needed_variants = await in_worker(find_needed_variants, prerequisites)
    present = _Present(target, variants, needs, cyclic, needed_variants)
    problems, turns = {}, Turns()
    for each in copied:
        problem = await _find_problem(each, present)
        if problem is not None:
            problems[each.after.key] = problem
        await turns.give()
    return problems


async def _find_problem(copied: CopiedFlag, present: _Present) -> str | None:
    before, after = copied.before, copied.after
    lost = sorted(set(copied.given) - {variant.key for variant in after.variants})
    if lost:
        return f"would have a rule for the variant {lost[0]}, which it would not have; copy rules and variants"
    if copied.other_users:
        own = " and ".join(copied.other_users)
        return (
            f"would choose other users for its own {own}, because its bucketing_key or stickiness would change; "
            "copy rollout, rules and variants together"
        )
    is_new_need = before is None or before.prerequisites != after.prerequisites
    missing = [each.flag_key for each in after.prerequisites if each.flag_key not in present.variants]
    if missing and is_new_need:
        place = present.environment.key
        return f"needs {missing[0]}, which {place} does not have, or only archived; copy that flag as well"
    try:
        if is_new_need:
            require_known_prerequisites(after, present.variants)
            if after.key in present.cyclic:
                await require_no_cycle(after, present.needs)
        if before is not None:
            require_no_needed_variant(before, after, present.needed_variants)
    except Error as error:
        return _as_text(error)
    return None


def _as_text(error: Error) -> str:
    if error.code is Code.INVALID:
        return ", ".join(f"{each.field} {each.message}" for each in error.fields)
    return error.message
