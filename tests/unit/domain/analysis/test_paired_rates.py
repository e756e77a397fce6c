"""Differences of rates: McNemar's test and Tango's interval, also with repeats."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.paired_rates import PairCounts, RatePair, count_pairs

counts = st.builds(PairCounts, gained=st.integers(0, 30), lost=st.integers(0, 30), pairs=st.integers(60, 90).map(float))


def test_tangos_interval_of_the_airway_data():
    """Bentur et al., reanalyzed by Fagerland, Lydersen and Laake (2014): 1 and 7 discordant pairs of 21 children."""
    assert PairCounts(1, 7, 21).interval(0.05) == pytest.approx((-0.517, -0.026), abs=5e-4)
    assert PairCounts(1, 7, 21).p == pytest.approx(0.0390625)


@pytest.mark.parametrize("scenarios", [5, 20, 100])
def test_equal_scenarios_have_an_interval_with_a_width(scenarios: int):
    """Without a discordant pair, Tango's interval is z^2 / (n + z^2) to either side."""
    reach = 1.6448536269514722**2 / (scenarios + 1.6448536269514722**2)
    assert PairCounts(0, 0, scenarios).interval(0.10) == pytest.approx((-reach, reach), abs=1e-9)
    assert PairCounts(0, 0, scenarios).p == 1


@given(counts)
def test_the_bounds_are_where_the_score_test_refuses(pairs: PairCounts):
    """The score statistic, from the numerically most likely table with that difference."""
    low, high = pairs.interval(0.05)
    assert -1 <= low <= pairs.difference <= high <= 1
    if pairs.p < 0.05:
        for bound in (low, high):
            assert abs(score(pairs, bound)) == pytest.approx(1.959964, abs=1e-3)


@given(counts)
def test_the_test_and_the_interval_never_contradict_each_other(pairs: PairCounts):
    low, high = pairs.interval(0.05)
    assert (pairs.p < 0.05) == (low > 0 or high < 0)


@given(counts)
def test_exchanging_the_sides_reverses_the_interval(pairs: PairCounts):
    low, high = pairs.interval(0.05)
    other = PairCounts(pairs.lost, pairs.gained, pairs.pairs)
    assert other.interval(0.05) == pytest.approx((-high, -low), abs=1e-9)
    assert other.p == pytest.approx(pairs.p)


def test_single_answers_are_mcnemars_table():
    scenarios = [RatePair(1, 0, 1, 1)] * 3 + [RatePair(0, 1, 1, 1)] + [RatePair(1, 1, 1, 1)] * 6
    assert count_pairs(scenarios) == pytest.approx((1, 3, 10))


def test_scenarios_that_never_vary_count_once_however_often_they_are_repeated():
    assert count_pairs([RatePair(1, 0, 10, 10)] * 20) == pytest.approx((0, 20, 20))


def test_a_total_fall_with_repeats_is_significant():
    fall = count_pairs([RatePair(1, 0, 3, 3)] * 20)
    assert fall.p < 1e-5
    assert fall.interval(0.05).high < -0.6


def test_independent_repeats_count_as_more_pairs_than_scenarios():
    scenarios = [RatePair(0.5, 0.5, 10, 10)] * 100 + [RatePair(0.4, 0.6, 10, 10), RatePair(0.6, 0.4, 10, 10)] * 50
    assert count_pairs(scenarios).pairs > 1_500


def test_repeats_never_count_for_less_than_their_scenarios():
    scenarios = [RatePair(1, 0, 10, 10), RatePair(0, 1, 10, 10)] * 10
    assert count_pairs(scenarios).pairs == pytest.approx(20)


def test_sides_with_different_numbers_of_repeats_make_as_many_pairs_as_vary_alike():
    """One answer beside nine: the variances are 1 and 1/9, as of 1.8 pairs."""
    single = count_pairs([RatePair(0.5, 0.5, 1, 9)] * 1_000)
    assert single.pairs == pytest.approx(1_800, rel=0.01)


@given(counts, st.floats(0.01, 0.3))
def test_equivalence_is_the_interval_within_the_margin(pairs: PairCounts, margin: float):
    low, high = pairs.interval(0.10)
    if abs(pairs.equivalence_p(margin) - 0.05) > 1e-6:
        assert (pairs.equivalence_p(margin) < 0.05) == (-margin < low and high < margin)


def test_the_detectable_effect_of_equal_scenarios_is_one_that_would_show():
    """With 20 scenarios, a fall of 28 points is found: z(0.975) + z(0.8) is 2.8016."""
    assert PairCounts(0, 0, 20).detectable_effect(0.05, 1) == pytest.approx(2.8016**2 / (20 + 2.8016**2), abs=1e-4)


def score(pairs: PairCounts, difference: float) -> float:
    gained, lost, n = pairs

    def slope(share: float) -> float:
        equal = n - gained - lost
        return lost / share + gained / (share + difference) - 2 * equal / (1 - 2 * share - difference)

    low, high = max(0.0, -difference) + 1e-15, (1 - difference) / 2 - 1e-15
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (gained - lost - n * difference) / sqrt(n * (2 * low + difference - difference**2))
