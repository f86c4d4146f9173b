"""Plans the restore of a change to a flag, a rule or a segment, and says why some cannot be restored."""

from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from flagstaff.changes.changes import Change, recorded
from flagstaff.concurrency.pacing import collect
from flagstaff.copying.creation_plans import Together, plan_undone_flag, plan_undone_rule, plan_undone_segment
from flagstaff.copying.restores import Alteration, read_recorded, unrestorable, values_before
from flagstaff.database import changes_store
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.flags.access import scope_of
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.references import (
    require_free_key,
    require_live_prerequisites,
    require_prerequisites,
    require_segment,
    require_unneeded,
    require_unused_variants,
    require_valid_value,
    require_variant,
)
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.flags.targeting.segments import Segment
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects import environments_store
from flagstaff.values.moments import later_than

T = TypeVar("T", Flag, Rule, Segment)


async def plan_restore(
    connection: Connection, member: Member, change: Change, number: int, together: Together
) -> list[Alteration]:
    """Plan the restore of a change in a project of the member, together with others.

    Raises:
        Error: FORBIDDEN without `audit:read` or the permission that this needs, CONFLICT if the change cannot be put
            back, INVALID if it names something that does not exist any more.
    """
    kind = change.action.partition(".")[0]
    if kind == "segment":
        require(member, Permission.SEGMENTS_WRITE)
        require(member, Permission.AUDIT_READ)
        return [await _plan_segment(connection, change, number, together)]
    if kind not in ("flag", "rule"):
        require(member, Permission.AUDIT_READ)  # only who may see the change is told what it is
        raise unrestorable("Only changes of flags, rules and segments can be restored.")
    environment_id, project_id, flag_id = change.scope.environment_id, change.scope.project_id, change.scope.flag_id
    assert environment_id is not None
    assert project_id is not None
    assert flag_id is not None
    environment = await environments_store.find_environment(connection, project_id, environment_id)
    if environment is None:
        require(member, _permission(change))
        require(member, Permission.AUDIT_READ)
        raise unrestorable("The environment has been deleted since.")
    require(member, _permission(change), environment.key)
    require(member, Permission.AUDIT_READ, environment.key)  # the values before the change are those of the trail
    flag = await flags_store.find_flag(connection, project_id, environment_id, flag_id)
    if change.action == "flag.deleted":
        if flag is not None:
            raise unrestorable("The flag exists again.")
        returning = await _plan_deleted_flag(connection, change, flag_id, number, together.now)
        if len(returning) > 1:
            require(member, Permission.RULES_WRITE, environment.key)
        return returning
    flag = _present(flag, "flag")
    return [await (_plan_flag if kind == "flag" else _plan_rule)(connection, change, number, flag, together)]


async def _plan_flag(connection: Connection, change: Change, number: int, flag: Flag, together: Together) -> Alteration:
    if change.action == "flag.created":
        return await plan_undone_flag(connection, change, number, flag, together)
    verb = _require_live(change, flag)
    values = values_before(change, recorded(flag), if_unchanged=together.if_unchanged)
    restored = _altered(flag, replace(flag, **values), together.now)
    if "archived_at" in values and restored.archived_at is None:
        await require_live_prerequisites(connection, restored)
    if "archived_at" in values and restored.archived_at is not None:
        await require_unneeded(connection, restored, with_archived=False)
    if "prerequisites" in values:
        await require_prerequisites(connection, restored)
    if "variants" in values:
        await require_unused_variants(connection, flag, restored)
    opposite = {"archived": "flag.unarchived", "unarchived": "flag.archived"}
    return Alteration(opposite.get(verb, change.action), scope_of(flag), flag, restored)


async def _plan_deleted_flag(
    connection: Connection, change: Change, flag_id: UUID, number: int, now: datetime
) -> list[Alteration]:
    flag = read_recorded(Flag, change.before or {})
    flag = replace(flag, updated_at=later_than(flag.updated_at, now))
    await require_free_key(connection, flag.environment_id, flag.key)
    await require_prerequisites(connection, flag)
    recorded_rules = await changes_store.list_rules_before(connection, flag_id, number)
    found = await collect(read_recorded(Rule, each) for each in recorded_rules)
    its_rules = [replace(rule, updated_at=later_than(rule.updated_at, now)) for rule in found]
    for rule in its_rules:
        await _require_what_it_names(connection, flag, rule)
    scope = scope_of(flag)
    return [
        Alteration("flag.created", scope, None, flag),
        *(Alteration("rule.created", scope, None, rule) for rule in its_rules),
    ]


async def _plan_rule(connection: Connection, change: Change, number: int, flag: Flag, together: Together) -> Alteration:
    verb = _require_live(change, flag)
    rule = await rules_store.find_rule(connection, flag.id, change.resource_id)
    if verb == "deleted":
        if rule is not None:
            raise unrestorable("The rule exists again.")
        returning = read_recorded(Rule, change.before or {})
        returning = replace(returning, updated_at=later_than(returning.updated_at, together.now))
        await _require_what_it_names(connection, flag, returning)
        return Alteration("rule.created", scope_of(flag), None, returning)
    rule = _present(rule, "rule")
    if verb == "created":
        return await plan_undone_rule(connection, change, number, flag, rule, together)
    values = values_before(change, recorded(rule), if_unchanged=together.if_unchanged)
    restored = _altered(rule, replace(rule, **values), together.now)
    if values.keys() & {"rule_type", "rule_value"}:  # the other may have been changed since
        require_valid_value(restored)
    await _require_what_it_names(connection, flag, restored)
    return Alteration("rule.updated", scope_of(flag), rule, restored)


async def _plan_segment(connection: Connection, change: Change, number: int, together: Together) -> Alteration:
    project_id, verb = change.scope.project_id, change.action.partition(".")[2]
    assert project_id is not None
    segment = await segments_store.find_segment(connection, project_id, change.resource_id)
    if verb == "deleted":
        if segment is not None:
            raise unrestorable("The segment exists again.")
        returning = read_recorded(Segment, change.before or {})
        returning = replace(returning, updated_at=later_than(returning.updated_at, together.now))
        return Alteration("segment.created", change.scope, None, returning)
    segment = _present(segment, "segment")
    if verb == "created":
        return await plan_undone_segment(connection, change, number, segment, together)
    values = values_before(change, recorded(segment), if_unchanged=together.if_unchanged)
    return Alteration(
        "segment.updated", change.scope, segment, _altered(segment, replace(segment, **values), together.now)
    )


def _require_live(change: Change, flag: Flag) -> str:
    """Return the verb of a change; raises Error CONFLICT for an archived flag, unless the change has archived it."""
    if flag.archived_at is not None and change.action != "flag.archived":
        raise unrestorable(f"The flag {flag.key} is archived. Unarchive it first.")
    return change.action.partition(".")[2]


def _permission(change: Change) -> Permission:
    """Return the permission that restoring a change of a flag or of a rule needs."""
    if change.action.startswith("rule."):
        return Permission.RULES_WRITE
    return Permission.FLAGS_TOGGLE if change.action == "flag.toggled" else Permission.FLAGS_WRITE


def _present(found: T | None, kind: str) -> T:
    """The resource; raises Error CONFLICT if it does not exist any more."""
    if found is None:
        raise unrestorable(f"The {kind} has been deleted since. Restore its deletion first.")
    return found


def _altered(present: T, restored: T, now: datetime) -> T:
    """Return the resource as it is to be written; raises Error CONFLICT if it equals the present one."""
    if restored == present:
        raise unrestorable("It is already as it was before the change.")
    return replace(restored, updated_at=later_than(present.updated_at, now))


async def _require_what_it_names(connection: Connection, flag: Flag, rule: Rule) -> None:
    await require_segment(connection, flag.project_id, rule)
    require_variant(flag, rule)
