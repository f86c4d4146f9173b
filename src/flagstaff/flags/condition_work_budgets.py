"""The budget of work: what the conditions of an environment, or of a draft, may cost an evaluation at worst.

Whatever writes rules, segments or prerequisites asks here before its transaction commits, under the project's lock.
What is above the budget already, because it is older than the budget or the setting was lowered, may not grow.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker, in_write_worker
from flagstaff.conditions.predicates import instructions_of
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.flags.condition_work import Work, compute_work
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.flags.targeting.segments import Segment
from flagstaff.projects import environments_store
from flagstaff.projects.projects import Environment
from flagstaff.values.quotas import WorkQuota


@dataclass(frozen=True, slots=True)
class Excess:
    """The first part of what is written with which the budget is exceeded.

    `place` is the rule's place among those that are written, and `field` the path in it, such as `conditions.3`.
    """

    place: int
    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Costly:
    """The parts of an environment that cost evaluations: rules with conditions, segments, and prerequisites."""

    rules: list[Rule]
    segments: list[Segment]
    prerequisites: int

    def work(self, its_rules: Sequence[Rule], its_segments: Sequence[Segment]) -> Work:
        """The worst cost with these rules and segments."""
        return compute_work(instructions_of, its_rules, its_segments, self.prerequisites)


@dataclass(frozen=True, slots=True)
class WorkBudgets:
    """The budget of every environment and every draft."""

    quota: WorkQuota

    async def find_excess(
        self,
        connection: Connection,
        project_id: UUID,
        environment_id: UUID,
        written: Sequence[Rule],
        replaced: Sequence[Rule] = (),
    ) -> Excess | None:
        """The first of the rules just written with which their environment exceeds its budget, if one does.

        `replaced` are the rules as they were before, and those that were deleted.
        """
        if not await in_write_worker(_may_grow, written, replaced):
            return None
        found = await read_costly(connection, project_id, environment_id)
        return await in_write_worker(self._find_excess, found, written, replaced)

    async def find_excess_of_plan(
        self,
        connection: Connection,
        target: Environment,
        written: Sequence[Rule],
        replaced: Sequence[Rule],
        more_prerequisites: int,
    ) -> Excess | None:
        """The same for rules before they are written, with so many more prerequisites of the environment's flags."""
        if more_prerequisites <= 0 and not await in_worker(_may_grow, written, replaced):
            return None
        named = {rule.rule_value or "" for rule in written if rule.rule_type is RuleType.SEGMENT}
        present = await read_costly(connection, target.project_id, target.id, named)
        planned = replace(present, prerequisites=present.prerequisites + more_prerequisites)
        if more_prerequisites > 0:
            work = await in_worker(planned.work, planned.rules, planned.segments)
            if work.micros > self.quota.maximum:
                return Excess(0, "prerequisites", self.quota.message("environment", work.micros))
        return await in_worker(self._find_excess, planned, written, replaced)

    async def find_excess_of_segment(
        self, connection: Connection, project_id: UUID, segment: Segment, replaced: Segment | None
    ) -> Excess | None:
        """The first condition of a segment just written with which an environment exceeds its budget, if one does."""
        alone = Work(instructions_of)
        place = await in_write_worker(alone.add_conditions, segment.conditions, self.quota.maximum)
        if replaced is not None and not await in_write_worker(_segment_may_grow, segment, replaced):
            return None
        if place is not None:
            return Excess(0, f"conditions.{place}", self.quota.message("segment alone", alone.micros))
        for environment_id, key in await segments_store.list_environments_with(connection, project_id, segment.key):
            found = await read_costly(connection, project_id, environment_id)
            excess = await in_write_worker(self._find_excess_of_segment, found, segment, replaced, key)
            if excess is not None:
                return excess
        return None

    async def find_excess_of_flag(
        self, connection: Connection, flag: Flag, before: Flag | None, its_rules: Sequence[Rule] = ()
    ) -> Excess | None:
        """The same for a flag just written: its prerequisites, and its rules if it was archived or did not exist."""
        more = len(flag.prerequisites) - (len(before.prerequisites) if before else 0)
        if more <= 0 and not its_rules:
            return None
        found = await read_costly(connection, flag.project_id, flag.environment_id)
        if more > 0:
            work = await in_write_worker(found.work, found.rules, found.segments)
            if work.micros > self.quota.maximum:
                message = self.quota.message("environment", work.micros)
                return Excess(0, f"prerequisites.{len(flag.prerequisites) - 1}", message)
        return await self.find_excess(connection, flag.project_id, flag.environment_id, its_rules)

    def find_excess_of_draft(
        self, drafted: Sequence[Rule], saved: Collection[Rule], named: Collection[Segment]
    ) -> Excess | None:
        """The first of a draft's rules with which it exceeds its own budget, if one does."""
        by_place = list(named)
        excess = self._add(Work(instructions_of), drafted, by_place, "draft")
        if excess is None:
            return None
        present = compute_work(instructions_of, saved, named)
        planned = compute_work(instructions_of, drafted, named)
        return excess if planned.micros > present.micros else None

    def _find_excess(self, found: Costly, written: Sequence[Rule], replaced: Sequence[Rule]) -> Excess | None:
        ids = {rule.id for rule in (*written, *replaced)}
        others = [rule for rule in found.rules if rule.id not in ids]
        work = found.work(others, found.segments)
        excess = self._add(work, written, found.segments, "environment")
        if excess is None:
            return None
        before = found.work([*others, *replaced], found.segments)
        return excess if work.micros > before.micros else None

    def _find_excess_of_segment(
        self, found: Costly, segment: Segment, replaced: Segment | None, environment_key: str
    ) -> Excess | None:
        others = [each for each in found.segments if each.id != segment.id]
        work = found.work(found.rules, others)
        place = work.add_segment(segment, self.quota.maximum)
        if place is None:
            return None
        before = found.work(found.rules, [*others, *([replaced] if replaced else [])])
        if work.micros <= before.micros:
            return None
        return Excess(0, f"conditions.{place}", self.quota.message(f"environment {environment_key}", work.micros))

    def _add(
        self, work: Work, written: Sequence[Rule], its_segments: Sequence[Segment], place_name: str
    ) -> Excess | None:
        by_key = {segment.key: segment for segment in its_segments}
        first: tuple[int, str] | None = None
        for place, rule in enumerate(written):
            field = _add_rule(work, rule, by_key.get(rule.rule_value or ""), self.quota.maximum)
            if first is None and field is not None:
                first = place, field
        return None if first is None else Excess(*first, self.quota.message(place_name, work.micros))


async def read_costly(
    connection: Connection, project_id: UUID, environment_id: UUID, segment_keys: Collection[str] = ()
) -> Costly:
    """Read what costs the evaluations of an environment; its segments, and others with these keys."""
    prerequisites = await flags_store.list_prerequisites(connection, environment_id, with_archived=False)
    its_rules = await collect(await rules_store.list_costly_rules(connection, environment_id))
    named = {rule.rule_value or "" for rule in its_rules if rule.rule_type is RuleType.SEGMENT} | {*segment_keys}
    its_segments: list[Segment] = []
    if named:
        its_segments = await collect(
            each for each in await segments_store.list_segments(connection, project_id) if each.key in named
        )
    return Costly(its_rules, its_segments, sum(map(len, prerequisites.values())))


@dataclass(frozen=True, slots=True)
class WorkOfEnvironment:
    """The cost of an environment's conditions at worst, in microseconds."""

    project_id: UUID
    environment_key: str
    micros: float


async def read_works(database: Database) -> list[WorkOfEnvironment]:
    """Return the cost of the conditions of each environment of all projects, read one after the other.

    This is for a command: the computation pauses for nobody.
    """
    async with database.read() as connection:
        found = await environments_store.list_environments_with_costly_rules(connection)
    works = []
    for each in found:
        async with database.read() as connection:
            costly = await read_costly(connection, each.project_id, each.id)
        work = costly.work(costly.rules, costly.segments)
        works.append(WorkOfEnvironment(each.project_id, each.key, work.micros))
    return works


def _add_rule(work: Work, rule: Rule, segment: Segment | None, maximum: float) -> str | None:
    """Add a rule; returns the path of the part with which the cost exceeds a maximum."""
    work.add_rule(rule)
    if work.micros > maximum and not rule.conditions:
        return "rule_value" if rule.rule_type is RuleType.SEGMENT else "rule_type"
    place = work.add_conditions(rule.conditions, maximum)
    if place is not None:
        return f"conditions.{place}"
    if rule.rule_type is RuleType.SEGMENT and segment is not None:
        work.add_segment(segment)
        if work.micros > maximum:
            return "rule_value"
    return None


def _may_grow(written: Sequence[Rule], replaced: Sequence[Rule]) -> bool:
    """Return whether the cost can rise: most changes, such as of a name or of values in a list, need no look."""
    after = compute_work(instructions_of, written, ())
    before = compute_work(instructions_of, replaced, ())
    new_segments = _segments_of(written) - _segments_of(replaced)
    return bool(new_segments) or after.micros > before.micros or not after.reads_no_more_than(before)


def _segment_may_grow(segment: Segment, replaced: Segment) -> bool:
    after, before = Work(instructions_of), Work(instructions_of)
    after.add_conditions(segment.conditions)
    before.add_conditions(replaced.conditions)
    return after.micros > before.micros or not after.reads_no_more_than(before)


def _segments_of(its_rules: Sequence[Rule]) -> set[str | None]:
    return {rule.rule_value for rule in its_rules if rule.rule_type is RuleType.SEGMENT}
