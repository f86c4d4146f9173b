"""The audit trail: who changed what and when, with the values before and after."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from uuid import UUID

from flagstaff.audit import change_lists_store, change_summaries_store
from flagstaff.audit.change_lists_store import ChangeFilter
from flagstaff.audit.change_summaries_store import ChangesInterval
from flagstaff.changes.changes import Actor, NumberedChange
from flagstaff.database.database import Connection, Database
from flagstaff.identity.accounts.accounts_store import find_account_by_email
from flagstaff.identity.administration.rights import require_administrator
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, may, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member, open_project
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import invalid_field
from flagstaff.values.intervals import Intervals, calendar_intervals

_SUMMARY_MAX = timedelta(days=800)  # what it reads grows with the changes in that time


@dataclass(frozen=True, slots=True)
class ChangesPage:
    """Some changes, newest first. Older ones have numbers below `next_before`, which is None if there are none.

    `comments` has how many comments a change has, by number, if it has any.
    """

    items: list[NumberedChange]
    next_before: int | None
    comments: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChangeSummary:
    """The changes by interval; intervals without one are left out."""

    asked: Intervals
    found: Sequence[ChangesInterval]


@dataclass(frozen=True, slots=True)
class ProjectChangeFilter:
    """A filter of a project's changes; None means all.

    `account` is an account's id or email; `environment` an environment's id or key, which may be deleted.
    """

    account: UUID | str | None = None
    actions: Collection[str] | None = None
    flag_key: str | None = None
    environment: UUID | str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """Reads the audit trail. All methods raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def list_project_changes(
        self, actor: Actor, project_id: UUID, wanted: ProjectChangeFilter, *, limit: int, before: int | None = None
    ) -> ChangesPage:
        """The changes of a project and of everything in it, including deleted resources."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.AUDIT_READ)
            found = await _resolve(connection, project_id, wanted)
            if found is None:
                return ChangesPage([], None)
            # One extra row shows whether there are older changes.
            items = await change_lists_store.list_project_changes(
                connection, project_id, found, before=before, limit=limit + 1
            )
            return await _commented_page(connection, project_id, items, limit)

    async def read_project_changes(
        self, actor: Actor, project_id: UUID, wanted: ProjectChangeFilter, *, limit: int, before: int | None = None
    ) -> ChangesPage:
        """The same without the numbers of comments, for an export."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.AUDIT_READ)
            found = await _resolve(connection, project_id, wanted)
            if found is None:
                return ChangesPage([], None)
            items = await change_lists_store.list_project_changes(
                connection, project_id, found, before=before, limit=limit + 1
            )
        return _page(items, limit)

    async def name_environments(self, actor: Actor, project_id: UUID) -> dict[UUID, str]:
        """The keys of the environments that a project has, by id."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.AUDIT_READ)
            return {each.id: each.key for each in await environments_store.list_environments(connection, project_id)}

    async def list_environment_changes(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        wanted: ProjectChangeFilter,
        *,
        flag_id: UUID | None = None,
        limit: int,
        before: int | None = None,
    ) -> ChangesPage:
        """The changes in an environment, or of one flag and its rules, also after its deletion, and of what it shares.

        Segments and members are the whole project's: who may not see the audit trail of that does not get their
        changes. Of one flag, only the segments count that its rules name now. `wanted` names no environment.
        """
        async with self.database.read() as connection:
            member, environment = await self._open(connection, actor, project_id, environment_id)
            found = await _resolve(connection, project_id, wanted)
            if found is None:
                return ChangesPage([], None)
            of_environment = replace(found, flag_id=flag_id)
            items = await change_lists_store.list_environment_changes(
                connection, environment, of_environment, before=before, limit=limit + 1
            )
            if may(member, Permission.AUDIT_READ):
                items += await change_lists_store.list_shared_changes(
                    connection, project_id, of_environment, before=before, limit=limit + 1
                )
            newest = change_lists_store.newest_first(items, limit + 1)
            return await _commented_page(connection, project_id, newest, limit)

    async def _open(
        self, connection: Connection, actor: Actor, project_id: UUID, environment_id: UUID
    ) -> tuple[Member, Environment]:
        _, member = await open_member(connection, actor, project_id)
        environment = await environments_store.get_environment(connection, project_id, environment_id)
        require(member, Permission.AUDIT_READ, environment.key)
        return member, environment

    async def summarise_environment(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        *,
        since: datetime | None,
        until: datetime | None,
        interval: str,
        zone: tzinfo,
        flag_key: str | None,
    ) -> ChangeSummary:
        """Count the changes of what decides an environment's flags, or one flag by its key; by default in the last day.

        Segments are the whole project's: who may not see the audit trail of that gets only the changes of flags.

        Raises:
            Error: INVALID for times and an interval that are not `calendar_intervals` of a summary.
        """
        asked = calendar_intervals(since, until or self.now(), interval, zone)
        if asked.until - asked.since > _SUMMARY_MAX:
            raise invalid_field("since", f"must be at most {_SUMMARY_MAX.days} days before until")
        async with self.database.read() as connection:
            member, _ = await self._open(connection, actor, project_id, environment_id)
            found = await change_summaries_store.summarise_changes(
                connection,
                project_id,
                environment_id,
                asked,
                flag_key=flag_key,
                with_segments=may(member, Permission.AUDIT_READ),
            )
        return ChangeSummary(asked, found)

    async def list_instance_changes(self, actor: Actor, *, limit: int, before: int | None = None) -> ChangesPage:
        """The changes of accounts and of the instance's settings, for its administrators; raises Error FORBIDDEN."""
        async with self.database.read() as connection:
            await require_administrator(connection, actor)
            items = await change_lists_store.list_instance_changes(connection, before=before, limit=limit + 1)
        return _page(items, limit)

    async def list_own_changes(self, actor: Actor, *, limit: int, before: int | None = None) -> ChangesPage:
        """The changes of the actor's own account: its registration and password changes."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            items = await change_lists_store.list_account_changes(
                connection, actor.account_id, before=before, limit=limit + 1
            )
        return _page(items, limit)


async def _resolve(connection: Connection, project_id: UUID, wanted: ProjectChangeFilter) -> ChangeFilter | None:
    """The same filter with ids only; None when nothing can match."""
    account_id, environment_ids = None, None
    match wanted.account:
        case str() as email:
            account = await find_account_by_email(connection, email)
            if account is None:
                return None
            account_id = account.id
        case given:
            account_id = given
    match wanted.environment:
        case str() as key:
            environment_ids = await change_lists_store.find_environment_ids(connection, project_id, key)
            if not environment_ids:
                return None
        case UUID() as environment_id:
            environment_ids = [environment_id]
    return ChangeFilter(account_id, wanted.actions, wanted.flag_key, environment_ids, wanted.since, wanted.until)


async def _commented_page(
    connection: Connection, project_id: UUID, found: list[NumberedChange], limit: int
) -> ChangesPage:
    page = _page(found, limit)
    numbers = [each.number for each in page.items]
    return replace(page, comments=await change_lists_store.count_comments(connection, project_id, numbers))


def _page(found: list[NumberedChange], limit: int) -> ChangesPage:
    items = found[:limit]
    return ChangesPage(items, items[-1].number if len(found) > limit else None)
