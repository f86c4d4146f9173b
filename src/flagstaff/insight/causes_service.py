"""Finds the causes of changed results: reads the recorded evaluations and the audit trail between them."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from flagstaff.audit import change_lists_store
from flagstaff.audit.change_lists_store import Reading
from flagstaff.audit.recorded_values import read_resource
from flagstaff.changes.changes import Actor, NumberedChange
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker
from flagstaff.database import changes_store
from flagstaff.database.database import Connection, Database
from flagstaff.evaluation.history.answer_changes import Answer
from flagstaff.evaluation.history.records import RecordedEvaluation, free_evaluations
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule, RuleType
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.pages import find_evaluations
from flagstaff.insight.causes import NOT_EXAMINED, SLACK, UNAVAILABLE, Cause, ResultChange
from flagstaff.insight.past_states import PastStates, Trail, named_in
from flagstaff.insight.replays import find_cause
from flagstaff.permissions.permissions import Permission, may, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import invalid_field
from flagstaff.values.lists import empty


@dataclass(frozen=True, slots=True)
class AskedResult:
    """A flag, and the ids of two evaluations between which its result changed."""

    flag_key: str
    earlier: UUID
    later: UUID


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a request: changes that it reads, their characters, and the time in which it replays.

    Of flags that need others, which need others and so on, it reads so many levels, one after another.
    """

    changes: int = 2_000
    characters: int = 8_000_000
    seconds: float = 2.0
    levels: int = 100


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes, in the order of the request. `hidden` are the numbers of changes that the actor may not see.

    `comments` has how many comments a change has, by number, if it has any.
    """

    found: Sequence[Cause]
    hidden: Collection[int]
    comments: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CauseFinder:
    """The use case. Raises Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    bounds: Bounds = Bounds()
    # One at a time: each pauses for other work, but many at once would still take most of the time.
    _one: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def find(self, actor: Actor, project_id: UUID, environment_id: UUID, asked: Sequence[AskedResult]) -> Causes:
        """Find why the results of flags changed between evaluations of one user.

        Raises:
            Error: FORBIDDEN without `evaluations:read` and `audit:read` in the environment; INVALID for a flag that has
                no result in one of the evaluations, or the same one in both, and for evaluations in the wrong order.
        """
        async with self.database.read() as connection:
            _, member = await open_member(connection, actor, project_id)
            environment = await environments_store.get_environment(connection, project_id, environment_id)
            require(member, Permission.EVALUATIONS_READ, environment.key)
            require(member, Permission.AUDIT_READ, environment.key)
            sees_segments = may(member, Permission.AUDIT_READ)
        wanted = {each for result in asked for each in (result.earlier, result.later)}
        evaluations = await self._find_evaluations(environment_id, wanted)
        results = await in_worker(_read_results, asked, evaluations)
        if not any(results):
            return Causes([UNAVAILABLE for _ in asked], ())
        async with self._one:
            trail, complete_since = await self._read_trail(environment, results)
            states = await in_worker(PastStates.read, trail)
            found = await self._replay(states, results, complete_since)
        hidden = () if sees_segments else _numbers_of_segments(trail.changes)
        await in_worker(states.free)
        await in_worker(_free, evaluations, results)
        numbers = {change.number for cause in found for change in cause.changes}
        async with self.database.read() as connection:
            return Causes(found, hidden, await change_lists_store.count_comments(connection, project_id, numbers))

    async def _find_evaluations(self, environment_id: UUID, wanted: Collection[UUID]) -> dict[UUID, RecordedEvaluation]:
        async with self.database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            if number is None:
                return {}
            found = await find_evaluations(connection, number, (each.bytes for each in wanted))
        return {each.id: each for each in found.values()}

    async def _replay(
        self, states: PastStates, results: Sequence[ResultChange | None], complete_since: datetime | None
    ) -> list[Cause]:
        """The causes of all results."""
        found: list[Cause] = []
        now = asyncio.get_running_loop().time
        stop_at = now() + self.bounds.seconds
        for each in results:
            if each is None or (complete_since is not None and each.earlier.evaluated_at - SLACK < complete_since):
                found.append(UNAVAILABLE)
            elif found and now() >= stop_at:
                found.append(NOT_EXAMINED)
            else:
                try:
                    async with asyncio.timeout_at(stop_at):
                        found.append(await find_cause(states, each))
                except TimeoutError:
                    # Asked for again as the first, it has all of the time. The first has had it.
                    found.append(NOT_EXAMINED if found else UNAVAILABLE)
        return found

    async def _read_trail(
        self, environment: Environment, results: Sequence[ResultChange | None]
    ) -> tuple[Trail, datetime | None]:
        """Read the changes that have decided flags since the oldest evaluation, as far as the bounds allow.

        The time is the one since which it is complete, None if it is complete altogether.
        """
        known = [each for each in results if each is not None]
        since = min(each.earlier.evaluated_at for each in known) - SLACK
        reading = Reading(self.bounds.changes, self.bounds.characters)
        changes: list[NumberedChange] = []
        flags: list[Flag] = []
        done: set[str] = set()
        pending = {each.flag_key for each in known}
        async with self.database.read() as connection:
            for _ in range(self.bounds.levels):  # the flags, those that they have needed, and so on
                found = await change_lists_store.list_since(connection, reading, environment, since, flag_keys=pending)
                present = await collect(await flags_store.find_flags_by_key(connection, environment.id, pending))
                done |= pending
                pending = {each.flag_key for flag in present for each in flag.prerequisites}
                pending |= await in_worker(named_in, found)
                pending -= done
                changes += found
                flags += present
                if not pending:
                    break
            else:
                reading.complete_since = datetime.max.replace(tzinfo=UTC)  # of no flag is all known
            changes += await change_lists_store.list_since(connection, reading, environment, since, flag_keys=None)
            changes.sort(key=lambda each: each.number)
            flag_ids = {each.id for each in flags}
            flag_ids |= {each.change.scope.flag_id for each in changes if each.change.scope.flag_id is not None}
            rules = await collect(await rules_store.list_rules_of_flags(connection, flag_ids))
            segments = await collect(
                await segments_store.find_named_segments(
                    connection, environment.project_id, flag_ids=flag_ids, keys=_segments_named_in(changes)
                )
            )
            last = await _read_last_rules(connection, changes)
        return Trail(environment, [*flags, *rules, *segments], changes, last), reading.complete_since


async def _read_last_rules(connection: Connection, changes: Sequence[NumberedChange]) -> list[Rule]:
    """The rules that deleted flags had. The trail has no deletion of their own."""
    rules = []
    for each in changes:
        if each.change.action == "flag.deleted" and each.change.scope.flag_id is not None:
            recorded = await changes_store.list_rules_before(connection, each.change.scope.flag_id, each.number)
            rules += await collect(read_resource(Rule, values) for values in recorded)
    return rules


def _read_results(
    asked: Sequence[AskedResult], evaluations: Mapping[UUID, RecordedEvaluation]
) -> list[ResultChange | None]:
    """The results in both evaluations; None if the history does not have one of these any more."""
    results: list[ResultChange | None] = []
    for place, each in enumerate(asked):
        earlier, later = evaluations.get(each.earlier), evaluations.get(each.later)
        if earlier is None or later is None:
            results.append(None)
            continue
        if earlier.evaluated_at > later.evaluated_at:
            field = f"results.{place}.after_evaluation_id"
            raise invalid_field(field, "must be the id of a later evaluation than the other")
        before = _find_answer(earlier, each.flag_key)
        after = _find_answer(later, each.flag_key)
        if before is None or after is None or before == after:
            field = f"results.{place}.flag_key"
            raise invalid_field(field, "must be the key of a flag that has different results in the two evaluations")
        results.append(ResultChange(each.flag_key, earlier, later, before, after))
    return results


def _free(evaluations: dict[UUID, RecordedEvaluation], results: list[ResultChange | None]) -> None:
    """Free these one by one: the layout of an evaluation has thousands of flags."""
    empty(results)
    found = list(evaluations.values())
    empty(evaluations)
    free_evaluations(found)


def _find_answer(evaluation: RecordedEvaluation, key: str) -> Answer | None:
    for decision in evaluation.each_decision():
        if decision.flag.key == key:
            return Answer.of(decision)
    return None


def _segments_named_in(changes: Sequence[NumberedChange]) -> set[str]:
    states = (values for each in changes for values in (each.change.before, each.change.after) if values is not None)
    return {str(each["rule_value"]) for each in states if each.get("rule_type") == RuleType.SEGMENT}


def _numbers_of_segments(changes: Sequence[NumberedChange]) -> set[int]:
    return {each.number for each in changes if each.change.scope.environment_id is None}
