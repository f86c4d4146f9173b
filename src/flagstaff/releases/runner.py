"""Runs releases: applies steps when they are due, pauses where somebody else has changed the flag, and ends them.

Each instance looks. A step is applied in the transaction that notes it, while the project is locked, so that it is
applied once, whoever is first and whoever ends when. The database's clock decides.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from time import monotonic
from typing import NamedTuple
from uuid import UUID

import structlog

from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath
from flagstaff.flags.flags import Flag
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.metrics import metrics_store
from flagstaff.projects import projects_store
from flagstaff.projects.access_tokens import access_tokens_store
from flagstaff.releases import flag_changes_store, observations_store, releases_store
from flagstaff.releases.authority_store import find_loss
from flagstaff.releases.conflicts import find_conflict
from flagstaff.releases.creation_checks import require_rollout
from flagstaff.releases.environment_watch import begin_observing
from flagstaff.releases.guardian import actor_of, write_release
from flagstaff.releases.judging import Hold, conclude, find_hold
from flagstaff.releases.observations import Observations
from flagstaff.releases.plans import NAMED_RULES, WhenLate, alter, read_changes, read_rule
from flagstaff.releases.releases import LATE_AFTER, Applied, Release, State, arms_of, with_present
from flagstaff.releases.threshold_watch import find_threshold_hold
from flagstaff.values.errors import Code, Error
from flagstaff.values.moments import later_than

log = structlog.get_logger(__name__)

RUN_SECONDS = 0.5
HELD_SECONDS, FAILED_SECONDS = 2.0, 30.0
"""After how long a release is looked at again whose step is held back, and one that could not be advanced."""
AUTHORITY_SECONDS = 2.0
"""The time between two looks at the authority of all releases, which each step requires once more."""
SKIPPED = "Step {} was late and was skipped, so the next one changes more than planned. Resume the release to go on."
_AT_ONCE = 100
_CHANGES_AT_ONCE = 200
_TRANSIENT = (Code.UNAVAILABLE, Code.LIMITED)


@dataclass(frozen=True, slots=True)
class Due:
    """The steps that are due together: the newest, those before it that are folded into it, and when it was due."""

    step: int
    folded: tuple[int, ...]
    at: datetime
    is_late: bool


class Watched(NamedTuple):
    """The state of a release before it goes on: the counts, if any, and why its thresholds hold it back."""

    counted: Observations | None
    hold: Hold | None


@dataclass(slots=True)
class Runner:
    """Looks again and again. `now` is this instance's clock, for the times of changes."""

    database: Database
    now: Callable[[], datetime]
    flags: Flags
    rules: Rules
    _authority_at: float = field(default=0.0, init=False)
    _waiting: set[UUID] = field(default_factory=set, init=False)
    _failed: dict[UUID, float] = field(default_factory=dict, init=False)

    async def run_due(self) -> None:
        """Advance each release that is due, or whose flag was changed, and pause those that lost their authority.

        One that fails does not stop others.
        """
        wanting = await self._list_wanting()
        self._waiting &= {*wanting}
        now = monotonic()
        self._failed = {each: until for each, until in self._failed.items() if until > now}
        for release_id in wanting:
            if release_id in self._failed:
                continue
            try:
                await self._advance(release_id)
                self._waiting.discard(release_id)
            except Exception as error:  # the others are still looked at
                if isinstance(error, Error) and error.code in _TRANSIENT:  # it is looked at again soon
                    if release_id not in self._waiting:  # an outage is logged once
                        log.warning("release_not_advanced", release=str(release_id), reason=error.message)
                    self._waiting.add(release_id)
                    continue
                log.exception("release_not_advanced", release=str(release_id))
                self._failed[release_id] = now + FAILED_SECONDS
                with suppress(Exception):  # it stands no longer before others
                    await self._look_later(release_id, FAILED_SECONDS)

    async def _list_wanting(self) -> list[UUID]:
        async with self.database.query() as connection:
            wanting = await releases_store.list_wanting(connection, _AT_ONCE)
            if monotonic() >= self._authority_at:
                wanting += await releases_store.list_lost(connection, _AT_ONCE)
                self._authority_at = monotonic() + AUTHORITY_SECONDS
        return wanting

    async def _advance(self, release_id: UUID) -> None:
        async with self.database.read() as connection:
            release = await releases_store.find_release(connection, release_id)
        if release is None or not release.is_open:
            return
        watched = Watched(await self._prepare(release), await find_threshold_hold(self.database, release))
        async with self.database.read() as connection:
            has_work = await _has_work(connection, release, watched)
        if not has_work:
            await self._look_later(release_id, HELD_SECONDS)
            return
        try:
            async with self.database.shared_transaction() as transaction:
                await self._advance_locked(transaction, release, watched)
        except Error as error:
            if error.code in _TRANSIENT:
                raise
            await self._fail(release, error)

    async def _look_later(self, release_id: UUID, seconds: float) -> None:
        """Look at a release again in some seconds, so that those that wait do not stand before others."""
        async with self.database.transaction() as transaction:
            await releases_store.postpone(transaction.connection, release_id, seconds)

    async def _prepare(self, release: Release) -> Observations | None:
        """Return the counts of a release; counting begins before its first step is applied."""
        if not release.is_observed:
            return None
        async with self.database.read_history() as connection:
            observed = await observations_store.find_observed(connection, release.id)
        if observed is None and release.state is State.SCHEDULED:
            async with self.database.read() as connection:
                clock = await releases_store.read_clock(connection)
            await begin_observing(self.database, release, clock)
        return observed.counted if observed else Observations(is_behind=True)

    async def _advance_locked(self, transaction: Transaction, before: Release, watched: Watched) -> None:
        connection = transaction.connection
        release = await _open_unchanged(connection, before)
        if release is None:
            return
        path = FlagPath(release.project_id, release.environment_id, release.flag_id)
        flag = await flags_store.get_flag(connection, release.project_id, release.environment_id, release.flag_id)
        made = await flag_changes_store.list_made_since(connection, release.flag_id, release.mark, _CHANGES_AT_ONCE)
        clock = await releases_store.read_clock(connection)
        conflict = find_conflict(release, made)
        if conflict is not None and release.state is not State.PAUSED:
            await self._pause(transaction, release, flag, conflict, clock)
            return
        if made:
            release = replace(release, mark=made[-1].number)
            if release.state is State.PAUSED and (applied := with_present(release, flag, clock)) != release.applied:
                later = later_than(release.updated_at, self.now())  # so that who watches reads it again
                release = replace(release, applied=applied, updated_at=later)
            await releases_store.update_release(connection, release)
        if len(made) == _CHANGES_AT_ONCE or release.state is State.PAUSED:
            return
        if release.next_step is None:  # it only watches, for which it needs no right
            await self._end(transaction, release, clock)
            return
        loss = await _find_lasting_loss(connection, release)
        if loss is not None:
            await self._pause_lost(transaction, release, loss, clock)
            return
        if await _is_held_back(connection, release, watched):
            return
        due = find_due(release, clock)
        if due is not None:
            await self._apply(transaction, release, path, flag, due, clock)

    async def _apply(
        self, transaction: Transaction, release: Release, path: FlagPath, flag: Flag, due: Due, clock: datetime
    ) -> None:
        is_skipped = due.is_late and release.when_late is WhenLate.SKIP
        actor = actor_of(release)
        after = flag
        if not is_skipped:
            changes: dict[str, object] = {}
            edits: list[dict[str, object]] = []
            for place in (*due.folded, due.step):
                given = release.steps[place].changes
                changes |= {name: value for name, value in given.items() if name != NAMED_RULES}
                edits += given.get(NAMED_RULES, ())
            if changes:
                require_rollout(flag, alter(flag, changes))
                after = await self.flags.update_flag(actor, path, **read_changes(changes))
            for edit in edits:
                await self._edit_rule(release, path, edit)
        applied = Applied(
            step=due.step,
            at=clock,
            due_at=due.at,
            is_late=due.is_late,
            is_skipped=is_skipped,
            skipped=due.folded,
            arms=None if is_skipped else arms_of(after),
            rollout_percentage=after.rollout_percentage,
            stickiness=after.stickiness,
            hashed_key=after.hashed_key,
        )
        running = replace(
            release, state=State.RUNNING, applied=(*release.applied, applied), counts_from=clock, reason=None
        ).with_due(clock)
        action = "release.step_skipped" if is_skipped else "release.step_applied"
        if is_skipped and _enlarges_next(release, due):
            reason = SKIPPED.format(due.step + 1)
            running = replace(running, state=State.PAUSED, reason=reason, paused_at=clock).with_due(clock)
        if running.next_step is None and not running.needs_watching:
            running = replace(running, state=State.DONE, ended_at=clock, due_at=None)
            if not is_skipped:
                action = "release.done"
        await write_release(transaction, actor, action, release, running, self.now())

    async def _edit_rule(self, release: Release, path: FlagPath, edit: dict[str, object]) -> None:
        actor, values = actor_of(release), read_rule(edit)
        if "id" not in edit:
            await self.rules.create_rule(actor, path, **values)
            return
        rule_id = UUID(str(edit["id"]))
        if edit.get("delete"):
            await self.rules.delete_rule(actor, path, rule_id)
        else:
            await self.rules.update_rule(actor, path, rule_id, **values)

    async def _pause(
        self, transaction: Transaction, release: Release, flag: Flag, conflict: str, clock: datetime
    ) -> None:
        """Pause a release because of what somebody else has changed. Its guards go on with the flag as it is now."""
        applied = with_present(release, flag, clock)
        paused = replace(release, state=State.PAUSED, reason=conflict, paused_at=clock, applied=applied)
        actor = actor_of(release)
        await write_release(transaction, actor, "release.paused", release, paused.with_due(clock), self.now())

    async def _pause_lost(self, transaction: Transaction, release: Release, loss: str, clock: datetime) -> None:
        """Pause a release that may not act for its author any more. Its guards go on."""
        paused = replace(release, state=State.PAUSED, reason=loss, paused_at=clock, lost_authority=True)
        actor = actor_of(release)
        await write_release(transaction, actor, "release.paused", release, paused.with_due(clock), self.now())

    async def _end(self, transaction: Transaction, release: Release, clock: datetime) -> None:
        if release.due_at is None or release.due_at > clock:
            return
        done = replace(release, state=State.DONE, ended_at=clock, due_at=None)
        await write_release(transaction, actor_of(release), "release.done", release, done, self.now())

    async def _fail(self, before: Release, error: Error) -> None:
        """End a release whose step cannot be applied. What the step had changed already was rolled back."""
        words = error.message if not error.fields else " ".join(str(each) for each in error.fields)
        with suppress(Error):  # such as of a flag that was deleted, and its release with it
            async with self.database.shared_transaction() as transaction:
                connection = transaction.connection
                release = await _open_unchanged(connection, before)
                if release is None:
                    return
                clock = await releases_store.read_clock(connection)
                place = release.next_step or 0
                reason = f"Step {place + 1} could not be applied. {words}"
                failed = replace(release, state=State.FAILED, reason=reason, ended_at=clock, due_at=None)
                await write_release(transaction, actor_of(release), "release.failed", release, failed, self.now())


async def _open_unchanged(connection: Connection, before: Release) -> Release | None:
    """Return a release, with its project locked; None if it was changed or has ended since it was read."""
    if await projects_store.open_project_for_update(connection, before.project_id) is None:
        return None
    release = await releases_store.find_release(connection, before.id)
    is_same = release is not None and release.is_open and release.updated_at == before.updated_at
    return release if is_same else None


async def _find_lasting_loss(connection: Connection, release: Release) -> str | None:
    """Say why a release may not act any more. If it may, its token is not revoked before the transaction ends."""
    if release.token_id is not None:
        await access_tokens_store.hold_token(connection, release.token_id)
    return await find_loss(connection, release)


async def _has_work(connection: Connection, release: Release, watched: Watched) -> bool:
    """Return whether there is something to write: a change of the flag, a right that was lost, a step, or the end."""
    if await flag_changes_store.list_made_since(connection, release.flag_id, release.mark, 1):
        return True
    clock = await releases_store.read_clock(connection)
    if release.next_step is None:
        return release.due_at is not None and release.due_at <= clock
    if release.state is not State.PAUSED and await find_loss(connection, release) is not None:
        return True
    return find_due(release, clock) is not None and not await _is_held_back(connection, release, watched)


async def _is_held_back(connection: Connection, release: Release, watched: Watched) -> bool:
    """Return whether the next step waits: for thresholds, for users, or for the evidence of a guard to fall."""
    if watched.hold is not None:
        return True
    if watched.counted is None:
        return False
    metrics = await metrics_store.find_metrics(connection, release.project_id, release.watched)
    return find_hold(release, conclude(release, watched.counted, metrics)) is not None


def _enlarges_next(release: Release, due: Due) -> bool:
    """Return whether the step after those that are due would change more, if they are skipped."""
    if due.step + 1 >= len(release.steps):
        return False
    skipped = {name for place in (*due.folded, due.step) for name in release.steps[place].changes}
    return not skipped.isdisjoint(release.steps[due.step + 1].changes)


def find_due(release: Release, clock: datetime) -> Due | None:
    """The steps whose time has come: the newest, and the ones before it whose times are also over, which are folded."""
    step = release.next_step
    if step is None or release.due_of(step) > clock:
        return None
    # Since `due_at` somebody would have looked: a step that was held back is not late.
    is_late = release.due_at is not None and clock - release.due_at > LATE_AFTER
    folded: list[int] = []
    # Only times can be over together: `after_seconds` count from when the step before was applied.
    while is_late and step + 1 < len(release.steps) and (at := release.steps[step + 1].at) is not None and at <= clock:
        if release.steps[step + 1].least_users:
            break
        folded.append(step)
        step += 1
    return Due(step, tuple(folded), release.due_of(step), is_late=is_late)
