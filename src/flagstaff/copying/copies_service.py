"""Copies flags from one environment of a project to another, in one transaction, or tells what that would alter."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from flagstaff.changes.changes import Actor, BatchKind, Change, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker
from flagstaff.copying.copies import ALTERED_MAX, Alteration, Part, fingerprint
from flagstaff.copying.copy_plans import FLAG_KEYS, Wanted, plan_copy
from flagstaff.copying.copy_quotas import CopyQuotas
from flagstaff.copying.environment_flags import find_pair
from flagstaff.database.changes_store import batch_of, record_all
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.planned_writes import OutdatedError, Planning, plan_outside, write_planned
from flagstaff.database.revisions_store import list_revisions
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting import rules_store
from flagstaff.permissions.members import Member
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_member
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error, invalid_field


@dataclass(frozen=True, slots=True)
class Copied:
    """The writes of a copy, their fingerprint, and the numbers of the changes; no numbers for a dry run."""

    alterations: Sequence[Alteration]
    fingerprint: str
    numbers: Sequence[int]


@dataclass(frozen=True, slots=True)
class WantedCopy:
    """A request for a copy: by whom, between which environments, and what is copied."""

    actor: Actor
    project_id: UUID
    from_id: UUID
    to_id: UUID
    wanted: Wanted
    if_unchanged: str | None


@dataclass(frozen=True, slots=True)
class PlannedCopy:
    """The writes of a copy with their changes, and the revisions of both environments on which they rest."""

    alterations: Sequence[Alteration]
    fingerprint: str
    changes: Sequence[Change]
    revisions: Sequence[int]


@dataclass(frozen=True, slots=True)
class Copies:
    """The use case of copies. Raises Error NOT_FOUND for a project of which the actor is not a member.

    The quotas are the same as in the services that create the resources otherwise. Only the writes happen in the
    transaction, for which others wait.
    """

    database: Database
    now: Callable[[], datetime]
    quotas: CopyQuotas

    async def copy(
        self,
        actor: Actor,
        project_id: UUID,
        from_id: UUID,
        to_id: UUID,
        wanted: Wanted,
        *,
        dry_run: bool = False,
        if_unchanged: str | None = None,
    ) -> Copied:
        """Make flags in one environment like those with the same keys in another, in the wanted parts.

        Raises:
            Error: INVALID for an environment or a flag that does not exist; FORBIDDEN for a member that may not make
                such changes; CONFLICT, with the reason for each flag, if some cannot be copied, where a quota has no
                room, and if it would alter something else than what has the fingerprint `if_unchanged`; UNAVAILABLE if
                the flags are changed again and again meanwhile.
        """
        request = WantedCopy(actor, project_id, from_id, to_id, wanted, if_unchanged)
        planning = Planning(partial(self._plan, request))
        if dry_run:
            planned = await plan_outside(planning)
            return Copied(planned.alterations, planned.fingerprint, ())
        return await write_planned(self.database, planning, partial(self._write, request))

    async def _plan(self, request: WantedCopy) -> PlannedCopy:
        now = self.now()
        async with self.database.read() as connection:
            _, member = await open_member(connection, request.actor, request.project_id)
            origin, target = await _open_pair(connection, member, request)
            revisions = await _find_revisions(connection, request)
            planned = await plan_copy(connection, origin, target, request.wanted, now)
            alterations = await collect(each for one in planned for each in one.alterations())
            _require_to_alter(member, target, alterations)
            _require_few(request.wanted, alterations)
            found = await in_worker(fingerprint, alterations)
            if request.if_unchanged not in (None, found):
                raise Error(
                    Code.CONFLICT,
                    "The flags have been changed since the dry run. Run it again to see what the copy would change.",
                )
            await self.quotas.require_room(connection, target, planned, alterations)
        made = await collect(_change_of(request.actor, each, now) for each in alterations)
        return PlannedCopy(alterations, found, made, revisions)

    async def _write(self, request: WantedCopy, transaction: Transaction, planned: PlannedCopy) -> Copied:
        connection, alterations, made = transaction.connection, planned.alterations, planned.changes
        _, member = await open_member(connection, request.actor, request.project_id, for_update=True)
        _, target = await _open_pair(connection, member, request)
        _require_to_alter(member, target, alterations)
        if await _find_revisions(connection, request) != planned.revisions:
            raise OutdatedError
        await _write_all(connection, alterations)
        numbers = await record_all(transaction, made, batch_of(made, BatchKind.COPY, request.from_id))
        return Copied(alterations, planned.fingerprint, numbers)


async def _open_pair(connection: Connection, member: Member, request: WantedCopy) -> tuple[Environment, Environment]:
    """Both environments, for a member who may see the flags of both and change the wanted parts in the second."""
    origin, target = await find_pair(connection, request.project_id, request.from_id, request.to_id)
    for permission in _needed(request.wanted.parts):
        require(member, permission, target.key)
    for environment in (origin, target):
        require(member, Permission.FLAGS_READ, environment.key)
    return origin, target


def _require_to_alter(member: Member, target: Environment, alterations: Sequence[Alteration]) -> None:
    if any(_is_flag(each) and each.action != "flag.toggled" for each in alterations):
        require(member, Permission.FLAGS_WRITE, target.key)


def _require_few(wanted: Wanted, alterations: Sequence[Alteration]) -> None:
    if len(wanted.keys) > 1 and len(alterations) > ALTERED_MAX:
        raise invalid_field(
            FLAG_KEYS,
            f"would change {len(alterations):,} flags and rules; at most {ALTERED_MAX:,} can be changed at once. Copy "
            "fewer flags",
        )


async def _find_revisions(connection: Connection, request: WantedCopy) -> list[int]:
    both = await list_revisions(connection, request.project_id)
    return [both[each].environment for each in (request.from_id, request.to_id)]


async def _write_all(connection: Connection, alterations: Sequence[Alteration]) -> None:
    flags = [each for each in alterations if _is_flag(each)]
    await flags_store.create_flags(
        connection, [each.after for each in flags if each.before is None and isinstance(each.after, Flag)]
    )
    await flags_store.update_flags(
        connection, [each.after for each in flags if each.before is not None and isinstance(each.after, Flag)]
    )
    its_rules = [each for each in alterations if not _is_flag(each)]
    await rules_store.delete_rules(connection, [each.resource.id for each in its_rules if each.after is None])
    await rules_store.update_rules(
        connection, [each.after for each in its_rules if each.before is not None and isinstance(each.after, Rule)]
    )
    await rules_store.create_rules(
        connection, [each.after for each in its_rules if each.before is None and isinstance(each.after, Rule)]
    )


def _needed(parts: Collection[Part]) -> Iterator[Permission]:
    """Return the permissions that a copy of these parts needs in the target environment, even if it changes nothing."""
    of_flag = set(parts) - {Part.RULES}
    if of_flag:
        yield Permission.FLAGS_TOGGLE if of_flag == {Part.STATE} else Permission.FLAGS_WRITE
    if Part.RULES in parts:
        yield Permission.RULES_WRITE


def _is_flag(alteration: Alteration) -> bool:
    return isinstance(alteration.resource, Flag)


def _change_of(actor: Actor, alteration: Alteration, now: datetime) -> Change:
    at = alteration.after.updated_at if alteration.after else now
    return change_of(actor, alteration.action, at, alteration.scope, before=alteration.before, after=alteration.after)
