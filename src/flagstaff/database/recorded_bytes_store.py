"""How many bytes the audit trail has got from each account and in each project, and their bounds.

The trail is kept, so what an account can write in it is bounded by the hour and altogether. What turns something off is
neither refused nor counted, so that it waits for no other transaction of its account. It is short: such changes are
stored as deltas.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import ceil
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import Change
from flagstaff.database import dialect, tables
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error

PROJECT_FACTOR = 4
"""A project may have as much as so many accounts, since several write in it."""
WINDOW = timedelta(hours=1)
LIMIT = "audit-bytes"
NO_BOUND = 1 << 60
_SHORT_BYTES = 2_000
_ENDINGS = frozenset(
    {
        *("sdk_key.revoked", "token.deleted", "member.removed", "invitation.deleted", "flag.archived"),
        *("release.paused", "release.stopped", "release.cancelled", "webhook.disabled", "webhook.secret_rotated"),
        *("project.key_regenerated", "project.deleted", "environment.deleted", "erasure.requested"),
    }
)
_given_at, _bytes = sa.bindparam("at", type_=tables.Moment), sa.bindparam("bytes", type_=sa.BigInteger)


@dataclass(slots=True)
class RecordedBytesBounds:
    """The bounds of an account: bytes in an hour, and altogether. It counts what it has refused."""

    per_hour: int = NO_BOUND
    altogether: int = NO_BOUND
    refused: int = field(default=0, init=False)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the count of refusals."""
        metrics.add_counter(
            "audit_bytes_refused", "Changes refused because of the bytes in the audit trail.", lambda: self.refused
        )

    async def require(self, connection: AsyncConnection, change: Change, stored_bytes: int) -> None:
        """Count bytes that a change and others beside it take, which may exceed a bound that is not reached yet.

        Raises:
            Error: LIMITED if the account or the project has reached its bound for an hour, CONFLICT if it has reached
                the one for all time.
        """
        # The project is locked already; the account comes last, so that nobody waits for a project while holding it.
        await self._count(connection, _PROJECT, change.scope.project_id, change.at, stored_bytes)
        await self._count(connection, _ACCOUNT, change.actor.account_id, change.at, stored_bytes)

    async def _count(
        self, connection: AsyncConnection, owner: "_Owner", owner_id: UUID | None, at: datetime, stored_bytes: int
    ) -> None:
        if owner_id is None:  # the command line's
            return
        values = {"owner": owner_id, "at": at, "bytes": stored_bytes, "ended": at - WINDOW}
        bounds = {"per_hour": self.per_hour * owner.factor, "altogether": self.altogether * owner.factor}
        if (await connection.execute(owner.counting(connection), {**values, **bounds})).one_or_none() is None:
            self.refused += 1
            raise await self._refusal(connection, owner, owner_id, at)

    async def _refusal(self, connection: AsyncConnection, owner: "_Owner", owner_id: UUID, at: datetime) -> Error:
        query = sa.select(owner.table.c.began_at, owner.table.c.altogether).where(owner.table.c.owner_id == owner_id)
        row = (await connection.execute(query)).one()
        per_hour, altogether = self.per_hour * owner.factor, self.altogether * owner.factor
        nothing = "Nothing was changed. Flags can still be turned off, and keys revoked."
        if row.altogether >= altogether:
            return Error(
                Code.CONFLICT,
                f"This {owner.noun} has written the {altogether:,} bytes of changes that it may write in the audit "
                f"trail ({LIMIT}). {nothing} Ask an administrator to raise FLAGSTAFF_MAX_AUDIT_BYTES.",
            )
        return Error(
            Code.LIMITED,
            f"This {owner.noun} has written the {per_hour:,} bytes of changes that it may write in the audit trail "
            f"in an hour ({LIMIT}). {nothing} Try again later.",
            retry_after_seconds=max(1, ceil((row.began_at + WINDOW - at).total_seconds())),
        )


class TrailForm(NamedTuple):
    """How changes are recorded: the key by which states are recognised, and the bounds, if there are any."""

    digest_key: bytes
    bounds: RecordedBytesBounds | None = None


def is_bounded(change: Change, altered_bytes: int, *, is_part: bool) -> bool:
    """Return whether a change counts. One that turns something off never does, nor one that a release makes.

    `altered_bytes` is the length of what it alters, and `is_part` says that one operation makes it with others.
    """
    if change.scope.project_id is None or change.actor.release is not None or change.action in _ENDINGS:
        return False
    is_on = bool(change.after and change.after.get("enabled"))
    if change.action == "flag.toggled":
        return is_on and is_part
    was_on = bool(change.before and change.before.get("enabled"))
    return not (change.action == "flag.updated" and was_on and not is_on and altered_bytes <= _SHORT_BYTES)


def _count(table: sa.Table) -> Callable[[AsyncConnection], sa.Executable]:
    """Add to the bytes of an owner, beginning anew after an hour; no row if a bound has been reached."""
    columns = table.c
    has_ended = columns.began_at <= sa.bindparam("ended", type_=tables.Moment)
    added = {
        "began_at": sa.case((has_ended, _given_at), else_=columns.began_at),
        "in_hour": sa.case((has_ended, _bytes), else_=columns.in_hour + _bytes),
        "altogether": columns.altogether + _bytes,
    }
    has_room = sa.and_(
        sa.or_(has_ended, columns.in_hour < sa.bindparam("per_hour", type_=sa.BigInteger)),
        columns.altogether < sa.bindparam("altogether", type_=sa.BigInteger),
    )
    owner = sa.bindparam("owner", type_=sa.Uuid)
    return dialect.upsert(
        table,
        lambda insert: (
            insert.values(owner_id=owner, began_at=_given_at, in_hour=_bytes, altogether=_bytes)
            .on_conflict_do_update(index_elements=["owner_id"], set_=added, where=has_room)
            .returning(columns.owner_id)
        ),
    )


class _Owner(NamedTuple):
    """An owner of counted bytes, how many accounts one is worth, and the statement that counts."""

    table: sa.Table
    noun: str
    factor: int
    counting: Callable[[AsyncConnection], sa.Executable]


_PROJECT = _Owner(tables.project_recorded_bytes, "project", PROJECT_FACTOR, _count(tables.project_recorded_bytes))
_ACCOUNT = _Owner(tables.account_recorded_bytes, "account", 1, _count(tables.account_recorded_bytes))
