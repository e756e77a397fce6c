"""Agreement of two graders, against published values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.reports.grader_agreement import MIN_PAIRS, GraderPairs

COUNTS = st.integers(0, 40)


def test_kappa_is_cohens() -> None:
    # The usual example: 20 both yes, 5 and 10 differ, 15 both no.
    assert GraderPairs(20, 5, 10, 15).kappa == pytest.approx(0.4)


def test_alpha_is_krippendorffs() -> None:
    # Krippendorff (2011), two observers and binary data: 10 units, alpha = 0.095.
    assert GraderPairs(1, 2, 2, 5).alpha == pytest.approx(0.095, abs=1e-3)


def test_graders_that_always_say_the_same_have_no_kappa() -> None:
    pairs = GraderPairs(both_passed=50)
    assert (pairs.agreement, pairs.kappa, pairs.alpha, pairs.kappa_interval()) == (1.0, None, None, None)


def test_nothing_is_computed_without_pairs() -> None:
    assert (GraderPairs().agreement, GraderPairs().kappa, GraderPairs().alpha) == (None, None, None)


def test_few_pairs_have_no_interval() -> None:
    assert GraderPairs(10, 5, 5, MIN_PAIRS - 21).kappa_interval() is None


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_interval_is_repeatable_and_contains_likely_values(a: int, b: int, c: int, d: int) -> None:
    pairs = GraderPairs(a, b, c, d)
    interval = pairs.kappa_interval()
    assert interval == pairs.kappa_interval()
    if interval is not None:
        assert -1 <= interval.low <= interval.high <= 1


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_counts_are_those_of_the_verdicts(verdicts: list[tuple[bool, bool]]) -> None:
    pairs = GraderPairs()
    for first, second in verdicts:
        pairs.add(first, second)
    assert pairs.conversations == len(verdicts)
    assert pairs.both_passed + pairs.only_first == sum(first for first, _ in verdicts)
