"""Has guards act: the flag is turned off, or the release is paused, in the transaction that records the decision.

A guard acts once. What it does is the release's state, so that a look after a crash finds that it was done, or does it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp

import structlog

from flagstaff.audit.changes import Actor, ReleaseName, change_of
from flagstaff.audit.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.flags import flags_store
from flagstaff.flags.flags_service import Flags
from flagstaff.metrics.metrics import Metric
from flagstaff.projects import projects_store
from flagstaff.projects.access import FlagPath, scope_of
from flagstaff.releases import releases_store
from flagstaff.releases.judging import Judgement, Verdict
from flagstaff.releases.releases import Action, Alarm, Release, State, record_of
from flagstaff.releases.statistics import split
from flagstaff.releases.wording import SPLIT_WRONG, say_guard
from flagstaff.values.moments import later_than

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Guardian:
    """Has the guards of a release act. `now` is this instance's clock, for the times of changes."""

    database: Database
    now: Callable[[], datetime]
    flags: Flags

    async def act(self, release: Release, verdict: Verdict, metrics: dict[str, Metric]) -> None:
        """Have each guard act that has reached its threshold and has not acted; none while the split is wrong."""
        async with self.database.shared_transaction() as transaction:
            connection = transaction.connection
            if await projects_store.open_project_for_update(connection, release.project_id) is None:
                return
            present = await releases_store.find_release(connection, release.id)
            if present is None or not present.is_open:
                return
            at = await releases_store.read_clock(connection)
            if verdict.is_split_wrong:
                if None not in present.alarmed:
                    await self._raise_split_alarm(transaction, present, verdict, at)
                return
            for place, each in enumerate(verdict.judgements):
                metric = metrics.get(each.guard.metric)
                if metric is None or not each.is_reached or metric.key in present.alarmed:
                    continue
                words = say_guard(each, metric, release.segments, verdict.counted, place)
                present = await self._act(transaction, present, each, words, at)
                if not present.is_open:
                    return

    async def _act(
        self, transaction: Transaction, release: Release, judgement: Judgement, words: str, at: datetime
    ) -> Release:
        guard = judgement.guard
        alarm = Alarm(
            guard.metric,
            guard.action,
            at,
            min(exp(min(judgement.log_evidence, 690.0)), 1e300),
            exp(judgement.log_threshold),
            words,
        )
        after = replace(release, alarms=(*release.alarms, alarm))
        match guard.action:
            case Action.TURN_OFF:
                after = replace(after, state=State.STOPPED, reason=words, ended_at=at)
                await self._turn_off(transaction, release, guard.metric)
                action = "release.stopped"
            case Action.PAUSE if release.state is not State.PAUSED:
                after = replace(after, state=State.PAUSED, reason=words, paused_at=at)
                action = "release.paused"
            case _:
                action = "release.warned"
        log.warning(
            "release_guard_acted", release=str(release.id), metric=guard.metric, action=guard.action, words=words
        )
        actor = actor_of(release, guard.metric)
        return await write_release(transaction, actor, action, release, after.with_due(at), self.now(), knows_all=False)

    async def _turn_off(self, transaction: Transaction, release: Release, metric: str) -> None:
        path = FlagPath(release.project_id, release.environment_id, release.flag_id)
        flag = await flags_store.find_flag(transaction.connection, path.project_id, path.environment_id, path.flag_id)
        if flag is not None and flag.enabled and flag.archived_at is None:
            await self.flags.toggle_flag(actor_of(release, metric), path)

    async def _raise_split_alarm(
        self, transaction: Transaction, release: Release, verdict: Verdict, at: datetime
    ) -> None:
        alarm = Alarm(None, None, at, 1 / split.ALPHA, 1 / split.ALPHA, SPLIT_WRONG)
        log.warning("release_split_wrong", release=str(release.id), users=verdict.counted.new)
        after = replace(release, alarms=(*release.alarms, alarm))
        await write_release(
            transaction, actor_of(release), "release.warned", release, after, self.now(), knows_all=False
        )


def actor_of(release: Release, guard: str | None = None) -> Actor:
    """The actor of what a release does by itself, or its guard for a metric: it acts for the release's author."""
    return Actor(release.author_id, release.author_email, release=ReleaseName(release.id, release.name, guard))


async def write_release(
    transaction: Transaction,
    actor: Actor,
    action: str,
    before: Release,
    after: Release,
    now: datetime,
    *,
    knows_all: bool = True,
) -> Release:
    """Write a change of a release. With `knows_all`, it knows all changes of its flag up to this one.

    Otherwise the runner still looks at those that others have made.
    """
    connection = transaction.connection
    after = replace(after, updated_at=later_than(before.updated_at, now))
    flag = await flags_store.get_flag(connection, before.project_id, before.environment_id, before.flag_id)
    change = change_of(
        actor, action, after.updated_at, scope_of(flag), before=record_of(before), after=record_of(after)
    )
    await record(transaction, change)
    assert transaction.change is not None
    if knows_all:
        after = replace(after, mark=transaction.change)
    await releases_store.update_release(connection, after)
    return after
