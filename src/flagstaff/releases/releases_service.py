"""Releases of flags: made, listed, paused, resumed and cancelled. The runner applies their steps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags.access import FlagPath, open_flag, open_live_flag, scope_of
from flagstaff.flags.flags import Flag
from flagstaff.history.store import request_metrics
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_environment
from flagstaff.releases import releases_store
from flagstaff.releases.authority_store import find_loss
from flagstaff.releases.creation_checks import (
    require_applicable,
    require_metrics,
    require_permissions,
    require_reported,
    require_times,
)
from flagstaff.releases.guardian import acting_for, write_release
from flagstaff.releases.plans import Plan, Step, WhenLate
from flagstaff.releases.releases import APPLIED_MAX, Release, State, record_of, with_present
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error
from flagstaff.values.lists import WHOLE, Window

ENDED_KEPT = 50
"""The number of releases of a flag that have ended and are kept."""


@dataclass(frozen=True, slots=True)
class Releases:
    """The use cases of releases. All raise Error NOT_FOUND for resources that are not the actor's.

    Those with a precondition also raise the error that it has.
    """

    database: Database
    now: Callable[[], datetime]
    settings: Settings

    async def create_release(self, actor: Actor, path: FlagPath, plan: Plan) -> Release:
        """Create a release of a flag, which begins at the time of its first step.

        Raises:
            Error: INVALID for steps that could not be applied to the flag as it is, or in an order or at times that
                cannot be, for guards that have nothing to compare, or for thresholds of what nobody reports; CONFLICT,
                which names it, if another release of the flag has not ended, or if there are too many watched ones;
                FORBIDDEN without `rules:write` if it changes rules.
        """
        await self._require_reported(actor, path, plan, Permission.FLAGS_WRITE)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            flag = await open_live_flag(connection, actor, path, Permission.FLAGS_WRITE, for_update=True)
            other = await releases_store.find_open_release(connection, flag.id)
            if other is not None:
                raise Error(
                    Code.CONFLICT,
                    f"The release {other.name or other.id} of this flag has not ended. Cancel it first.",
                    extensions={"release_id": str(other.id)},
                )
            release = await self._draft(connection, actor, flag, plan)
            await require_permissions(connection, actor, release)
            if release.is_observed or release.thresholds:
                await self._require_room(connection, release)
            await releases_store.delete_oldest(connection, flag.id, ENDED_KEPT - 1)
            await releases_store.create_release(connection, release)
            made = record_of(release, is_new=True)
            change = change_of(actor, "release.created", release.created_at, scope_of(flag), after=made)
            await record(transaction, change)
            assert transaction.change is not None
            release = replace(release, mark=transaction.change)
            await releases_store.update_release(connection, release)
            return release

    async def _require_room(self, connection: Connection, release: Release) -> None:
        """Raise Error CONFLICT if there are as many watched releases as may be: each costs time while it runs."""
        present = await releases_store.count_watched(connection, release.project_id, release.environment_id)
        self.settings.max_watched_releases_per_environment.require_room(present.of_environment)
        self.settings.max_watched_releases_per_project.require_room(present.of_project)
        self.settings.max_watched_releases.require_room(present.of_all)

    async def draft_release(self, actor: Actor, path: FlagPath, plan: Plan) -> Release:
        """The release that a plan would make of a flag, which is not created.

        Raises:
            Error: INVALID as `create_release`; CONFLICT if the flag is archived.
        """
        await self._require_reported(actor, path, plan, Permission.FLAGS_READ)
        async with self.database.read() as connection:
            flag = await open_live_flag(connection, actor, path, Permission.FLAGS_READ)
            return await self._draft(connection, actor, flag, plan)

    async def _require_reported(self, actor: Actor, path: FlagPath, plan: Plan, permission: Permission) -> None:
        if not plan.thresholds:
            return
        async with self.database.read() as connection:
            await open_live_flag(connection, actor, path, permission)
        async with self.database.read_history() as connection:
            series = await request_metrics.list_series(connection, path.environment_id)
        require_reported(plan.thresholds, series)

    async def _draft(self, connection: Connection, actor: Actor, flag: Flag, plan: Plan) -> Release:
        """A release that begins now, if its steps could be applied to the flag as it is; raises Error INVALID."""
        clock = await releases_store.read_clock(connection)
        release = Release(
            id=uuid7(),
            project_id=flag.project_id,
            environment_id=flag.environment_id,
            flag_id=flag.id,
            **{each.name: getattr(plan, each.name) for each in fields(plan)},
            state=State.SCHEDULED,
            reason=None,
            author_id=actor.account_id,
            author_email=actor.email,
            token_id=actor.token.id if actor.token else None,
            token_name=actor.token.name if actor.token else None,
            lost_authority=False,
            applied=(),
            alarms=(),
            counts_from=clock,
            due_at=None,
            paused_at=None,
            ended_at=None,
            mark=0,
            created_at=self.now(),
            updated_at=self.now(),
        ).with_due(clock)
        require_times(release, clock)
        await require_applicable(connection, flag, release)
        await require_metrics(connection, release)
        return release

    async def list_releases(self, actor: Actor, path: FlagPath, window: Window = WHOLE) -> list[Release]:
        """The releases of a flag, newest first; a position is a time of creation and an id."""
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.FLAGS_READ)
            found = await releases_store.list_releases(connection, path.flag_id, window)
        return await collect(found)

    async def list_open_releases(
        self, actor: Actor, project_id: UUID, environment_id: UUID, window: Window = WHOLE
    ) -> list[Release]:
        """The releases of an environment that have not ended, newest first; a position is as in `list_releases`."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            found = await releases_store.list_open_releases(connection, environment_id, window)
        return await collect(found)

    async def schedule_flags(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        *,
        name: str | None,
        at: datetime,
        changes: Mapping[UUID, Mapping[str, Any]],
        when_late: WhenLate,
    ) -> list[Release]:
        """Schedule changes of several flags for one moment, or of none of them.

        Raises:
            Error: As `create_release`, with the key of the flag.
        """
        created = []
        async with self.database.shared_transaction():
            for place, (flag_id, of_flag) in enumerate(changes.items()):
                path = FlagPath(project_id, environment_id, flag_id)
                try:
                    plan = Plan(name, (Step(of_flag, at=at),), when_late=when_late)
                    created.append(await self.create_release(actor, path, plan))
                except Error as error:
                    raise error.inside(f"flags.{place}") from error
        return created

    async def get_release(self, actor: Actor, path: FlagPath, release_id: UUID) -> Release:
        """One release."""
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.FLAGS_READ)
            return await releases_store.get_release(connection, path.flag_id, release_id)

    async def pause_release(
        self, actor: Actor, path: FlagPath, release_id: UUID, precondition: Precondition[Release] = ANY_STATE
    ) -> Release:
        """Pause a release: no step begins until it is resumed. Its guards go on. A paused one stays as it is.

        Raises:
            Error: CONFLICT if it has ended.
        """
        async with self.database.transaction() as transaction:
            release = await self._open(transaction, actor, path, release_id, precondition)
            if release.state is State.PAUSED:
                return release
            clock = await releases_store.read_clock(transaction.connection)
            who = actor.email or "the command line"
            paused = replace(release, state=State.PAUSED, reason=f"Paused by {who}.", paused_at=clock)
            return await write_release(
                transaction,
                actor,
                "release.paused",
                release,
                paused.with_due(clock),
                self.now(),
                knows_all=False,  # of an edit just before, guards watch what the users get then
            )

    async def resume_release(
        self, actor: Actor, path: FlagPath, release_id: UUID, precondition: Precondition[Release] = ANY_STATE
    ) -> Release:
        """Resume a paused release. What others have changed meanwhile stays, until a step changes it.

        The time of the pause does not count for `after_seconds`. A release that is not paused stays as it is. One whose
        author or token has lost the right acts for whoever resumes it.

        Raises:
            Error: CONFLICT if it has ended, if the flag is archived, or if it is off, the release has had it on and the
                next step does not turn it on; FORBIDDEN without `rules:write` if a step that has not been applied
                changes rules.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            release = await self._open(transaction, actor, path, release_id, precondition)
            if release.state is not State.PAUSED:
                return release
            flag = await open_live_flag(connection, actor, path, Permission.FLAGS_WRITE)
            await require_permissions(connection, actor, release.remaining)
            if len(release.applied) >= APPLIED_MAX:
                raise Error(
                    Code.CONFLICT, "The release was paused by conflicts too often. Cancel it, and create another one."
                )
            if release.needs_flag_on and not flag.enabled:
                raise Error(
                    Code.CONFLICT,
                    "The flag is off, so the next steps would change it for nobody. Turn it on first, and then resume "
                    "the release, or cancel the release.",
                )
            clock = await releases_store.read_clock(connection)
            paused_for = clock - (release.paused_at or clock)
            is_lost = release.lost_authority or await find_loss(connection, release) is not None
            resumed = replace(
                acting_for(release, actor) if is_lost else release,
                state=State.RUNNING if release.applied else State.SCHEDULED,
                reason=None,
                paused_at=None,
                counts_from=release.counts_from + max(paused_for, timedelta(0)),
                applied=with_present(release, flag, clock),
            )
            return await write_release(
                transaction, actor, "release.resumed", release, resumed.with_due(clock), self.now()
            )

    async def cancel_release(
        self, actor: Actor, path: FlagPath, release_id: UUID, precondition: Precondition[Release] = ANY_STATE
    ) -> Release:
        """End a release. The flag stays as it is, and so do the results.

        Raises:
            Error: CONFLICT if it has ended.
        """
        async with self.database.transaction() as transaction:
            release = await self._open(transaction, actor, path, release_id, precondition)
            clock = await releases_store.read_clock(transaction.connection)
            who = actor.email or "the command line"
            cancelled = replace(
                release, state=State.CANCELLED, reason=f"Cancelled by {who}.", ended_at=clock, due_at=None
            )
            return await write_release(transaction, actor, "release.cancelled", release, cancelled, self.now())

    async def _open(
        self,
        transaction: Transaction,
        actor: Actor,
        path: FlagPath,
        release_id: UUID,
        precondition: Precondition[Release],
    ) -> Release:
        connection = transaction.connection
        await open_flag(connection, actor, path, Permission.FLAGS_WRITE, for_update=True)
        release = await releases_store.get_release(connection, path.flag_id, release_id)
        await precondition.require(connection, release, release_id, path.project_id)
        if not release.is_open:
            raise Error(Code.CONFLICT, f"The release has ended: it is {release.state}.")
        return release
