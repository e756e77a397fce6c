"""Statistics against published values and against the standard library."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.statistics import (
    Decision,
    clustered_standard_error,
    decision_statistics,
    mean,
    sample_sd,
    standard_error,
    wilson_interval,
)

codes = st.sampled_from(["1", "2", "3", "4", "5", "other", "maybe"])
decisions = st.lists(st.builds(Decision, st.sampled_from(["a", "b", "c", "d"]), codes))
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
def test_wilson_interval_holds_the_proportion_and_stays_between_0_and_1(successes: int, extra: int):
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


@given(scores)
def test_clusters_of_one_give_the_plain_standard_error(values: list[float]):
    clustered = clustered_standard_error({str(place): [value] for place, value in enumerate(values)})
    assert clustered == pytest.approx(standard_error(values), abs=1e-12)


@given(scores, st.integers(2, 5))
def test_repeating_the_same_answers_gains_no_precision(values: list[float], repeats: int):
    once = clustered_standard_error({str(place): [value] for place, value in enumerate(values)})
    often = clustered_standard_error({str(place): [value] * repeats for place, value in enumerate(values)})
    assert often == pytest.approx(once, abs=1e-12)


def test_one_scenario_has_no_standard_error():
    assert decision_statistics([Decision("a", "3"), Decision("a", "4")]).standard_error is None


@given(decisions)
def test_the_distribution_counts_every_decision_once(taken: list[Decision]):
    statistics_ = decision_statistics(taken)
    assert sum(statistics_.distribution.values()) == len(taken)
    assert statistics_.decided == sum(decision.code in "12345" for decision in taken)


@given(decisions)
def test_other_answers_do_not_move_the_mean(taken: list[Decision]):
    numbers = [int(decision.code) for decision in taken if decision.code in "12345"]
    assert decision_statistics(taken).mean == (pytest.approx(statistics.fmean(numbers)) if numbers else None)


@given(decisions)
def test_the_order_of_transcripts_does_not_matter(taken: list[Decision]):
    forward, backward = decision_statistics(taken), decision_statistics(reversed(taken))
    assert forward.distribution == backward.distribution
    assert (forward.mean, forward.sd) == (pytest.approx(backward.mean), pytest.approx(backward.sd))


def test_nothing_decided_gives_no_figures():
    empty = decision_statistics([])
    assert (empty.mean, empty.sd, empty.standard_error, empty.decided) == (None, None, None, 0)
