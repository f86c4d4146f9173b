"""The rows of the audit trail: a change as it is stored."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa

from flagstaff.changes.changes import Actor, Batch, BatchKind, Change, NumberedChange, ReleaseName, Scope, TokenName
from flagstaff.database.deltas import State


def row_of(change: Change) -> dict[str, Any]:
    """The columns of a change's row, except for its time, its batch and its states."""
    return {
        "actor_id": change.actor.account_id,
        "actor_email": change.actor.email,
        "token_id": change.actor.token.id if change.actor.token else None,
        "token_name": change.actor.token.name if change.actor.token else None,
        "action": change.action,
        "resource_id": change.resource_id,
        "project_id": change.scope.project_id,
        "environment_id": change.scope.environment_id,
        "flag_id": change.scope.flag_id,
        "flag_key": change.scope.flag_key,
        "restores": change.restores,
        "release": _row_of_release(change.actor.release),
    }


def row_of_batch(batch: Batch) -> dict[str, Any]:
    """A batch as each row of its changes has it."""
    return {
        "id": str(batch.id),
        "kind": batch.kind,
        "changes": batch.changes,
        "flags": batch.flags,
        "origin_id": batch.origin_id and str(batch.origin_id),
    }


def read_change(row: sa.Row[Any], states: tuple[State, State] | None) -> NumberedChange:
    """Read a change from its row. The states before and after it are given if the row has only what differs."""
    before, after = states or (row.before, row.after)
    token = TokenName(row.token_id, row.token_name) if row.token_id else None
    return NumberedChange(
        number=row.id,
        change=Change(
            at=row.at,
            actor=Actor(row.actor_id, row.actor_email, token, release=_read_release(row.release)),
            action=row.action,
            resource_id=row.resource_id,
            scope=Scope(row.project_id, row.environment_id, row.flag_id, row.flag_key),
            before=before,
            after=after,
            restores=row.restores,
            batch=_read_batch(row.batch),
        ),
    )


def _read_batch(stored: dict[str, Any] | None) -> Batch | None:
    if not stored or stored["kind"] not in list(BatchKind):  # a later release may make others
        return None
    origin_id = stored["origin_id"] and UUID(stored["origin_id"])
    return Batch(UUID(stored["id"]), BatchKind(stored["kind"]), stored["changes"], stored["flags"], origin_id)


def _row_of_release(release: ReleaseName | None) -> dict[str, Any] | None:
    return release and {"id": str(release.id), "name": release.name, "guard": release.guard}


def _read_release(stored: dict[str, Any] | None) -> ReleaseName | None:
    return ReleaseName(UUID(stored["id"]), stored["name"], stored["guard"]) if stored else None
