"""One round: clients run, a fault starts and ends, and the recorded events are checked."""

import asyncio
import time
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain

from tests.faults.checker import Violation, find_violations
from tests.faults.clients import Evaluator, Toggler, count_allowed
from tests.faults.counts import find_miscounts
from tests.faults.deliveries import find_missing, make_webhook
from tests.faults.equals import Equals, Write, make_writes
from tests.faults.fleet import INSTANCES, LIMIT, Fleet
from tests.faults.histories import History, Outcome, Toggle
from tests.faults.listeners import find_unaware, listening
from tests.faults.nemesis import EVERY_INSTANCE, Nemesis
from tests.faults.news import Maker, Seeker, find_unmarked
from tests.faults.releasing import Reporter, begin_release, end_release, find_misreleased, make_released_flag
from tests.support.api import Json, created, environment_path, flag_path, project_path

READY_SECONDS = 30.0  # on a machine that is busy with other tests, too
_STEADY_SECONDS = 1.5
_WRITTEN_SECONDS = 20.0
_BACKLOG_SECONDS = 90.0  # while evaluations wait: a machine that is busy with other work writes them slowly
_EVALUATORS = 2  # for each instance
_CUT_OFF_SECONDS = 5.0  # docs/operations/scaling.md
_CUT_OFF_SLACK = 1.0, 3  # seconds at least, or so many times the longest change just before the fault
_LIMIT_ERROR = 0.1  # of a shared limit, under load; docs/operations/scaling.md has the usual error
_LIMIT_ATTEMPTS = 3
_LIMIT_PAUSE_SECONDS = 0.05  # the error depends on the speed of the client, and so on how busy the machine is


@dataclass(frozen=True)
class Pace:
    """The pauses of each client between two requests."""

    evaluate_seconds: float = 0.025
    toggle_seconds: float = 0.1


@dataclass
class Round:
    """The events of a round, and its errors in words; `began` and `healed` are times of the fault."""

    nemesis: Nemesis
    began: int
    healed: int
    ready_seconds: float | None
    aware_seconds: float | None  # from then until no page shows the feature that was turned off; None without pages
    history: History
    violations: list[Violation]
    problems: list[str]


@dataclass
class Arena:
    """A fleet with the flags that are toggled: one by all instances in turn, and one by each instance alone.

    Each of `writes` is sent to two instances at once. `released` is a flag that has a release in each round, and
    `other` a project in which environments are created.
    """

    fleet: Fleet
    flags: dict[str, Json]
    released: Json
    other: Json
    writes: list[Write]
    known: list[Toggle]  # the latest changes of each flag
    rounds: int = 0

    @classmethod
    async def of(cls, fleet: Fleet) -> "Arena":
        """Create the flags, and return them with the fleet."""
        flags, known = {}, []
        for key in ("turns", *(f"only-{each}" for each in EVERY_INSTANCE)):
            started = time.monotonic_ns()
            path = f"{environment_path(fleet.environment)}/flags"
            answer = await fleet.owner.post(path, json={"name": key, "key": key, "enabled": True})
            flags[key] = {**created(answer), "project_id": fleet.project["id"]}
            revision = int(answer.headers["flagstaff-revision"])
            times = (started, time.monotonic_ns())
            known.append(Toggle(key, 0, *times, 201, Outcome.MADE, enabled=True, revision=revision))
        await make_webhook(fleet)
        writes, created_flags = await make_writes(fleet.owner, fleet.project, fleet.environment)
        other = await fleet.owner.create_project(name="Other")
        return cls(fleet, flags, await make_released_flag(fleet), other, writes, [*known, *created_flags])

    async def play(self, nemesis: Nemesis, pace: Pace, *, marks_allowed: bool) -> Round:
        """Run a round."""
        fleet, self.rounds = self.fleet, self.rounds + 1
        await fleet.shop.turn(on=True)
        _, unaware = await fleet.shop.find_unaware(on=True)
        await nemesis.prepare(fleet)
        dropped = await self._dropped()
        history, prefix = History(toggles=list(self.known)), f"r{self.rounds}-"
        since = datetime.now(UTC) - timedelta(seconds=nemesis.wrong_clock_seconds + 10)
        urls = [each.url for each in fleet.instances]
        release = await begin_release(fleet, self.released, f"round {self.rounds}")
        async with listening(urls, fleet.stream_key) as listeners:
            async with self._load(history, prefix, pace):
                await asyncio.sleep(_STEADY_SECONDS)
                began = time.monotonic_ns()
                await nemesis.start(fleet)
                turning_off = asyncio.create_task(fleet.shop.turn(on=False))
                await asyncio.sleep(nemesis.seconds)
                problems = await nemesis.check(fleet)
                await nemesis.heal(fleet)
                healed = time.monotonic_ns()
                with suppress(TimeoutError):  # `_limited` describes the error
                    await nemesis.record_recovery(fleet)
                ready_seconds = await self._until_ready()
                await turning_off
                aware_seconds, still_unaware = await fleet.shop.find_unaware(on=False)
                await asyncio.sleep(_STEADY_SECONDS)
            problems += [*unaware, *still_unaware, *await find_unaware(listeners, highest_revision(history.toggles))]
        violations = find_violations(history.toggles, history.evaluations, history.others, marks_allowed=marks_allowed)
        found = await asyncio.gather(
            self._counted(history, prefix, since, dropped),
            self._limited(),
            find_missing(fleet),
            find_misreleased(fleet, release),
        )
        problems += chain(history.problems, find_unmarked(history.asked), *found)
        await end_release(fleet, self.released, release)
        if ready_seconds is None:
            problems.append(f"not every instance was ready after {READY_SECONDS:g} s")
        self.known = latest(history.toggles)
        problems += not_live_everywhere(history.toggles)
        if nemesis.cuts:
            problems += find_dear_cuts(history.toggles, nemesis.victims, began, healed)
        aware = aware_seconds if fleet.shop.visitors else None
        return Round(nemesis, began, healed, ready_seconds, aware, history, violations, problems)

    @asynccontextmanager
    async def _load(self, history: History, prefix: str, pace: Pace) -> AsyncIterator[None]:
        ports = {number: each.port for number, each in enumerate(self.fleet.instances)}
        token = self.fleet.owner.headers["authorization"].removeprefix("Bearer ")
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            for key, flag in self.flags.items():
                only = {number: port for number, port in ports.items() if key in ("turns", f"only-{number}")}
                toggler = Toggler(history, key, flag_path(flag), token, only, pause_seconds=pace.toggle_seconds)
                group.create_task(toggler.run(over.is_set))
            for place in EVERY_INSTANCE:
                pair = {number: ports[number] for number in (place, (place + 1) % INSTANCES)}
                equals = Equals(history, self.writes[place::INSTANCES], token, pair, pause_seconds=pace.toggle_seconds)
                group.create_task(equals.run(over.is_set))
            for number in range(INSTANCES * _EVALUATORS):
                instance = number % INSTANCES
                sdk_key, name = self.fleet.project["sdk_key"], f"{prefix}e{number}"
                evaluator = Evaluator(
                    history, instance, ports[instance], sdk_key, name, pause_seconds=pace.evaluate_seconds
                )
                group.create_task(evaluator.run(over.is_set))
            places = project_path(self.other), environment_path(self.fleet.environment)
            keys = self.fleet.stream_key, self.fleet.project["sdk_key"], self.other["sdk_key"]
            for number, server in enumerate(self.fleet.instances):
                maker = Maker(history, f"{prefix}new-{number}", server.url, token, *places)
                group.create_task(maker.run(over.is_set))
                seeker = Seeker(history, number, server.url, *keys)
                group.create_task(seeker.run(over.is_set, pace.evaluate_seconds))
            reporter = Reporter(history, self.fleet.project["sdk_key"], list(ports.values()))
            group.create_task(reporter.run(over.is_set))
            try:
                yield
            finally:
                over.set()

    async def _until_ready(self) -> float | None:
        began = time.monotonic()
        with suppress(TimeoutError):
            await self.fleet.until_ready(READY_SECONDS)
            return time.monotonic() - began
        return None

    async def _counted(self, history: History, prefix: str, since: datetime, dropped: list[int]) -> list[str]:
        """Return the errors in the evaluation history, after waiting for it to be written."""
        began = time.monotonic()
        while True:
            waited = time.monotonic() - began  # taken before the history is read, which may take long
            waiting = sum([await self.fleet.metric(each, "flagstaff_history_waiting") for each in EVERY_INSTANCE])
            recorded = await self.fleet.recorded_users(prefix, since)
            now = await self._dropped()
            lost = {each: now[each] - (dropped[each] if now[each] >= dropped[each] else 0) for each in EVERY_INSTANCE}
            problems = find_miscounts(history.evaluations, recorded, kills=self.fleet.kills, dropped=lost)
            if not problems or waited > (_BACKLOG_SECONDS if waiting else _WRITTEN_SECONDS):
                return [f"{each} ({waiting} still wait to be written)" for each in problems]
            await asyncio.sleep(0.5)

    async def _dropped(self) -> list[int]:
        return [await self.fleet.metric(each, "flagstaff_history_dropped_total") for each in EVERY_INSTANCE]

    async def _limited(self) -> list[str]:
        """Return the errors in the limit on evaluations from one address, over all instances together.

        A count is invalid if an instance could not share its hits during it: the instance logs this, and then limits on
        its own. The count is repeated with another address.
        """
        key, ports = self.fleet.project["sdk_key"], [each.port for each in self.fleet.instances]
        for attempt in range(_LIMIT_ATTEMPTS):
            try:
                await self.fleet.until_limits_are_shared(READY_SECONDS)
            except TimeoutError:
                return [f"limits were not shared by all instances {READY_SECONDS:g} s after the fault"]
            failures = await self._failed_exchanges()
            address = f"198.18.{attempt}.{self.rounds % 250 + 1}"
            allowed = await count_allowed(ports, key, address, most=LIMIT, pause_seconds=_LIMIT_PAUSE_SECONDS)
            if LIMIT <= allowed <= LIMIT * (1 + _LIMIT_ERROR):
                return []
            if await self._failed_exchanges() == failures:
                return [f"the instances allowed {allowed} evaluations of {LIMIT} a minute"]
        return [f"in {_LIMIT_ATTEMPTS} attempts, an instance could not tell the others its hits"]

    async def _failed_exchanges(self) -> list[int]:
        return [await self.fleet.metric(each, "flagstaff_limits_failures_total") for each in EVERY_INSTANCE]


def highest_revision(toggles: list[Toggle]) -> int:
    """The revision of the newest change that was made."""
    return max(each.revision or 0 for each in toggles)


def latest(toggles: list[Toggle]) -> list[Toggle]:
    """Return the latest change of each flag that was made, and the changes after it."""
    found: dict[str, list[Toggle]] = {}
    for each in sorted(toggles, key=lambda each: each.started):
        if each.outcome is Outcome.MADE:
            found[each.flag] = [each]
        else:
            found.setdefault(each.flag, []).append(each)
    return [each for group in found.values() for each in group]


def find_dear_cuts(toggles: list[Toggle], victims: Collection[int], began: int, healed: int) -> list[str]:
    """Return the effects of a partition on changes: slow changes at its victims, and later unclear ones elsewhere."""
    least, times = _CUT_OFF_SLACK
    steady = [each for each in toggles if began - each.started < _STEADY_SECONDS * 1e9 and each.ended < began]
    usual = max((each.ended - each.started for each in steady), default=_STEADY_SECONDS * 1e9) / 1e9
    slack = max(least, times * usual)
    slow = [
        f"a change at instance {each.instance}, which was cut off, took {seconds:.1f} s (before, at most {usual:.1f} s)"
        for each in toggles
        if each.instance in victims and began < each.ended
        if (seconds := (each.ended - max(each.started, began)) / 1e9) > _CUT_OFF_SECONDS + slack
    ]
    unclear = [
        f"a change at instance {each.instance} was not confirmed {seconds:.1f} s after the end"
        for each in toggles
        if each.instance not in victims and each.outcome is Outcome.UNKNOWN
        if (seconds := (each.started - healed) / 1e9) > slack - least
    ]
    return slow + unclear


def not_live_everywhere(toggles: list[Toggle]) -> list[str]:
    """Return the errors about the last change, which must be in effect in all instances."""
    made = [each for each in toggles if each.outcome is Outcome.MADE]
    last = max(made, key=lambda each: each.started)
    if last.live_on == f"{INSTANCES}/{INSTANCES}":
        return []
    return [f"the last change, at instance {last.instance}, is in effect in {last.live_on}"]
