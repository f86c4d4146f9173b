"""Requires of an actor to be an administrator of the instance."""

from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Connection
from flagstaff.identity.administration import administrators_store
from flagstaff.values.errors import Code, Error


async def require_administrator(connection: Connection, actor: Actor) -> None:
    """Raise Error FORBIDDEN unless the actor is an administrator of the instance."""
    is_one = actor.account_id is not None and await administrators_store.is_administrator(connection, actor.account_id)
    if not is_one:
        raise Error(Code.FORBIDDEN, "Only administrators of this instance can do this.")


async def hold_administrators(connection: Connection, actor: Actor) -> set[UUID]:
    """The same for a write: the active administrators, who stay so until the transaction ends.

    A transaction that also locks a project locks the project first.
    """
    present = await administrators_store.lock_administrators(connection)
    # A statement after the lock, so that it sees who was demoted while this transaction waited.
    await require_administrator(connection, actor)
    return present
