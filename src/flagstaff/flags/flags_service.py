"""Flags: created, edited, toggled, archived, deleted. What a method did, every evaluation after its return sees."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath, open_flag, open_live_flag, scope_of
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import Flag
from flagstaff.flags.references import (
    require_free_key,
    require_live_prerequisites,
    require_prerequisites,
    require_unneeded,
    require_unused_variants,
)
from flagstaff.flags.targeting import rules_store
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_environment, open_member
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field
from flagstaff.values.keys import require_same_key
from flagstaff.values.lists import WHOLE, Window
from flagstaff.values.moments import later_than


@dataclass(frozen=True, slots=True)
class Flags:
    """The use cases of flags. All raise Error NOT_FOUND for resources that are not the actor's.

    Those with a precondition raise Error PRECONDITION_FAILED for a flag in another state.
    """

    database: Database
    now: Callable[[], datetime]
    settings: Settings
    work: WorkBudgets

    async def create_flag(self, actor: Actor, project_id: UUID, environment_id: UUID, **values: Any) -> Flag:
        """Create a flag with these fields; those that have a default may be left out.

        Raises:
            Error: INVALID for a prerequisite that does not exist, CONFLICT if the environment has a flag with this key,
                even an archived one, or no room for another or for its variants.
        """
        async with self.database.transaction() as transaction:
            await open_environment(
                transaction.connection, actor, project_id, environment_id, Permission.FLAGS_WRITE, for_update=True
            )
            return await self._create(transaction, actor, project_id, environment_id, values)

    async def create_flags(
        self, actor: Actor, project_id: UUID, environment_ids: Sequence[UUID], **values: Any
    ) -> list[Flag]:
        """Create a flag with these fields in each of some environments, or in none of them.

        Raises:
            Error: As `create_flag`, with the key of the environment; INVALID for an environment that does not exist.
        """
        created = []
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            for place, environment_id in enumerate(environment_ids):
                environment = await environments_store.find_environment(connection, project_id, environment_id)
                if environment is None:
                    raise invalid_field(f"environments.{place}", "must be the id of an environment of this project")
                require(member, Permission.FLAGS_WRITE, environment.key)
                try:
                    created.append(await self._create(transaction, actor, project_id, environment_id, values))
                except Error as error:
                    message = f"In {environment.key}: {error.message}"
                    raise Error(error.code, message, fields=error.fields, extensions=error.extensions) from error
        return created

    async def _create(
        self,
        transaction: Transaction,
        actor: Actor,
        project_id: UUID,
        environment_id: UUID,
        values: Mapping[str, Any],
    ) -> Flag:
        connection, now = transaction.connection, self.now()
        flag = Flag(
            id=uuid7(),
            project_id=project_id,
            environment_id=environment_id,
            created_at=now,
            updated_at=now,
            **values,
        )
        self.settings.max_flags_per_environment.require_room(await flags_store.count_flags(connection, environment_id))
        await require_free_key(connection, environment_id, flag.key)
        await require_prerequisites(connection, flag)
        await flags_store.create_flag(connection, flag)
        if flag.variants:
            await self.require_room_for_variants(connection, environment_id)
        await self.require_room_for_work(connection, flag, None)
        await record(transaction, change_of(actor, "flag.created", now, scope_of(flag), after=flag))
        return flag

    async def list_flags(
        self, actor: Actor, project_id: UUID, environment_id: UUID, window: Window = WHOLE, *, archived: bool = False
    ) -> list[Flag]:
        """The flags of an environment that are archived or that are not, newest first.

        A position is a time of creation and an id.
        """
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.FLAGS_READ)
            found = await flags_store.list_flags(connection, environment_id, window, archived=archived)
        return await collect(found)

    async def get_flag(self, actor: Actor, path: FlagPath) -> Flag:
        """One flag."""
        async with self.database.read() as connection:
            return await open_flag(connection, actor, path, Permission.FLAGS_READ)

    async def update_flag(
        self,
        actor: Actor,
        path: FlagPath,
        precondition: Precondition[Flag] = ANY_STATE,
        *,
        key: str | None = None,
        **values: Any,
    ) -> Flag:
        """Update the given fields of a flag. Equal values change nothing.

        Raises:
            Error: INVALID when `key` is given and differs from the current key, because keys never change, or for a
                prerequisite that does not exist; CONFLICT for a cycle of prerequisites, a variant that is used, or no
                room for the variants.
        """
        async with self.database.transaction() as transaction:
            flag = await open_live_flag(
                transaction.connection, actor, path, Permission.FLAGS_WRITE, precondition, for_update=True
            )
            require_same_key(flag.key, key)
            updated = replace(flag, **values)
            if updated == flag:
                return flag
            if updated.prerequisites != flag.prerequisites:
                await require_prerequisites(transaction.connection, updated)
            if updated.variants == flag.variants:
                written = await self._write(transaction, "flag.updated", actor, flag, updated)
            else:
                await require_unused_variants(transaction.connection, flag, updated)
                present = await flags_store.count_variant_characters(transaction.connection, path.environment_id)
                written = await self._write(transaction, "flag.updated", actor, flag, updated)
                await self.require_room_for_variants(transaction.connection, path.environment_id, present)
            await self.require_room_for_work(transaction.connection, written, flag)
            return written

    async def toggle_flag(self, actor: Actor, path: FlagPath, precondition: Precondition[Flag] = ANY_STATE) -> Flag:
        """Flip `enabled`; rules and rollout stay as they are."""
        async with self.database.transaction() as transaction:
            flag = await open_live_flag(
                transaction.connection, actor, path, Permission.FLAGS_TOGGLE, precondition, for_update=True
            )
            flipped = replace(flag, enabled=not flag.enabled)
            return await self._write(transaction, "flag.toggled", actor, flag, flipped)

    async def archive_flag(self, actor: Actor, path: FlagPath, precondition: Precondition[Flag] = ANY_STATE) -> Flag:
        """Take a flag out of every answer; it keeps its id, its key, its rules and its state.

        Raises:
            Error: CONFLICT if it is archived, or, with their keys, if it is a prerequisite of others that are not.
        """
        async with self.database.transaction() as transaction:
            flag = await open_live_flag(
                transaction.connection, actor, path, Permission.FLAGS_WRITE, precondition, for_update=True
            )
            await require_unneeded(transaction.connection, flag, with_archived=False)
            return await self._write(transaction, "flag.archived", actor, flag, replace(flag, archived_at=self.now()))

    async def unarchive_flag(self, actor: Actor, path: FlagPath, precondition: Precondition[Flag] = ANY_STATE) -> Flag:
        """Put an archived flag back into the answers, as it was.

        Raises:
            Error: CONFLICT if it is not archived, or, with their keys, if prerequisites of it are, or if its conditions
                are too much work for the environment.
        """
        async with self.database.transaction() as transaction:
            flag = await open_flag(
                transaction.connection, actor, path, Permission.FLAGS_WRITE, precondition, for_update=True
            )
            if flag.archived_at is None:
                raise Error(Code.CONFLICT, f"The flag {flag.key} is not archived.")
            await require_live_prerequisites(transaction.connection, flag)
            live = await self._write(transaction, "flag.unarchived", actor, flag, replace(flag, archived_at=None))
            await self.require_room_for_work(transaction.connection, live, flag)
            return live

    async def delete_flag(self, actor: Actor, path: FlagPath, precondition: Precondition[Flag] = ANY_STATE) -> None:
        """Delete a flag with its rules; its evaluation history stays.

        Raises:
            Error: CONFLICT, which names the flags, if it is a prerequisite of others.
        """
        async with self.database.transaction() as transaction:
            flag = await open_flag(
                transaction.connection, actor, path, Permission.FLAGS_WRITE, precondition, for_update=True
            )
            await require_unneeded(transaction.connection, flag)
            await flags_store.delete_flag(transaction.connection, path.flag_id)
            await record(transaction, change_of(actor, "flag.deleted", self.now(), scope_of(flag), before=flag))

    async def require_room_for_variants(self, connection: Connection, environment_id: UUID, present: int = 0) -> None:
        """Raise Error CONFLICT if the variants of the environment have become too long, unless they were longer."""
        characters = await flags_store.count_variant_characters(connection, environment_id)
        self.settings.max_variant_characters.require_within("environment", characters, present)

    async def require_room_for_work(self, connection: Connection, written: Flag, before: Flag | None) -> None:
        """Refuse a flag just written with which the environment's conditions and prerequisites are too much work.

        Raises:
            Error: INVALID at the prerequisites; CONFLICT for the rules of a flag that was archived before.
        """
        returns = before is not None and before.archived_at is not None and written.archived_at is None
        its_rules = await collect(await rules_store.list_rules(connection, written.id)) if returns else ()
        excess = await self.work.find_excess_of_flag(connection, written, None if returns else before, its_rules)
        if excess is None:
            return
        if returns:
            raise Error(Code.CONFLICT, f"The flag {written.key} {excess.message}.")
        raise invalid_field(excess.field, excess.message)

    async def _write(self, transaction: Transaction, action: str, actor: Actor, before: Flag, after: Flag) -> Flag:
        after = replace(after, updated_at=later_than(before.updated_at, self.now()))
        await flags_store.update_flag(transaction.connection, after)
        await record(
            transaction, change_of(actor, action, after.updated_at, scope_of(after), before=before, after=after)
        )
        return after
