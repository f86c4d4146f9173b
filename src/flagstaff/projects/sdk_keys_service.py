"""SDK keys of environments. When a method returns, what it did is in force on every instance.

A revoked key is deleted; the audit trail keeps who made and who revoked it. A key does not end with the membership of
whoever made it, because applications use it.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, may, require
from flagstaff.projects import environments_store, sdk_keys_store
from flagstaff.projects.access import open_member
from flagstaff.projects.projects import Environment
from flagstaff.projects.sdk_keys import KeyKind, SdkKey, hash_sdk_key, hint_of, new_environment_key
from flagstaff.settings import Settings
from flagstaff.values.errors import forbidden, invalid_field


@dataclass(frozen=True, slots=True)
class WantedKey:
    """A key to create: the environment by its key, and None for the expiry means never.

    With `replaces_id`, it takes the place of another key of the environment, which still has to be revoked. Pages at
    `allowed_origins` may use it; None means the same as the key that it replaces, or else all.
    """

    name: str
    environment: str
    kind: KeyKind
    expires_at: datetime | None
    replaces_id: UUID | None = None
    allowed_origins: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SdkKeys:
    """The use cases of SDK keys. All raise Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    now: Callable[[], datetime]
    settings: Settings

    async def list_keys(self, actor: Actor, project_id: UUID) -> list[SdkKey]:
        """The keys of the environments in which the actor may see keys, newest first, also those that have expired.

        Raises:
            Error: FORBIDDEN if there is no such environment.
        """
        async with self.database.read() as connection:
            _, member = await open_member(connection, actor, project_id)
            present = await environments_store.list_environments(connection, project_id)
            readable = {each.key for each in present if may(member, Permission.KEYS_READ, each.key)}
            if not readable and not may(member, Permission.KEYS_READ):
                raise forbidden(Permission.KEYS_READ, "in at least one environment")
            found = await sdk_keys_store.list_keys(connection, project_id)
        return [key for key in found if key.environment in readable]

    async def get_key(self, actor: Actor, project_id: UUID, key_id: UUID) -> SdkKey:
        """One key; raises Error NOT_FOUND, FORBIDDEN."""
        async with self.database.read() as connection:
            _, member = await open_member(connection, actor, project_id)
            key = await sdk_keys_store.get_key(connection, project_id, key_id)
            require(member, Permission.KEYS_READ, key.environment)
            return key

    async def create_key(self, actor: Actor, project_id: UUID, wanted: WantedKey) -> tuple[SdkKey, str]:
        """Create a key; returned together with its text, which is not stored.

        Raises:
            Error: INVALID for an unknown environment, an expiry in the past, a key to replace that is not one of the
                environment's, or origins of a server's key, FORBIDDEN, CONFLICT without room.
        """
        now = self.now()
        if wanted.expires_at is not None and wanted.expires_at <= now:
            raise invalid_field("expires_at", "must be in the future")
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            environment = await _open_environment(connection, member, project_id, wanted.environment)
            replaced = await _find_replaceable(connection, project_id, environment, wanted.replaces_id)
            await self._make_room(transaction, actor, project_id)
            text = new_environment_key(project_id, environment.key)
            key = SdkKey(
                id=uuid7(),
                project_id=project_id,
                environment_id=environment.id,
                environment=environment.key,
                name=wanted.name,
                kind=wanted.kind,
                hint=hint_of(text),
                creator_id=actor.account_id,
                creator_email=actor.email,
                created_at=now,
                expires_at=wanted.expires_at,
                replaces_id=wanted.replaces_id,
                allowed_origins=_origins_of(wanted, replaced),
            )
            await sdk_keys_store.create_key(connection, key, hash_sdk_key(text))
            await record(transaction, change_of(actor, "sdk_key.created", now, _scope(key), after=key))
        return key, text

    async def update_key(
        self,
        actor: Actor,
        project_id: UUID,
        key_id: UUID,
        precondition: Precondition[SdkKey] = ANY_STATE,
        **values: Any,
    ) -> SdkKey:
        """Update the given fields of a key: its name, and the origins that are allowed.

        Raises:
            Error: INVALID for origins of a server's key, NOT_FOUND, FORBIDDEN.
        """
        async with self.database.transaction() as transaction:
            key = await _open_key(transaction.connection, actor, project_id, key_id, precondition)
            _require_no_origins_of_server(key.kind, values.get("allowed_origins"))
            updated = replace(key, **values)
            if updated != key:
                await sdk_keys_store.update_key(transaction.connection, updated)
                change = change_of(actor, "sdk_key.updated", self.now(), _scope(key), before=key, after=updated)
                await record(transaction, change)
        return updated

    async def revoke_key(
        self, actor: Actor, project_id: UUID, key_id: UUID, precondition: Precondition[SdkKey] = ANY_STATE
    ) -> None:
        """Revoke a key; raises Error NOT_FOUND, FORBIDDEN."""
        async with self.database.transaction() as transaction:
            key = await _open_key(transaction.connection, actor, project_id, key_id, precondition)
            await self._delete(transaction, actor, key)

    async def write_last_used(self, key_ids: Collection[UUID]) -> None:
        """Write that keys have been used."""
        if key_ids:
            async with self.database.transaction() as transaction:
                await sdk_keys_store.record_used(transaction.connection, key_ids, self.now())

    async def _make_room(self, transaction: Transaction, actor: Actor, project_id: UUID) -> None:
        """Delete the keys that expired first if there is no room for another; raise Error CONFLICT if none has.

        Expired keys are kept as long as there is room, because they explain why an application no longer gets flags.
        """
        present = await sdk_keys_store.list_keys(transaction.connection, project_id)
        now = self.now()
        expired = sorted((key for key in present if key.has_expired(now)), key=lambda key: (key.expires_at, key.id))
        surplus = expired[: max(0, len(present) + 1 - self.settings.max_sdk_keys_per_project.maximum)]
        self.settings.max_sdk_keys_per_project.require_room(len(present) - len(surplus))
        for key in surplus:
            await self._delete(transaction, actor, key)

    async def _delete(self, transaction: Transaction, actor: Actor, key: SdkKey) -> None:
        await sdk_keys_store.delete_key(transaction.connection, key.id)
        await record(transaction, change_of(actor, "sdk_key.revoked", self.now(), _scope(key), before=key))


async def _open_environment(connection: Connection, member: Member, project_id: UUID, key: str) -> Environment:
    environment = await environments_store.find_environment_by_key(connection, project_id, key)
    if environment is None:
        raise invalid_field("environment", "must be the key of an environment of the project")
    require(member, Permission.KEYS_ROTATE, key)
    return environment


async def _open_key(
    connection: Connection, actor: Actor, project_id: UUID, key_id: UUID, precondition: Precondition[SdkKey]
) -> SdkKey:
    """A key that the actor may change; raises Error NOT_FOUND, FORBIDDEN."""
    _, member = await open_member(connection, actor, project_id, for_update=True)
    key = await sdk_keys_store.get_key(connection, project_id, key_id)
    require(member, Permission.KEYS_ROTATE, key.environment)
    await precondition.require(connection, key, key_id, project_id)
    return key


async def _find_replaceable(
    connection: Connection, project_id: UUID, environment: Environment, key_id: UUID | None
) -> SdkKey | None:
    """The key to replace, if there is one; raises Error INVALID."""
    if key_id is None:
        return None
    for key in await sdk_keys_store.list_keys(connection, project_id):
        if key.id == key_id and key.environment_id == environment.id:
            return key
    raise invalid_field("replaces", "must be the id of an SDK key of the same environment")


def _origins_of(wanted: WantedKey, replaced: SdkKey | None) -> tuple[str, ...]:
    """The allowed origins of a new key; raises Error INVALID."""
    _require_no_origins_of_server(wanted.kind, wanted.allowed_origins)
    if wanted.allowed_origins is None and replaced is not None and wanted.kind is KeyKind.BROWSER:
        return replaced.allowed_origins
    return wanted.allowed_origins or ()


def _require_no_origins_of_server(kind: KeyKind, origins: Collection[str] | None) -> None:
    if origins and kind is KeyKind.SERVER:
        raise invalid_field(
            "allowed_origins",
            "must be empty for a key of the kind server, which pages must not have; use a key of the kind browser",
        )


def _scope(key: SdkKey) -> Scope:
    return Scope(key.project_id, key.environment_id)
