"""Adjusted p-values against statsmodels' multipletests, whose outputs are quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.multiple_testing import benjamini_hochberg, holm

P_VALUES = [0.02, 0.001, 0.04, 0.03, 0.9, 0.0005]
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_holm_agrees_with_statsmodels():
    assert holm(P_VALUES) == pytest.approx([0.08, 0.005, 0.09, 0.09, 0.9, 0.003])


def test_benjamini_hochberg_agrees_with_statsmodels():
    assert benjamini_hochberg(P_VALUES) == pytest.approx([0.04, 0.003, 0.048, 0.045, 0.9, 0.003])


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_test_that_could_not_be_made_is_not_counted(adjust):
    assert adjust([0.01, None, 0.04]) == [*adjust([0.01, 0.04])[:1], None, *adjust([0.01, 0.04])[1:]]


@given(probabilities)
def test_holm_is_at_least_as_strict(p_values: list[float]):
    rows = zip(p_values, benjamini_hochberg(p_values), holm(p_values), strict=True)
    assert all(p <= lenient <= strict <= 1 for p, lenient, strict in rows)
