"""Subscriptions of the actor. They concern nobody else, so the audit trail does not have them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.flags import flags_store
from flagstaff.identity.accounts import accounts_store
from flagstaff.notifications import subscriptions_store, wanted_mails_store
from flagstaff.notifications.notifications import Kind
from flagstaff.notifications.subscriptions import (
    SUBSCRIPTIONS_MAX,
    Subscribed,
    Subscription,
    SubscriptionKind,
    Target,
)
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_membership
from flagstaff.values.errors import not_found
from flagstaff.values.quotas import require_fewer


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """The use cases. They raise Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    now: Callable[[], datetime]

    async def list_all(self, actor: Actor) -> Sequence[Subscription]:
        """The actor's subscriptions in all projects, newest first."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            return await subscriptions_store.list_subscriptions(connection, actor.account_id)

    async def list_subscriptions(self, actor: Actor, project_id: UUID) -> Sequence[Subscription]:
        """The actor's subscriptions in a project, newest first."""
        async with self.database.read() as connection:
            _, member = await open_membership(connection, actor, project_id, Permission.PROJECT_READ)
            return await subscriptions_store.list_subscriptions(connection, member.account_id, project_id)

    async def subscribe_to_flag(
        self, actor: Actor, project_id: UUID, environment_id: UUID, flag_id: UUID
    ) -> Subscription:
        """Subscribe to the changes of a flag; raises Error CONFLICT for too many subscriptions."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            member = await self._open(connection, actor, project_id)
            environment = await environments_store.get_environment(connection, project_id, environment_id)
            require(member, Permission.FLAGS_READ, environment.key)
            flag = await flags_store.get_flag(connection, project_id, environment_id, flag_id)
            return await self._add(transaction, member, Target(SubscriptionKind.FLAG, environment_id, flag.key))

    async def subscribe_to_environment(self, actor: Actor, project_id: UUID, environment_id: UUID) -> Subscription:
        """Subscribe to the changes of an environment; raises Error CONFLICT for too many subscriptions."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            member = await self._open(connection, actor, project_id)
            await environments_store.get_environment(connection, project_id, environment_id)
            return await self._add(transaction, member, Target(SubscriptionKind.ENVIRONMENT, environment_id))

    async def subscribe_to_tag(self, actor: Actor, project_id: UUID, tag: str) -> Subscription:
        """Subscribe to the changes of flags with a tag, which none may have yet; raises Error CONFLICT for too many."""
        async with self.database.transaction() as transaction:
            member = await self._open(transaction.connection, actor, project_id)
            return await self._add(transaction, member, Target(SubscriptionKind.TAG, name=tag))

    async def delete_subscription(self, actor: Actor, project_id: UUID, subscription_id: UUID) -> None:
        """Delete a subscription of the actor; raises Error NOT_FOUND."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            member = await self._open(connection, actor, project_id)
            if not await subscriptions_store.delete_subscription(
                connection, member.account_id, project_id, subscription_id
            ):
                raise not_found("subscription")

    async def _open(self, connection: Connection, actor: Actor, project_id: UUID) -> Member:
        _, member = await open_membership(connection, actor, project_id, Permission.PROJECT_READ, for_update=True)
        return member

    async def _add(self, transaction: Transaction, member: Member, target: Target) -> Subscription:
        """Add a subscription unless the member has it, and have mails sent, which a link in one may have stopped."""
        connection, project_id, account_id = transaction.connection, member.project_id, member.account_id
        await accounts_store.lock_account(connection, account_id)
        present = await subscriptions_store.list_subscriptions(connection, account_id, project_id)
        wanted = await wanted_mails_store.find_wanted(connection, project_id, account_id)
        if not wanted[Kind.SUBSCRIBED]:
            await wanted_mails_store.save_wanted(connection, project_id, account_id, {**wanted, Kind.SUBSCRIBED: True})
        same = [each for each in present if Target(each.kind, each.environment_id, each.name) == target]
        if same:
            return same[0]
        require_fewer(len(present), SUBSCRIPTIONS_MAX, "subscriptions of yours in this project")
        subscription_id = uuid7()
        await subscriptions_store.create_subscription(
            connection, subscription_id, project_id, Subscribed(target, account_id), self.now()
        )
        transaction.has_unrecorded = True
        found = await subscriptions_store.list_subscriptions(connection, account_id, project_id)
        return next(each for each in found if each.id == subscription_id)
