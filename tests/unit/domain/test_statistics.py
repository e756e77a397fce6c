"""Statistics against published values and against the standard library."""

import math
import statistics
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.statistics import (
    ClusterMean,
    Proportion,
    Trials,
    mean,
    pass_at_k,
    pass_hat_k,
    sample_sd,
    standard_error,
    wilson_interval,
)

codes = st.sampled_from(["1", "2", "3", "4", "5", "other", "maybe"])
scores = st.lists(st.integers(1, 5).map(float), min_size=2, max_size=200)


def test_matches_the_certified_values_of_nist_numacc1():
    """NIST StRD NumAcc1: 10000001, 10000003, 10000002 have mean 10000002 and standard deviation 1, exactly."""
    values = [10000001.0, 10000003.0, 10000002.0]
    assert mean(values) == 10000002
    assert sample_sd(values) == 1


def test_matches_the_certified_values_of_nist_numacc2():
    """NIST StRD NumAcc2: 1.2, then 1.1 and 1.3 five hundred times; mean 1.2, standard deviation 0.1, exactly."""
    values = [1.2, *[1.1, 1.3] * 500]
    assert mean(values) == pytest.approx(1.2, abs=1e-14)
    assert sample_sd(values) == pytest.approx(0.1, abs=1e-14)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_interval_matches_newcombe_1998_table_1(successes: int, trials: int, low: float, high: float):
    """Newcombe, Statistics in Medicine 17 (1998) 857-872, table I, method 3 (score, without continuity correction)."""
    interval = wilson_interval(successes, trials)
    assert interval is not None
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_interval_contains_the_proportion_and_stays_between_0_and_1(successes: int, extra: int):
    trials = successes + extra
    interval = wilson_interval(successes, trials)
    assert interval is not None
    assert 0 <= interval.low <= successes / trials <= interval.high <= 1


@given(st.integers(0, 200), st.integers(0, 200))
def test_wilson_interval_is_mirrored_for_failures(successes: int, failures: int):
    trials = successes + failures
    one, other = wilson_interval(successes, trials), wilson_interval(failures, trials)
    if one is None or other is None:
        assert trials == 0
        return
    assert math.isclose(one.low, 1 - other.high, abs_tol=1e-12)


@given(st.lists(st.integers(1, 5), max_size=40))
def test_clusters_of_one_have_the_plain_standard_error(codes: list[int]):
    one_each = cluster_mean([[code] for code in codes])
    assert one_each.mean == mean([float(code) for code in codes])
    assert one_each.standard_error == pytest.approx(standard_error([float(code) for code in codes]), abs=1e-12)


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), max_size=40))
def test_the_unit_of_a_mean_is_the_cluster(clusters: list[list[int]]):
    """Statistics of the clusters' means, whatever their sizes."""
    means, found = [statistics.fmean(cluster) for cluster in clusters], cluster_mean(clusters)
    assert found.mean == (pytest.approx(statistics.fmean(means)) if means else None)
    assert found.standard_error == pytest.approx(standard_error(means), abs=1e-9)
    variances = [statistics.variance(each) / len(each) if len(each) > 1 else None for each in clusters]
    own = None
    if clusters and None not in variances:
        own = math.sqrt(sum(filter(None, variances))) / len(clusters)
    assert found.own_error == (None if own is None else pytest.approx(own, abs=1e-9))


@given(st.lists(st.lists(st.integers(1, 5), min_size=1, max_size=6), min_size=1, max_size=40), st.randoms())
def test_the_order_of_clusters_does_not_matter(clusters: list[list[int]], random: Random):
    shuffled = random.sample(clusters, len(clusters))
    one, other = cluster_mean(clusters), cluster_mean(shuffled)
    assert (one.mean, one.sd, one.standard_error) == (other.mean, other.sd, other.standard_error)


@pytest.mark.parametrize(
    ("trials", "successes", "k", "expected"),
    [(5, 2, 1, 0.4), (5, 2, 2, 0.7), (5, 2, 4, 1.0), (10, 3, 2, 1 - 21 / 45), (200, 1, 100, 0.5), (3, 0, 3, 0.0)],
)
def test_pass_at_k_matches_what_is_counted_by_hand(trials: int, successes: int, k: int, expected: float):
    """Chen et al. 2021: of 5 answers with 2 right ones, 3 of the 10 pairs have none."""
    assert pass_at_k(trials, successes, k) == pytest.approx(expected)


@given(st.integers(1, 60), st.data())
def test_pass_at_k_is_the_product_by_which_its_authors_compute_it(trials: int, data: st.DataObject):
    """1 - prod(1 - k / i for i in n - c + 1 … n), the numerically stable form of Chen et al. 2021, figure 3."""
    successes, k = data.draw(st.integers(0, trials)), data.draw(st.integers(1, trials))
    missed = 0.0 if trials - successes < k else math.prod(1 - k / i for i in range(trials - successes + 1, trials + 1))
    assert pass_at_k(trials, successes, k) == pytest.approx(1 - missed)


@pytest.mark.parametrize(
    ("trials", "successes", "k", "expected"), [(4, 3, 1, 0.75), (4, 3, 2, 0.5), (4, 3, 4, 0.0), (8, 6, 3, 20 / 56)]
)
def test_pass_hat_k_matches_what_is_counted_by_hand(trials: int, successes: int, k: int, expected: float):
    """Yao et al. 2024: of 4 trials with 3 successes, 3 of the 6 pairs are all successes."""
    assert pass_hat_k(trials, successes, k) == pytest.approx(expected)


@given(st.integers(1, 60), st.data())
def test_pass_hat_k_of_successes_is_the_opposite_of_pass_at_k_of_failures(trials: int, data: st.DataObject):
    successes, k = data.draw(st.integers(0, trials)), data.draw(st.integers(1, trials))
    failed = pass_at_k(trials, trials - successes, k)
    assert failed is not None
    assert pass_hat_k(trials, successes, k) == pytest.approx(1 - failed)


@given(st.integers(1, 60), st.data())
def test_more_trials_find_more_successes_and_are_less_often_all_successes(trials: int, data: st.DataObject):
    successes = data.draw(st.integers(0, trials))
    at = [pass_at_k(trials, successes, k) or 0.0 for k in range(1, trials + 1)]
    hat = [pass_hat_k(trials, successes, k) or 0.0 for k in range(1, trials + 1)]
    assert at == sorted(at)
    assert hat == sorted(hat, reverse=True)
    assert at[0] == pytest.approx(hat[0]) == pytest.approx(successes / trials)


@pytest.mark.parametrize("estimate", [pass_at_k, pass_hat_k])
def test_more_trials_than_there_were_say_nothing(estimate: Callable[[int, int, int], float | None]):
    assert estimate(3, 3, 4) is None
    assert estimate(0, 0, 1) is None


clusters = st.lists(st.lists(st.booleans(), min_size=1, max_size=6), max_size=40)


def proportion(clusters: list[list[bool]]) -> Proportion:
    share = Proportion()
    for each in clusters:
        share.add(Trials.of_share(len(each), sum(each)))
    return share


def cluster_mean(clusters: list[list[int]]) -> ClusterMean:
    found = ClusterMean()
    for each in clusters:
        found.add(Trials(len(each), sum(each), sum(code * code for code in each)))
    return found


@given(st.lists(st.booleans(), min_size=5, max_size=60))
def test_the_interval_of_independent_trials_is_wilsons_with_students_t(trials: list[bool]):
    """scipy: t.ppf(0.975, 9) = 2.2621571627409915."""
    known = wilson_interval(sum(trials), len(trials), t_quantile(0.975, len(trials) - 1))
    assert known is not None
    assert proportion([[each] for each in trials]).interval == pytest.approx(known)
    assert t_quantile(0.975, 9) == pytest.approx(2.2621571627409915)


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=5, max_size=40))
def test_correlated_trials_never_narrow_the_interval(clusters: list[list[bool]]):
    share = proportion(clusters)
    known, interval, rate = wilson_interval(share.total, share.answers), share.interval, share.mean
    assert known
    assert interval
    assert rate is not None
    assert interval.low - 1e-12 <= rate <= interval.high + 1e-12
    assert len(clusters) - 1e-9 <= share.effective_trials <= share.answers + 1e-9


def test_clusters_that_always_agree_count_once_each():
    share = proportion([[True] * 10, [False] * 10] * 4)
    assert share.effective_trials == pytest.approx(8)
    assert share.interval == pytest.approx(wilson_interval(4, 8, t_quantile(0.975, 7)))


def test_where_all_succeed_each_cluster_counts_once():
    assert proportion([[True] * 10] * 6).effective_trials == pytest.approx(6)
    assert proportion([[True] * 10] * 6).interval == pytest.approx(wilson_interval(6, 6, t_quantile(0.975, 5)))


def test_a_single_failure_does_not_make_all_trials_independent():
    """60 of 60 in six scenarios count as six trials, and 59 as few more: the interval does not jump."""
    one_failed = proportion([[True] * 10] * 5 + [[True] * 9 + [False]])
    assert 6 < one_failed.effective_trials < 9


def test_many_clusters_that_vary_show_that_their_trials_are_independent():
    """With all clusters equal to each other, nothing speaks for a correlation within them."""
    assert proportion([[True, False]] * 400).effective_trials == pytest.approx(800, rel=0.01)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_of_few_clusters_the_interval_is_about_exactly_these(number: int):
    found = proportion([[True] * 7 + [False] * 3] * number)
    assert found.interval == pytest.approx(wilson_interval(7 * number, 10 * number))


def test_one_cluster_says_nothing_about_others():
    assert proportion([[True, False]]).standard_error is None
