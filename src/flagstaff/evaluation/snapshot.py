"""Snapshots: the flags of an environment, compiled for evaluation. Immutable; a change creates a new snapshot."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.loops import Answers, Prefixes
from flagstaff.evaluation.matches import RuleMatch
from flagstaff.evaluation.sizes import KNOWN_ATTRIBUTES
from flagstaff.evaluation.targets import Buckets, Contents, Targeting, Write
from flagstaff.metrics.metrics import Kind
from flagstaff.projects.sdk_keys import KeyInForce, hash_sdk_key


class KnownAttributes(NamedTuple):
    """The custom attributes of a request, after they have been read.

    `values` are those that the environment looks at, `holding` the bits of the predicates that they do not contradict,
    and `kept` what the history keeps of them.
    """

    values: Mapping[str, object]
    holding: int
    kept: bytes | None


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Recorded flags that can be decided without the others: all that they need are among them.

    `rollouts` are those with a rollout: by stickiness, the positions and what finds their buckets. `targeting` is the
    environment's, or what these flags need of it.
    """

    positions: Collection[int]
    rollouts: Sequence[tuple[Sequence[int], Buckets]]
    targeting: Targeting | None


@dataclass(frozen=True, slots=True, eq=False)
class SingleFlag:
    """A flag of an environment that is evaluated alone.

    `place` is its place in the environment's layout, and `layout` its own. `part` are the flag and those that it needs,
    None if its result is constant.
    """

    place: int
    layout: Layout
    part: Part | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Dialect:
    """A protocol's form of a response about all flags: a head, a fragment for each flag, and a tail."""

    head: bytes
    tail: bytes
    write: Write


@dataclass(frozen=True, slots=True, eq=False)
class Translation:
    """An environment in another dialect: a snapshot that decides the same and is written differently.

    `content` is a digest of everything that the bytes of a response depend on, besides the recorded decisions. It is
    the same on every instance. `is_open` says that no constant flag ends the response, so that its last flag is known
    only after the join.
    """

    dialect: Dialect
    snapshot: "EnvironmentSnapshot"
    content: bytes
    content_in_hex: str
    is_open: bool


class Use:
    """Whether an environment was used since somebody has looked. Evaluations set it, because a time would cost more."""

    __slots__ = ("is_recent",)

    def __init__(self) -> None:
        self.is_recent = True


@dataclass(frozen=True, slots=True, eq=False)
class EnvironmentSnapshot:
    """A compiled environment. Each flag's JSON fragment ends with a comma, except the last one in the response.

    The recorded flags are those with a rollout by user (in `rollouts`), those with a rollout by an attribute (in
    `targeting`), and those with rules but no rollout. Without targeting, `answers` has each one's fragments by recorded
    byte, and `rollout_answers` the rollouts' fragments; with it, they are in `targeting`.

    `revision` tells its states apart, and rises with each change. `read_at` is the project's revision when the state
    was read: no change up to that one is missing; in the audit trail, no change up to `number` is
    missing. `metadata` names the environment and the revision to OpenFeature's SDKs, as a set of flags and its
    version.
    """

    project_id: UUID
    environment_id: UUID
    environment_key: str
    layout: Layout
    targeting: Targeting | None
    rollouts: tuple[bytes, ...]  # what is hashed before the identifier: b"flag-key:" or b"bucketing-key:"
    prepared_rollouts: Prefixes  # the same
    hashes: int  # how many identifiers are hashed: those of flags with buckets, and those of flags with variants
    answers: tuple[Answers, ...]
    rollout_answers: tuple[Answers, ...]
    without_bucket: bytes  # the bytes to record for the rollouts of a user without an identifier
    ruled_recorded: bytes
    by_user_id: Mapping[str, tuple[RuleMatch, ...]]
    by_email: Mapping[str, tuple[RuleMatch, ...]]
    by_domain: Mapping[str, tuple[RuleMatch, ...]]
    head: bytes  # of every response
    constant_tail: bytes  # the constant flags' fragments and the closing braces
    default_tail: bytes  # the fragments of flags with rules but no rollout if none matches, and constant_tail
    contents: Mapping[str, Contents]  # of flags that have some, by key
    places: Mapping[str, int]  # of flags in the layout, by key: first the recorded ones, then the others
    single_flags: dict[str, SingleFlag] = field(default_factory=dict)  # those that were evaluated alone, by key
    known: dict[bytes, KnownAttributes] = field(default_factory=dict)  # by their JSON; requests repeat most of it
    revision: int = 0
    read_at: int = 0
    number: int = 0
    size: int = 0  # estimated bytes, without what is shared or remembered
    shared_size: int = 0  # of what the environments of the project share
    use: Use = field(default_factory=Use)
    translations: dict[Dialect, Translation] = field(default_factory=dict)  # those that were asked for
    sdk_keys: Mapping[bytes, KeyInForce] = field(default_factory=dict)  # the environment's own, by their hashes
    metrics: Mapping[str, Kind] = field(default_factory=dict)  # the project's, by key
    metadata: str = field(init=False)  # members of a JSON object

    def __post_init__(self) -> None:
        made = f'"flagSetId":"{self.environment_id}","version":"{self.revision}"'
        object.__setattr__(self, "metadata", made)


def measure(snapshot: EnvironmentSnapshot) -> int:
    """Estimate the bytes of a snapshot with its translations and what it remembers of requests."""
    predicates = snapshot.targeting.predicates.everything.bit_length() // 8 if snapshot.targeting is not None else 0
    remembered = len(snapshot.known) * (KNOWN_ATTRIBUTES + predicates)
    return snapshot.size * (1 + len(snapshot.translations)) + remembered


def pieces_of(snapshot: EnvironmentSnapshot) -> Iterator[object]:
    """The pieces of a snapshot that grow with its flags, to be freed one by one.

    Most are made anew for each snapshot, and the flags of the layout for each project that is loaded as a whole.
    """
    yield from snapshot.layout.recorded
    yield from snapshot.layout.constant
    yield from snapshot.answers
    yield from snapshot.rollout_answers
    for matches in (snapshot.by_user_id, snapshot.by_email, snapshot.by_domain):
        yield from matches.values()
    if snapshot.targeting is not None:
        yield from snapshot.targeting.answers
        yield from snapshot.targeting.needs
        yield from snapshot.targeting.by_predicate.values()


@dataclass(frozen=True, slots=True)
class KnownEnvironment:
    """An environment whose flags need not be loaded: its revision, and its SDK keys by their hashes.

    `environment_key` is its own key, and `sdk_keys` are the keys for applications.
    """

    project_id: UUID
    environment_id: UUID
    environment_key: str
    revision: int
    sdk_keys: Mapping[bytes, KeyInForce] = field(default_factory=dict)

    @classmethod
    def of(cls, loaded: EnvironmentSnapshot) -> "KnownEnvironment":
        """The same of a loaded environment."""
        return cls(loaded.project_id, loaded.environment_id, loaded.environment_key, loaded.revision, loaded.sdk_keys)


@dataclass(frozen=True, slots=True, eq=False)
class ProjectSnapshot:
    """A project: all of its environments by id, and those whose flags are loaded and compiled, by key.

    `read_at` is its revision when the list of environments was read.
    """

    project_id: UUID
    sdk_key: str
    environments: Mapping[str, EnvironmentSnapshot]
    known: Mapping[UUID, KnownEnvironment]
    read_at: int = 0

    def find_loaded(self, environment_id: UUID) -> EnvironmentSnapshot | None:
        """The environment with this id, if it is loaded."""
        known = self.known.get(environment_id)
        return self.environments.get(known.environment_key) if known is not None else None

    def find_by_key(self, key: str) -> KnownEnvironment | None:
        """The environment with this key, loaded or not."""
        return next((each for each in self.known.values() if each.environment_key == key), None)

    def including(self, environment: EnvironmentSnapshot) -> "ProjectSnapshot":
        """The project with this state of an environment."""
        environment_id = environment.environment_id
        known = self.known.get(environment_id)
        if known is None or known.revision <= environment.revision:  # otherwise the list was read later
            known = KnownEnvironment.of(environment)
        environments = {**self.environments, environment.environment_key: environment}
        return replace(self, environments=environments, known={**self.known, environment_id: known})

    def without(self, environment_id: UUID, *, is_deleted: bool = False) -> "ProjectSnapshot":
        """The project without an environment that is not loaded any more, or was deleted."""
        loaded = {key: each for key, each in self.environments.items() if each.environment_id != environment_id}
        known = {each: at for each, at in self.known.items() if each != environment_id} if is_deleted else self.known
        return replace(self, environments=loaded, known=known)

    def key_hashes(self) -> Iterator[bytes]:
        """The hashes of all SDK keys of the project and of its environments."""
        yield hash_sdk_key(self.sdk_key)
        for each in self.known.values():
            yield from each.sdk_keys
