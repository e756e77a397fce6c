"""Sums of further figures, predicted from known ones by scenario."""

import json
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.estimates.history import predicted_sum
from cupel_core.domain.estimates.intervals import EstimateInterval
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "predictions.json").read_text())
OTHERS = range(1_000, 2_000)
"""Scenarios without a known figure."""


def singles(figures: Sequence[float]) -> dict[int, list[float]]:
    return {scenario: [figure] for scenario, figure in enumerate(figures)}


def predicted(figures: Sequence[float], count: int, worst: float = 0.0) -> EstimateInterval:
    """Each figure is of a scenario of its own, and each further one of another scenario."""
    return predicted_sum(singles(figures), count, OTHERS[:count], worst)


@pytest.mark.parametrize("case", FROZEN["singleFigures"])
def test_the_lower_bound_of_one_further_figure_is_that_of_a_regression(case: dict[str, Any]) -> None:
    assert predicted(case["figures"], 1).low == pytest.approx(case["low"], abs=1e-9)


@pytest.mark.parametrize("case", FROZEN["singleFigures"])
def test_the_upper_bound_is_never_less_than_that_of_a_regression(case: dict[str, Any]) -> None:
    assert predicted(case["figures"], 1).high >= case["high"]


@pytest.mark.parametrize("case", FROZEN["repeatedFigures"])
def test_scenarios_are_the_units_of_repeated_figures(case: dict[str, Any]) -> None:
    known = dict(enumerate(case["known"]))
    further, repeats = case["further"], len(case["known"][0])
    interval = predicted_sum(known, further * repeats, OTHERS[:further])
    assert interval.low / (further * repeats) == pytest.approx(case["low"], abs=1e-9)


def test_repeats_of_few_scenarios_say_little_about_others() -> None:
    """Fifty figures of five scenarios say less than fifty of fifty, if scenarios differ."""
    source = Random(1)
    means = [source.uniform(1, 3) for _ in range(50)]
    repeated = {scenario: [means[scenario] + 0.01 * repeat for repeat in range(10)] for scenario in range(5)}
    few, many = predicted_sum(repeated, 1_000, OTHERS[:100]), predicted(means, 1_000)
    assert few.high / few.expected > 1.3 * many.high / many.expected


def test_known_scenarios_stand_for_themselves() -> None:
    """A cheap scenario and a dear one are both known, so that nothing but their repeats is uncertain."""
    known = {0: [1.0, 1.1, 0.9] * 5, 1: [9.0, 9.1, 8.9] * 5}
    again = predicted_sum(known, 30, range(2))
    assert again.expected == pytest.approx(150)
    assert again.high == pytest.approx(150 + 150 * (1 - 0.05 ** (1 / 30)))
    # Most probes of the second scenario are known, and all of the third's are new.
    further = predicted_sum(known, 30, range(1, 3))
    assert further.expected == pytest.approx(15 * 9 + 15 * 5)
    assert further.high > again.high + 30


def test_scenarios_of_fewer_figures_than_scenarios_are_unknown() -> None:
    known = singles([1.0, 2.0, 3.0, 4.0, 5.0] * 4)
    assert predicted_sum(known, 3, range(20)) == predicted_sum(known, 3, OTHERS[:3])


def test_what_has_always_cost_the_same_may_cost_something_else_next_time() -> None:
    """Ten equal conversations do not exclude that a quarter of all are different: 0.74 ** 10 is 0.05."""
    interval = predicted([0.5] * 10, 10)
    assert interval.low == pytest.approx(5.0 * 0.741, abs=0.01)
    assert interval.expected == pytest.approx(5.0)
    assert interval.high == pytest.approx(5.0 * 1.259, abs=0.01)


def test_the_unseen_may_cost_as_much_as_a_budget_sets_aside() -> None:
    unseen = 1 - 0.05 ** (1 / 10)
    assert predicted([0.5] * 10, 10, worst=8.0).high == pytest.approx(10 * (0.5 + unseen * (8.0 - 0.5)))


def test_nothing_costs_more_than_a_budget_sets_aside() -> None:
    figures = [0.01, 0.02, 0.01, 0.9, 0.01, 0.02]
    assert predicted(figures, 10).high > 10
    assert predicted(figures, 10, worst=1.0).high <= 10


def test_the_more_equal_conversations_the_narrower_the_interval() -> None:
    widths = [predicted([0.5] * known, 10).high - 5.0 for known in (10, 30, 100)]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(5.0 * 0.03, rel=0.02)


KNOWN = st.dictionaries(st.integers(0, 9), st.lists(st.floats(0.001, 10), min_size=1, max_size=6), min_size=2)


@given(KNOWN, st.integers(1, 1_000), st.sets(st.integers(0, 30), min_size=1), st.floats(0, 20))
def test_no_interval_is_a_point(
    known: Mapping[int, Sequence[float]], count: int, scenarios: Collection[int], worst: float
) -> None:
    interval = predicted_sum(known, count, scenarios, worst)
    assert interval.low < interval.expected < interval.high


def test_what_was_free_stays_free() -> None:
    assert predicted([0.0] * 10, 10) == EstimateInterval(0.0, 0.0, 0.0)


def test_nothing_costs_less_than_nothing() -> None:
    assert predicted([0.0, 0.0, 0.0, 0.0, 1.0], 1).low == 0.0
