"""Loads the runtime's snapshots. Checks no permissions, because the runtime does not act for a user."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from flagstaff.concurrency.worker import Run, exhaust, in_change_worker, in_worker
from flagstaff.conditions.predicates import Predicate, compile_predicate
from flagstaff.database import changes_store, revisions_store
from flagstaff.database.database import Connection, Database
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.compiler import CompiledFlag, TargetedFlag, compile_flag
from flagstaff.evaluation.sizes import ENVIRONMENT, conditions_size
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment, ProjectSnapshot
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
from flagstaff.snapshots.changed_flags_store import ChangedFlags, find_changed_flags, find_number_if_only_keys_changed

# For how many environments compiled flags are kept; the most recently changed ones are.
REMEMBERED = 64
_NOTHING: Mapping[UUID, "_CompiledSegment"] = {}


@dataclass(frozen=True, slots=True)
class _CompiledSegment:
    key: str
    updated_at: datetime
    predicate: Predicate
    size: int


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
    """An environment's flags and its project's segments by id, and the number of the latest change that they have."""

    surroundings: _Surroundings
    flags: dict[UUID, CompiledFlag]
    segments: Mapping[UUID, _CompiledSegment]
    number: int


@dataclass(frozen=True, slots=True)
class _Read:
    """An environment read in one consistent state: all flags and their rules, or those changed since `known`.

    Flags and rules are converted as they are compiled, after the connection has been released. If only keys have
    changed, nothing of this is read, and `unchanged` is the snapshot before.
    """

    surroundings: _Surroundings
    segments: _ReadSegments
    revision: Revision
    flags: Iterable[Flag]
    rules: Iterable[Rule]
    number: int
    known: _Compiled | None = None
    changed: frozenset[UUID] = frozenset()
    unchanged: EnvironmentSnapshot | None = None


@dataclass(frozen=True, slots=True)
class SnapshotSource:
    """Reads and compiles each environment in one consistent state.

    After a change to an environment, only the changed flags are read and compiled again. The audit trail names them,
    because each write adds its row there in the same transaction.
    """

    database: Database
    _compiled: OrderedDict[UUID, _Compiled] = field(default_factory=OrderedDict)
    _segments: OrderedDict[UUID, Mapping[UUID, _CompiledSegment]] = field(default_factory=OrderedDict)

    async def load_sdk_keys(self) -> dict[bytes, UUID]:
        """The hashes of all SDK keys, of projects and of environments, with their projects' ids."""
        async with self.database.read() as connection:
            of_projects = await projects_store.list_sdk_keys(connection)
            of_environments = await sdk_keys_store.list_key_hashes(connection)
        return await in_worker(_hash_keys, of_projects, of_environments)

    async def load_project(self, project_id: UUID) -> ProjectSnapshot | None:
        """A project with its environments and their SDK keys, none of them loaded; None if it does not exist."""
        async with self.database.read() as connection:
            project = await projects_store.find_project(connection, project_id)
            if project is None:
                return None
            assert project.sdk_key is not None  # it is only withheld from people
            found = list(await environments_store.list_environments(connection, project_id))
            their_keys = await sdk_keys_store.list_keys_in_force(connection, project_id)
            revisions = await revisions_store.list_revisions(connection, project_id)
        known = {
            each.id: KnownEnvironment(
                project_id, each.id, each.key, revisions[each.id].environment, their_keys.get(each.id, {})
            )
            for each in found
        }
        read_at = max((each.project for each in revisions.values()), default=0)
        return ProjectSnapshot(project_id, project.sdk_key, {}, known, read_at)

    def forget(self, place_id: UUID) -> None:
        """Forget what is kept to load an environment, or the environments of a project, faster."""
        self._compiled.pop(place_id, None)
        self._segments.pop(place_id, None)

    async def load_first(self, project_id: UUID, environment_id: UUID) -> EnvironmentSnapshot | None:
        """An environment that is not in memory, compiled in turns with other long work; None if it does not exist.

        Its compiled flags are not kept: most environments never change while they are in memory.
        """
        read, _ = await self._read_environment(project_id, environment_id, None, None)
        if read is None:
            return None
        snapshot, _ = await self._compile(read, in_worker)
        return snapshot

    async def load_environment(
        self, project_id: UUID, environment_id: UUID, before: EnvironmentSnapshot | None
    ) -> tuple[EnvironmentSnapshot | None, Mapping[UUID, Revision]]:
        """One environment, compiled, or None if the project has no such environment.

        Only what has changed since the snapshot `before` is read and compiled, if that is known; without it, everything
        is read anew. With it, the revisions in the same state of all environments of the project, by id.
        """
        known = self._compiled.pop(environment_id, None)
        if before is None:
            known = None
        found = await self._read_changed_flags(project_id, environment_id, known) if known else None
        read, revisions = found or await self._read_environment(project_id, environment_id, known, before)
        if read is None:
            return None, revisions
        if read.unchanged is not None:
            if known is not None:
                self._compiled[environment_id] = replace(known, surroundings=read.surroundings, number=read.number)
            return _surround(read.unchanged, read), revisions
        snapshot, self._compiled[environment_id] = await self._compile(read, in_change_worker)
        while len(self._compiled) > REMEMBERED:
            self._compiled.popitem(last=False)
        return snapshot if before is None else replace(snapshot, use=before.use), revisions

    async def _compile(self, read: "_Read", run: Run) -> tuple[EnvironmentSnapshot, "_Compiled"]:
        segments = dict(read.segments.known)
        await exhaust(run, _compile_segments(read.segments.changed, segments))
        self._keep_segments(read.surroundings.environment.project_id, segments)
        compiled: dict[UUID, CompiledFlag] = {}
        await exhaust(run, _compile_flags(read.flags, read.rules, compiled))
        made: tuple[EnvironmentSnapshot, _Compiled] = await run(_assemble, read, compiled, segments)
        return made

    def _keep_segments(self, project_id: UUID, segments: Mapping[UUID, "_CompiledSegment"]) -> None:
        """Keep a project's compiled segments, which its environments share."""
        self._segments[project_id] = segments
        self._segments.move_to_end(project_id)
        while len(self._segments) > REMEMBERED:
            self._segments.popitem(last=False)

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
        self, project_id: UUID, environment_id: UUID, known: _Compiled | None, before: EnvironmentSnapshot | None
    ) -> tuple[_Read | None, Mapping[UUID, Revision]]:
        async with self.database.read() as connection:
            revisions = await revisions_store.list_revisions(connection, project_id)
            environment = await environments_store.find_environment(connection, project_id, environment_id)
            if environment is None:
                return None, revisions
            their_keys = await sdk_keys_store.list_keys_in_force(connection, project_id)
            kinds = await metrics_store.list_kinds(connection, project_id)
            surroundings = _Surroundings(environment, their_keys.get(environment_id, {}), kinds)
            its_revision = revisions[environment_id]
            if before is not None:
                number = await find_number_if_only_keys_changed(connection, project_id, environment_id, before.number)
                if number is not None:
                    return _unchanged(before, surroundings, its_revision, number), revisions
            its_segments = await _read_segments(connection, project_id, self._segments.get(project_id, _NOTHING))
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
    number = await changes_store.latest_change(connection, surroundings.environment.project_id)
    return _Read(surroundings, segments, revision, found, their_rules, number)


def _changed(
    found: ChangedFlags, surroundings: _Surroundings, segments: _ReadSegments, revision: Revision, known: _Compiled
) -> _Read:
    return _Read(surroundings, segments, revision, found.flags, found.rules, found.number, known, found.ids)


def _unchanged(before: EnvironmentSnapshot, surroundings: _Surroundings, revision: Revision, number: int) -> _Read:
    return _Read(surroundings, _ReadSegments(_NOTHING, ()), revision, (), (), number, unchanged=before)


def _assemble(
    read: _Read, compiled: dict[UUID, CompiledFlag], their_segments: Mapping[UUID, _CompiledSegment]
) -> tuple[EnvironmentSnapshot, _Compiled]:
    if read.known is not None:
        unchanged = dict(read.known.flags)  # a copy, which hashes no id
        for flag_id in read.changed:
            unchanged.pop(flag_id, None)
        compiled = unchanged | compiled
    predicates = {each.key: each.predicate for each in their_segments.values()}
    snapshot = replace(
        assemble(read.surroundings.environment, compiled.values(), predicates),
        size=ENVIRONMENT + sum(each.size for each in compiled.values()),
        shared_size=sum(each.size for each in their_segments.values()),
    )
    return _surround(snapshot, read), _Compiled(read.surroundings, compiled, their_segments, read.number)


def _surround(snapshot: EnvironmentSnapshot, read: _Read) -> EnvironmentSnapshot:
    """A snapshot of these flags with all else as it was read. What was derived from the flags is made anew."""
    return replace(
        snapshot,
        revision=read.revision.environment,
        read_at=read.revision.project,
        number=read.number,
        sdk_keys=read.surroundings.sdk_keys,
        metrics=read.surroundings.metrics,
        translations={},
        known={},
        single_flags={},
    )


def _hash_keys(
    of_projects: Iterable[tuple[str, UUID]], of_environments: Iterable[tuple[bytes, UUID]]
) -> dict[bytes, UUID]:
    hashes = dict(of_environments)
    for sdk_key, project_id in of_projects:
        hashes[hash_sdk_key(sdk_key)] = project_id
    return hashes


def _compile_segments(changed: Iterable[Segment], compiled: dict[UUID, _CompiledSegment]) -> Iterator[None]:
    """Compile segments into a dictionary by their ids, a segment at each step."""
    for segment in changed:
        predicate = compile_predicate(segment.conditions)
        compiled[segment.id] = _CompiledSegment(
            segment.key, segment.updated_at, predicate, conditions_size(segment.conditions)
        )
        yield


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
