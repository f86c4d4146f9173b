"""A project whose loads a test controls, with the snapshots and the SDK keys that serve it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.revisions import Revision
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment, ProjectSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.projects.sdk_keys import KeyInForce, hash_sdk_key
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.serving.loaders import Loaders
from tests.support.builders import AT, make_environment, make_flag, make_project

ENVIRONMENTS = ("production", "staging")
Loaded = TypeVar("Loaded")


class World:
    """One project's committed state, and loaders that read it when the test lets them."""

    def __init__(self, limiter: SlidingWindow | None = None) -> None:
        self.project = make_project()
        self.environments = {key: make_environment(self.project.id, key=key) for key in ENVIRONMENTS}
        self.enabled = dict.fromkeys(ENVIRONMENTS, False)
        self.revisions = dict.fromkeys(ENVIRONMENTS, 0)
        self.sdk_keys_of: dict[str, dict[bytes, KeyInForce]] = {key: {} for key in ENVIRONMENTS}
        self.exists = True
        self.size = 0
        self.loads: list[str] = []  # one entry for each load that has started
        self.failure: Exception | None = None
        self.before_return: Callable[[str], Awaitable[None]] | None = None  # awaited when a load has read
        self.let_go = asyncio.Event()
        self.let_go.set()
        self.forgotten: list[UUID] = []
        self.snapshots = Snapshots(self.loaders(), Supervisor())
        self.now = AT
        self.is_following = True
        self.sdk_keys = SdkKeys(
            self.snapshots,
            load=self._load_sdk_keys,
            is_following=lambda: self.is_following,
            now=lambda: self.now,
            limiter=limiter,
        )

    def loaders(self) -> Loaders:
        return Loaders(
            self.load_project, self.load_first, self.load_environment, self.load_revisions, self.forgotten.append
        )

    @property
    def sdk_key(self) -> str:
        assert self.project.sdk_key is not None
        return self.project.sdk_key

    def commit(self, enabled: bool, key: str = "production") -> None:
        self.enabled[key] = enabled
        self.revisions[key] = max(self.revisions.values()) + 1

    async def refresh(self, key: str | None = "production") -> None:
        await self.snapshots.refresh(self.project.id, self.environments[key].id if key else None)

    async def served(self, key: str = "production") -> bool | None:
        """Return the result of an evaluation now, or None if the project or the environment is unknown."""
        access = await self.sdk_keys.find(self.sdk_key)
        known = access.project.find_by_key(key) if access else None
        if access is None or known is None:
            return None
        loaded = access.project.find_loaded(known.environment_id)
        environment = loaded or await self.snapshots.find_environment(self.project.id, known.environment_id)
        return b'"enabled":true' in evaluate(environment, "ada", None)[0] if environment else None

    async def until_loading(self, count: int) -> None:
        await until(lambda: len(self.loads) >= count)

    async def _load_sdk_keys(self) -> dict[bytes, UUID]:
        hashes = [hash_sdk_key(self.sdk_key), *(each for keys in self.sdk_keys_of.values() for each in keys)]
        return dict.fromkeys(hashes, self.project.id) if self.exists else {}

    async def load_project(self, project_id: UUID) -> ProjectSnapshot | None:
        return await self._load("keys", lambda: self._read_project(project_id))

    async def load_first(self, project_id: UUID, environment_id: UUID) -> EnvironmentSnapshot | None:
        key = self._key_of(project_id, environment_id)
        return await self._load(f"first {key}", lambda: self._read_environment(key) if key else None)

    async def load_environment(
        self, project_id: UUID, environment_id: UUID, before: EnvironmentSnapshot | None
    ) -> tuple[EnvironmentSnapshot | None, dict[UUID, Revision]]:
        key = self._key_of(project_id, environment_id)
        return await self._load(
            key if before else f"{key or 'gone'} anew",
            lambda: (self._read_environment(key) if key else None, self._read_revisions(project_id)),
        )

    def _key_of(self, project_id: UUID, environment_id: UUID) -> str:
        if project_id != self.project.id:
            return ""
        return next((key for key, each in self.environments.items() if each.id == environment_id), "")

    async def load_revisions(self, project_id: UUID) -> dict[UUID, Revision]:
        return self._read_revisions(project_id)

    def _read_revisions(self, project_id: UUID) -> dict[UUID, Revision]:
        if not self.exists or project_id != self.project.id:
            return {}
        latest = max(self.revisions.values())
        return {each.id: Revision(self.revisions.get(key, 0), latest) for key, each in self.environments.items()}

    async def _load(self, name: str, read: Callable[[], Loaded]) -> Loaded:
        """Read the committed state, and return it when the test says so."""
        self.loads.append(name)
        loaded = read()
        if self.before_return:
            await self.before_return(name)
        await self.let_go.wait()
        if self.failure:
            raise self.failure
        return loaded

    def _read_project(self, project_id: UUID) -> ProjectSnapshot | None:
        if not self.exists or project_id != self.project.id:
            return None
        known = {
            each.id: KnownEnvironment(
                each.project_id, each.id, key, self.revisions.get(key, 0), dict(self.sdk_keys_of.get(key, {}))
            )
            for key, each in self.environments.items()
        }
        return ProjectSnapshot(self.project.id, self.sdk_key, {}, known, max(self.revisions.values()))

    def _read_environment(self, key: str) -> EnvironmentSnapshot:
        environment = self.environments[key]
        flag = TargetedFlag(make_flag(environment, enabled=self.enabled[key]))
        compiled = compile_environment(environment, [flag])
        return replace(
            compiled, sdk_keys=dict(self.sdk_keys_of.get(key, {})), revision=self.revisions.get(key, 0), size=self.size
        )


def unload_all(snapshots: Snapshots) -> None:
    """Unload all projects, as after a start."""
    for project in snapshots.list_known():
        project.is_asked_for = False
        project.unload()
    assert not snapshots.loaded


async def until(condition: Callable[[], bool]) -> None:
    """Let other tasks run until the condition is true."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0)
