"""One user's history: an evaluation by its id, and the places where the results of flags changed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Database
from flagstaff.evaluation.history.answer_changes import AnswerChange, AnswerChanges
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.store import batches
from flagstaff.history.store.pages import find_evaluations, list_evaluations
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_environment
from flagstaff.values.errors import not_found
from flagstaff.values.lists import parts_of


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one request: evaluations, which it reads some at a time, and results that it compares."""

    rounds: int = 5
    at_once: int = 200
    compared: int = 100_000


BOUNDS = Bounds()
_EVALUATIONS_AT_ONCE = 5  # each can have thousands of flags
ENDS_MAX = 30  # evaluations that a page takes over from the one before it; each was the last one to decide some flags


@dataclass(frozen=True, slots=True)
class Reached:
    """The place that a search has reached.

    `compared` are the ids of the evaluations with the last answer of each flag so far, newest first; the evaluations
    that are still to be compared have ids below `before`.
    """

    compared: Sequence[bytes]
    before: bytes


@dataclass(frozen=True, slots=True)
class AnswerChangesPage:
    """Changes of answers, newest first. `since` is the time of the oldest evaluation that was compared, if any was.

    `reached` is where the next page begins, None if there is none. `layouts` are the layouts of all evaluations that
    were compared, to be freed flag by flag.
    """

    items: list[AnswerChange]
    since: datetime | None
    reached: Reached | None
    layouts: dict[int, Layout] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserHistory:
    """The use cases. They raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    bounds: Bounds = BOUNDS

    async def get_evaluation(
        self, actor: Actor, project_id: UUID, environment_id: UUID, evaluation_id: UUID
    ) -> RecordedEvaluation:
        """The evaluation of an environment with an id; raises Error NOT_FOUND also after it has been deleted."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            found = None
            if number is not None:
                found = (await find_evaluations(connection, number, [evaluation_id.bytes])).get(evaluation_id.bytes)
        if found is None:
            raise not_found("evaluation")
        return found

    async def list_answer_changes(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        wanted: EvaluationFilter,
        *,
        limit: int,
        reached: Reached | None,
    ) -> AnswerChangesPage:
        """List where the results of a user, whom the filter names, changed between evaluations, newest first.

        A page has at most the changes of one evaluation more than `limit`.
        """
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            if number is None:
                return AnswerChangesPage([], None, None)
            compared = reached.compared if reached is not None else ()
            ends = await find_evaluations(connection, number, compared)
        layouts = {id(each.layout): each.layout for each in ends.values()}
        changes = AnswerChanges()
        await in_worker(changes.resume, ends.values())
        before = None if reached is None else reached.before
        for _ in range(self.bounds.rounds):
            # Nobody waits for the connection while the evaluations are compared.
            async with self.database.read_history() as connection:
                page = await list_evaluations(connection, number, wanted, limit=self.bounds.at_once, before=before)
            layouts |= {id(each.layout): each.layout for each in page.items}
            stopped = None
            for some in parts_of(page.items, _EVALUATIONS_AT_ONCE):
                stopped = await in_worker(self._compare, changes, some, limit)
                if stopped is not None:
                    break
            before = page.next_before if stopped is None else stopped
            if before is None or stopped is not None or not page.items:
                break
        since = changes.oldest.evaluated_at if changes.oldest else None
        reached = None if before is None else _reached(changes, before)
        await in_worker(changes.free)
        return AnswerChangesPage(changes.found, since, reached, layouts)

    def _compare(self, changes: AnswerChanges, evaluations: Sequence[RecordedEvaluation], limit: int) -> bytes | None:
        """Compare evaluations; returns the id of the last one if that is enough for a page."""
        for evaluation in evaluations:
            changes.add(evaluation)
            if len(changes.found) >= limit or changes.compared >= self.bounds.compared:
                return evaluation.id.bytes
        return None


def _reached(changes: AnswerChanges, before: bytes) -> Reached:
    return Reached([each.id.bytes for each in changes.open_ends()[-ENDS_MAX:]], before)
