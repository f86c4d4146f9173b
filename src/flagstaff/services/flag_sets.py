"""Reads flags of an environment with what decides them, to compile them apart from the snapshots that are served."""

from collections import defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from flagstaff.domain.errors import Code, Error, FieldError
from flagstaff.domain.flags import Flag, Rule, RuleType
from flagstaff.domain.prerequisites import with_needed
from flagstaff.domain.projects import Environment
from flagstaff.domain.segments import Segment
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.explanation import Explicable, compile_explicable
from flagstaff.services.drafts import DraftedFlag
from flagstaff.storage import flags, rules, segments
from flagstaff.storage.database import Connection

_MISTAKES = 20  # more would not help


@dataclass(frozen=True, slots=True)
class FlagSet:
    """Flags of an environment, their rules and the segments that these name, read in one consistent state.

    They are converted as they are compiled, after the connection has been released. The draft, if there is one, stands
    in for the saved flag.
    """

    environment: Environment
    flags: Iterable[Flag]
    rules: Iterable[Rule]
    segments: Iterable[Segment]
    draft: DraftedFlag | None

    def compile(self) -> Generator[None, None, Explicable]:
        """Compile the flags in small steps."""
        rules_of: defaultdict[UUID, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            rules_of[rule.flag_id].append(rule)
            yield
        explicable = yield from compile_explicable(self.environment, self._targeted(rules_of), self.segments)
        return explicable

    def _targeted(self, rules_of: defaultdict[UUID, list[Rule]]) -> Iterator[TargetedFlag]:
        for flag in self.flags:
            if self.draft is None or flag.key != self.draft.key:
                yield TargetedFlag(flag, rules_of[flag.id])
        if self.draft is not None:
            yield self.draft.targeted


async def read_all(connection: Connection, environment: Environment, draft: DraftedFlag | None) -> FlagSet:
    """All flags of an environment."""
    return FlagSet(
        environment,
        await flags.list_flags(connection, environment.id),
        await rules.list_rules_of_environment(connection, environment.id),
        await segments.list_segments(connection, environment.project_id),
        draft,
    )


async def read_some(
    connection: Connection, environment: Environment, keys: Collection[str], draft: DraftedFlag | None
) -> FlagSet:
    """The flags with these keys, and those that they need."""
    needs = {
        key: [each.flag_key for each in needed]
        for key, needed in (await flags.list_prerequisites(connection, environment.id)).items()
    }
    if draft is not None:
        needs[draft.key] = [each.flag_key for each in draft.targeted.flag.prerequisites]
    found = list(await flags.find_flags_by_key(connection, environment.id, with_needed(needs, keys)))
    flag_ids = [flag.id for flag in found]
    drafted = draft.targeted.rules if draft is not None else ()
    return FlagSet(
        environment,
        found,
        await rules.list_rules_of_flags(connection, flag_ids),
        await segments.find_named_segments(
            connection,
            environment.project_id,
            flag_ids=flag_ids,
            keys={rule.rule_value for rule in drafted if rule.rule_type is RuleType.SEGMENT and rule.rule_value},
        ),
        draft,
    )


async def require_flags(
    connection: Connection, environment: Environment, keys: Collection[str], draft: DraftedFlag | None
) -> None:
    """Raise Error INVALID, which names the field `flag_keys`, for keys that no flag of the environment has."""
    known = await flags.find_keys(connection, environment.id, keys)
    if draft is not None:
        known.add(draft.key)
    missing = [
        FieldError(f"flag_keys.{place}", "must be the key of a flag of this environment")
        for place, key in enumerate(keys)
        if key not in known
    ]
    if missing:
        raise Error(Code.INVALID, "The request is invalid.", fields=missing[:_MISTAKES])
