"""Explanations: why flags are on or off for a user, saved or not. They are not evaluations, and are not recorded."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Database
from flagstaff.evaluation.explanations.deciding import prepare
from flagstaff.evaluation.explanations.explanation import explain
from flagstaff.evaluation.explanations.traces import FlagTrace, RuleTrace
from flagstaff.evaluation.explanations.tracing import Subject
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags_store import list_keys_of
from flagstaff.insight.drafts import Draft, DraftedFlag, check_values, read_draft
from flagstaff.insight.flag_sets import ReadFlags, read_all, read_some, require_flags
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_environment
from flagstaff.values.lists import Window


@dataclass(frozen=True, slots=True)
class GivenUser:
    """The user in a request, with the names of the custom attributes.

    `read` returns those attributes that it is asked for. Unless they `fit`, an evaluation does not
    compare all of them, and which ones depends on those that the flags of the environment look at.
    """

    user_id: str | None
    user_email: str | None
    names: Collection[str]
    fit: bool
    read: Callable[[Collection[str]], Mapping[str, object]]

    def attributes(self, compared: Collection[str], at: datetime) -> Mapping[str, object]:
        """The attributes that an evaluation compares, and the others, which only rules that are not live look at."""
        others = {name for name in self.names if name not in compared}
        found = self.read(others)
        return {**found, **self.read(compared), CURRENT_TIME: at}


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation: each flag's trace, followed by its rules' traces.

    `new_rules` are the ids of a draft's rules that are not saved.
    """

    environment_key: str
    evaluated_at: datetime
    traces: Iterator[FlagTrace | RuleTrace]
    new_rules: Collection[UUID]


@dataclass(frozen=True, slots=True)
class Answers:
    """An explanation of some flags; those with keys after `next_after` are still to come, unless it is None."""

    explained: Explained
    next_after: str | None


@dataclass(frozen=True, slots=True)
class Explanations:
    """The use cases of explanations. They raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    work: WorkBudgets

    async def explain(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        user: GivenUser,
        *,
        flag_keys: Sequence[str] | None = None,
        draft: Draft | None = None,
    ) -> Explained:
        """Explain flags for a user: those with the keys in this order, or all in the order of their keys.

        A draft stands in for the saved flag.

        Raises:
            Error: INVALID for a key that does not exist; INVALID or CONFLICT for a draft that could not be saved.
        """
        checked = await check_values(draft) if draft is not None else None
        async with self.database.read() as connection:
            environment = await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            drafted = None
            if checked is not None:
                drafted = await read_draft(connection, environment, checked, self.now(), self.work)
            if flag_keys is not None:
                await require_flags(connection, environment, flag_keys, drafted)
            if flag_keys is not None and user.fit:
                found = await read_some(connection, environment, flag_keys, drafted)
            else:
                found = await read_all(connection, environment)
        return await in_worker(self._explain, found, drafted, user, flag_keys)

    async def list_answers(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        user: GivenUser,
        *,
        search: str,
        after: str,
        limit: int,
    ) -> Answers:
        """Explain flags for a user: the first ones whose keys are after a text and contain another.

        The case of letters does not matter.
        """
        async with self.database.read() as connection:
            environment = await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            # One extra key shows whether there are more.
            keys = await list_keys_of(connection, [environment.id], Window(limit + 1, (after,)), search)
            some = keys[:limit]
            read = read_some(connection, environment, some, None) if user.fit else read_all(connection, environment)
            found = await read
        explained = await in_worker(self._explain, found, None, user, some)
        return Answers(explained, some[-1] if len(keys) > limit else None)

    def _explain(
        self,
        found: ReadFlags,
        drafted: DraftedFlag | None,
        user: GivenUser,
        flag_keys: Sequence[str] | None,
    ) -> Explained:
        flag_set = found.collect(drafted)
        keys = sorted(flag_set.flags) if flag_keys is None else list(dict.fromkeys(flag_keys))
        compared = user.names if user.fit else prepare(flag_set, flag_set.flags).attributes
        at = self.now()
        subject = Subject(user.user_id, user.user_email, user.attributes(compared, at))
        new_rules = drafted.new_rules if drafted is not None else ()
        return Explained(flag_set.environment.key, at, explain(flag_set, subject, keys), new_rules)
