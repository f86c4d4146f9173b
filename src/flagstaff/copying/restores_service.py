"""Restores changes of flags, rules and segments: puts back what a change has altered, as a change of its own."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from flagstaff.audit import change_lists_store
from flagstaff.changes.changes import Actor, BatchKind, Change, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.copying.creation_plans import Together
from flagstaff.copying.restore_plans import plan_restore
from flagstaff.copying.restored_batches import BatchOf, find_parts
from flagstaff.copying.restores import Alteration, unrestorable
from flagstaff.database import changes_store
from flagstaff.database.changes_store import batch_of, record_all
from flagstaff.database.database import Connection, Database, Transaction, attempt
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.flags.targeting.segments import Segment
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.permissions.members import Member
from flagstaff.projects.access import open_member
from flagstaff.values.errors import Code, Error, invalid_field, not_found
from flagstaff.values.moments import later_than

RESOURCES_MAX = 500
"""The most that several changes may alter together: SQLite's other writers wait for it."""
CHARACTERS_MAX = 8_000_000
"""The length of several changes together, with the states before and after them."""
_TOO_MUCH = (
    f"must not alter more than {RESOURCES_MAX:,} flags, rules and segments together, nor be longer than "
    f"{CHARACTERS_MAX:,} characters; send fewer changes at a time"
)


@dataclass(frozen=True, slots=True)
class Restored:
    """The writes of a restore, and the number of its own change; None for a dry run."""

    alterations: Sequence[Alteration]
    number: int | None


@dataclass(frozen=True, slots=True)
class RestoredChange:
    """One of several changes that are put back together: its number, and what came of it.

    `refusal` is why it cannot be put back, which only a dry run tells; otherwise the first refusal ends the restore.
    """

    restores: int
    restored: Restored
    refusal: Error | None = None


@dataclass(frozen=True, slots=True)
class Restores:
    """The use case of restores. Raises Error NOT_FOUND for what is not the actor's.

    The quotas are the same as in the services that create the resources.
    """

    database: Database
    now: Callable[[], datetime]
    flags: Flags
    rules: Rules
    segments: Segments

    async def restore(
        self, actor: Actor, project_id: UUID, number: int, *, dry_run: bool = False, if_unchanged: bool = False
    ) -> Restored:
        """Put back what the change with this number has altered, and nothing else; or only tell what that would alter.

        What it deleted comes back under the same ids.

        Raises:
            Error: FORBIDDEN for someone who may not make such a change; CONFLICT, which says why, if it cannot be put
                back, and with `if_unchanged` also if it has been changed again since.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            now = await self._time_of_restore(connection, project_id)
            async with attempt(transaction, keep=not dry_run):  # some quotas need to see what is written
                alterations = await self._put_back(connection, member, number, Together(now, if_unchanged, (number,)))
            if dry_run:
                return Restored(alterations, None)
            made = await collect(_change_of(actor, each, number, now) for each in alterations)
            return Restored(alterations, (await record_all(transaction, made, batch_of(made, BatchKind.RESTORE)))[0])

    async def restore_all(
        self,
        actor: Actor,
        project_id: UUID,
        chosen: Collection[int] | BatchOf,
        *,
        dry_run: bool = False,
        if_unchanged: bool = False,
    ) -> list[RestoredChange]:
        """Put back several changes together, the newest first, or none of them; or only tell what that would alter.

        Of an operation, what it created goes last, and the rules of a flag that it created are left out: they go with
        the flag.

        Raises:
            Error: as `restore`; the CONFLICT names the change, but a dry run tells of each one that cannot be put back.
                INVALID if several alter too much.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_member(connection, actor, project_id, for_update=True)
            parts = await find_parts(connection, project_id, chosen)
            numbers = [each.number for each in parts]
            too_much = invalid_field("batch_of" if isinstance(chosen, BatchOf) else "changes", _TOO_MUCH)
            if len(numbers) > 1:
                characters = await change_lists_store.count_characters(connection, project_id, numbers)
                if characters > CHARACTERS_MAX:
                    raise too_much
            now = await self._time_of_restore(connection, project_id)
            together = Together(now, if_unchanged, numbers)
            async with attempt(transaction, keep=not dry_run):
                items = await self._put_back_each(transaction, member, together, too_much, dry_run=dry_run)
            return items if dry_run else await self._record(transaction, actor, items, now)

    async def _put_back_each(
        self, transaction: Transaction, member: Member, together: Together, too_much: Error, *, dry_run: bool
    ) -> list[RestoredChange]:
        """Put back several changes one after the other; raises `too_much` when they alter too many resources."""
        items: list[RestoredChange] = []
        resources = 0
        for number in together.numbers:
            try:
                # The first refusal ends a restore, but not a dry run.
                async with attempt(transaction, keep=True) if dry_run else nullcontext():
                    altered = await self._put_back(transaction.connection, member, number, together)
            except Error as error:
                if error.code is not Code.CONFLICT:
                    raise
                if not dry_run:
                    raise Error(Code.CONFLICT, f"Change {number}: {error.message}") from error
                items.append(RestoredChange(number, Restored((), None), error))
                continue
            resources += len(altered)
            if len(together.numbers) > 1 and resources > RESOURCES_MAX:
                raise too_much
            items.append(RestoredChange(number, Restored(altered, None)))
        return items

    async def _record(
        self, transaction: Transaction, actor: Actor, items: Sequence[RestoredChange], now: datetime
    ) -> list[RestoredChange]:
        """Record what was put back, the changes of each environment together."""
        made: defaultdict[UUID | None, list[Change]] = defaultdict(list)
        firsts: dict[int, tuple[UUID | None, int]] = {}  # where the first change of each restore is
        for item in items:
            its_changes = await collect(
                _change_of(actor, each, item.restores, now) for each in item.restored.alterations
            )
            for each in its_changes:
                of_environment = made[each.scope.environment_id]
                firsts.setdefault(item.restores, (each.scope.environment_id, len(of_environment)))
                of_environment.append(each)
        batch = batch_of([each for changes in made.values() for each in changes], BatchKind.RESTORE)
        numbers = {environment: await record_all(transaction, changes, batch) for environment, changes in made.items()}
        recorded = []
        for item in items:
            environment, place = firsts[item.restores]
            recorded.append(replace(item, restored=replace(item.restored, number=numbers[environment][place])))
        return recorded

    async def _time_of_restore(self, connection: Connection, project_id: UUID) -> datetime:
        """Later than every state that a resource with the same id has had, also before another deletion of it."""
        return later_than(await changes_store.latest_time(connection, project_id), self.now())

    async def _put_back(
        self, connection: Connection, member: Member, number: int, together: Together
    ) -> Sequence[Alteration]:
        """Write what a change has altered as it was before, and delete what it created."""
        change = await changes_store.find_project_change(connection, member.project_id, number)
        if change is None:
            raise not_found("change")
        with _as_conflict():
            alterations = await plan_restore(connection, member, change, number, together)
            await self._write(connection, alterations)
        return alterations

    async def _write(self, connection: Connection, alterations: Sequence[Alteration]) -> None:
        """Write what is altered; raises Error CONFLICT for a key that is taken, or where a quota has no room."""
        new_rules: list[Rule] = []
        for each in alterations:
            match each.after:
                case Flag() as flag:
                    await self._write_flag(connection, flag, each.before if isinstance(each.before, Flag) else None)
                case Segment() as segment:
                    await self._write_segment(connection, segment, each.before)
                case Rule() as rule if each.before is None:
                    new_rules.append(rule)
                case Rule() as rule:
                    await rules_store.update_rule(connection, rule)
                case None:
                    await _delete(connection, each.before)
        await rules_store.create_rules(connection, new_rules)
        its_rules = [each for each in alterations if isinstance(each.after, Rule)]
        if not its_rules:
            return
        scope = its_rules[0].scope
        assert scope.environment_id is not None
        assert scope.flag_id is not None
        if new_rules:
            await self.rules.require_room(connection, scope.environment_id, [scope.flag_id], 0)
        assert scope.project_id is not None
        written = [each.after for each in its_rules if isinstance(each.after, Rule)]
        replaced = [each.before for each in its_rules if isinstance(each.before, Rule)]
        await self.rules.require_room_for_conditions(
            connection, scope.project_id, scope.environment_id, written, replaced
        )

    async def _write_flag(self, connection: Connection, flag: Flag, before: Flag | None) -> None:
        is_new = before is None
        if is_new:
            count = await flags_store.count_flags(connection, flag.environment_id)
            self.flags.settings.max_flags_per_environment.require_room(count)
        has_other_variants = flag.variants != (before.variants if before is not None else ())
        present = 0
        if has_other_variants:
            present = await flags_store.count_variant_characters(connection, flag.environment_id)
        await (flags_store.create_flag if is_new else flags_store.update_flag)(connection, flag)
        if has_other_variants:
            await self.flags.require_room_for_variants(connection, flag.environment_id, present)
        if flag.archived_at is None:
            await self.flags.require_room_for_work(connection, flag, before)

    async def _write_segment(self, connection: Connection, segment: Segment, before: object) -> None:
        is_new = not isinstance(before, Segment)
        if is_new:
            count = await segments_store.count_segments(connection, segment.project_id)
            self.segments.settings.max_segments_per_project.require_room(count)
        await (segments_store.create_segment if is_new else segments_store.update_segment)(connection, segment)
        if not isinstance(before, Segment) or before.conditions != segment.conditions:
            replaced = before if isinstance(before, Segment) else None
            await self.segments.require_room_for_conditions(connection, segment, replaced)


async def _delete(connection: Connection, found: Flag | Rule | Segment | None) -> None:
    match found:
        case Flag():
            await flags_store.delete_flag(connection, found.id)
        case Rule():
            await rules_store.delete_rule(connection, found.id)
        case Segment():
            await segments_store.delete_segment(connection, found.id)


def _change_of(actor: Actor, each: Alteration, restores: int, now: datetime) -> Change:
    return change_of(
        actor,
        each.action,
        each.after.updated_at if each.after else now,
        each.scope,
        before=each.before,
        after=each.after,
        restores=restores,
    )


@contextmanager
def _as_conflict() -> Iterator[None]:
    """Turn the refusal of a value, which was valid before the change, into a CONFLICT that says what is missing now."""
    try:
        yield
    except Error as error:
        if error.code is not Code.INVALID:
            raise
        raise unrestorable(". ".join(f"{each.field} {each.message}" for each in error.fields) + ".") from error
