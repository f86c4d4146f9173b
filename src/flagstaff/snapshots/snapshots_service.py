"""Loads the runtime's snapshots. Checks no permissions, because the runtime does not act for a user."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from flagstaff.concurrency.worker import exhaust, in_change_worker, in_worker
from flagstaff.conditions.predicates import Predicate, compile_predicate
from flagstaff.database import changes_store, revisions_store
from flagstaff.database.database import Connection, Database
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compile_flag
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot
from flagstaff.evaluation.snapshot_assembly import assemble
from flagstaff.flags import flags_store
from flagstaff.flags.flags import Flag, Rule
from flagstaff.flags.targeting import rules_store, segments_store
from flagstaff.flags.targeting.segments import Segment
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Kind
from flagstaff.projects import environments_store, projects_store, sdk_keys_store
from flagstaff.projects.projects import Environment
from flagstaff.projects.sdk_keys import KeyInForce, hash_sdk_key
from flagstaff.snapshots.changed_flags_store import ChangedFlags, find_changed_flags
from flagstaff.values.lists import empty

# For how many environments compiled flags are kept; the most recently changed ones are.
REMEMBERED = 64
_NOTHING: Mapping[UUID, "_CompiledSegment"] = {}


@dataclass(frozen=True, slots=True)
class _CompiledSegment:
    key: str
    updated_at: datetime
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class _ReadSegments:
    """A project's segments: those that were compiled before and have not changed since, and the others."""

    known: Mapping[UUID, _CompiledSegment]
    changed: Iterable[Segment]


@dataclass(frozen=True, slots=True)
class _Surroundings:
    """The part of a snapshot that is not of flags: the environment, its keys by hash, and the metrics by key."""

    environment: Environment
    sdk_keys: Mapping[bytes, KeyInForce]
    metrics: Mapping[str, Kind]


@dataclass(frozen=True, slots=True)
class _Compiled:
    """An environment's flags and its project's segments by id, and the number of the latest change to the flags."""

    surroundings: _Surroundings
    flags: dict[UUID, CompiledFlag]
    segments: Mapping[UUID, _CompiledSegment]
    number: int


@dataclass(frozen=True, slots=True)
class _Read:
    """An environment read in one consistent state: all flags and their rules, or those changed since `known`.

    Flags and rules are converted as they are compiled, after the connection has been released.
    """

    surroundings: _Surroundings
    segments: _ReadSegments
    revision: Revision
    flags: Iterable[Flag]
    rules: Iterable[Rule]
    number: int
    known: _Compiled | None = None
    changed: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """Reads and compiles each project in one consistent state.

    After a change to an environment, only the changed flags are read and compiled again. The audit trail names them,
    because each write adds its row there in the same transaction.
    """

    database: Database
    _compiled: OrderedDict[UUID, _Compiled] = field(default_factory=OrderedDict)

    async def load_sdk_keys(self) -> dict[bytes, UUID]:
        """The hashes of all SDK keys, of projects and of environments, with their projects' ids."""
        async with self.database.read() as connection:
            of_projects = await projects_store.list_sdk_keys(connection)
            of_environments = await sdk_keys_store.list_key_hashes(connection)
        return await in_worker(_hash_keys, of_projects, of_environments)

    async def load_key_hashes(self, project_id: UUID) -> frozenset[bytes] | None:
        """The hashes of the SDK keys of a project and its environments, or None if it does not exist."""
        async with self.database.read() as connection:
            project = await projects_store.find_project(connection, project_id)
            if project is None:
                return None
            assert project.sdk_key is not None  # it is only withheld from people
            their_keys = await sdk_keys_store.list_keys_in_force(connection, project_id)
        of_environments = (key_hash for keys in their_keys.values() for key_hash in keys)
        return frozenset((hash_sdk_key(project.sdk_key), *of_environments))

    def forget(self, project: ProjectSnapshot) -> None:
        """Forget the compiled flags that are kept to load a project's environments faster."""
        for environment in project.environments.values():
            self._compiled.pop(environment.environment_id, None)

    async def load_project(self, project_id: UUID) -> ProjectSnapshot | None:
        """A whole project, compiled, or None if it does not exist. Everything is read again."""
        async with self.database.read() as connection:
            project = await projects_store.find_project(connection, project_id)
            if project is None:
                return None
            assert project.sdk_key is not None  # it is only withheld from people
            found = list(await environments_store.list_environments(connection, project_id))
            for environment in found:
                self._compiled.pop(environment.id, None)
            their_segments = await _read_segments(connection, project_id)
            their_keys = await sdk_keys_store.list_keys_in_force(connection, project_id)
            kinds = await metrics_store.list_kinds(connection, project_id)
            their_revisions = await revisions_store.list_revisions(connection, project_id)
            read = [
                await _read_all(
                    connection,
                    _Surroundings(environment, their_keys.get(environment.id, {}), kinds),
                    their_segments,
                    their_revisions[environment.id],
                )
                for environment in found
            ]
        compiled_segments = await in_worker(_compile_segments, their_segments)
        snapshots = {}
        for each in read:
            compiled: dict[UUID, CompiledFlag] = {}
            await exhaust(in_worker, _compile_flags(each.flags, each.rules, compiled))
            key = each.surroundings.environment.key
            snapshots[key] = await in_worker(_assemble_once, each, compiled, compiled_segments)
        return ProjectSnapshot(project_id, project.sdk_key, snapshots)

    async def load_environment(
        self, project_id: UUID, environment_id: UUID
    ) -> tuple[EnvironmentSnapshot | None, Mapping[UUID, Revision]]:
        """One environment, compiled, or None if the project has no such environment.

        With it, the revisions in the same state of all environments of the project, by id.
        """
        known = self._compiled.pop(environment_id, None)
        found = await self._read_changed_flags(project_id, environment_id, known) if known else None
        read, revisions = found or await self._read_environment(project_id, environment_id, known)
        if read is None:
            return None, revisions
        compiled: dict[UUID, CompiledFlag] = {}
        await exhaust(in_change_worker, _compile_flags(read.flags, read.rules, compiled))
        snapshot, self._compiled[environment_id] = await in_change_worker(_assemble, read, compiled)
        while len(self._compiled) > REMEMBERED:
            self._compiled.popitem(last=False)
        return snapshot, revisions

    async def _read_changed_flags(
        self, project_id: UUID, environment_id: UUID, known: _Compiled
    ) -> tuple[_Read, Mapping[UUID, Revision]] | None:
        """The flags changed since `known`; None if something else was changed, too."""
        async with self.database.query() as connection:
            found = await find_changed_flags(connection, project_id, environment_id, known.number)
        revision = found.revisions.get(environment_id)
        if revision is None or found.are_many or not found.are_alone:
            return None
        segments = _ReadSegments(known.segments, ())
        return _changed(found, known.surroundings, segments, revision, known), found.revisions

    async def _read_environment(
        self, project_id: UUID, environment_id: UUID, known: _Compiled | None
    ) -> tuple[_Read | None, Mapping[UUID, Revision]]:
        async with self.database.read() as connection:
            revisions = await revisions_store.list_revisions(connection, project_id)
            environment = await environments_store.find_environment(connection, project_id, environment_id)
            if environment is None:
                return None, revisions
            its_segments = await _read_segments(connection, project_id, known.segments if known else _NOTHING)
            their_keys = await sdk_keys_store.list_keys_in_force(connection, project_id)
            kinds = await metrics_store.list_kinds(connection, project_id)
            surroundings = _Surroundings(environment, their_keys.get(environment_id, {}), kinds)
            its_revision = revisions[environment_id]
            if known:
                found = await find_changed_flags(connection, project_id, environment_id, known.number)
                if not found.are_many:
                    return _changed(found, surroundings, its_segments, its_revision, known), revisions
            return await _read_all(connection, surroundings, its_segments, its_revision), revisions


async def _read_segments(
    connection: Connection, project_id: UUID, known: Mapping[UUID, _CompiledSegment] = _NOTHING
) -> _ReadSegments:
    present = await segments_store.list_segment_versions(connection, project_id)
    unchanged = {each: known[each] for each, at in present.items() if each in known and known[each].updated_at == at}
    return _ReadSegments(unchanged, await segments_store.find_segments(connection, present.keys() - unchanged.keys()))


async def _read_all(
    connection: Connection, surroundings: _Surroundings, segments: _ReadSegments, revision: Revision
) -> _Read:
    environment_id = surroundings.environment.id
    found = await flags_store.list_flags(connection, environment_id)
    their_rules = await rules_store.list_rules_of_environment(connection, environment_id)
    number = await changes_store.latest_change(connection, environment_id)
    return _Read(surroundings, segments, revision, found, their_rules, number)


def _changed(
    found: ChangedFlags, surroundings: _Surroundings, segments: _ReadSegments, revision: Revision, known: _Compiled
) -> _Read:
    return _Read(surroundings, segments, revision, found.flags, found.rules, found.number, known, found.ids)


def _assemble_once(
    read: _Read, compiled: dict[UUID, CompiledFlag], their_segments: Mapping[UUID, _CompiledSegment]
) -> EnvironmentSnapshot:
    snapshot, not_kept = _assemble_with(read, compiled, their_segments)
    empty(not_kept.flags)
    return snapshot


def _assemble(read: _Read, compiled: dict[UUID, CompiledFlag]) -> tuple[EnvironmentSnapshot, _Compiled]:
    return _assemble_with(read, compiled, _compile_segments(read.segments))


def _assemble_with(
    read: _Read, compiled: dict[UUID, CompiledFlag], their_segments: Mapping[UUID, _CompiledSegment]
) -> tuple[EnvironmentSnapshot, _Compiled]:
    if read.known is not None:
        unchanged = dict(read.known.flags)  # a copy, which hashes no id
        for flag_id in read.changed:
            unchanged.pop(flag_id, None)
        compiled = unchanged | compiled
    predicates = {each.key: each.predicate for each in their_segments.values()}
    around = read.surroundings
    snapshot = assemble(around.environment, compiled.values(), predicates)
    snapshot = replace(
        snapshot,
        revision=read.revision.environment,
        read_at=read.revision.project,
        sdk_keys=around.sdk_keys,
        metrics=around.metrics,
    )
    return snapshot, _Compiled(around, compiled, their_segments, read.number)


def _hash_keys(
    of_projects: Iterable[tuple[str, UUID]], of_environments: Iterable[tuple[bytes, UUID]]
) -> dict[bytes, UUID]:
    hashes = dict(of_environments)
    for sdk_key, project_id in of_projects:
        hashes[hash_sdk_key(sdk_key)] = project_id
    return hashes


def _compile_segments(read: _ReadSegments) -> dict[UUID, _CompiledSegment]:
    compiled = dict(read.known)
    for segment in read.changed:
        predicate = compile_predicate(segment.conditions)
        compiled[segment.id] = _CompiledSegment(segment.key, segment.updated_at, predicate)
    return compiled


def _compile_flags(
    found: Iterable[Flag], their_rules: Iterable[Rule], compiled: dict[UUID, CompiledFlag]
) -> Iterator[None]:
    """Compile the flags into a dictionary by their ids, a flag at each step."""
    rules_of: defaultdict[UUID, list[Rule]] = defaultdict(list)
    for rule in their_rules:
        rules_of[rule.flag_id].append(rule)
        yield
    for flag in found:
        compiled[flag.id] = compile_flag(TargetedFlag(flag, rules_of.pop(flag.id, ())))
        yield
