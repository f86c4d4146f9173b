"""Each formula of the guards, compared with a naive computation or a published formula."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import comb, exp, isclose, isfinite, log, pi, sqrt
from statistics import fmean, quantiles, stdev, variance

import pytest

from flagstaff.releases.statistics import binary, means, split
from flagstaff.releases.statistics.binary import RATIOS, EventSplit
from flagstaff.releases.statistics.limits import find_limits, place_of
from flagstaff.releases.statistics.means import Block, Moments, Step
from flagstaff.releases.statistics.split import ArmSplit


def wealth_by_user(users: list[tuple[bool, float]], ratio: float) -> float:
    """Compute the wealth of one bet, user by user, as in docs/statistics.md: r/(pr + 1 - p) or 1/(pr + 1 - p)."""
    wealth = 1.0
    for has_flag, share in users:
        wealth *= (ratio if has_flag else 1) / (share * ratio + 1 - share)
    return wealth


def test_the_ratios_go_from_1_1_to_6_in_equal_steps_on_the_log_scale() -> None:
    assert (RATIOS[0], RATIOS[-1]) == (pytest.approx(1.1), pytest.approx(6))
    steps = [log(later / earlier) for earlier, later in pairwise(RATIOS)]
    assert max(steps) - min(steps) < 1e-12


def test_binary_evidence_is_the_mean_of_the_bets_made_user_by_user() -> None:
    users = [(True, 0.1), (False, 0.1), (True, 0.1), (True, 0.25), (False, 0.25), (True, 0.5), (True, 0.5)]
    naive = fmean(wealth_by_user(users, ratio) for ratio in RATIOS)
    steps = [EventSplit(2, 1, 0.1), EventSplit(1, 1, 0.25), EventSplit(2, 0, 0.5)]
    assert exp(binary.log_evidence(steps, harm_is_more=True)) == pytest.approx(naive)


def test_for_the_other_direction_the_bets_are_on_the_inverse_ratios() -> None:
    users = [(False, 0.3)] * 9 + [(True, 0.3)]
    naive = fmean(wealth_by_user(users, 1 / ratio) for ratio in RATIOS)
    assert exp(binary.log_evidence([EventSplit(1, 9, 0.3)], harm_is_more=False)) == pytest.approx(naive)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("harm_is_more", [True, False])
def test_without_an_effect_one_more_event_leaves_the_evidence_the_same_on_average(
    share: float, harm_is_more: bool
) -> None:
    for treated, control in ((0, 0), (3, 1), (10, 40)):
        now, with_flag, without = (
            exp(binary.log_evidence([EventSplit(treated + more, control + other, share)], harm_is_more=harm_is_more))
            for more, other in ((0, 0), (1, 0), (0, 1))
        )
        assert share * with_flag + (1 - share) * without == pytest.approx(now)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 1.05, 1.1])
def test_up_to_what_is_tolerated_the_evidence_does_not_grow_on_average(ratio: float) -> None:
    share = 0.3
    has_flag = share * ratio / (share * ratio + 1 - share)
    now, with_flag, without = (
        exp(binary.log_evidence([EventSplit(5 + more, 9 + other, share)], harm_is_more=True, tolerates=0.1))
        for more, other in ((0, 0), (1, 0), (0, 1))
    )
    assert has_flag * with_flag + (1 - has_flag) * without <= now * (1 + 1e-12)


def test_without_events_there_is_no_evidence_and_no_interval() -> None:
    assert binary.log_evidence([], harm_is_more=True) == 0
    assert binary.log_evidence([EventSplit(0, 0, 0.5)], harm_is_more=True) == pytest.approx(0)
    assert binary.ratio_interval([], 0.05) is None
    assert binary.most_likely_ratio([EventSplit(3, 0, 0.5)]) is None


def test_the_most_likely_ratio_of_one_step_is_that_of_the_rates() -> None:
    found = binary.most_likely_ratio([EventSplit(30, 40, 0.25)])
    assert found == pytest.approx((30 / 0.25) / (40 / 0.75))


def test_the_most_likely_ratio_of_steps_is_the_root_of_the_score() -> None:
    steps = [EventSplit(3, 20, 0.1), EventSplit(40, 35, 0.5)]
    found = binary.most_likely_ratio(steps)
    assert found is not None

    def likelihood(ratio: float) -> float:
        return sum(
            step.treated * log(step.share * ratio / (step.share * ratio + 1 - step.share))
            + step.control * log((1 - step.share) / (step.share * ratio + 1 - step.share))
            for step in steps
        )

    assert likelihood(found) > max(likelihood(found * 0.99), likelihood(found * 1.01))


def test_an_interval_has_the_ratios_that_the_bets_do_not_refute() -> None:
    steps = [EventSplit(60, 30, 0.5)]
    interval = binary.ratio_interval(steps, 0.05)
    assert interval is not None
    low, high = interval
    assert low < 2 < high

    def evidence_against(ratio: float) -> float:
        def chance(other: float) -> Fraction:
            return Fraction(other / (other + 1))

        bets = [ratio * each for each in RATIOS] + [ratio / each for each in RATIOS]
        one = chance(ratio)
        terms = [(chance(bet) / one) ** 60 * ((1 - chance(bet)) / (1 - one)) ** 30 for bet in bets]
        return float(sum(terms) / len(terms))

    for end, inside in ((low, 1.001), (high, 0.999)):
        assert evidence_against(end * inside) < 20 < evidence_against(end / inside) * 1.01


def test_binary_evidence_is_that_of_a_bernoulli_experiment() -> None:
    """With one ratio and a fixed number of events, its mean over the binomial distribution is exactly 1."""
    share, events = 0.2, 12
    mean = sum(
        comb(events, treated)
        * share**treated
        * (1 - share) ** (events - treated)
        * exp(binary.log_evidence([EventSplit(treated, events - treated, share)], harm_is_more=True))
        for treated in range(events + 1)
    )
    assert mean == pytest.approx(1)


def moments_of(numbers: list[float]) -> Moments:
    return Moments(len(numbers), sum(numbers), sum(number * number for number in numbers))


def test_moments_give_the_mean_and_the_sample_variance() -> None:
    numbers = [1.0, 4.0, 9.0, 2.5]
    found = moments_of(numbers)
    assert (found.mean, found.variance) == (pytest.approx(fmean(numbers)), pytest.approx(variance(numbers)))
    assert (Moments().mean, Moments().variance, Moments(1, 3, 9).variance) == (None, 0.0, 0.0)


def sketch_of(numbers: list[float]) -> dict[int, int]:
    return dict(Counter(map(place_of, numbers)))


def test_the_limits_are_the_quantiles_and_the_deviation_of_what_is_cut_off_there() -> None:
    generator = random.Random(7)
    numbers = [generator.paretovariate(1.5) * generator.choice((-1, 1)) for _ in range(2000)]
    limits = find_limits(sketch_of(numbers))
    assert limits is not None
    first, *_, last = quantiles(numbers, n=100)
    assert (limits.low, limits.high) == (pytest.approx(first, rel=0.15), pytest.approx(last, rel=0.15))
    assert limits.deviation == pytest.approx(stdev(map(limits.cut, numbers)), rel=0.1)
    assert [limits.cut(each) for each in (-1e15, 1e15)] == [limits.low, limits.high]


@pytest.mark.parametrize("number", [0.0, 1e-300, 3.7, -3.7, 1e15, -1e15])
def test_a_number_is_within_a_tenth_of_the_place_that_a_sketch_gives_it(number: float) -> None:
    limits = find_limits({place_of(number): 99, place_of(0.5): 1})
    assert limits is not None
    assert isfinite(limits.deviation)
    assert min(limits.low, limits.high) - 1e-9 <= number <= max(limits.low, limits.high) * 1.0001 + 1e-9


def test_limits_that_leave_nothing_to_see_are_those_of_what_was_seen() -> None:
    limits = find_limits(sketch_of([0.0] * 999 + [1.0]))
    assert limits is not None
    assert (limits.low, limits.cut(1.0)) == (0.0, 1.0)
    assert limits.deviation > 0
    assert find_limits(sketch_of([5.0] * 1000)) is None
    assert find_limits({}) is None


def test_the_limit_of_counts_leaves_room_for_them_to_grow() -> None:
    limits = find_limits(sketch_of([1.0, 1.0, 2.0, 4.0]), zeros=3, grow=True)
    assert limits is not None
    assert (limits.low, limits.high) == (0.0, pytest.approx(40.0, rel=0.1))
    assert limits.deviation == pytest.approx(stdev([1.0, 1.0, 2.0, 4.0, 0, 0, 0]), rel=0.1)


def one(treated: Moments, control: Moments, deviation: float = 1.0, weight: float = 1.0) -> Step:
    return Step([Block(treated, control, deviation)], weight)


def test_an_arm_without_an_event_by_chance_does_not_make_the_difference_certain() -> None:
    steps = [one(Moments(50, 0, 0), moments_of([1.0] * 20 + [0.0] * 930), 0.14)]
    assert means.log_evidence(steps, harm_is_more=False) < log(2)


def pooled(one: Moments, other: Moments) -> float:
    """Return the variance of two samples with separate means."""
    squares = sum((each.users - 1) * each.variance for each in (one, other))
    return squares / (one.users + other.users - 2)


def mixture_by_integration(score: float, information: float, prior: float) -> float:
    """The mean over positive effects d with the density of |N(0, prior)| of exp(dS - d²I/2), by the midpoint rule."""
    width, points = 12 * prior, 60_000
    step = width / points
    total = 0.0
    for place in range(points):
        effect = (place + 0.5) * step
        density = 2 / sqrt(2 * pi) / prior * exp(-(effect**2) / (2 * prior**2))
        total += density * exp(effect * score - effect**2 * information / 2) * step
    return total


@pytest.mark.parametrize("shift", [-4.0, 0.0, 3.0, 9.0])
def test_evidence_of_means_is_the_mixture_over_effects_on_the_harmful_side(shift: float) -> None:
    generator = random.Random(11)
    treated = moments_of([generator.gauss(100 + shift, 20) for _ in range(400)])
    control = moments_of([generator.gauss(100, 20) for _ in range(600)])
    steps = [one(treated, control, 20)]
    spread = pooled(treated, control) * (1 / treated.users + 1 / control.users)
    difference = (treated.total / treated.users) - (control.total / control.users)
    naive = mixture_by_integration(difference / spread, 1 / spread, 0.1 * 20)
    assert exp(means.log_evidence(steps, harm_is_more=True)) == pytest.approx(naive, rel=1e-4)


def test_the_evidence_of_steps_is_the_weighted_mean_with_one_for_steps_to_come() -> None:
    generator = random.Random(3)

    def numbers(level: float) -> Moments:
        return moments_of([generator.gauss(level, 10) for _ in range(300)])

    first, second = one(numbers(100), numbers(100), 10, 0.25), one(numbers(307), numbers(300), 10, 0.25)
    alone = [exp(means.log_evidence([replace(each, weight=1.0)], harm_is_more=True)) for each in (first, second)]
    both = exp(means.log_evidence([first, second], harm_is_more=True))
    assert both == pytest.approx(0.25 * alone[0] + 0.25 * alone[1] + 0.5)
    assert alone[1] > 1000 * alone[0]
    assert means.log_evidence([], harm_is_more=True) == 0


def test_blocks_are_combined_by_the_inverse_of_their_variances_in_their_own_deviations() -> None:
    generator = random.Random(3)

    def block(level: float, spread: float, users: int) -> Block:
        treated = moments_of([generator.gauss(level + spread / 2, spread) for _ in range(users)])
        return Block(treated, moments_of([generator.gauss(level, spread) for _ in range(2 * users)]), spread)

    blocks = [block(100, 10, 30), block(300, 30, 60)]  # the level and the scale drift; neither has enough users alone
    score = information = 0.0
    for each in blocks:
        variance = pooled(each.treated, each.control) * (1 / each.treated.users + 1 / each.control.users)
        difference = each.treated.total / each.treated.users - each.control.total / each.control.users
        score += each.deviation * difference / variance
        information += each.deviation**2 / variance
    naive = mixture_by_integration(score, information, 0.1)
    assert exp(means.log_evidence([Step(blocks)], harm_is_more=True)) == pytest.approx(naive, rel=1e-3)


def test_the_interval_of_one_step_is_that_of_the_normal_mixture() -> None:
    generator = random.Random(3)
    treated = moments_of([generator.gauss(105, 10) for _ in range(100)])
    control = moments_of([generator.gauss(100, 10) for _ in range(200)])
    found = means.difference_interval([one(treated, control, 10)], alpha=0.05)
    assert found is not None
    centre, low, high = found
    information = 1 / max(
        pooled(treated, control) * (1 / 100 + 1 / 200), treated.variance / 100 + control.variance / 200
    )
    assert centre == pytest.approx(treated.total / 100 - control.total / 200)
    spread = 1 + information * 1.0
    assert high - centre == pytest.approx(sqrt(spread / information**2 * log(spread / 0.05**2)), rel=1e-6)
    assert centre - low == pytest.approx(high - centre)


def test_evidence_is_finite_and_falls_steadily_however_good_the_flag_is() -> None:
    """Beyond 37 standard deviations on the harmless side, the normal distribution function is no number any more."""
    found = []
    for gain in (0, 1, 5, 10, 20, 40, 80, 1e3, 1e6, 1e12):
        treated = moments_of([100 + gain + place % 20 for place in range(1_200)])
        steps = [one(treated, moments_of([100.0 + place % 20 for place in range(1_200)]), 5)]
        found.append(means.log_evidence(steps, harm_is_more=False))
    assert all(map(isfinite, found))
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


def test_evidence_is_finite_however_bad_the_flag_is() -> None:
    treated, control = (
        moments_of([1e15 + place for place in range(100)]),
        moments_of([float(each) for each in range(100)]),
    )
    for deviation in (1e-300, 1e-9, 1e15):
        steps = [one(treated, control, deviation), one(Moments(100, 1e17, 1e32), Moments(100, -1e17, 1e32), deviation)]
        assert isfinite(means.log_evidence(steps, harm_is_more=True))
        assert means.difference_interval(steps, alpha=0.05) is not None


def test_an_arm_with_few_users_and_numbers_without_spread_say_nothing() -> None:
    few = one(moments_of([1.0, 2.0] * 20), moments_of([1.0, 2.0] * 200))
    same = one(moments_of([1.0] * 100), moments_of([2.0] * 100))
    for steps in ([], [few], [same]):
        assert means.log_evidence(steps, harm_is_more=True) == 0
        assert means.difference_interval(steps, alpha=0.05) is None


def test_what_is_tolerated_of_a_mean_is_a_share_of_the_controls() -> None:
    generator = random.Random(5)
    treated = moments_of([generator.gauss(108, 10) for _ in range(500)])
    control = moments_of([generator.gauss(100, 10) for _ in range(500)])
    steps = [one(treated, control, 10)]
    assert means.log_evidence(steps, harm_is_more=True) > log(20)
    assert means.log_evidence(steps, harm_is_more=True, tolerates=0.1) < 0
    assert means.log_evidence(steps, harm_is_more=True, tolerates_amount=10.0) < 0
    assert means.log_evidence(steps, harm_is_more=True, tolerates_amount=1.0) > log(20)
    assert means.log_evidence(steps, harm_is_more=False) < 0


@pytest.mark.parametrize("harm_is_more", [True, False])
@pytest.mark.parametrize("level", [-100.0, 100.0])
def test_what_is_tolerated_is_a_share_of_the_size_of_a_mean_also_of_a_negative_one(
    level: float, *, harm_is_more: bool
) -> None:
    generator = random.Random(5)
    sign = 1 if harm_is_more else -1

    def evidence(shift: float) -> float:
        treated = moments_of([generator.gauss(level + sign * shift, 10) for _ in range(2000)])
        control = moments_of([generator.gauss(level, 10) for _ in range(2000)])
        return means.log_evidence([one(treated, control, 10)], harm_is_more=harm_is_more, tolerates=0.2)

    assert max(evidence(shift) for shift in (-30.0, 0.0, 10.0, 18.0)) < 0
    assert evidence(25.0) > log(20)


def test_what_is_tolerated_is_of_the_size_of_the_mean_in_each_step_and_in_each_block() -> None:
    """A flag that changes nothing does no more than is tolerated, also if the mean changes its sign."""
    generator = random.Random(1)

    def draw(level: float) -> Moments:
        return moments_of([generator.gauss(level, 3) for _ in range(1000)])

    blocks = [Block(draw(level), draw(level), 3) for level in (10, -10)]
    for steps in ([Step([each], 0.45) for each in blocks], [Step(blocks)]):
        for harm_is_more in (True, False):
            assert means.log_evidence(steps, harm_is_more=harm_is_more, tolerates=0.2) < 0


def test_arms_that_may_differ_in_their_means_may_differ_in_their_variances() -> None:
    """With one variance for both, that of the larger group would hide the spread of the smaller one."""
    treated, control = moments_of([30.0, 230.0] * 500), moments_of([70.0, 130.0] * 4_500)
    steps = [one(treated, control, 30)]
    apart = treated.variance / treated.users + control.variance / control.users
    found = means.difference_interval(steps, alpha=0.05)
    assert found is not None
    assert (found[2] - found[1]) / 2 > 2.5 * sqrt(apart)
    (wide,) = (means.log_evidence(steps, harm_is_more=True, tolerates_amount=1e-9),)
    assert wide < means.log_evidence(steps, harm_is_more=True) / 4


def test_what_is_exactly_tolerated_is_rarely_taken_for_harm() -> None:
    generator = random.Random(5)
    stopped = 0
    for _ in range(40):
        numbers: tuple[list[float], list[float]] = ([], [])
        for _ in range(10):
            for arm, (factor, users) in enumerate(((1.9, 30), (1.0, 570))):
                numbers[arm].extend(factor * generator.gauss(100, 30) for _ in range(users))
            steps = [one(moments_of(numbers[0]), moments_of(numbers[1]), 30)]
            if means.log_evidence(steps, harm_is_more=True, tolerates=0.9) >= log(20):
                stopped += 1
                break
    assert stopped <= 2


def test_split_evidence_is_the_ratio_of_the_dirichlet_mixture_to_the_asked_shares() -> None:
    """By the chain rule: each user's arm, with the shares as the posterior has them, divided by the asked share."""
    shares, users = (0.7, 0.2, 0.1), [0, 0, 1, 2, 0, 1, 1, 1, 2, 0]
    weights = [1000 * share for share in shares]
    naive = 1.0
    for arm in users:
        naive *= weights[arm] / sum(weights) / shares[arm]
        weights[arm] += 1
    counts = tuple(users.count(arm) for arm in range(3))
    assert exp(split.log_evidence([ArmSplit(counts, shares)])) == pytest.approx(naive)


def test_split_evidence_of_steps_multiplies() -> None:
    one, other = ArmSplit((60, 40), (0.5, 0.5)), ArmSplit((900, 100), (0.9, 0.1))
    both = split.log_evidence([one, other])
    assert isclose(both, split.log_evidence([one]) + split.log_evidence([other]))
    assert split.log_evidence([]) == 0


def test_a_split_as_asked_raises_no_alarm_and_a_lost_tenth_does() -> None:
    assert split.log_evidence([ArmSplit((50_100, 49_900), (0.5, 0.5))]) < -log(split.ALPHA)
    assert split.log_evidence([ArmSplit((50_000, 45_000), (0.5, 0.5))]) > -log(split.ALPHA)


def looks(share: float, rate: float, generator: random.Random) -> Iterator[EventSplit]:
    """Yield the looks at a harmless flag: one after every event of 400."""
    treated = control = 0
    while treated + control < 400:
        if generator.random() < rate:
            has_flag = generator.random() < share
            treated, control = treated + has_flag, control + (not has_flag)
            yield EventSplit(treated, control, share)


def test_a_harmless_flag_is_rarely_turned_off_however_often_one_looks() -> None:
    generator = random.Random(2026)
    runs, alarms = 400, 0
    for _ in range(runs):
        share = generator.choice([0.05, 0.1, 0.5])
        alarms += any(
            binary.log_evidence([each], harm_is_more=True) >= log(20) for each in looks(share, 0.5, generator)
        )
    assert alarms / runs <= 0.05 + 3 * sqrt(0.05 * 0.95 / runs)
