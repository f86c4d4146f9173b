"""The simulation of many instances: a seed always gives the same figures, and the model behaves as instances do."""

from dataclasses import replace
from statistics import mean

import pytest

from bench.simulation.delays import Delays, percentile
from bench.simulation.model import CONFIRM_SECONDS, LEASE_SECONDS, Fleet, Setting, Toggle

DELAYS = Delays.load()


def simulate(setting: Setting, seed: int = 1) -> list[Toggle]:
    return Fleet(setting, DELAYS, seed).run(10)


def median(toggles: list[Toggle]) -> float:
    return percentile(sorted(each.response for each in toggles), 50)


def test_the_same_seed_gives_the_same_toggles_and_another_does_not() -> None:
    setting = Setting(4)
    assert simulate(setting) == simulate(setting)
    assert simulate(setting) != simulate(setting, seed=2)


def test_a_single_instance_takes_the_processor_time_that_was_measured_and_what_it_waits_for() -> None:
    simulated = [each.response for each in Fleet(Setting(1, shared_cores=2), DELAYS, 1).run(3000)]
    alone = DELAYS.alone
    assert mean(simulated) == pytest.approx(mean(alone.first) + mean(alone.database) + mean(alone.idle), rel=0.15)


def test_instances_that_share_cores_wait_for_each_other_and_those_with_a_core_each_do_not() -> None:
    shared, own = (median(simulate(Setting(32, shared_cores=cores))) for cores in (2, None))
    load = mean(DELAYS.beside.other)
    assert shared > 31 * load / 2  # each of the others loads, on two cores
    assert own < shared / 2


def test_what_other_instances_take_longer_is_waited_for_on_the_cores_that_they_share() -> None:
    beside = replace(DELAYS.beside, rest=0.0, database_rest=0.0)
    slower = replace(beside, other=[each + 0.01 for each in beside.other])
    once, then = (
        median(Fleet(Setting(32, shared_cores=2), replace(DELAYS, beside=each), 1).run(20)) for each in (beside, slower)
    )
    assert then - once == pytest.approx(31 * 0.01 / 2, rel=0.3)


def test_periodic_tasks_of_instances_take_the_shared_cores_from_a_toggle() -> None:
    beside = replace(DELAYS.beside, rest=0.03)
    at_rest = Fleet(Setting(32, shared_cores=2), replace(DELAYS, beside=replace(beside, rest=0.0)), 1).run(20)
    busy = Fleet(Setting(32, shared_cores=2), replace(DELAYS, beside=beside), 1).run(20)
    assert median(busy) > 1.3 * median(at_rest)


def test_more_instances_and_a_longer_way_take_longer() -> None:
    assert median(simulate(Setting(2))) < median(simulate(Setting(64))) < median(simulate(Setting(64, round_trip=0.01)))


def test_a_toggle_waits_for_a_slow_instance() -> None:
    assert median(simulate(Setting(3, slow_factor=100))) > 50 * percentile(DELAYS.beside.other, 50)


def test_a_toggle_waits_for_a_stopped_instance_until_its_lease_has_lapsed_and_later_ones_do_not() -> None:
    toggles = simulate(Setting(3, stopped_at=0.5))
    responses = [each.response for each in toggles]
    longest = responses.index(max(responses))
    assert LEASE_SECONDS / 2 < responses[longest] < LEASE_SECONDS + 0.5
    assert max(responses[longest + 1 :]) < 1
    assert all(each.is_confirmed for each in toggles)


def test_a_toggle_that_is_not_confirmed_in_time_is_refused() -> None:
    (first, *_) = simulate(Setting(2, slow_factor=100_000))
    assert not first.is_confirmed
    assert first.response == pytest.approx(CONFIRM_SECONDS, abs=1)
