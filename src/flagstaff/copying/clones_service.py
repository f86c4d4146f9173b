"""Creates environments as copies of others, with all flags and their rules."""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, BatchKind, Change, change_of
from flagstaff.concurrency.pacing import collect
from flagstaff.concurrency.worker import in_worker, in_write_worker
from flagstaff.copying.comparisons import Side
from flagstaff.copying.copies import CLONED_MAX, rule_like
from flagstaff.copying.environment_flags import ReadEnvironmentFlags, find_origin
from flagstaff.database.changes_store import batch_of, record_all
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.flags.access import scope_of
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting import rules_store
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_membership
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error
from flagstaff.values.lists import empty


@dataclass(frozen=True, slots=True)
class Cloned:
    """A flag as it is written in the clone, and its rules."""

    flag: Flag
    rules: Sequence[Rule]


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

    async def clone_environment(
        self,
        actor: Actor,
        project_id: UUID,
        origin_id: UUID,
        *,
        key: str,
        all_off: bool,
        **values: Any,
    ) -> Environment:
        """Create an environment with these fields and the flags of another that are not archived, and their rules.

        Raises:
            Error: INVALID if the other does not exist, FORBIDDEN for a member that may not see its flags or not create
                flags and rules, CONFLICT if the project has an environment with this key, where a quota has no room,
                and if the other has more flags and rules than can be copied at once.
        """
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            _, member = await open_membership(
                connection, actor, project_id, Permission.ENVIRONMENTS_WRITE, for_update=True
            )
            origin = await find_origin(connection, project_id, origin_id, "copy_from")
            require(member, Permission.FLAGS_READ, origin.key)
            require(member, Permission.FLAGS_WRITE, key)
            require(member, Permission.RULES_WRITE, key)
            environment = await self.environments.add(transaction, actor, project_id, key=key, **values)
            await _require_few(connection, origin)
            cloned = await self._read(connection, origin, environment, all_off=all_off)
            await self._write(connection, environment, cloned)
            made = await collect(_changes(actor, cloned))
            await record_all(transaction, made, batch_of(made, BatchKind.CLONE, origin.id))
        await in_worker(empty, made, cloned)
        return environment

    async def _read(
        self, connection: Connection, origin: Environment, environment: Environment, *, all_off: bool
    ) -> list[Cloned]:
        found = await flags_store.list_flags(connection, origin.id)
        read = ReadEnvironmentFlags(found, await rules_store.list_rules_of_environment(connection, origin.id))
        return await in_write_worker(_clone_all, read, environment, self.now(), all_off=all_off)

    async def _write(self, connection: Connection, environment: Environment, cloned: Sequence[Cloned]) -> None:
        self.flags.settings.max_flags_per_environment.require_room(0, len(cloned))
        await flags_store.create_flags(connection, (each.flag for each in cloned))
        await self.flags.require_room_for_variants(connection, environment.id)
        its_rules = [rule for each in cloned for rule in each.rules]
        await rules_store.create_rules(connection, its_rules)
        self.rules.settings.max_rules_per_flag.require_room(max((len(each.rules) for each in cloned), default=0), 0)
        self.rules.settings.max_rules_per_environment.require_room(len(its_rules), 0)
        await self.rules.require_room_for_conditions(connection, environment.project_id, environment.id, its_rules)


async def _require_few(connection: Connection, origin: Environment) -> None:
    """Raise Error CONFLICT for an environment whose copy would keep other writes waiting for long."""
    count = await flags_store.count_live_flags(connection, origin.id) + await rules_store.count_live_rules(
        connection, origin.id
    )
    if count > CLONED_MAX:
        raise Error(
            Code.CONFLICT,
            f"The environment {origin.key} has {count:,} flags and rules that are not archived, and at most "
            f"{CLONED_MAX:,} can be copied at once. Create an empty environment, and copy the flags in several steps.",
        )


def _clone_all(read: ReadEnvironmentFlags, environment: Environment, now: datetime, *, all_off: bool) -> list[Cloned]:
    sides = read.collect()
    _require_prerequisites(sides)
    # The newest flag is read first, and shall be the newest again.
    cloned = _clone(reversed(sides.values()), environment, now, all_off=all_off)
    empty(sides)
    return cloned


def _require_prerequisites(sides: Mapping[str, Side]) -> None:
    """Raise Error CONFLICT for a flag that needs an archived one, which is not copied."""
    for key, side in sides.items():
        missing = [each.flag_key for each in side.flag.prerequisites if each.flag_key not in sides]
        if missing:
            message = f"The flag {key} needs {missing[0]}, which is archived. Unarchive it, or remove the prerequisite."
            raise Error(Code.CONFLICT, message)


def _clone(sides: Iterable[Side], environment: Environment, now: datetime, *, all_off: bool) -> list[Cloned]:
    """Make flags and rules, each a microsecond younger than the one before: the order by age stays."""
    cloned = []
    for place, side in enumerate(sides):
        at = now + timedelta(microseconds=place)
        flag = replace(
            side.flag,
            id=uuid7(),
            environment_id=environment.id,
            enabled=side.flag.enabled and not all_off,
            created_at=at,
            updated_at=at,
        )
        its_rules = []
        for order, rule in enumerate(side.rules):
            its_rules.append(rule_like(rule, flag.id, uuid7(), at + timedelta(microseconds=order)))
        cloned.append(Cloned(flag, its_rules))
    return cloned


def _changes(actor: Actor, cloned: Sequence[Cloned]) -> Generator[Change]:
    for each in cloned:
        scope = scope_of(each.flag)
        yield change_of(actor, "flag.created", each.flag.created_at, scope, after=each.flag)
        for rule in each.rules:
            yield change_of(actor, "rule.created", rule.created_at, scope, after=rule)
