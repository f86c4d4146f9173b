"""Reads flags of an environment with what decides them, to compile them apart from the snapshots that are served."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Connection
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanations.flag_sets import FlagSet, compile_segments
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.prerequisites import with_needed
from flagstaff.flags.references import list_needs
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.flags.targeting.segments import Segment
from flagstaff.insight.drafts import DraftedFlag
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error, FieldError

_MISTAKES = 20  # more would not help


@dataclass(frozen=True, slots=True)
class ReadFlags:
    """Flags of an environment, their rules and the segments that these name, read in one consistent state.

    They are converted by `collect`, after the connection has been released.
    """

    environment: Environment
    flags: Iterable[Flag]
    rules: Iterable[Rule]
    segments: Iterable[Segment]

    def collect(self, draft: DraftedFlag | None) -> FlagSet:
        """The flags. The draft, if there is one, stands in for the saved flag."""
        collected = self.collect_flags()
        if draft is not None:
            collected[draft.key] = draft.targeted
        compiled = compile_segments(self.segments)
        return FlagSet(self.environment, collected, compiled)

    def collect_flags(self) -> dict[str, TargetedFlag]:
        """The flags with their rules by key."""
        rules_of: defaultdict[UUID, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            rules_of[rule.flag_id].append(rule)
        collected = {}
        for flag in self.flags:
            collected[flag.key] = TargetedFlag(flag, rules_of[flag.id])
        return collected


async def read_all(connection: Connection, environment: Environment) -> ReadFlags:
    """All flags of an environment, without their descriptions, which decide nothing."""
    return ReadFlags(
        environment,
        await flags_store.list_flags_without_descriptions(connection, environment.id),
        await rules_store.list_rules_of_environment(connection, environment.id),
        await segments_store.list_segments(connection, environment.project_id),
    )


async def read_some(
    connection: Connection, environment: Environment, keys: Collection[str], draft: DraftedFlag | None
) -> ReadFlags:
    """The flags with these keys and those that they need, as if the draft were saved."""
    needs = await list_needs(await flags_store.list_prerequisites(connection, environment.id))
    drafted: Iterable[Rule] = ()
    if draft is not None:
        needs[draft.key] = [each.flag_key for each in draft.targeted.flag.prerequisites]
        drafted = draft.targeted.rules
    needed = await in_worker(with_needed, needs, keys)
    found = await collect(await flags_store.find_flags_by_key(connection, environment.id, needed))
    flag_ids = [flag.id for flag in found]
    named = {rule.rule_value for rule in drafted if rule.rule_type is RuleType.SEGMENT and rule.rule_value}
    return ReadFlags(
        environment,
        found,
        await rules_store.list_rules_of_flags(connection, flag_ids),
        await segments_store.find_named_segments(connection, environment.project_id, flag_ids=flag_ids, keys=named),
    )


async def require_flags(
    connection: Connection, environment: Environment, keys: Collection[str], draft: DraftedFlag | None
) -> None:
    """Raise Error INVALID, which names the field `flag_keys`, for keys that no flag of the environment has."""
    known = await flags_store.find_keys(connection, environment.id, keys)
    if draft is not None:
        known.add(draft.key)
    require_known(keys, known, "must be the key of a flag of this environment")


def require_known(keys: Collection[str], known: Collection[str], message: str) -> None:
    """Raise Error INVALID with this message, which names the field `flag_keys`, for keys that are not known."""
    missing = [FieldError(f"flag_keys.{place}", message) for place, key in enumerate(keys) if key not in known]
    if missing:
        raise Error(Code.INVALID, "The request is invalid.", fields=missing[:_MISTAKES])
