"""Copies flags from one environment of a project to another, in one transaction, or tells what that would alter."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import Actor, BatchKind, Change, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_write_worker
from flagstaff.copying.copies import Alteration, Part, fingerprint
from flagstaff.copying.copy_plans import Wanted, plan_copy
from flagstaff.copying.environment_flags import find_pair
from flagstaff.database.changes_store import batch_of, record_all
from flagstaff.database.database import Connection, Database, attempt
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_member
from flagstaff.values.errors import Code, Error


@dataclass(frozen=True, slots=True)
class Copied:
    """The writes of a copy, their fingerprint, and the numbers of the changes; no numbers for a dry run."""

    alterations: Sequence[Alteration]
    fingerprint: str
    numbers: Sequence[int]


@dataclass(frozen=True, slots=True)
class Copies:
    """The use case of copies. Raises Error NOT_FOUND for a project of which the actor is not a member.

    The quotas are the same as in the services that create the resources.
    """

    database: Database
    now: Callable[[], datetime]
    flags: Flags
    rules: Rules

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
                room, and if it would alter something else than what has the fingerprint `if_unchanged`.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            origin, target = await find_pair(connection, project_id, from_id, to_id)
            for permission in _needed(wanted.parts):
                require(member, permission, target.key)
            for environment in (origin, target):
                require(member, Permission.FLAGS_READ, environment.key)
            planned = await plan_copy(connection, origin, target, wanted, self.now())
            alterations = await collect(each for one in planned for each in one.alterations())
            if any(_is_flag(each) and each.action != "flag.toggled" for each in alterations):
                require(member, Permission.FLAGS_WRITE, target.key)
            found = await in_write_worker(fingerprint, alterations)
            if if_unchanged not in (None, found):
                raise Error(
                    Code.CONFLICT,
                    "The flags have been changed since the dry run. Run it again to see what the copy would change.",
                )
            async with attempt(transaction, keep=not dry_run):  # some quotas need to see what is written
                await self._write(connection, project_id, to_id, alterations)
            if dry_run:
                return Copied(alterations, found, ())
            made = await collect(_change_of(actor, each, self.now()) for each in alterations)
            numbers = await record_all(transaction, made, batch_of(made, BatchKind.COPY, from_id))
            return Copied(alterations, found, numbers)

    async def _write(
        self, connection: Connection, project_id: UUID, environment_id: UUID, alterations: Sequence[Alteration]
    ) -> None:
        """Write what is altered; raises Error CONFLICT where a quota has no room."""
        await self._write_flags(connection, environment_id, [each for each in alterations if _is_flag(each)])
        its_rules = [each for each in alterations if not _is_flag(each)]
        await rules_store.delete_rules(connection, [each.resource.id for each in its_rules if each.after is None])
        for each in its_rules:
            if each.before is not None and isinstance(each.after, Rule):
                await rules_store.update_rule(connection, each.after)
        new = [each.after for each in its_rules if each.before is None and isinstance(each.after, Rule)]
        await rules_store.create_rules(connection, new)
        if new:
            await self.rules.require_room(connection, environment_id, {rule.flag_id for rule in new}, 0)
        written = [each.after for each in its_rules if isinstance(each.after, Rule)]
        replaced = [each.before for each in its_rules if isinstance(each.before, Rule)]
        await self.rules.require_room_for_conditions(connection, project_id, environment_id, written, replaced)

    async def _write_flags(
        self, connection: Connection, environment_id: UUID, alterations: Sequence[Alteration]
    ) -> None:
        new = [each.after for each in alterations if each.before is None and isinstance(each.after, Flag)]
        if new:
            count = await flags_store.count_flags(connection, environment_id)
            self.flags.settings.max_flags_per_environment.require_room(count, len(new))
        present = await flags_store.count_variant_characters(connection, environment_id)
        await flags_store.create_flags(connection, new)
        changed = [each.after for each in alterations if each.before is not None and isinstance(each.after, Flag)]
        await flags_store.update_flags(connection, changed)
        await self.flags.require_room_for_variants(connection, environment_id, present)
        for each in alterations:
            if isinstance(each.after, Flag):
                before = each.before if isinstance(each.before, Flag) else None
                await self.flags.require_room_for_work(connection, each.after, before)


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
