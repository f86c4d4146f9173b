"""Segments of a project. When a method returns, every later evaluation in every environment sees what it did."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.database.changes_store import record
from flagstaff.database.database import Connection, Database
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.targeting import segments_store
from flagstaff.flags.targeting.conditions_service import check_given_conditions
from flagstaff.flags.targeting.segments import Segment, SegmentUse
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, shown_flags
from flagstaff.projects.access import open_membership, open_project
from flagstaff.settings import Settings
from flagstaff.values.errors import Code, Error, invalid_field
from flagstaff.values.keys import require_same_key
from flagstaff.values.lists import WHOLE, Window
from flagstaff.values.moments import later_than
from flagstaff.values.text import name_some

_NAMED_FLAGS = 20


@dataclass(frozen=True, slots=True)
class Segments:
    """The use cases of segments. All raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    now: Callable[[], datetime]
    settings: Settings
    work: WorkBudgets

    async def create_segment(self, actor: Actor, project_id: UUID, **values: Any) -> Segment:
        """Create a segment with these fields.

        Raises:
            Error: INVALID for invalid conditions, CONFLICT if the project has a segment with this key, or no room.
        """
        now = self.now()
        values["conditions"] = await check_given_conditions(values["conditions"])
        segment = Segment(id=uuid7(), project_id=project_id, created_at=now, updated_at=now, **values)
        async with self.database.transaction() as transaction:
            await open_project(transaction.connection, actor, project_id, Permission.SEGMENTS_WRITE, for_update=True)
            present = await segments_store.count_segments(transaction.connection, project_id)
            self.settings.max_segments_per_project.require_room(present)
            await segments_store.create_segment(transaction.connection, segment)
            await self.require_room_for_conditions(transaction.connection, segment, None)
            await record(transaction, change_of(actor, "segment.created", now, Scope(project_id), after=segment))
        return segment

    async def list_segments(self, actor: Actor, project_id: UUID, window: Window = WHOLE) -> list[Segment]:
        """The segments of a project, newest first; a position is a time of creation and an id."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            found = await segments_store.list_segments(connection, project_id, window)
        return await collect(found)

    async def get_segment(self, actor: Actor, project_id: UUID, segment_id: UUID) -> Segment:
        """One segment."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.PROJECT_READ)
            return await segments_store.get_segment(connection, project_id, segment_id)

    async def list_flags_in(self, actor: Actor, project_id: UUID, segment_id: UUID) -> list[SegmentUse]:
        """The flags with a rule for a segment, archived ones included."""
        async with self.database.read() as connection:
            await open_project(connection, actor, project_id, Permission.FLAGS_READ)
            segment = await segments_store.get_segment(connection, project_id, segment_id)
            return await segments_store.list_flags_in(connection, project_id, segment.key)

    async def update_segment(
        self,
        actor: Actor,
        project_id: UUID,
        segment_id: UUID,
        precondition: Precondition[Segment] = ANY_STATE,
        *,
        key: str | None = None,
        **values: Any,
    ) -> Segment:
        """Update the given fields of a segment. Equal values change nothing.

        Raises:
            Error: INVALID for invalid conditions, or when `key` differs from the current key; keys never change.
        """
        if "conditions" in values:
            values["conditions"] = await check_given_conditions(values["conditions"])
        async with self.database.transaction() as transaction:
            await open_project(transaction.connection, actor, project_id, Permission.SEGMENTS_WRITE, for_update=True)
            segment = await segments_store.get_segment(transaction.connection, project_id, segment_id)
            await precondition.require(transaction.connection, segment, segment_id, project_id)
            require_same_key(segment.key, key)
            updated = replace(segment, **values)
            if updated == segment:
                return segment
            updated = replace(updated, updated_at=later_than(segment.updated_at, self.now()))
            await segments_store.update_segment(transaction.connection, updated)
            if updated.conditions != segment.conditions:
                await self.require_room_for_conditions(transaction.connection, updated, segment)
            scope = Scope(project_id)
            change = change_of(actor, "segment.updated", updated.updated_at, scope, before=segment, after=updated)
            await record(transaction, change)
            return updated

    async def delete_segment(
        self, actor: Actor, project_id: UUID, segment_id: UUID, precondition: Precondition[Segment] = ANY_STATE
    ) -> None:
        """Delete a segment; raises Error CONFLICT, which names the flags, if a rule refers to it."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(connection, actor, project_id, Permission.SEGMENTS_WRITE, for_update=True)
            segment = await segments_store.get_segment(connection, project_id, segment_id)
            await precondition.require(connection, segment, segment_id, project_id)
            await require_unused(connection, segment, member)
            await segments_store.delete_segment(connection, segment_id)
            change = change_of(actor, "segment.deleted", self.now(), Scope(project_id), before=segment)
            await record(transaction, change)

    async def require_room_for_conditions(
        self, connection: Connection, written: Segment, replaced: Segment | None
    ) -> None:
        """Refuse a segment just written whose conditions exceed a bound; `replaced` is the segment before.

        Raises:
            Error: CONFLICT if the conditions of the project's segments have become too long; INVALID, at the condition,
                if an environment's have become too much work.
        """
        characters = await segments_store.count_condition_characters(connection, written.project_id)
        self.settings.max_condition_characters.require_within("project's segments", characters)
        excess = await self.work.find_excess_of_segment(connection, written.project_id, written, replaced)
        if excess is not None:
            raise invalid_field(excess.field, excess.message)


async def require_unused(connection: Connection, segment: Segment, member: Member | None = None) -> None:
    """Raise Error CONFLICT if rules use the segment.

    It names the flags if the member may see them. None is somebody who reads the audit trail, which has them.
    """
    flags = await segments_store.list_flags_in(connection, segment.project_id, segment.key)
    if flags:
        named = name_some(
            flags,
            _NAMED_FLAGS,
            lambda each: f"{each.flag_key} in {each.environment_key}{' (archived)' if each.is_archived else ''}",
        )
        if member is not None:
            named = shown_flags(member, named)
        raise Error(
            Code.CONFLICT,
            f"The segment {segment.key} is used by rules of these flags: {named}. Delete or change the rules first.",
        )
