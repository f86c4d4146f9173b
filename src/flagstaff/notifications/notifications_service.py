"""The mails that an account wants. They concern nobody else, so the audit trail does not have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.notifications import notifications_store, wanted_mails_store
from flagstaff.notifications.notifications import Kind
from flagstaff.notifications.unsubscribing import UnsubscribeTokens
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access import open_membership
from flagstaff.projects.members.members_store import find_member
from flagstaff.values.errors import Code, Error


class WantedOfProject(NamedTuple):
    """The mails that an account wants about a project."""

    project_id: UUID
    project: str
    wanted: Mapping[Kind, bool]


@dataclass(frozen=True, slots=True)
class NotificationSettings:
    """The use cases. They raise Error NOT_FOUND for a project of which the actor is not a member."""

    database: Database
    tokens: UnsubscribeTokens

    async def list_wanted(self, actor: Actor) -> Sequence[WantedOfProject]:
        """The mails that the actor wants about each project, in the order of their names."""
        assert actor.account_id is not None
        async with self.database.read() as connection:
            found = await wanted_mails_store.list_wanted_of_account(connection, actor.account_id)
        return [WantedOfProject(*each) for each in found]

    async def get_wanted(self, actor: Actor, project_id: UUID) -> Mapping[Kind, bool]:
        """The mails that the actor wants about a project."""
        async with self.database.read() as connection:
            _, member = await open_membership(connection, actor, project_id, Permission.PROJECT_READ)
            return await wanted_mails_store.find_wanted(connection, project_id, member.account_id)

    async def update_wanted(
        self,
        actor: Actor,
        project_id: UUID,
        given: Mapping[Kind, bool],
        precondition: Precondition[Mapping[Kind, bool]] = ANY_STATE,
    ) -> Mapping[Kind, bool]:
        """Change what the actor wants in a project; kinds that are not given stay. Raises the precondition's error."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(connection, actor, project_id, Permission.PROJECT_READ, for_update=True)
            present = await wanted_mails_store.find_wanted(connection, project_id, member.account_id)
            await precondition.require(connection, present, None, project_id)
            wanted = {**present, **given}
            await wanted_mails_store.save_wanted(connection, project_id, member.account_id, wanted)
        return wanted

    async def unsubscribe(self, token: str) -> None:
        """Send no more mails about a project to the account of a token from a mail.

        It also succeeds for an account that has left the project.

        Raises:
            Error: INVALID for a token that is not genuine.
        """
        subscription = self.tokens.read(token)
        if subscription is None:
            raise Error(
                Code.INVALID,
                "The link is incomplete. Open it again from the mail, or sign in and choose "
                "your mails in the settings of your account.",
            )
        account_id, project_id = subscription
        async with self.database.read() as connection:
            wanted = await wanted_mails_store.find_wanted(connection, project_id, account_id)
        if not any(wanted.values()):
            return  # whoever has the link can open it any number of times, and writes once
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if await find_member(connection, project_id, account_id) is None:
                return
            await wanted_mails_store.save_wanted(connection, project_id, account_id, dict.fromkeys(Kind, False))
            await notifications_store.delete_of_member(connection, project_id, account_id)
