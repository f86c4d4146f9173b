"""Creates environments as copies of others, with all flags and their rules.

Thousands of rows take too long for one transaction, for which others wait. So they are written into an environment that
nobody sees, and the last of many short transactions gives it to its project.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Batch, BatchKind, Change
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker
from flagstaff.copying.built_clones import BuiltClone, ClonedRow, changes_of, clone_flags
from flagstaff.copying.copies import CLONED_MAX
from flagstaff.copying.environment_flags import ReadEnvironmentFlags, find_origin
from flagstaff.database.changes_store import announce_seen, record_unseen
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.database.planned_writes import OutdatedError, Planning, write_planned
from flagstaff.database.revisions_store import find_revision
from flagstaff.flags import flags_store
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects import environments_store, hidden_environments_store, projects_store
from flagstaff.projects.access import open_membership
from flagstaff.projects.environments_service import Environments, creation_of
from flagstaff.projects.hidden_environments_service import ROWS_AT_ONCE, HiddenEnvironments
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error, not_found
from flagstaff.values.lists import empty, parts_of

_REMOVED_FIRST = 40
"""The transactions with which a clone helps to remove what is not needed any more: more than it needs for itself."""


@dataclass(frozen=True, slots=True)
class WantedClone:
    """A request for a clone. `draft` makes the environment, without flags, as it would be created now."""

    actor: Actor
    project_id: UUID
    origin_id: UUID
    key: str
    all_off: bool
    draft: Callable[[], Environment]


@dataclass(frozen=True, slots=True)
class ReadOrigin:
    """The environment from which flags are copied, as it was read."""

    environment: Environment
    revision: int
    flags: ReadEnvironmentFlags


@dataclass(frozen=True, slots=True)
class RecordedClone:
    """A clone whose changes are to be recorded."""

    environment: Environment
    creation: Change
    origin_id: UUID
    rows: Sequence[ClonedRow]


@dataclass(frozen=True, slots=True)
class Clones:
    """The use case of clones. Raises Error NOT_FOUND for a project of which the actor is not a member.

    The quotas are the same as in the services that create the resources.
    """

    database: Database
    now: Callable[[], datetime]
    environments: Environments
    flags: Flags
    rules: Rules
    hidden: HiddenEnvironments

    async def clone_environment(
        self,
        actor: Actor,
        project_id: UUID,
        origin_id: UUID,
        *,
        key: str,
        all_off: bool,
        critical: bool | None = None,
        **values: Any,
    ) -> Environment:
        """Create an environment with these fields and the flags of another that are not archived, and their rules.

        Raises:
            Error: INVALID if the other does not exist, FORBIDDEN for a member that may not see its flags or not create
                flags and rules, CONFLICT if the project has an environment with this key, where a quota has no room,
                and if the other has more flags and rules than can be copied at once; UNAVAILABLE if it is changed again
                and again meanwhile.
        """
        draft = partial(self.environments.draft, project_id, key=key, critical=critical, **values)
        wanted = WantedClone(actor, project_id, origin_id, key, all_off, draft)
        planning = Planning(partial(self._build, wanted), self._give_up)
        return await write_planned(self.database, planning, partial(self._show, wanted))

    async def _build(self, wanted: WantedClone) -> BuiltClone:
        """Write the environment where nobody sees it."""
        async with self.database.read() as connection:
            origin = await self._read(connection, wanted)
        await self.hidden.remove(_REMOVED_FIRST)
        environment = wanted.draft()
        sides = await in_worker(origin.flags.collect)
        rows = await in_worker(clone_flags, sides, environment, self.now(), all_off=wanted.all_off)
        self._require_room(rows)
        creation = creation_of(wanted.actor, environment)
        async with self.hidden.building(environment):
            await self.hidden.add(environment.id, rows, _write)
            async with self.database.read() as connection:
                await self._require_room_for_contents(connection, environment, rows)
            recorded = RecordedClone(environment, creation, origin.environment.id, rows)
            numbers = await self._record(wanted.actor, recorded)
        await in_worker(empty, rows, sides)
        return BuiltClone(environment, creation, origin.revision, numbers)

    async def _show(self, wanted: WantedClone, transaction: Transaction, built: BuiltClone) -> Environment:
        """Give the environment to its project, unless what was copied has been changed since."""
        connection = transaction.connection
        origin = await _open(connection, wanted, for_update=True)
        revision = await find_revision(connection, wanted.project_id, origin.id)
        if revision.environment != built.origin_revision:
            raise OutdatedError
        await self.environments.require_room(connection, wanted.project_id)
        await hidden_environments_store.show_environment(connection, built.environment)
        await announce_seen(transaction, built.creation, built.numbers)
        return built.environment

    async def _give_up(self, built: BuiltClone) -> None:
        await self.hidden.give_up(built.environment.id)

    async def _read(self, connection: Connection, wanted: WantedClone) -> ReadOrigin:
        origin = await _open(connection, wanted)
        await self.environments.require_room(connection, wanted.project_id)
        await environments_store.require_free_key(connection, wanted.project_id, wanted.key)
        await _require_few(connection, origin)
        revision = await find_revision(connection, wanted.project_id, origin.id)
        found = await flags_store.list_flags(connection, origin.id)
        read = ReadEnvironmentFlags(found, await rules_store.list_rules_of_environment(connection, origin.id))
        return ReadOrigin(origin, revision.environment, read)

    def _require_room(self, rows: Sequence[ClonedRow]) -> None:
        rules_of = Counter(row.flag.id for row in rows if row.rule is not None)
        self.flags.settings.max_flags_per_environment.require_room(0, len(rows) - rules_of.total())
        self.rules.settings.max_rules_per_flag.require_room(max(rules_of.values(), default=0), 0)
        self.rules.settings.max_rules_per_environment.require_room(rules_of.total(), 0)

    async def _require_room_for_contents(
        self, connection: Connection, environment: Environment, rows: Sequence[ClonedRow]
    ) -> None:
        its_rules = [row.rule for row in rows if row.rule is not None]
        await self.flags.require_room_for_variants(connection, environment.id)
        await self.rules.require_room_for_conditions(connection, environment.project_id, environment.id, its_rules)

    async def _record(self, actor: Actor, clone: RecordedClone) -> list[int]:
        """Write the changes that record the clone; return their numbers."""
        environment, rows = clone.environment, clone.rows
        flags = sum(row.rule is None for row in rows)
        batch = Batch(uuid7(), BatchKind.CLONE, len(rows), flags, clone.origin_id) if len(rows) > 1 else None
        numbers: list[int] = []

        async def record_some(transaction: Transaction, some: Sequence[Change], batch: Batch | None) -> None:
            if await projects_store.find_project_for_update(transaction.connection, environment.project_id) is None:
                raise not_found("project")
            numbers.extend(await record_unseen(transaction, some, batch))

        await self.hidden.add(environment.id, [clone.creation], partial(record_some, batch=None))
        for some in parts_of(rows, ROWS_AT_ONCE):
            made = await collect(changes_of(actor, some))
            await self.hidden.add(environment.id, made, partial(record_some, batch=batch))
        return numbers


async def _open(connection: Connection, wanted: WantedClone, *, for_update: bool = False) -> Environment:
    """The environment from which flags are copied, for an actor who may do so."""
    _, member = await open_membership(
        connection, wanted.actor, wanted.project_id, Permission.ENVIRONMENTS_WRITE, for_update=for_update
    )
    origin = await find_origin(connection, wanted.project_id, wanted.origin_id, "copy_from")
    require(member, Permission.FLAGS_READ, origin.key)
    require(member, Permission.FLAGS_WRITE, wanted.key)
    require(member, Permission.RULES_WRITE, wanted.key)
    return origin


async def _write(transaction: Transaction, rows: Sequence[ClonedRow]) -> None:
    await flags_store.create_flags(transaction.connection, (row.flag for row in rows if row.rule is None))
    await rules_store.create_rules(transaction.connection, (row.rule for row in rows if row.rule is not None))


async def _require_few(connection: Connection, origin: Environment) -> None:
    """Raise Error CONFLICT for an environment whose copy would take too long."""
    count = await flags_store.count_live_flags(connection, origin.id) + await rules_store.count_live_rules(
        connection, origin.id
    )
    if count > CLONED_MAX:
        raise Error(
            Code.CONFLICT,
            f"The environment {origin.key} has {count:,} flags and rules that are not archived, and at most "
            f"{CLONED_MAX:,} can be copied at once. Create an empty environment, and copy the flags in several steps.",
        )
