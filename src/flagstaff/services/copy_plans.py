"""What copying flags from one environment to another alters, and why some cannot be copied."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.domain.comparisons import Side
from flagstaff.domain.copies import RULES_MAX, Alteration, Part, copied_flag, copied_rules, new_flag
from flagstaff.domain.errors import Code, Error, FieldError, invalid_field
from flagstaff.domain.flags import Flag, Rule
from flagstaff.domain.prerequisites import Prerequisite
from flagstaff.domain.projects import Environment
from flagstaff.pacing import Turns, in_pieces
from flagstaff.services.access import scope_of
from flagstaff.services.references import (
    require_known_prerequisites,
    require_no_cycle,
    require_no_needed_variant,
)
from flagstaff.services.sides import read_sides
from flagstaff.storage import flags, rules
from flagstaff.storage.database import Connection

FLAG_KEYS = "flag_keys"


@dataclass(frozen=True, slots=True)
class CopiedFlag:
    """A flag in the target environment before the copy, if there is one, and after it, with its rules."""

    before: Flag | None
    after: Flag
    rules: Sequence[tuple[Rule | None, Rule | None]]
    given: Collection[str]
    """The variants that its rules will give."""

    def alterations(self) -> Iterator[Alteration]:
        """What is written, in this order."""
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
    """Which flags to copy, and which parts of them."""

    keys: Sequence[str]
    parts: Collection[Part]


async def plan_copy(
    connection: Connection, origin: Environment, target: Environment, wanted: Wanted, now: datetime
) -> list[CopiedFlag]:
    """What a copy makes of each flag.

    Raises:
        Error: INVALID, which names them, for flags that the origin does not have; CONFLICT, with the reason for each,
            for flags that cannot be copied.
    """
    await _require_few_rules(connection, origin, target, wanted.keys)
    sources = await read_sides(connection, origin.id, wanted.keys)
    targets = await read_sides(connection, target.id, wanted.keys)
    archived = await flags.find_archived_keys(connection, target.id, wanted.keys)
    origins, present = await in_pieces(sources.collecting()), await in_pieces(targets.collecting())
    _require_known(wanted.keys, origins.keys(), origin)
    turns = Turns()
    copied = []
    for place, key in enumerate(wanted.keys):
        # A microsecond apart, so that the order of new flags by age is defined.
        at = now + timedelta(microseconds=place)
        copied.append(_copied(origins[key], present.get(key), wanted.parts, target.id, at))
        await turns.give()
    problems = dict.fromkeys(
        archived, f"is the key of an archived flag of {target.key}; unarchive or delete that one first"
    )
    problems = {**await _find_problems(connection, target, copied, turns), **problems}
    if problems:
        fields = [
            FieldError(f"{FLAG_KEYS}.{at}", problems[key]) for at, key in enumerate(wanted.keys) if key in problems
        ]
        count = "1 of the flags" if len(fields) == 1 else f"{len(fields)} of the flags"
        raise Error(Code.CONFLICT, f"{count} cannot be copied to {target.key}. Nothing was copied.", fields=fields)
    return copied


def _copied(
    origin: Side, present: Side | None, parts: Collection[Part], environment_id: UUID, at: datetime
) -> CopiedFlag:
    new = new_flag(origin.flag, environment_id, present.flag.id if present else uuid7(), at)
    after = copied_flag(origin, present.flag if present else None, parts, new)
    own = present.rules if present else ()
    pairs = copied_rules(origin.rules, own, after.id, uuid7, at) if Part.RULES in parts else []
    giving = origin.rules if Part.RULES in parts else own
    given = {rule.variant for rule in giving if rule.variant is not None}
    return CopiedFlag(present.flag if present else None, after, pairs, given)


def _require_known(keys: Sequence[str], known: Collection[str], origin: Environment) -> None:
    message = f"must be the key of a flag of {origin.key} that is not archived"
    fields = [FieldError(f"{FLAG_KEYS}.{place}", message) for place, key in enumerate(keys) if key not in known]
    if fields:
        raise Error(Code.INVALID, "The request is invalid.", fields=fields)


async def _require_few_rules(
    connection: Connection, origin: Environment, target: Environment, keys: Collection[str]
) -> None:
    count = await rules.count_rules_of_keys(connection, (origin.id, target.id), keys)
    if count > RULES_MAX:
        raise invalid_field(
            FLAG_KEYS,
            f"have {count:,} rules in both environments; at most {RULES_MAX:,} can be copied at once. Copy fewer flags",
        )


async def _find_problems(
    connection: Connection, target: Environment, copied: Sequence[CopiedFlag], turns: Turns
) -> dict[str, str]:
    """Why flags cannot be copied, by key, as the target environment would be after the copy."""
    needed = {each.flag_key for one in copied for each in one.after.prerequisites}
    variants: dict[str, Collection[str]] = dict(await flags.list_variant_keys(connection, target.id, needed))
    variants |= {each.after.key: [variant.key for variant in each.after.variants] for each in copied}
    present = await flags.list_prerequisites(connection, target.id)
    present |= {each.after.key: each.after.prerequisites for each in copied}
    problems = {}
    for each in copied:
        problem = _find_problem(each, variants, present, target)
        if problem is not None:
            problems[each.after.key] = problem
        await turns.give()
    return problems


def _find_problem(
    copied: CopiedFlag,
    variants: Mapping[str, Collection[str]],
    present: Mapping[str, Sequence[Prerequisite]],
    target: Environment,
) -> str | None:
    before, after = copied.before, copied.after
    lost = sorted(set(copied.given) - {variant.key for variant in after.variants})
    if lost:
        return f"would have a rule that gives the variant {lost[0]}, which it would not have; copy rules and variants"
    is_new_need = before is None or before.prerequisites != after.prerequisites
    missing = [each.flag_key for each in after.prerequisites if each.flag_key not in variants]
    if missing and is_new_need:
        return f"needs {missing[0]}, which {target.key} does not have, or only archived; copy that flag as well"
    try:
        if is_new_need:
            require_known_prerequisites(after, variants)
            require_no_cycle(after, present)
        if before is not None and before.variants != after.variants:
            require_no_needed_variant(before, after, present)
    except Error as error:
        return _as_text(error)
    return None


def _as_text(error: Error) -> str:
    if error.code is Code.INVALID:
        return ", ".join(f"{each.field} {each.message}" for each in error.fields)
    return error.message
