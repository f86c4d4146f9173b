"""Checks that values are valid, and that the prerequisites, variants and segments that they name exist."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_write_worker
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule, RuleType, check_rule_value
from flagstaff.flags.prerequisites import Prerequisite, find_cycle
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.values.errors import Code, Error, FieldError, invalid_field


async def require_prerequisites(connection: Connection, flag: Flag) -> None:
    """Refuse prerequisites that cannot be.

    Raises:
        Error: INVALID for a flag or a variant that does not exist, CONFLICT for a cycle, which it names.
    """
    if not flag.prerequisites:
        return
    keys = {each.flag_key for each in flag.prerequisites}
    variants = await flags_store.list_variant_keys(connection, flag.environment_id, keys)
    variants[flag.key] = [variant.key for variant in flag.variants]
    require_known_prerequisites(flag, variants)
    present = await flags_store.list_prerequisites(connection, flag.environment_id)
    await require_no_cycle(flag, await list_needs({**present, flag.key: flag.prerequisites}))


async def list_needs(present: Mapping[str, Sequence[Prerequisite]]) -> dict[str, list[str]]:
    """The keys of the flags that each flag needs; `present` are the prerequisites of all flags, by key."""
    return dict(await collect((key, [each.flag_key for each in needed]) for key, needed in present.items()))


def require_known_prerequisites(flag: Flag, variants: Mapping[str, Collection[str]]) -> None:
    """Raise Error INVALID for a prerequisite that does not exist; `variants` has the known flags' variants."""
    mistakes = []
    for place, each in enumerate(flag.prerequisites):
        if each.flag_key not in variants:
            message = "must be the key of a flag of this environment"
            mistakes.append(FieldError(f"prerequisites.{place}.flag_key", message))
            continue
        mistakes += [
            FieldError(f"prerequisites.{place}.variants.{at}", f"must be the key of a variant of {each.flag_key}")
            for at, key in enumerate(each.variants)
            if key not in variants[each.flag_key]
        ]
    if mistakes:
        raise Error(Code.INVALID, "The request is invalid.", fields=mistakes)


async def require_no_cycle(flag: Flag, needs: Mapping[str, Sequence[str]]) -> None:
    """Raise Error CONFLICT, which names it, for a cycle of prerequisites; `needs` has the prerequisites by flag."""
    cycle = await in_write_worker(find_cycle, needs, flag.key)
    if cycle:
        chain = " needs ".join(cycle)
        place = needs[flag.key].index(cycle[1])
        raise Error(
            Code.CONFLICT,
            f"The prerequisites would form a cycle: {chain}.",
            fields=[FieldError(f"prerequisites.{place}.flag_key", f"would form a cycle: {chain}")],
        )


async def require_live_prerequisites(connection: Connection, flag: Flag) -> None:
    """Raise Error CONFLICT, which names them, if prerequisites of the flag are archived."""
    keys = {each.flag_key for each in flag.prerequisites}
    archived = sorted(await flags_store.find_archived_keys(connection, flag.environment_id, keys)) if keys else ()
    if archived:
        raise Error(
            Code.CONFLICT,
            f"The flag {flag.key} has archived prerequisites: {', '.join(archived)}. Unarchive them first.",
        )


async def require_free_key(connection: Connection, environment_id: UUID, key: str) -> None:
    """Raise Error CONFLICT if an archived flag of the environment has the key."""
    if await flags_store.find_archived_keys(connection, environment_id, [key]):
        raise Error(
            Code.CONFLICT,
            f"An archived flag of the environment has the key {key}. Unarchive or delete it, or choose another key.",
        )


async def require_unneeded(connection: Connection, flag: Flag, *, with_archived: bool = True) -> None:
    """Raise Error CONFLICT if the flag is a prerequisite of others, of which those that are archived may not count."""
    present = await flags_store.list_prerequisites(connection, flag.environment_id, with_archived=with_archived)
    found = await collect((key, flag.key in {each.flag_key for each in needed}) for key, needed in present.items())
    users = sorted(key for key, needs_it in found if needs_it)
    if users:
        raise Error(
            Code.CONFLICT,
            f"The flag {flag.key} is a prerequisite of {', '.join(users)}. Remove it from their prerequisites first.",
        )


async def require_unused_variants(connection: Connection, before: Flag, after: Flag) -> None:
    """Raise Error CONFLICT if a rule or another flag's prerequisite uses a variant that would no longer exist."""
    removed = {each.key for each in before.variants} - {each.key for each in after.variants}
    if not removed:
        return
    given = sorted(removed & await rules_store.list_given_variants(connection, before.id))
    if given:
        raise Error(
            Code.CONFLICT,
            f"The variant {given[0]} is given by a rule of the flag. Change the rule first.",
        )
    await require_unneeded_variants(connection, before, after)


async def require_unneeded_variants(connection: Connection, before: Flag, after: Flag) -> None:
    """Raise Error CONFLICT if another flag's prerequisite uses a variant that would no longer exist."""
    if {each.key for each in before.variants} - {each.key for each in after.variants}:
        present = await flags_store.list_prerequisites(connection, before.environment_id)
        require_no_needed_variant(before, after, await in_write_worker(find_needed_variants, present))


NeededVariants = dict[tuple[str, str], str]
"""A flag that needs a variant, by the key of the other flag and of its variant."""


def find_needed_variants(present: Mapping[str, Sequence[Prerequisite]]) -> NeededVariants:
    """Return the variants that are needed; `present` are the prerequisites of all flags, by key."""
    found: NeededVariants = {}
    for key in sorted(present):
        for each in present[key]:
            for variant in each.variants:
                found.setdefault((each.flag_key, variant), key)
    return found


def require_no_needed_variant(before: Flag, after: Flag, needed: NeededVariants) -> None:
    """Raise Error CONFLICT if a needed variant would no longer exist."""
    kept = {each.key for each in after.variants}
    for each in before.variants:
        if each.key not in kept and (before.key, each.key) in needed:
            user = needed[before.key, each.key]
            raise Error(
                Code.CONFLICT, f"The variant {each.key} is a prerequisite of {user}. Change the prerequisite first."
            )


async def require_segment(connection: Connection, project_id: UUID, rule: Rule) -> None:
    """Raise Error INVALID for a rule that names a segment that does not exist."""
    if rule.rule_type is RuleType.SEGMENT and not await segments_store.has_segment(
        connection, project_id, rule.rule_value or ""
    ):
        raise missing_segment()


def missing_segment() -> Error:
    """The error for a rule that names a segment that does not exist."""
    return invalid_field("rule_value", "must be the key of a segment of this project")


def require_variant(flag: Flag, rule: Rule) -> None:
    """Raise Error INVALID for a rule that gives a variant that its flag does not have."""
    if rule.variant is not None and rule.variant not in {variant.key for variant in flag.variants}:
        raise invalid_field("variant", "must be the key of a variant of the flag")


def require_valid_value(rule: Rule) -> None:
    """Raise Error INVALID if a rule's value is not valid for its type: a new type alone can make it so."""
    try:
        check_rule_value(rule.rule_type, rule.rule_value)
    except ValueError as error:
        raise invalid_field("rule_value", str(error)) from error


def require_given_conditions(values: Mapping[str, Any], before: Rule | None = None) -> None:
    """Raise Error INVALID if a rule becomes one for attributes, and nobody says for which: neither `values` nor before.

    Without conditions it matches everyone, and whoever forgets them, or misspells the type, means fewer users. So
    everyone is said with an empty list.
    """
    if values.get("rule_type") is not RuleType.ATTRIBUTES or "conditions" in values:
        return
    if before is None or not (before.rule_type is RuleType.ATTRIBUTES or before.conditions):
        raise invalid_field("conditions", "must be given for the type attributes; an empty list means everyone")
