"""Everything that is stored about one user of the applications, a part at a time."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.erased_users import Subject
from flagstaff.history.history_exports import HistoryExports
from flagstaff.history.store import batches
from flagstaff.history.store.following import Position
from flagstaff.history.store.pages import list_evaluations
from flagstaff.metrics.events import EventFilter, RecordedEvent
from flagstaff.people import exposures_store
from flagstaff.people.exposures import UserExposure
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store, projects_store, sdk_keys_store
from flagstaff.projects.access import open_project
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import not_found

_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class UserData:
    """Reads it. Raises Error NOT_FOUND for projects that are not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def list_environments(self, actor: Actor, project_id: UUID) -> Sequence[Environment]:
        """The environments of a project whose users' data the actor may export."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.USERS_EXPORT)
            return [*await environments_store.list_environments(connection, project_id)]

    async def list_environments_of(self, project_id: UUID) -> Sequence[Environment]:
        """The same from the command line."""
        async with self.database.read() as connection:
            if await projects_store.find_project(connection, project_id) is None:
                raise not_found("project")
            return [*await environments_store.list_environments(connection, project_id)]

    async def evaluations(self, environment: Environment, subject: Subject) -> AsyncIterator[list[RecordedEvaluation]]:
        """The user's evaluations in an environment: first those with the id, and then others with the email."""
        async for page in self._evaluations(environment, EvaluationFilter(user_id=subject.user_id)):
            yield page
        async for page in self._evaluations(environment, EvaluationFilter(user_email=subject.user_email)):
            yield [each for each in page if subject.user_id is None or each.user_id != subject.user_id]

    async def key_names(self, environment: Environment) -> Mapping[UUID, str]:
        """The names of the SDK keys of an environment, by id."""
        async with self.database.read() as connection:
            return (await sdk_keys_store.find_key_names(connection, [environment.id])).get(environment.id, {})

    async def events(self, environment: Environment, subject: Subject) -> AsyncIterator[list[RecordedEvent]]:
        """The user's events in an environment, oldest first."""
        wanted = EventFilter(subject.user_id, subject.user_email)
        async for stretch in HistoryExports(self.database).read_events(environment.id, Position(), wanted):
            yield [each for segment in stretch.segments for each in segment.events]

    async def exposures(self, environment: Environment, subject: Subject) -> list[UserExposure]:
        """The releases in an environment for which the user was counted."""
        async with self.database.read_history() as connection:
            return await exposures_store.list_exposures(connection, environment.id, subject.units)

    async def _evaluations(
        self, environment: Environment, wanted: EvaluationFilter
    ) -> AsyncIterator[list[RecordedEvaluation]]:
        if wanted.user_id is None and wanted.user_email is None:
            return
        before: bytes | None = None
        while True:
            async with self.database.read_history() as connection:
                number = await batches.find_environment_number(connection, environment.id)
                if number is None:
                    return
                page = await list_evaluations(connection, number, wanted, limit=_AT_ONCE, before=before)
            yield page.items
            before = page.next_before
            if before is None:
                return
