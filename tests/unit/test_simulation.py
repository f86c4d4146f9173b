"""The simulation of many instances: a seed always gives the same figures, and the model behaves as instances do."""

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


def test_a_single_instance_takes_as_long_as_was_measured() -> None:
    simulated = [each.response for each in Fleet(Setting(1, shared_cores=2), DELAYS, 1).run(3000)]
    assert percentile(sorted(simulated), 50) == pytest.approx(percentile(DELAYS.toggle, 50), rel=0.1)


def test_more_instances_and_a_longer_way_take_longer() -> None:
    assert median(simulate(Setting(2))) < median(simulate(Setting(64))) < median(simulate(Setting(64, round_trip=0.01)))


def test_a_toggle_waits_for_a_slow_instance() -> None:
    assert median(simulate(Setting(3, slow_factor=100))) > 50 * percentile(DELAYS.reload, 50)


def test_a_toggle_waits_for_a_stopped_instance_until_its_lease_has_lapsed_and_later_ones_do_not() -> None:
    toggles = simulate(Setting(3, stopped_at=0.5))
    responses = [each.response for each in toggles]
    longest = responses.index(max(responses))
    assert LEASE_SECONDS / 2 < responses[longest] < LEASE_SECONDS + 0.5
    assert max(responses[longest + 1 :]) < 1
    assert all(each.is_confirmed for each in toggles)


def test_a_toggle_that_is_not_confirmed_in_time_is_refused() -> None:
    (first, *_) = simulate(Setting(2, slow_factor=10_000))
    assert not first.is_confirmed
    assert first.response == pytest.approx(CONFIRM_SECONDS, abs=1)
