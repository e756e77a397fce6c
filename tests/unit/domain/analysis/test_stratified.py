"""The difference on exactly these scenarios."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.stratified import Stratum, conditional_mid_p, own_difference
from cupel_core.domain.analysis.two_samples import fisher_exact_p
from cupel_core.domain.statistics import Trials

RATE = Trials.of_share
sides = st.builds(lambda n, share: RATE(n, round(n * share)), st.integers(1, 12), st.floats(0, 1))
strata = st.lists(st.builds(Stratum, sides, sides), min_size=1, max_size=6)


def test_four_scenarios_with_repeats_show_what_happened_to_them():
    """80 of 80 before, none of 80 after: nothing follows for other scenarios, and these fell."""
    found = own_difference(Metric.PASS_RATE, [Stratum(RATE(20, 20), RATE(20, 0))] * 4, 0.05)
    assert found is not None
    assert (found.difference, found.interval.low) == (-1, -1)
    assert found.interval.high < -0.9
    assert found.p < 1e-40


def test_single_answers_are_mcnemars_mid_p():
    """Five scenarios lost, none gained: 2 * 0.5^5 less half of both ends."""
    assert conditional_mid_p([Stratum(RATE(1, 1), RATE(1, 0))] * 5) == pytest.approx(0.03125)


@given(sides, sides)
def test_one_scenario_has_fishers_test_less_half_of_what_was_observed(before: Trials, after: Trials):
    exact, mid = fisher_exact_p(before, after), conditional_mid_p([Stratum(before, after)])
    assert exact / 2 - 1e-9 <= mid <= exact + 1e-9


@given(strata)
def test_exchanging_the_sides_changes_only_the_sign(found: list[Stratum]):
    one = own_difference(Metric.PASS_RATE, found, 0.05)
    other = own_difference(Metric.PASS_RATE, [Stratum(after, before) for before, after in found], 0.05)
    assert other.difference == pytest.approx(-one.difference)
    assert other.p == pytest.approx(one.p)
    assert other.interval == pytest.approx((-one.interval.high, -one.interval.low))


@given(strata)
def test_the_test_and_the_interval_never_contradict_each_other(found: list[Stratum]):
    result = own_difference(Metric.PASS_RATE, found, 0.05)
    assert result.interval.low <= result.difference + 1e-12
    assert result.difference <= result.interval.high + 1e-12
    if result.p >= 0.05:
        assert result.interval.low <= 0 <= result.interval.high


def test_many_answers_use_the_normal_distribution():
    """Cochran, Mantel and Haenszel's statistic without correction; both ways agree where they meet."""
    few = conditional_mid_p([Stratum(RATE(400, 200), RATE(400, 230))])
    many = conditional_mid_p([Stratum(RATE(4_000, 2_000), RATE(4_000, 2_095))])
    assert few == pytest.approx(0.0337, abs=1e-3)
    assert many == pytest.approx(0.0336, abs=1e-3)


def test_decisions_need_repeats():
    single, twice = Trials(1, 3, 9), Trials(2, 7, 25)
    assert own_difference(Metric.DECISION, [Stratum(single, single)] * 5, 0.05).p is None
    assert own_difference(Metric.DECISION, [Stratum(twice, twice)] * 5, 0.05).p == 1
    assert own_difference(Metric.DECISION, [], 0.05) is None
