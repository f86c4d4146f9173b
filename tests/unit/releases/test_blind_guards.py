"""Guards that can see nothing of the step in force say so, and do not say that there is no evidence."""

from datetime import timedelta

import pytest

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.observations import Cell, MetricCounts, Observations, Stretch, Sums
from flagstaff.releases.plans import Action, Guard
from flagstaff.releases.releases import Applied, Arms
from flagstaff.releases.results import MetricResult, find_results
from flagstaff.releases.statistics.limits import Limits
from tests.support.builders import AT, make_release

HALF = Arms(("off", "on"), (0.5, 0.5), by_variant=False)
FIRST = (1000, 1000)


def result(
    kind: Kind, arms: tuple[Arms, Arms], last: tuple[int, int] = FIRST, buckets: tuple[int, int] = (0, 100)
) -> MetricResult:
    release = make_release(
        guards=(Guard("latency", Action.TURN_OFF),),
        applied=tuple(
            Applied(place, AT + timedelta(hours=place), AT, arms=each, rollout_percentage=50)
            for place, each in enumerate(arms)
        ),
    )
    users = [list(FIRST), list(last)]
    cells = [
        [Cell(each, each, 2.0 * each, 5.0 * each, 0, {0: Sums(each, 2.0 * each, 5.0 * each)}) for each in of_step]
        for of_step in users
    ]
    counted = Observations(
        stretches=[Stretch(0, 1), Stretch(1, 2, *buckets)],
        exposed=users,
        new=[[0, 0], [0, 0]],
        of_step=users,
        entered=users,
        metrics=[MetricCounts(cells, [Limits(0.0, 9.0, 1.0)], {1: 2000}, 500)],
    )
    metric = Metric(release.id, release.project_id, "latency", "Latency", None, kind, Better.DOWN, None, AT, AT)
    (found,) = find_results(release, counted, {"latency": metric}).metrics
    return found


@pytest.mark.parametrize("kind", [Kind.VALUE, Kind.COUNT])
def test_a_mean_with_few_users_in_a_group_of_the_step_in_force_waits_for_them(kind: Kind) -> None:
    few = result(kind, (HALF, HALF), last=(400, 19))
    assert few.waits == "A group of the step in force has too few users, so nothing can be found in it yet."
    assert few.words.endswith(few.waits)
    assert result(kind, (HALF, HALF)).waits is None


def test_a_step_whose_control_is_another_one_or_whose_buckets_compare_nobody_is_told_of() -> None:
    there, back = (Arms(names, (0.5, 0.5), by_variant=True) for names in (("a", "b"), ("b", "a")))
    other = result(Kind.BINARY, (there, back))
    assert other.waits == "The step in force is not compared: its first variant is not the one of the steps before."
    nobody = result(Kind.BINARY, (HALF, HALF), buckets=(0, 0))
    assert nobody.waits == "No users of the step in force can be compared, because of their buckets."
    assert result(Kind.BINARY, (HALF, HALF)).waits is None
