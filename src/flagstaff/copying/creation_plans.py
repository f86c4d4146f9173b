"""Plans the undoing of a creation: what was created is deleted, unless somebody has touched it since."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from flagstaff.audit.batches_store import find_change_since
from flagstaff.changes.changes import Actor, Change
from flagstaff.comments import comments_store
from flagstaff.comments.comments import Subject
from flagstaff.copying.restores import Alteration, unrestorable
from flagstaff.database.database import Connection
from flagstaff.flags.access import scope_of
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.references import require_unneeded
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.targeting.segments_service import require_unused


@dataclass(frozen=True, slots=True)
class Together:
    """How changes are restored together: when, whether only what nobody has changed again, and in which order."""

    now: datetime
    if_unchanged: bool
    numbers: Sequence[int]


async def plan_undone_flag(
    connection: Connection, change: Change, number: int, flag: Flag, together: Together
) -> Alteration:
    """Plan the deletion of a flag, with the rules that the same operation has created.

    Raises:
        Error: CONFLICT if it has been touched, or is a prerequisite of other flags.
    """
    await _require_untouched(connection, change, number, together, f"The flag {flag.key}")
    if await comments_store.count_comments(connection, flag.project_id, Subject(flag_id=flag.id)):
        raise unrestorable(f"The flag {flag.key} has comments. Delete it instead.")
    await require_unneeded(connection, flag)
    return Alteration("flag.deleted", scope_of(flag), flag, None)


async def plan_undone_rule(
    connection: Connection, change: Change, number: int, flag: Flag, rule: Rule, together: Together
) -> Alteration:
    """Plan the deletion of a rule; raises Error CONFLICT if it has been touched."""
    await _require_untouched(connection, change, number, together, f"The rule of {flag.key}")
    return Alteration("rule.deleted", scope_of(flag), rule, None)


async def plan_undone_segment(
    connection: Connection, change: Change, number: int, segment: Segment, together: Together
) -> Alteration:
    """Plan the deletion of a segment; raises Error CONFLICT if it has been touched, or is used by rules."""
    await _require_untouched(connection, change, number, together, f"The segment {segment.key}")
    await require_unused(connection, segment)
    return Alteration("segment.deleted", change.scope, segment, None)


async def _require_untouched(
    connection: Connection, change: Change, number: int, together: Together, what: str
) -> None:
    since = await find_change_since(connection, change, number, together.numbers)
    if since is not None:
        raise unrestorable(
            f"{what} has been changed since it was created: {since.change.action} by {_name(since.change.actor)}, "
            f"change {since.number}. Restore the later changes together with this one, or delete it."
        )


def _name(actor: Actor) -> str:
    return actor.email or "the command line"
