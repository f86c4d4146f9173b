"""Finds the changes that are restored together: those that were chosen, or all of one operation."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from uuid import UUID

from flagstaff.audit import batches_store
from flagstaff.audit.batches_store import BatchPart
from flagstaff.changes.changes import Scope
from flagstaff.database import changes_store
from flagstaff.database.database import Connection
from flagstaff.flags import flags_store
from flagstaff.values.errors import invalid_field, not_found

BATCH_MAX = 200
"""The most changes of one operation that are restored together, without the rules that go with their flag."""


@dataclass(frozen=True, slots=True)
class BatchOf:
    """All changes of the operation that has made the change with this number."""

    number: int


async def find_parts(connection: Connection, project_id: UUID, chosen: Collection[int] | BatchOf) -> list[BatchPart]:
    """The changes in the order in which they are restored: the newest first, but what an operation created last.

    Raises:
        Error: NOT_FOUND for a change that the project does not have, INVALID for an operation with too many.
    """
    if not isinstance(chosen, BatchOf):
        found = await batches_store.list_chosen(connection, project_id, chosen)
        if len(found) < len(chosen):
            raise not_found("change")
        return found
    change = await changes_store.find_project_change(connection, project_id, chosen.number)
    if change is None:
        raise not_found("change")
    parts = await _in_order(connection, await batches_store.list_batch(connection, change, chosen.number))
    if len(parts) > BATCH_MAX:
        raise invalid_field(
            "batch_of",
            f"is a change of an operation with {len(parts):,} changes to restore; at most {BATCH_MAX:,} can be "
            "restored together. Send some of them at a time as changes",
        )
    return parts


async def _in_order(connection: Connection, parts: Sequence[BatchPart]) -> list[BatchPart]:
    """Order the changes: created resources go last, and a flag after the flags that need it.

    The rules of a flag that it created are left out, because they go with the flag.
    """
    flags = [each.scope for each in parts if each.action == "flag.created"]
    ranks = await _ranks(connection, flags)
    with_flag = {each.flag_id for each in flags}
    left = [each for each in parts if each.action != "rule.created" or each.scope.flag_id not in with_flag]
    return sorted(left, key=lambda each: ranks.get(each.scope, 0) if each.action == "flag.created" else -1)


async def _ranks(connection: Connection, flags: Sequence[Scope]) -> dict[Scope, int]:
    """The places of flags in an order in which each comes before those that it needs."""
    by_environment: defaultdict[UUID | None, dict[str | None, Scope]] = defaultdict(dict)
    for flag in flags:
        by_environment[flag.environment_id][flag.flag_key] = flag
    graph: dict[Scope, list[Scope]] = {flag: [] for flag in flags}
    for environment_id, created in by_environment.items():
        assert environment_id is not None
        for key, needed in (await flags_store.list_prerequisites(connection, environment_id)).items():
            if key in created:
                graph[created[key]] = [created[each.flag_key] for each in needed if each.flag_key in created]
    order = TopologicalSorter(graph).static_order()
    return {flag: place for place, flag in enumerate(reversed(list(order)))}
