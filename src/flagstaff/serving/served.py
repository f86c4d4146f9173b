"""The state that the projects that are served share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from flagstaff.concurrency.fair_queue import FairQueue
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.serving.loaders import Loaders

if TYPE_CHECKING:
    from flagstaff.serving.served_project import ServedProject


@dataclass(frozen=True, slots=True)
class Served:
    """The state that all projects share: how they are loaded, who observes them, and the sets that keep them in memory.

    `turns` are the turns of first loads. `known` are the projects that are loaded, or whose keys were read. `stale` are
    the projects of which a load after a change has failed.
    """

    loaders: Loaders
    supervisor: Supervisor
    turns: FairQueue
    observers: list[Callable[[UUID, ProjectSnapshot | None], None]] = field(default_factory=list)
    key_observers: list[Callable[[UUID, frozenset[bytes]], None]] = field(default_factory=list)
    known: "set[ServedProject]" = field(default_factory=set)
    stale: "set[ServedProject]" = field(default_factory=set)
