from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.analysis.histograms import RELATIVE_ERROR, Histogram

values = st.lists(st.integers(0, 10_000_000), min_size=1, max_size=60)


def histogram(of: list[int]) -> Histogram:
    made = Histogram()
    for value in of:
        made.add(value)
    return made


@given(values, st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_a_quantile_is_within_one_percent_of_the_value_of_that_rank(of: list[int], share: float) -> None:
    exact = sorted(of)[ceil(share * len(of)) - 1]
    quantile = histogram(of).quantile(share)
    assert quantile is not None
    # Whole numbers: half a unit is lost by rounding.
    assert abs(quantile - exact) <= RELATIVE_ERROR * exact + 0.5


@given(st.lists(st.integers(0, 49), min_size=1, max_size=30))
def test_small_numbers_are_exact(of: list[int]) -> None:
    assert histogram(of).quantile(0.5) == sorted(of)[ceil(len(of) / 2) - 1]


@given(values, values)
def test_parts_add_up_to_the_whole(first: list[int], second: list[int]) -> None:
    merged = histogram(first)
    merged.merge(histogram(second))
    assert merged == histogram([*second, *first])


@given(values)
def test_json_is_read_as_it_was_written(of: list[int]) -> None:
    assert Histogram.from_json(histogram(of).to_json()) == histogram(of)


def test_the_mean_and_the_largest_value_are_exact() -> None:
    made = histogram([1, 2, 1_000_001])
    assert (made.mean, made.maximum, made.count) == (pytest.approx(333_334.666, abs=0.001), 1_000_001, 3)


def test_nothing_has_neither_mean_nor_quantile() -> None:
    assert (Histogram().mean, Histogram().quantile(0.5), Histogram().count) == (None, None, 0)
