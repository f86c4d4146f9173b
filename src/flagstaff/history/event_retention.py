"""Deletes events of metrics, and forgets their ids: by age, and beyond the bounds of projects and of the instance."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple
from uuid import UUID

import structlog

from flagstaff.database.database import Database
from flagstaff.history.store import event_ids, event_segments, events
from flagstaff.metrics.events import EVENTS_KEPT_DAYS, IDS_KEPT_DAYS
from flagstaff.projects import environments_store
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.fair_shares import fair_bounds, find_level

log = structlog.get_logger(__name__)

Step = Callable[[], Awaitable[object]]


class EventBounds(NamedTuple):
    """How many events, and ids of events with each kind of key, are kept of a project, and of all."""

    events_of_project: int = 20_000_000
    events: int = 40_000_000
    ids_of_project: int = 10_000_000
    ids: int = 40_000_000


@dataclass(slots=True)
class EventRetention:
    """Deletes in small steps. `stored` and `ids` are how many events and ids there were when they were last counted.

    `deleted` and `forgotten` count those that went because of the bounds.
    """

    database: Database
    bounds: EventBounds = field(default_factory=EventBounds)
    stored: int = field(default=0, init=False)
    ids: int = field(default=0, init=False)
    deleted: int = field(default=0, init=False)
    forgotten: int = field(default=0, init=False)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export how many events and ids there are, and how many went because of the bounds."""
        metrics.add_gauge("events_stored", "Events of metrics that are stored.", lambda: self.stored, max)
        metrics.add_gauge("event_ids", "Ids of events by which repetitions are recognised.", lambda: self.ids, max)
        metrics.add_counter("events_deleted", "Events deleted at a maximum number.", lambda: self.deleted)
        metrics.add_counter(
            "event_ids_forgotten", "Ids of events forgotten at a maximum number.", lambda: self.forgotten
        )

    def steps(self, passed: datetime, recorded: Mapping[UUID, int], at_once: int) -> Sequence[Step]:
        """Return the steps that delete, each in transactions of `at_once` segments.

        `recorded` has the numbers of the environments that have a history, by their ids.
        """
        before = passed - timedelta(days=EVENTS_KEPT_DAYS)
        ids_before = passed - timedelta(days=IDS_KEPT_DAYS)
        by_age = (
            partial(events.delete_events, before=before),
            partial(events.delete_event_ids, before=ids_before),
            partial(events.delete_unknown_metrics, before=before),
        )
        bound = (partial(step, recorded, at_once) for step in (self._bound_events, self._bound_ids))
        return [*(partial(self._delete, each, at_once) for each in by_age), *bound]

    async def _delete(self, delete_some: Callable[..., Awaitable[bool]], at_once: int) -> None:
        more = True
        while more:
            async with self.database.write_history() as connection:
                more = await delete_some(connection, limit=at_once)

    async def _bound_events(self, recorded: Mapping[UUID, int], at_once: int) -> None:
        """Delete the oldest events of the environments that have too many."""
        async with self.database.read_history() as connection:
            sizes = await event_segments.count_by_environment(connection)
        self.stored = sum(sizes.values())
        beyond = await self._find_beyond(recorded, sizes, self.bounds.events_of_project, self.bounds.events)
        for number, events_beyond in beyond.items():
            left = events_beyond
            while left > 0:
                async with self.database.write_history() as connection:
                    some = await event_segments.delete_beyond(connection, number, left, at_once)
                if not some:
                    break
                left -= some
            self.deleted += events_beyond - left
            self.stored -= events_beyond - left
            log.warning("events_bound_reached", environment=number, deleted=events_beyond - left)

    async def _bound_ids(self, recorded: Mapping[UUID, int], at_once: int) -> None:
        """Forget the oldest ids of the environments that have too many, apart for each kind of key.

        Anybody can send ids with a public key, which must not push out the ids of servers.
        """
        async with self.database.read_history() as connection:
            listed = await event_ids.list_generations(connection)
        self.ids = sum(each.ids for each in listed)
        for kind in KeyKind:
            sizes = Counter[int]()
            for each in listed:
                if each.key_kind is kind:
                    sizes[each.environment] += each.ids
            of_all = self.bounds.ids // len(KeyKind)
            beyond = await self._find_beyond(recorded, sizes, self.bounds.ids_of_project, of_all)
            for each in listed:  # oldest first
                if each.key_kind is kind and beyond.get(each.environment, 0) > 0:
                    await self._delete(partial(events.forget_ids, generation=each), at_once)
                    beyond[each.environment] -= each.ids
                    self.forgotten += each.ids
                    self.ids -= each.ids

    async def _find_beyond(
        self, recorded: Mapping[UUID, int], sizes: Mapping[int, int], of_project: int, of_all: int
    ) -> dict[int, int]:
        """How much environments have too much, by their numbers; of a project, the largest lose first."""
        async with self.database.read() as connection:
            owners = await environments_store.list_owners(connection)
        projects: defaultdict[tuple[UUID, UUID], dict[int, int]] = defaultdict(dict)
        for environment_id, number in recorded.items():
            if number in sizes and environment_id in owners:  # those of deleted environments go anyway
                projects[owners[environment_id]][number] = sizes[number]
        totals = {project: sum(some.values()) for project, some in projects.items()}
        found = dict[int, int]()
        for project, bound in fair_bounds(totals, of_project=of_project, of_all=of_all).items():
            level = find_level(projects[project].values(), bound)
            found |= {number: size - level for number, size in projects[project].items() if size > level}
        return found
