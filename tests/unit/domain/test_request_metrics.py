"""Statistics of request metrics, compared with the same statistics of the observations."""

from datetime import UTC, datetime
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.metrics.request_metrics import (
    INFINITE,
    WHOLE,
    Measure,
    RequestKind,
    Sample,
    Series,
    list_request_metrics,
    measure_of,
    quantile,
)

BOUNDS = [0.1, 0.5, 1.0, 5.0]


def histogram(observed: list[float]) -> list[Sample]:
    """Return the samples of a histogram that has observed these values."""
    edges = [-inf, *BOUNDS, inf]
    return [
        Sample(WHOLE, sum(observed), len(observed)),
        *(
            Sample(INFINITE if upper == inf else repr(upper), 0.0, sum(lower < each <= upper for each in observed))
            for lower, upper in pairwise(edges)
        ),
    ]


@pytest.mark.parametrize("measure", list(Measure))
def test_nothing_is_known_of_what_was_not_reported(measure: Measure) -> None:
    assert measure_of(measure, RequestKind.HISTOGRAM, [], 5) is None


def test_a_histogram_without_observations_has_none_per_minute_and_no_mean() -> None:
    samples = [Sample(WHOLE, 0.0, 0)]
    found = [measure_of(each, RequestKind.HISTOGRAM, samples, 5) for each in (Measure.PER_MINUTE, Measure.MEAN)]
    assert found == [0.0, None]
    assert measure_of(Measure.P95, RequestKind.HISTOGRAM, samples, 5) is None


def test_a_counter_is_divided_by_the_minutes() -> None:
    samples = [Sample(WHOLE, 3.0, 1), Sample(WHOLE, 7.0, 1)]
    assert measure_of(Measure.PER_MINUTE, RequestKind.COUNTER, samples, 5) == 2.0


def test_a_gauge_is_the_mean_of_what_was_reported() -> None:
    samples = [Sample(WHOLE, 6.0, 2), Sample(WHOLE, 6.0, 1)]
    assert measure_of(Measure.MEAN, RequestKind.GAUGE, samples, 5) == 4.0


def test_the_mean_of_a_histogram_is_that_of_its_observations() -> None:
    assert measure_of(Measure.MEAN, RequestKind.HISTOGRAM, histogram([0.2, 0.4, 3.0]), 1) == pytest.approx(1.2)


def test_what_lies_above_the_highest_bound_counts_as_this_bound() -> None:
    assert quantile(0.99, histogram([7.0, 8.0, 9.0])) == 5.0


def test_a_histogram_with_one_endless_bucket_has_no_quantile() -> None:
    assert quantile(0.5, [Sample(WHOLE, 9.0, 3), Sample(INFINITE, 0.0, 3)]) is None


def test_a_quantile_at_the_bound_of_a_bucket_is_not_above_it() -> None:
    assert quantile(0.5, histogram([0.5] * 3 + [1.0] * 3)) == 0.5


@given(st.lists(st.floats(0.001, 20), min_size=1, max_size=50), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_a_quantile_lies_in_the_bucket_of_the_observation_that_it_is(observed: list[float], share: float) -> None:
    found = quantile(share, histogram(observed))
    ordered = sorted(observed)
    place = next(at for at in range(len(ordered)) if (at + 1) >= share * len(ordered) - 1e-9)
    exact = ordered[place]
    lower = max([0.0, *(each for each in BOUNDS if each < exact)])
    upper = min([each for each in BOUNDS if each >= exact], default=BOUNDS[-1])
    assert found is not None
    assert min(lower, BOUNDS[-1]) <= found <= upper


def test_series_of_one_name_are_one_metric_with_the_values_of_its_labels() -> None:
    early, late = datetime(2026, 11, 20, 10, tzinfo=UTC), datetime(2026, 11, 20, 11, tzinfo=UTC)
    counter = RequestKind.COUNTER
    (found,) = list_request_metrics(
        [
            Series(1, "orders", counter, "Orders", {"appName": "shop", "new": "disabled"}, early),
            Series(2, "orders", counter, "All orders", {"appName": "shop", "new": "enabled"}, late),
            Series(3, "orders", counter, "Orders", {"appName": "app"}, early),
        ]
    )
    assert (found.help, found.seen_at) == ("All orders", late)
    assert found.labels == {"appName": ["app", "shop"], "new": ["disabled", "enabled"]}
