"""Simulates guards through what counts and judges releases: users who return, rules, variants, drifts and late events.

    python -m bench.guard_scenarios [--runs 300] [--power-runs 60] [--seed 2026] [--only TEXT] [--processes N]

Buckets are the only thing that is random about users of a harmless flag, as in a release. The guard looks after every
200 evaluations. The false alarms are shown with their 95 % interval (Wilson), beside the share of the runs in which the
evidence passed the warning line, in how many of these it was above it at the end without having acted, and at how many
looks it was above it (median).
"""

import argparse
import os
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import sqrt
from statistics import median
from uuid import UUID

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.buckets import cut_range
from flagstaff.releases.counting import (
    CountedEvent,
    Counting,
    Seen,
    Timeline,
    add_number,
    hold_for_all,
    needs_limits,
    set_limits,
)
from flagstaff.releases.judging import Judgement, conclude
from flagstaff.releases.observations import OUTSIDE, RULED, Done, Observations, Stretch
from flagstaff.releases.plans import Action, Guard, Step, WhenLate
from flagstaff.releases.releases import Applied, Arms, Release, State

LOOK_EVERY = 200
_DRIFT_AFTER = 2_000  # users
_START = datetime(2026, 11, 20, 10, tzinfo=UTC)
_MICROSECONDS = 1_000_000
_HOUR = 3600 * _MICROSECONDS
_NOBODY = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Visit:
    """A user in a step: its number, its bucket (or place among the weights), its attributes and what is measured."""

    step: int
    user: int
    bucket: int
    is_beta: bool = False


Measure = Callable[[random.Random, Visit, str], float | None]
"""What is measured of a user, given the arm; for a binary metric, None is no event."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A release: its percentages, or the weights of variants, its metric, and what decides beside the rollout."""

    name: str
    measure: Measure
    kind: Kind = Kind.BINARY
    better: Better = Better.DOWN
    percentages: Sequence[int] = (50,)
    weights: Sequence[int] = ()
    users: int = 4_000
    returning: float = 0.0
    rule: int | None = None
    prerequisite: int | None = None
    tolerates: float = 0.0
    in_order: bool = False
    """Whether users come in the order of their numbers, so that something changes in time."""
    early: float = 0.0
    """By how many seconds events are stamped before the evaluation."""


def visits(generator: random.Random, scenario: Scenario) -> Iterator[Visit]:
    """Each step has as many new users, and some of those of the steps before."""
    known: list[tuple[int, bool]] = []
    most = sum(scenario.weights) or 100
    for step in range(len(scenario.percentages)):
        back = [number for number in range(len(known)) if generator.random() < scenario.returning]
        new = range(len(known), len(known) + scenario.users // len(scenario.percentages))
        known += [(generator.randrange(most), generator.random() < 0.1) for _ in new]
        together = [*back, *new]
        if not scenario.in_order:
            generator.shuffle(together)
        for number in together:
            yield Visit(step, number, *known[number])


@dataclass(slots=True)
class Outcome:
    """After how many evaluations the guard acted, if it did, at how many looks it warned, and whether it still does."""

    acted_at: int | None = None
    warned: int = 0
    is_warning: bool = False


def run(generator: random.Random, scenario: Scenario, *, tallies: bool = True) -> Outcome:
    """Run a release until its guard acts, or to its end.

    Users are counted by a tally, which is five times as fast as `Counting` and has the same result, or by that itself.
    """
    state, outcome = _State(scenario, tallies=tallies and not scenario.early), Outcome()
    for number, visit in enumerate(visits(generator, scenario), 1):
        state.add(generator, visit, number)
        if number % LOOK_EVERY == 0:
            judgement = state.look()
            outcome.is_warning = judgement.is_warning
            outcome.warned += judgement.is_warning
            if judgement.is_reached:
                outcome.acted_at = number
                return outcome
    return outcome


@dataclass(slots=True)
class _State:
    scenario: Scenario
    tallies: bool
    release: Release = field(init=False)
    counting: Counting = field(init=False)
    done: dict[tuple[int, int], tuple[int, Done]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    had_event: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        scenario = self.scenario
        applied = []
        for place, percentage in enumerate(scenario.percentages):
            at = _START + timedelta(hours=place)
            applied.append(Applied(place, at, at, arms=_arms(scenario, percentage), rollout_percentage=percentage))
        steps = tuple(Step({"rollout_percentage": each}, after_seconds=0) for each in scenario.percentages)
        guard = Guard("metric", Action.TURN_OFF, scenario.tolerates)
        self.release = Release(
            *(_NOBODY,) * 4, None, steps, (guard,), (), 0.05, WhenLate.RUN, State.RUNNING, None, None, None, None, None,
            lost_authority=False, applied=(), alarms=(), counts_from=_START, due_at=None, paused_at=None, ended_at=None,
            mark=0, created_at=_START, updated_at=_START,
        )  # fmt: skip
        cuts = {each for each in (scenario.rule, scenario.prerequisite) if each is not None}
        counted = Observations()
        for place, each in enumerate(applied):
            low, high = (0, 100) if scenario.weights else cut_range(each.rollout_percentage, cuts)
            counted.stretches.append(Stretch(place, _time(place, 0), low, high))
        self.release = replace(self.release, applied=tuple(applied))
        counted.prepare(applied, 1)
        self.counting = Counting(counted, _NOBODY, Timeline(applied, counted.stretches), [scenario.kind])

    def add(self, generator: random.Random, visit: Visit, number: int) -> None:
        """Add an evaluation, and what is measured then."""
        scenario = self.scenario
        arm, name = self._decide(visit)
        if arm is None:
            return
        value = scenario.measure(generator, visit, name)
        if self.tallies:
            if arm >= 0:
                self._tally(visit, arm, value)
            return
        unit, at = str(visit.user), _time(visit.step, number)
        self.counting.expose(unit, Seen(visit.step, arm, at))
        if value is not None:
            event = CountedEvent(0, unit, at - int(scenario.early * _MICROSECONDS), value)
            self.counting.add_event(event)
        self.counting.opened.clear()

    def _tally(self, visit: Visit, arm: int, value: float | None) -> None:
        """Add a user's only evaluation in a step, and the only event."""
        counted, place, user = self.counting.counted, visit.step, visit.user
        counts = counted.metrics[0]
        cell = counts.cells[place][arm]
        counted.exposed[place][arm] += 1
        if user not in self.seen:
            self.seen.add(user)
            counted.new[place][arm] += 1
        if self.scenario.kind is not Kind.BINARY:
            if value is not None:
                done = Done(1, value, len(counts.limits) - 1)
                self.done[place, user] = arm, done
                add_number(counts, cell, done, self.scenario.kind, 1)
        elif user in self.had_event:
            cell.before += 1
        elif value is not None:
            self.had_event.add(user)
            cell.users += 1
            cell.events += 1

    def _decide(self, visit: Visit) -> tuple[int | None, str]:
        scenario, bucket = self.scenario, visit.bucket
        arms = self.counting.timeline.applied(visit.step).arms
        assert arms is not None
        if scenario.weights:
            place = 0
            while bucket >= scenario.weights[place]:
                bucket -= scenario.weights[place]
                place += 1
            return place, arms.names[place]
        if scenario.prerequisite is not None and bucket >= scenario.prerequisite:
            return None, "off"
        if scenario.rule is not None and visit.is_beta and bucket < scenario.rule:
            return RULED, "on"
        has_flag = bucket < scenario.percentages[visit.step]
        if bucket not in self.counting.timeline.stretches[visit.step].buckets:
            return OUTSIDE, "on" if has_flag else "off"
        return int(has_flag), "on" if has_flag else "off"

    def look(self) -> Judgement:
        """Find the limits that are needed, and judge."""
        counting, scenario = self.counting, self.scenario
        counted = counting.counted
        counts, exposed = counted.metrics[0], sum(map(sum, counted.new))
        if needs_limits(counts, exposed, scenario.kind):
            rows = [*self._rows()] if hold_for_all(counts, scenario.kind) else []
            for row, after in set_limits(counts, rows, exposed, scenario.kind):
                rows[row][2].limits = after.limits
        metric = Metric(
            _NOBODY, _NOBODY, "metric", "Metric", None, scenario.kind, scenario.better, None, _START, _START
        )
        return conclude(self.release, counted, {"metric": metric}).judgements[0]

    def _rows(self) -> Iterator[tuple[int, int, Done]]:
        if self.tallies:
            yield from ((place, arm, done) for (place, _), (arm, done) in self.done.items())
            return
        for (_, unit), rows in self.counting.done.items():
            yield from ((place, self.counting.exposures[unit][place].arm, done) for place, done in rows.items())


def _time(step: int, number: int) -> int:
    return int(_START.timestamp()) * _MICROSECONDS + step * _HOUR + number * 10_000


def _arms(scenario: Scenario, percentage: int) -> Arms:
    if scenario.weights:
        total = sum(scenario.weights)
        names = tuple(f"v{place}" for place in range(len(scenario.weights)))
        return Arms(names, tuple(each / total for each in scenario.weights), by_variant=True)
    share = percentage / 100
    return Arms(("off", "on"), (1 - share, share), by_variant=False)


def rate(base: float, *, of_beta: float | None = None, ratio: float = 1.0, arm: str = "on", step: int = 0) -> Measure:
    """Whether a user has the event: with a probability, another one for beta users, and a ratio for one arm."""

    def measure(generator: random.Random, visit: Visit, name: str) -> float | None:
        own = base if of_beta is None or not visit.is_beta else of_beta
        factor = ratio if name == arm and visit.step >= step else 1.0
        return 0.0 if generator.random() < own * factor else None

    return measure


def normal(mean: float, spread: float, *, shift: float = 0.0, step: int = 0, drift: float = 1.0) -> Measure:
    """A number of a user, which is shifted with the flag from a step on, and after a drift of level and scale."""

    def measure(generator: random.Random, visit: Visit, name: str) -> float:
        has_drifted = visit.user >= _DRIFT_AFTER
        harms = name == "on" and visit.step >= step and (drift == 1 or has_drifted)
        return (drift if has_drifted else 1.0) * (generator.gauss(mean, spread) + (shift if harms else 0.0))

    return measure


def seldom(probability: float, *, after: int | None = None) -> Measure:
    """A number that is 0 or 1, and seldom 1; after some users, always 1 with the flag and 0 without."""

    def measure(generator: random.Random, visit: Visit, name: str) -> float:
        if after is not None and visit.user >= after:
            return float(name == "on")
        return float(generator.random() < probability)

    return measure


def counts(mean: float) -> Measure:
    """How often something happened to a user, in a binary metric's place of a count: None for never."""

    def measure(generator: random.Random, _visit: Visit, _name: str) -> float | None:
        return 1.0 if generator.random() < mean else None

    return measure


HARMLESS = [
    Scenario("binary, returning users, 10 -> 50 %", rate(0.05), percentages=(10, 50), returning=0.45),
    Scenario("value, returning users, 10 -> 50 %", normal(100, 30), Kind.VALUE, percentages=(10, 50), returning=0.9),
    Scenario("value, returning users, 5/20/50 %", normal(100, 30), Kind.VALUE, percentages=(5, 20, 50), returning=0.9),
    *(
        Scenario(f"rule at {rule} %, rollout {'/'.join(map(str, shares))} %", rate(0.05, of_beta=0.5), rule=rule,
                 percentages=shares, better=better)
        for rule, shares, better in (
            (30, (50,), Better.UP), (80, (50,), Better.DOWN), (30, (10,), Better.DOWN), (20, (10, 50), Better.UP),
        )
    ),
    Scenario("prerequisite at 50 %, rollout 20 %, one key", rate(0.05), percentages=(20,), prerequisite=50),
    Scenario("value, mean -10, tolerates 0.2", normal(-10, 4), Kind.VALUE, tolerates=0.2),
    Scenario("value, mean -10, more is wanted, tolerates 0.2", normal(-10, 4), Kind.VALUE, Better.UP, tolerates=0.2),
    Scenario("value, 0 or 1, in 0.5 % of the users", seldom(0.005), Kind.VALUE),
    Scenario("value, level and scale x2", normal(100, 30, drift=2), Kind.VALUE, in_order=True),
    Scenario("value, level and scale x3", normal(100, 30, drift=3), Kind.VALUE, in_order=True),
    Scenario("count, 1 of 10 users", counts(0.1), Kind.COUNT, percentages=(10, 50), returning=0.5),
    Scenario("binary, variants 60/30/10", rate(0.05), weights=(60, 30, 10)),
    Scenario("value, variants 60/30/10", normal(100, 30), Kind.VALUE, weights=(60, 30, 10)),
    Scenario("binary, events stamped 3 s early", rate(0.05), percentages=(10, 50), returning=0.5, early=3.0),
]  # fmt: skip
HARMFUL = [
    Scenario("binary x2 at 5 %, step 1", rate(0.05, ratio=2), percentages=(50,), users=6_000),
    Scenario("value +10 % in step 1", normal(100, 30, shift=10), Kind.VALUE, percentages=(50, 60), users=8_000),
    Scenario("value +10 % in step 2, all have returned", normal(100, 30, shift=10, step=1), Kind.VALUE,
             percentages=(10, 50), returning=1.0, users=8_000),
    Scenario("rule at 30 %, x2", rate(0.05, of_beta=0.5, ratio=2), rule=30, users=8_000),
    Scenario("value, 0 or 1: all with the flag after 1,000", seldom(0.005, after=1_000), Kind.VALUE,
             users=6_000, in_order=True),
    Scenario("value +10 % after level and scale x3", normal(100, 30, shift=10, drift=3), Kind.VALUE,
             users=8_000, in_order=True),
    Scenario("variants 60/30/10, the third x2", rate(0.05, ratio=2, arm="v2"), weights=(60, 30, 10), users=20_000),
]  # fmt: skip


def interval_of(acted: int, runs: int) -> tuple[float, float]:
    """Return the 95 % interval of Wilson for a share."""
    z, found = 1.96, acted / runs
    centre = (found + z * z / (2 * runs)) / (1 + z * z / runs)
    reach = z * sqrt(found * (1 - found) / runs + z * z / (4 * runs * runs)) / (1 + z * z / runs)
    return max(0.0, centre - reach), centre + reach


def run_case(scenario: Scenario, runs: int, seed: int) -> str:
    """Run a scenario some times; return its row."""
    generator = random.Random(f"{seed} {scenario.name}")
    found = [run(generator, scenario) for _ in range(runs)]
    acted = [each.acted_at for each in found if each.acted_at is not None]
    warned = [each for each in found if each.warned]
    still = sum(each.is_warning and each.acted_at is None for each in warned)
    low, high = interval_of(len(acted), runs)
    row = f"  {scenario.name:<50} acted {len(acted) / runs:6.2%} ({low:.2%} to {high:.2%})"
    row += f", median evaluations {median(acted):,.0f}" if acted else ""
    row += f", warned {len(warned) / runs:.1%}, of which {still / runs:.1%} to the end"
    return row + (f", at {median(each.warned for each in warned):.0f} looks" if warned else "")


def main() -> None:
    """Run all scenarios, some at a time, and print a table. A row does not depend on the others."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300, help="harmless runs of each scenario")
    parser.add_argument("--power-runs", type=int, default=60, help="harmful runs of each scenario")
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--only", default="", help="only scenarios whose name has this text")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    with ProcessPoolExecutor(options.processes) as pool:
        for title, scenarios, runs in (
            (f"harmless flags, {options.runs} runs", HARMLESS, options.runs),
            (f"harmful flags, {options.power_runs} runs", HARMFUL, options.power_runs),
        ):
            print(title)
            chosen = [each for each in scenarios if options.only in each.name]
            places = [scenarios.index(each) for each in chosen]
            is_harmful = scenarios is HARMFUL
            rows = [pool.submit(_run_place, place, runs, options.seed, is_harmful=is_harmful) for place in places]
            for row in rows:
                print(row.result(), flush=True)


def _run_place(place: int, runs: int, seed: int, *, is_harmful: bool) -> str:
    return run_case((HARMFUL if is_harmful else HARMLESS)[place], runs, seed)


if __name__ == "__main__":
    main()
