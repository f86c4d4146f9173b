"""The audit trail: every write leaves its row in its own transaction."""

from flagstaff.domain.changes import Change
from flagstaff.storage import tables
from flagstaff.storage.database import Transaction


async def record(transaction: Transaction, change: Change) -> None:
    """Write a change's row, and have it announced when the transaction has committed."""
    await transaction.connection.execute(
        tables.changes.insert().values(
            at=change.at,
            actor_id=change.actor.account_id,
            actor_email=change.actor.email,
            action=change.action,
            resource_id=change.resource_id,
            project_id=change.scope.project_id,
            environment_id=change.scope.environment_id,
            flag_id=change.scope.flag_id,
            before=change.before,
            after=change.after,
        )
    )
    transaction.changes.append(change)
