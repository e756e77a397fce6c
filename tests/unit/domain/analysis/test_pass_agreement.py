"""Agreement on which scenarios pass."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from cupel_core.domain.analysis.agreement import Agreement, agreement
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.pass_agreement import alpha_posterior_interval, gwet_ac1
from cupel_core.domain.analysis.rated_units import Unit, unit_of
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "raters.json").read_text())


def units(rows: list[list[int | None]]) -> Counter[Unit]:
    return Counter(unit_of([(1.0 - each, float(each)) for each in row if each is not None], 2) for row in rows)


def agreed(*columns: str) -> Agreement:
    """A `+` passes."""
    cells = [[Cell(judged=1, passed=int(each == "+")) for each in column] for column in columns]
    found = agreement(cells, Metric.PASS_RATE)
    assert found is not None
    return found


@pytest.mark.parametrize("case", FROZEN["ac1"])
def test_ac1_agrees_with_irrcac(case: dict[str, Any]) -> None:
    assert gwet_ac1(units(case["ratings"])) == pytest.approx(case["ac1"], abs=1e-9)


def test_ac1_needs_two_ratings_of_a_scenario() -> None:
    assert gwet_ac1(units([[1, None], [None, 0]])) is None
    assert gwet_ac1(Counter()) is None


def test_nearly_all_passing_makes_alpha_low_and_ac1_high() -> None:
    found = agreed("+" * 18 + "+-", "+" * 18 + "-+")
    assert found.alpha is not None
    assert found.ac1 is not None
    assert found.alpha < 0 < 0.85 < found.ac1


def test_decisions_have_no_ac1() -> None:
    cells = [[Cell(1), Cell(0, 1)], [Cell(1), Cell(1)]]
    found = agreement(cells, Metric.DECISION)
    assert found is not None
    assert (found.ac1, found.rare_scenarios) == (None, 1)


def test_the_scenarios_with_a_rarer_answer_are_counted() -> None:
    assert agreed("+" * 17 + "---", "+" * 18 + "+-").rare_scenarios == 3
    assert agreed("-" * 17 + "+++", "-" * 18 + "-+").rare_scenarios == 3
    assert agreed("+++++", "+++++").rare_scenarios == 0


def test_few_disagreements_leave_a_wide_interval() -> None:
    """Nine of ten scenarios are the same; without the jackknife's groups, the single one says nearly nothing."""
    interval = agreed("+" * 9 + "-", "+" * 9 + "-").interval
    assert interval is not None
    assert (interval.low < 0.4, interval.high) == (True, 1.0)
    many = agreed("+" * 90 + "-" * 90, "+" * 90 + "-" * 90).interval
    assert many is not None
    assert many.low > 0.93


def test_the_estimate_is_within_its_interval_and_the_order_of_scenarios_does_not_matter() -> None:
    source = Random(1)
    for _ in range(20):
        columns = ["".join(source.choice("+++-") for _ in range(12)) for _ in range(3)]
        order = source.sample(range(12), 12)
        first, second = agreed(*columns), agreed(*("".join(column[each] for each in order) for column in columns))
        assert first.alpha is not None
        assert first.interval is not None
        assert first.interval.low <= first.alpha <= first.interval.high
        assert first.interval == second.interval


def test_many_targets_do_not_outweigh_the_scenarios() -> None:
    """Thirty targets agree on all of twenty scenarios."""
    interval = alpha_posterior_interval(1.0, units([[1] * 30] * 10 + [[0] * 30] * 10))
    assert interval.low > 0.7


def test_what_cannot_be_told_has_no_interval() -> None:
    assert agreed("+++++", "+++++").interval is None
    assert agreed("++-", "+--").interval is None
