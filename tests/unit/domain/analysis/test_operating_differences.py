"""What two sides took and cost, beside the tests."""

from dataclasses import replace

import pytest

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.comparison import compare
from cupel_core.domain.analysis.counted_outcomes import CountedCost, CountedOutcome
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.operating_differences import OperatingDifferences, SideOperations
from tests.compared_sides import side

DECIDED = Cell(code_3=6, other=2)


def totals(*outcomes: CountedOutcome) -> ColumnTotals:
    column = ColumnTotals()
    for outcome in outcomes:
        column.add(outcome)
    return column


def completed(duration_ms: int = 10, tokens: int = 30, usd: float | None = 0.5) -> CountedOutcome:
    costs = (CountedCost("target", 1, usd), CountedCost("judge", 2, 0.25))
    outcome = CountedOutcome(0, is_completed=True, code="3", costs=costs)
    return outcome._replace(duration_ms=duration_ms, input_tokens=tokens - 10, output_tokens=10)


ERRORED = CountedOutcome(1, is_completed=False, error_code="timeout", costs=(CountedCost("target", 1, 0.5),))


def test_costs_are_per_probe_and_tokens_per_answer() -> None:
    found = SideOperations.of([totals(completed(), completed(tokens=50), ERRORED)], DECIDED)
    assert (found.cost_usd, found.judge_cost_usd) == (0.5, pytest.approx((0.25 + 0.25) / 3))
    assert (found.simulated_user_cost_usd, found.operations_cost_usd) == (None, None)
    assert (found.tokens, found.error_rate, found.other_rate) == (40, pytest.approx(1 / 3), 0.25)


def test_several_columns_are_one_side() -> None:
    columns = [totals(completed(duration_ms=number)) for number in range(1, 21)]
    found = SideOperations.of(columns, DECIDED)
    assert (found.median_duration_ms, found.p95_duration_ms) == (10, 19)


def test_a_price_that_is_unknown_leaves_no_cost() -> None:
    assert SideOperations.of([totals(completed(usd=None))], DECIDED).cost_usd is None


def test_without_decisions_no_answer_lacks_one() -> None:
    assert SideOperations.of([totals(completed())], Cell(other=8, judged=8)).other_rate is None


def test_without_outcomes_there_is_nothing_to_describe() -> None:
    assert set(SideOperations.of([ColumnTotals()], Cell())) == {None}


def test_a_difference_needs_both_sides() -> None:
    before = SideOperations.of([totals(completed(duration_ms=10))], DECIDED)
    after = SideOperations.of([totals(completed(duration_ms=25, usd=None))], DECIDED)
    difference = OperatingDifferences(before, after).difference
    assert (difference.cost_usd, difference.median_duration_ms, difference.tokens) == (None, 15, 0)


def test_all_pairs_together_have_the_operations_of_all_columns() -> None:
    made = [totals(completed(duration_ms=10)), totals(completed(duration_ms=30))]
    before, after = (
        replace(side({"a": ["3"] * 5, "b": ["4"] * 5}, run), totals=made.__getitem__) for run in ("run_a", "run_b")
    )
    figures = compare(before, after)
    assert [row.operations.baseline.p95_duration_ms for row in figures.rows] == [10, 30]
    assert figures.overall
    assert figures.overall.operations.comparison.p95_duration_ms == 30
    assert figures.overall.operations.comparison.other_rate == 0
