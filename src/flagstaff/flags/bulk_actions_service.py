"""Bulk actions: the same change to many flags of an environment, in one transaction, or to none of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor, BatchKind, Change, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_write_worker
from flagstaff.database.changes_store import batch_of, record_all
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.flags.access import scope_of
from flagstaff.flags.bulk_actions import BulkAction, after_action, check_action_tags, reason_against
from flagstaff.flags.flags import Flag
from flagstaff.flags.prerequisites import users_of
from flagstaff.flags.references import list_needs
from flagstaff.projects.access import open_environment
from flagstaff.values.errors import Code, Error, FieldError
from flagstaff.values.moments import later_than

FlagPair = tuple[Flag, Flag]
"""A flag before an action and after it, which may be equal."""


@dataclass(frozen=True, slots=True)
class Done:
    """The flags after an action, in the order in which they were given, and the numbers of the changes."""

    flags: Sequence[Flag]
    numbers: Sequence[int]


@dataclass(frozen=True, slots=True)
class BulkActions:
    """The use case of bulk actions. Raises Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]

    async def act(
        self,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        flag_ids: Sequence[UUID],
        action: BulkAction,
        tags: Sequence[str] = (),
    ) -> Done:
        """Do the same to all of these flags of an environment. Flags that need no change stay untouched.

        Raises:
            Error: INVALID for missing or useless tags; NOT_FOUND, with their places, for flags that do not exist;
                CONFLICT, with the reason for each, if it cannot be done to some.
        """
        check_action_tags(action, tags)
        async with self.database.transaction() as transaction:
            connection, now = transaction.connection, self.now()
            await open_environment(connection, actor, project_id, environment_id, action.permission, for_update=True)
            pairs = await _plan(connection, environment_id, flag_ids, action, tags, now)
            changed = [(before, after) for before, after in pairs if before != after]
            await flags_store.update_flags(connection, [after for _, after in changed])
            made = await collect(_change_of(actor, action, pair) for pair in changed)
            numbers = await record_all(transaction, made, batch_of(made, BatchKind.BULK_ACTION))
            return Done([after for _, after in pairs], numbers)


async def _plan(
    connection: Connection,
    environment_id: UUID,
    flag_ids: Sequence[UUID],
    action: BulkAction,
    tags: Sequence[str],
    now: datetime,
) -> list[FlagPair]:
    found = await collect(await flags_store.find_flags(connection, environment_id, flag_ids, with_archived=True))
    present = {flag.id: flag for flag in found}
    missing = [FieldError(f"flags.{at}", "does not exist") for at, each in enumerate(flag_ids) if each not in present]
    if missing:
        raise Error(Code.NOT_FOUND, "Some of the flags do not exist. Nothing was changed.", fields=missing)
    users = await _users_that_stay(connection, environment_id, found) if action is BulkAction.ARCHIVE else {}
    pairs = await collect(_pair(present[each], action, tags, now) for each in flag_ids)
    reasons = await collect(reason_against(before, after, users) for before, after in pairs)
    mistakes = [FieldError(f"flags.{place}", reason) for place, reason in enumerate(reasons) if reason is not None]
    if mistakes:
        raise Error(
            Code.CONFLICT, f"{len(mistakes)} of the flags cannot be changed. Nothing was changed.", fields=mistakes
        )
    return pairs


def _pair(flag: Flag, action: BulkAction, tags: Sequence[str], now: datetime) -> FlagPair:
    after = after_action(flag, action, tags, now)
    return flag, flag if after == flag else replace(after, updated_at=later_than(flag.updated_at, now))


async def _users_that_stay(
    connection: Connection, environment_id: UUID, chosen: Sequence[Flag]
) -> Mapping[str, list[str]]:
    """The keys of the flags that are neither chosen nor archived, by the key of each flag that they need."""
    going = {flag.key for flag in chosen}
    needs = await list_needs(await flags_store.list_prerequisites(connection, environment_id, with_archived=False))
    return await in_write_worker(users_of, {key: needed for key, needed in needs.items() if key not in going})


def _change_of(actor: Actor, action: BulkAction, pair: FlagPair) -> Change:
    before, after = pair
    return change_of(actor, action.recorded_as, after.updated_at, scope_of(after), before=before, after=after)
