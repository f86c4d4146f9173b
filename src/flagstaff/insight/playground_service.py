"""The playground: what flags give many users, in several environments. None of it is an evaluation, or recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.copying.environment_flags import find_origin
from flagstaff.database.database import Database
from flagstaff.evaluation.explanations.playground import FlagAnswers, decide_for_each
from flagstaff.evaluation.explanations.tracing import Subject
from flagstaff.flags.flags_store import find_keys, list_keys_of
from flagstaff.insight.explanations_service import GivenUser
from flagstaff.insight.flag_sets import ReadFlags, read_some, require_known
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_member
from flagstaff.projects.projects import Environment
from flagstaff.values.lists import Window


@dataclass(frozen=True, slots=True)
class EnvironmentAnswers:
    """The answers of an environment's flags, in the order of the request. A turn of the work can end at each None."""

    environment: Environment
    answers: Iterator[FlagAnswers | None]


@dataclass(frozen=True, slots=True)
class Answered:
    """The answers of several environments. `more_flags` says that flags were left out, because none were named."""

    evaluated_at: datetime
    more_flags: bool
    environments: Sequence[EnvironmentAnswers]


@dataclass(frozen=True, slots=True)
class Playground:
    """The use case of the playground. Raises Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    now: Callable[[], datetime]

    async def answer(
        self,
        actor: Actor,
        project_id: UUID,
        environment_ids: Sequence[UUID],
        users: Sequence[GivenUser],
        *,
        flag_keys: Sequence[str] | None,
        flags_max: int,
    ) -> Answered:
        """Evaluate the flags with these keys for these users. The attributes of each user must fit.

        Without keys, these are the first `flags_max` flags of the environments, by key. An environment has no answers
        of a flag that it does not have.

        Raises:
            Error: INVALID for an environment that does not exist, or a key of which none of them has a flag; FORBIDDEN
                for a member that may not see the flags of all of them.
        """
        async with self.database.read() as connection:
            _, member = await open_member(connection, actor, project_id)
            environments = []
            for place, environment_id in enumerate(environment_ids):
                found = await find_origin(connection, project_id, environment_id, f"environment_ids.{place}")
                require(member, Permission.FLAGS_READ, found.key)
                environments.append(found)
            if flag_keys is None:
                keys = await list_keys_of(connection, environment_ids, Window(flags_max + 1))
            else:
                keys = list(dict.fromkeys(flag_keys))
                known = {key for each in environments for key in await find_keys(connection, each.id, keys)}
                require_known(flag_keys, known, "must be the key of a flag of one of the environments")
            more_flags, keys = flag_keys is None and len(keys) > flags_max, keys[:flags_max]
            read = [await read_some(connection, each, keys, None) for each in environments]
        at = self.now()
        subjects = await in_worker(_subjects, users, at)
        answers = [EnvironmentAnswers(each.environment, _decide(each, subjects, keys)) for each in read]
        return Answered(at, more_flags, answers)


def _subjects(users: Sequence[GivenUser], at: datetime) -> list[Subject]:
    return [Subject(user.user_id, user.user_email, user.attributes(user.names, at)) for user in users]


def _decide(read: ReadFlags, subjects: Sequence[Subject], keys: Sequence[str]) -> Iterator[FlagAnswers | None]:
    yield from decide_for_each(read.collect(None), subjects, keys)
