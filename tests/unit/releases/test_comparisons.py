"""A flag whose rollout grows to everyone divides its users by the rollout first, and then by its variants."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp, log
from uuid import UUID

import pytest

from flagstaff.database.tables import microseconds
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.comparisons import comparisons_of
from flagstaff.releases.judging import Blindness, conclude, find_blindness
from flagstaff.releases.observations import ArmName, Observations, Stretch
from flagstaff.releases.plans import Action, Guard
from flagstaff.releases.releases import Applied, Arms, Release
from flagstaff.releases.results import MetricResult, find_results
from flagstaff.releases.wording import say_guard
from tests.support.builders import make_release

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
ROLLOUT = Arms(("off", "on"), (0.5, 0.5), by_variant=False)
VARIANTS = Arms(("blue", "green"), (0.5, 0.5), by_variant=True)
SWAPPED = Arms(("green", "blue"), (0.5, 0.5), by_variant=True)
NAMESAKES = Arms(("off", "on"), (0.5, 0.5), by_variant=True)
ERRORS = Metric(UUID(int=7), UUID(int=0), "errors", "Errors", None, Kind.BINARY, Better.DOWN, None, START, START)
METRICS = {"errors": ERRORS}
EVEN, HARM = (40, 40), (10, 70)


def release_of(*arms: Arms) -> Release:
    """A release that watches errors, with a step for each division of its users."""
    times = [START + timedelta(hours=place) for place in range(len(arms))]
    applied = [Applied(place, at, at, arms=each) for place, (at, each) in enumerate(zip(times, arms, strict=True))]
    return make_release(
        guards=(Guard("errors", Action.TURN_OFF),),
        applied=tuple(replace(each, rollout_percentage=100 if each.arms == VARIANTS else 50) for each in applied),
    )


def counts_of(release: Release, *with_errors: Sequence[int], exposed: int = 400) -> Observations:
    """Counts of as many users in each arm, of whom some had errors."""
    counted = Observations()
    counted.stretches = [Stretch(place, microseconds(each.at)) for place, each in enumerate(release.segments)]
    counted.prepare(release.segments, 1)
    for place, users in enumerate(with_errors):
        for arm, many in enumerate(users):
            for column in (counted.exposed, counted.new, counted.of_step, counted.entered):
                column[place][arm] = exposed
            counted.metrics[0].cells[place][arm].users = counted.metrics[0].cells[place][arm].events = many
    return counted


def result_of(release: Release, counted: Observations) -> MetricResult:
    """The results of the errors."""
    (result,) = find_results(release, counted, METRICS).metrics
    return result


@pytest.mark.parametrize("arms", [(ROLLOUT, VARIANTS), (VARIANTS, ROLLOUT)], ids=["rollout first", "variants first"])
def test_each_arm_is_compared_with_its_own_control_and_the_rollout_stands_first(arms: tuple[Arms, ...]) -> None:
    release = release_of(*arms)
    errors = {ROLLOUT: (40, 44), VARIANTS: (60, 57)}
    result = result_of(release, counts_of(release, *(errors[each] for each in arms)))
    assert [(each.name, each.rate) for each in result.arms] == [
        ("off", 0.1),
        ("on", 0.11),
        ("blue", 0.15),
        ("green", 0.1425),
    ]
    assert [each.ratio is not None for each in result.arms] == [False, True, False, True]
    assert result.words == (
        "Errors: 11 % with the flag, 10 % without it, 14.2 % with green, 15 % with blue. "
        "There is no evidence that the flag makes it worse."
    )
    with_flag, with_green = result.verdicts
    assert with_flag.words.startswith("With the flag: 1.1 times the rate without it, ")
    assert with_green.words.startswith("With green: 0.95 times the rate with blue, ")


def test_harm_of_the_rollout_is_still_known_when_the_variants_begin() -> None:
    release = release_of(ROLLOUT, VARIANTS)
    counted = counts_of(release, HARM, (0, 0))
    (judgement,) = conclude(release, counted, METRICS).judgements
    (before,) = conclude(release_of(ROLLOUT), counts_of(release_of(ROLLOUT), HARM), METRICS).judgements
    assert judgement.log_evidence == pytest.approx(log(0.9 * exp(before.log_evidence) + 0.1))
    assert judgement.variant == "on"
    assert say_guard(judgement, ERRORS, release, counted, 0).startswith(
        "Errors: 17.5 % with the flag and 2.5 % without it, 7 times as often. Of 800 users, 80 had it."
    )
    assert "This is worse" in result_of(release, counted).words


def test_harm_of_a_variant_is_found_beside_a_harmless_rollout() -> None:
    release = release_of(ROLLOUT, VARIANTS)
    counted = counts_of(release, EVEN, HARM)
    (judgement,) = conclude(release, counted, METRICS).judgements
    assert (judgement.variant, judgement.is_reached) == ("green", True)
    assert say_guard(judgement, ERRORS, release, counted, 0).startswith(
        "Errors: 17.5 % with green and 2.5 % with blue, 7 times as often. Of 800 users, 80 had it."
    )
    assert "The variant green is worse" in result_of(release, counted).words


def test_harm_of_a_variant_is_found_if_the_variants_are_called_as_the_arms_of_the_rollout_are() -> None:
    release = release_of(ROLLOUT, NAMESAKES)
    counted = counts_of(release, EVEN, HARM)
    (judgement,) = conclude(release, counted, METRICS).judgements
    (of_others,) = conclude(release_of(ROLLOUT, VARIANTS), counted, METRICS).judgements
    assert judgement.log_evidence == of_others.log_evidence
    assert judgement.is_reached
    assert say_guard(judgement, ERRORS, release, counted, 0).startswith(
        "Errors: 17.5 % with the flag and 2.5 % without it, 7 times as often. Of 800 users, 80 had it."
    )
    result = result_of(release, counted)
    assert [(each.name, each.rate) for each in result.arms] == [
        ("off", 0.1),
        ("on", 0.1),
        ("off", 0.025),
        ("on", 0.175),
    ]
    assert [each.ratio.estimate for each in result.arms if each.ratio] == pytest.approx([1, 7], rel=0.01)
    assert "The variant on is worse" in result.words


def test_variants_in_another_order_have_another_control_and_are_not_compared() -> None:
    release = release_of(ROLLOUT, VARIANTS, SWAPPED)
    counted = counts_of(release, EVEN, EVEN, HARM)
    assert [each.names for each in comparisons_of(release, counted)] == [["off", "on"], ["blue", "green"]]
    assert find_blindness(release, counted, 0, Kind.BINARY) is Blindness.ARMS
    assert [each.rate for each in result_of(release, counted).arms] == [0.1, 0.1, 0.1, 0.1]


def test_users_by_arm_are_those_of_each_name_whatever_the_place_of_the_arm_in_its_step() -> None:
    release = release_of(ROLLOUT, VARIANTS, SWAPPED)
    counted = counts_of(release, EVEN, EVEN, HARM)
    counted.entered = [[1, 2], [3, 4], [5, 6]]
    assert counted.users_by_arm(release.segments) == {
        ArmName(is_variant=False, name="off"): 1,
        ArmName(is_variant=False, name="on"): 2,
        ArmName(is_variant=True, name="blue"): 3 + 6,
        ArmName(is_variant=True, name="green"): 4 + 5,
    }
