"""The cost of an environment's conditions, for those who look after its budget."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker
from flagstaff.conditions.predicates import instructions_of
from flagstaff.database.database import Database
from flagstaff.flags import flags_store
from flagstaff.flags.condition_work import Work
from flagstaff.flags.condition_work_budgets import Costly, read_costly
from flagstaff.flags.flags import Rule
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_environment
from flagstaff.settings import Settings
from flagstaff.values.lists import empty

_LARGEST = 20


@dataclass(frozen=True, slots=True)
class Part:
    """The cost of the flag's rules, or of the segment, with this key by themselves, in microseconds."""

    key: str
    micros: float


@dataclass(frozen=True, slots=True)
class EnvironmentWork:
    """The cost of an environment's conditions, in microseconds, and the flags and segments that cost most.

    These can add up to more than the whole, in which an attribute is read only once.
    """

    micros: float
    flags: Sequence[Part]
    segments: Sequence[Part]


@dataclass(frozen=True, slots=True)
class ConditionWork:
    """The use case of looking at the budget. Raises Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    settings: Settings

    async def describe(self, actor: Actor, project_id: UUID, environment_id: UUID) -> EnvironmentWork:
        """Return the cost of an environment's conditions, and the 20 flags and 20 segments that cost most."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            found = await read_costly(connection, project_id, environment_id)
            flag_ids = {rule.flag_id for rule in found.rules}
            named = (
                await collect(await flags_store.find_flags(connection, environment_id, flag_ids)) if flag_ids else []
            )
        whole = await in_worker(found.work, found.rules, found.segments)
        described = await in_worker(_describe, whole.micros, found, {flag.id: flag.key for flag in named})
        await in_worker(empty, found.rules, found.segments, named)
        return described


def _describe(micros: float, found: Costly, keys: dict[UUID, str]) -> EnvironmentWork:
    rules_of: defaultdict[UUID, list[Rule]] = defaultdict(list)
    for rule in found.rules:
        rules_of[rule.flag_id].append(rule)
    of_flags = []
    for flag_id, its_rules in rules_of.items():
        work = Costly([], [], 0).work(its_rules, ())
        of_flags.append(Part(keys[flag_id], work.micros))
    of_segments = []
    for segment in found.segments:
        work = Work(instructions_of)
        work.add_segment(segment)
        of_segments.append(Part(segment.key, work.micros))
    return EnvironmentWork(micros, _largest(of_flags), _largest(of_segments))


def _largest(parts: Iterable[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: (-part.micros, part.key))[:_LARGEST]
