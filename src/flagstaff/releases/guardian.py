"""Has guards and thresholds act: the flag is turned off, or the release is paused, with the record of the decision.

Each acts once. What it does is the release's state, so that a look after a crash finds that it was done, or does it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp

import structlog

from flagstaff.changes.changes import Actor, ReleaseName, TokenName, change_of
from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath, scope_of
from flagstaff.flags.flags_service import Flags
from flagstaff.metrics.metrics import Metric
from flagstaff.projects import projects_store
from flagstaff.releases import releases_store
from flagstaff.releases.judging import Verdict
from flagstaff.releases.plans import Action
from flagstaff.releases.releases import Alarm, Release, State, record_of
from flagstaff.releases.statistics import split
from flagstaff.releases.wording import say_guard, say_split, say_threshold
from flagstaff.values.moments import later_than

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Guardian:
    """Has the guards and thresholds of a release act. `now` is this instance's clock, for the times of changes."""

    database: Database
    now: Callable[[], datetime]
    flags: Flags

    async def act(self, release: Release, verdict: Verdict, metrics: dict[str, Metric]) -> None:
        """Have each guard act that has reached its threshold and has not acted, and before, tell of a wrong split.

        One that fails keeps no other from acting: its error is raised after all.
        """
        with claiming(release.project_id, Priority.KILL, release.project_id):
            await self._act_for_each(release, verdict, metrics)

    async def _act_for_each(self, release: Release, verdict: Verdict, metrics: dict[str, Metric]) -> None:
        failures: list[Exception] = []
        if verdict.is_split_wrong:
            try:
                await self._raise_split_alarm(release, verdict)
            except Exception as error:  # noqa: BLE001 - it is raised after the guards have acted
                failures.append(error)
        for place, each in enumerate(verdict.judgements):
            metric = metrics.get(each.guard.metric)
            if metric is None or not each.is_reached:
                continue
            try:
                await self._act_for(release, verdict, place, metric)
            except Exception as error:  # noqa: BLE001 - likewise
                error.add_note(f"The guard on {metric.key} could not act.")
                failures.append(error)
        if failures:
            raise failures[0]

    async def _act_for(self, release: Release, verdict: Verdict, place: int, metric: Metric) -> None:
        """Have the guard at a place act, if it has not acted."""
        judgement = verdict.judgements[place]
        async with self.database.shared_transaction() as transaction:
            present = await open_present(transaction, release)
            if present is None or metric.key in present.alarmed:
                return
            alarm = Alarm(
                metric.key,
                judgement.guard.action,
                await releases_store.read_clock(transaction.connection),
                min(exp(min(judgement.log_evidence, 690.0)), 1e300),
                exp(judgement.log_threshold),
                say_guard(judgement, metric, release, verdict.counted, place),
            )
            await self._act(transaction, present, alarm)

    async def act_beyond(self, release: Release, place: int, value: float) -> None:
        """Have the threshold at a place act, which a value has passed, if it has not acted."""
        with claiming(release.project_id, Priority.KILL, release.project_id):
            async with self.database.shared_transaction() as transaction:
                present = await open_present(transaction, release)
                if present is None or place not in present.waiting_thresholds:
                    return
                threshold = present.thresholds[place]
                alarm = Alarm(
                    None,
                    threshold.action,
                    await releases_store.read_clock(transaction.connection),
                    value,
                    threshold.limit,
                    say_threshold(threshold, value),
                    threshold.request_metric,
                    place,
                )
                await self._act(transaction, present, alarm)

    async def _act(self, transaction: Transaction, release: Release, alarm: Alarm) -> Release:
        """Do what a guard or a threshold is to do, and record its alarm; return the release as it is then."""
        watched = alarm.metric or alarm.request_metric
        after = replace(release, alarms=(*release.alarms, alarm))
        match alarm.action:
            case Action.TURN_OFF:
                after = replace(after, state=State.STOPPED, reason=alarm.words, ended_at=alarm.at)
                await self._turn_off(transaction, release, watched)
                action = "release.stopped"
            case Action.PAUSE if release.state is not State.PAUSED:
                after = replace(after, state=State.PAUSED, reason=alarm.words, paused_at=alarm.at)
                action = "release.paused"
            case _:
                action = "release.warned"
        log.warning(
            "release_guard_acted", release=str(release.id), metric=watched, action=alarm.action, words=alarm.words
        )
        actor = actor_of(release, watched)
        after = after.with_due(alarm.at)
        return await write_release(transaction, actor, action, release, after, self.now(), knows_all=False)

    async def _turn_off(self, transaction: Transaction, release: Release, watched: str | None) -> None:
        path = FlagPath(release.project_id, release.environment_id, release.flag_id)
        flag = await flags_store.find_flag(transaction.connection, path.project_id, path.environment_id, path.flag_id)
        if flag is not None and flag.enabled and flag.archived_at is None:
            await self.flags.toggle_flag(actor_of(release, watched), path)

    async def _raise_split_alarm(self, release: Release, verdict: Verdict) -> None:
        async with self.database.shared_transaction() as transaction:
            present = await open_present(transaction, release)
            if present is None or None in present.alarmed:
                return
            at = await releases_store.read_clock(transaction.connection)
            alarm = Alarm(None, present.split_action, at, 1 / split.ALPHA, 1 / split.ALPHA, say_split(present))
            log.warning("release_split_wrong", release=str(release.id), users=verdict.counted.new)
            await self._act(transaction, present, alarm)


async def open_present(transaction: Transaction, release: Release) -> Release | None:
    """A release as it is now, with its project locked; None if it has ended."""
    if await projects_store.open_project_for_update(transaction.connection, release.project_id) is None:
        return None
    present = await releases_store.find_release(transaction.connection, release.id)
    return present if present is not None and present.is_open else None


def actor_of(release: Release, guard: str | None = None) -> Actor:
    """The actor of what a release does by itself, or its guard for a metric: it acts for the release's author."""
    token = TokenName(release.token_id, release.token_name or "") if release.token_id else None
    named = ReleaseName(release.id, release.name, guard)
    return Actor(release.author_id, release.author_email, token, release=named)


def acting_for(release: Release, actor: Actor) -> Release:
    """The release as it acts for an actor, with the access token that the actor uses."""
    return replace(
        release,
        author_id=actor.account_id,
        author_email=actor.email,
        token_id=actor.token.id if actor.token else None,
        token_name=actor.token.name if actor.token else None,
        lost_authority=False,
    )


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
    if not after.is_open:
        after = replace(after, unwatched_since=None)  # nothing is to be watched
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
