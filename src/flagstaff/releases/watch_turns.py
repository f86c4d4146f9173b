"""Fair turns at watching releases, which one process does for all projects: the least served project comes first."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from uuid import UUID

HALF_LIFE_SECONDS = 5.0
"""After how long half of the time that a project has had is forgotten."""


@dataclass(slots=True)
class WatchTurns:
    """The time that projects have had lately, and the environments of each that wait. `clock` is in seconds."""

    clock: Callable[[], float]
    _used: dict[UUID, float] = field(default_factory=dict, init=False)
    _waiting: dict[UUID, deque[UUID]] = field(default_factory=lambda: defaultdict(deque), init=False)
    _at: float = field(default=0.0, init=False)

    def begin(self, environments: Iterable[tuple[UUID, UUID]]) -> None:
        """Begin with the environments that have work, each with its project. Those that waited keep their order."""
        now = self.clock()
        kept = 0.5 ** (max(0.0, now - self._at) / HALF_LIFE_SECONDS)
        self._at = now
        self._used = {project: used * kept for project, used in self._used.items() if used * kept > 0.001}
        wanted = dict[UUID, UUID](((environment, project) for project, environment in environments))
        before = [each for waiting in self._waiting.values() for each in waiting if each in wanted]
        self._waiting = defaultdict(deque)
        for environment in dict.fromkeys([*before, *wanted]):
            self._waiting[wanted[environment]].append(environment)

    def next(self) -> tuple[UUID, UUID] | None:
        """The project whose turn it is and its environment; None if none waits."""
        if not self._waiting:
            return None
        project = min(self._waiting, key=lambda each: self._used.get(each, 0.0))
        environment = self._waiting[project].popleft()
        if not self._waiting[project]:
            del self._waiting[project]
        return project, environment

    def end(self, project: UUID, environment: UUID, seconds: float, *, has_more: bool) -> None:
        """Note that a turn took so long; with more to do, the environment waits again."""
        self._used[project] = self._used.get(project, 0.0) + seconds
        if has_more:
            self._waiting[project].append(environment)
