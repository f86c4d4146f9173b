"""The SDK keys of all projects and environments, and what each opens: a look-up on a hit, no query for unknown keys.

The hashes of all keys are in memory. The text of a key is remembered once it has been used and as long as it is valid,
so that only its first use is hashed; every so often all texts are forgotten, so that the next use of a key shows that
its project is asked for (serving/idle_projects.py). Keys come and go with the snapshots: when a change has been
propagated, no instance accepts a key that it ended, and every instance accepts a key that it made.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment, ProjectSnapshot
from flagstaff.limits.key_owners import KeyOwner
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.projects.sdk_keys import KeyKind, hash_sdk_key, project_in
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.values.errors import limited, unavailable
from flagstaff.values.keys import is_sdk_key


class Access(NamedTuple):
    """The access of a valid SDK key: to one environment, or to all with the project's own key, which has no id.

    With `allowed_origins`, it is only for pages there (serving/page_origins.py).
    """

    key_id: UUID | None
    kind: KeyKind
    project: ProjectSnapshot
    environment: EnvironmentSnapshot | None
    expires_at: datetime | None = None
    allowed_origins: frozenset[str] | None = None


class SdkKeys:
    """All SDK keys. `load` returns the hashes of all of them with the ids of their projects."""

    def __init__(
        self,
        snapshots: Snapshots,
        *,
        load: Callable[[], Awaitable[Mapping[bytes, UUID]]],
        is_following: Callable[[], bool],
        now: Callable[[], datetime],
        limiter: SlidingWindow | None = None,
    ) -> None:
        """`is_following` returns whether this instance hears of the changes that others make.

        `limiter` limits the uses of each key of an environment.
        """
        self._snapshots = snapshots
        self._load_all = load
        self._is_following = is_following
        self._now = now
        self._limiter = limiter
        self.known: dict[str, Access] = {}
        """Valid keys by their text, for the hot path, which calls `use` for those of environments."""
        self._texts: defaultdict[UUID, dict[str, bytes]] = defaultdict(dict)  # of known keys, with their hashes
        self._projects: dict[bytes, UUID] = {}  # by the hashes of all keys, loaded or not
        self._opened: dict[UUID, dict[bytes, Access]] = {}  # of loaded projects, by the hashes of their keys
        self._hashes: dict[UUID, frozenset[bytes]] = {}
        self._used: set[UUID] = set()
        self._used_last: Access | None = None  # is in `_used`, in which each search hashes an id in Python
        snapshots.observe(self._swap)
        snapshots.observe_keys(self._keep_hashes)

    async def start(self) -> None:
        """Load the list of all keys; projects are loaded on first use."""
        self._hashes = await self._load_hashes()
        self._projects = {each: project_id for project_id, hashes in self._hashes.items() for each in hashes}

    async def find(self, key: str) -> Access | None:
        """Find a key's access, loaded first if necessary; None if the key is unknown, was revoked or has expired.

        It awaits nothing if the key's environment is loaded.

        Raises:
            Error: UNAVAILABLE while the project cannot be loaded, or while it is not known whether the key was made;
                LIMITED beyond the key's limit.
        """
        access = self.known.get(key) or await self.open(key)
        return access if access is not None and self.use(access) else None

    async def open(self, key: str) -> Access | None:
        """The same for a key that is not among the known ones, without using it: it may have expired."""
        key_hash = hash_sdk_key(key)
        project_id = self._projects.get(key_hash)
        if project_id is None:
            self._require_certainty(key)
            return None
        access = await self._load(project_id, key_hash)
        if access is not None and access is self._opened.get(project_id, {}).get(key_hash):
            self.known[key] = access
            self._texts[project_id][key] = key_hash
        return access

    def find_owner(self, key: str) -> KeyOwner | None:
        """Find who takes turns with a key, without loading anything; None for any other text. It may have expired."""
        key_hash = hash_sdk_key(key)
        project_id = self._projects.get(key_hash)
        if project_id is None:
            return None
        access = self._opened.get(project_id, {}).get(key_hash)
        return KeyOwner(project_id, is_public=access is not None and access.kind is KeyKind.BROWSER)

    async def find_by_id(self, project_id: UUID, key_id: UUID) -> Access | None:
        """Find the access of an environment's key by its id; None if it does not exist, was revoked or has expired.

        Raises:
            Error: UNAVAILABLE while the project cannot be loaded; LIMITED beyond the key's limit.
        """
        project = await self._snapshots.find(project_id)
        keys = (key for each in project.known.values() for key in each.sdk_keys.items()) if project else ()
        key_hash = next((key_hash for key_hash, key in keys if key.key_id == key_id), None)
        access = await self._load(project_id, key_hash) if key_hash is not None else None
        return access if access is not None and self.use(access) else None

    async def find_in(self, access: Access, environment_id: UUID) -> Access:
        """The access of a project's own key, after the environment was loaded; if it was deleted, it is not there."""
        environment = await self._snapshots.find_environment(access.project.project_id, environment_id)
        project = self._snapshots.find_present(access.project.project_id) or access.project
        if environment is None:
            return access._replace(project=project.without(environment_id, is_deleted=True))
        return access._replace(project=_including(project, environment))

    def use(self, access: Access) -> bool:
        """Count and note a use of a key, and return whether it has not expired; raises Error LIMITED.

        The project's own key has no limit, does not expire, and its uses are not noted.
        """
        if access.key_id is None or access.environment is None:
            return True
        if access.expires_at is not None and self._now() >= access.expires_at:
            return False
        if self._limiter is not None and (wait_seconds := self._limiter.hit(access.key_id)):
            raise limited(wait_seconds)
        access.environment.use.is_recent = True
        if access is not self._used_last:
            self._used_last = access
            self._used.add(access.key_id)
        return True

    def forget_texts(self) -> None:
        """Forget the texts of all keys: the next use of each asks for its project."""
        self.known.clear()
        self._texts.clear()

    def unload(self, project_id: UUID) -> None:
        """Forget what the keys of a project open, which the next use loads again. Their texts must be forgotten."""
        self._opened.pop(project_id, None)

    def take_used(self) -> set[UUID]:
        """The keys of environments that were used since the last call."""
        used, self._used, self._used_last = self._used, set(), None
        return used

    async def refresh_all(self) -> None:
        """Load again the projects that are loaded or being loaded, and those whose keys differ.

        It makes up for changes that may have been missed.

        A project that cannot be loaded becomes stale and does not prevent the others from being loaded.
        """
        present, known = await self._load_hashes(), self._hashes
        differing = {each for each in present.keys() | known.keys() if present.get(each) != known.get(each)}
        await self._snapshots.refresh_all(differing)

    async def _load_hashes(self) -> dict[UUID, frozenset[bytes]]:
        found: defaultdict[UUID, set[bytes]] = defaultdict(set)
        for key_hash, project_id in (await self._load_all()).items():
            found[project_id].add(key_hash)
        return {project_id: frozenset(hashes) for project_id, hashes in found.items()}

    async def _load(self, project_id: UUID, key_hash: bytes) -> Access | None:
        """The access of a key, loaded first if necessary; None if there is no such key any more."""
        project = await self._snapshots.find(project_id)
        owner = _find_owner(project, key_hash) if project is not None else None
        environment = None
        if owner is not None:
            environment = await self._snapshots.find_environment(project_id, owner.environment_id)
        access = self._opened.get(project_id, {}).get(key_hash)
        if access is not None or environment is None or self._projects.get(key_hash) != project_id:
            return access
        # The environment has had to make room for others already. This request began before.
        project = self._snapshots.find_present(project_id) or project
        return _opened_by(_including(project, environment)).get(key_hash) if project is not None else None

    def _require_certainty(self, key: str) -> None:
        """Raise Error UNAVAILABLE if a key that is not known here may have been made elsewhere.

        Some clients give up for good when a key is refused.
        """
        project_id = project_in(key)
        if project_id is None and not is_sdk_key(key):
            return
        if not self._is_following() or self._snapshots.is_stale(project_id):
            raise unavailable("The list of SDK keys cannot be read right now. Try again shortly.")

    def _swap(self, project_id: UUID, project: ProjectSnapshot | None) -> None:
        """Accept the keys of a project's new snapshot, and no others."""
        opened = _opened_by(project) if project is not None else {}
        self._keep_hashes(project_id, frozenset(project.key_hashes()) if project is not None else frozenset())
        texts = self._texts.pop(project_id, {})
        if project is not None:
            self._opened[project_id] = opened
        else:
            self._opened.pop(project_id, None)
        for key, key_hash in texts.items():
            access = opened.get(key_hash)
            if access is None:
                self.known.pop(key, None)
            else:
                self.known[key] = access
                self._texts[project_id][key] = key_hash

    def _keep_hashes(self, project_id: UUID, hashes: frozenset[bytes]) -> None:
        """Know these keys of a project, and no others; none if it does not exist."""
        for key_hash in self._hashes.pop(project_id, ()):
            del self._projects[key_hash]
        if hashes:
            self._hashes[project_id] = hashes
            self._projects.update(dict.fromkeys(hashes, project_id))


def _opened_by(project: ProjectSnapshot) -> dict[bytes, Access]:
    """Return the access of each key of a project and of its loaded environments, by the keys' hashes."""
    opened = {hash_sdk_key(project.sdk_key): Access(None, KeyKind.SERVER, project, None)}
    for environment in project.environments.values():
        for key_hash, key in project.known[environment.environment_id].sdk_keys.items():
            opened[key_hash] = Access(key.key_id, key.kind, project, environment, key.expires_at, key.allowed_origins)
    return opened


def _find_owner(project: ProjectSnapshot, key_hash: bytes) -> KnownEnvironment | None:
    """The environment whose key has this hash, loaded or not."""
    return next((each for each in project.known.values() if key_hash in each.sdk_keys), None)


def _including(project: ProjectSnapshot, environment: EnvironmentSnapshot) -> ProjectSnapshot:
    """A project with an environment, which may have had to make room already."""
    if project.find_loaded(environment.environment_id) is not None:
        return project
    return project.including(environment)
