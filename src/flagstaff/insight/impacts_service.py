"""Impacts: for how many of the last day's users a flag's result would change if a draft of it were saved."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Database
from flagstaff.evaluation.explanations.comparison import Comparison, Effect
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.flags.access import FlagPath, open_live_flag
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.users import newest_of_each_user
from flagstaff.insight.drafts import Draft, DraftedFlag, check_values, inside_draft, read_draft
from flagstaff.insight.flag_sets import ReadFlags, read_some
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.values.keys import require_same_key

PERIOD = timedelta(days=1)
ATTRIBUTES_MAX = 10
"""The attributes that were not kept, of which the names are given."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """After so many users, or so much time, the rest of the day is not examined."""

    users: int = 10_000
    seconds: float = 2.0


@dataclass(frozen=True, slots=True)
class Impact:
    """The effect of the draft on the users of evaluations from `since` to `until`, each as in the newest evaluation.

    `users` are all of them. For those `without_attributes` nothing is known, because the history has not kept an
    attribute that the flag looks at: `unknown` has these, at most 10, with the number of their users. Unless it is
    `complete`, `since` is later than a day ago.
    """

    since: datetime
    until: datetime
    users: int = 0
    turned_on: int = 0
    turned_off: int = 0
    variant_changed: int = 0
    without_attributes: int = 0
    unknown: Sequence[tuple[str, int]] = ()
    complete: bool = True

    @property
    def changed(self) -> int:
        """For how many users the result would change."""
        return self.turned_on + self.turned_off + self.variant_changed


@dataclass(frozen=True, slots=True)
class Impacts:
    """The use case of impacts. Raises Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    work: WorkBudgets
    bounds: Bounds = Bounds()
    # One at a time: many at once would keep the worker thread from others.
    _one: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def preview(self, actor: Actor, path: FlagPath, draft: Draft) -> Impact:
        """Return the effect of saving a draft of a flag.

        Raises:
            Error: INVALID or CONFLICT for a draft that could not be saved, or for one of another flag.
        """
        checked = await check_values(draft)
        async with self.database.read() as connection:
            flag = await open_live_flag(connection, actor, path, Permission.EVALUATIONS_READ)
            with inside_draft():
                require_same_key(flag.key, checked.values["key"])
            environment = await environments_store.get_environment(connection, path.project_id, path.environment_id)
            drafted = await read_draft(connection, environment, checked, self.now(), self.work)
            saved = await read_some(connection, environment, [flag.key], None)
            changed = await read_some(connection, environment, [flag.key], drafted)
        comparison = await in_worker(_compare, saved, changed, drafted)
        async with self._one:
            return await self._count(path.environment_id, comparison)

    async def _count(self, environment_id: UUID, comparison: Comparison) -> Impact:
        until = self.now()
        since, examined_since = until - PERIOD, until - PERIOD
        effects: dict[str, Effect] = {}
        unknown: dict[str, Sequence[str]] = {}
        stop_at = perf_counter() + self.bounds.seconds
        async with self.database.read_history() as connection:
            number = await find_environment_number(connection, environment_id)
            if number is not None:
                async with aclosing(newest_of_each_user(connection, number, since)) as stretches:
                    async for stretch in stretches:
                        for user, effect, lacking in await in_worker(_find_effects, comparison, stretch.evaluations):
                            effects[user], unknown[user] = effect, lacking
                        if len(effects) >= self.bounds.users or perf_counter() >= stop_at:
                            examined_since = stretch.since
                            break
        counts = Counter(effects.values())
        names = Counter(name for each in unknown.values() for name in each[:ATTRIBUTES_MAX])
        return Impact(
            since=examined_since,
            until=until,
            users=len(effects),
            turned_on=counts[Effect.TURNED_ON],
            turned_off=counts[Effect.TURNED_OFF],
            variant_changed=counts[Effect.VARIANT_CHANGED],
            without_attributes=counts[Effect.UNKNOWN],
            unknown=names.most_common(ATTRIBUTES_MAX),
            complete=examined_since == since,
        )


def _compare(saved: ReadFlags, changed: ReadFlags, drafted: DraftedFlag) -> Comparison:
    before, after = saved.collect(None).compile(), changed.collect(drafted).compile()
    return Comparison(before, after, drafted.key)


def _find_effects(
    comparison: Comparison, evaluations: Iterable[tuple[str, RecordedEvaluation]]
) -> list[tuple[str, Effect, Sequence[str]]]:
    """The effect on each user, with the attributes that were not kept where it is unknown."""
    found = []
    for user, evaluation in evaluations:
        effect = comparison.effect(evaluation)
        found.append((user, effect, comparison.unknown_in(evaluation) if effect is Effect.UNKNOWN else ()))
    return found
