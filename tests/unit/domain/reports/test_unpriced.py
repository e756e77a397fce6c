"""Which models are named whose calls are not in the cost of a run."""

from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counted_outcomes import CountedCost
from cupel_core.domain.conversations.spend import ModelCalls
from cupel_core.domain.reports.unpriced import UnpricedCalls, unpriced_calls


def totals(*costs: CountedCost) -> ColumnTotals:
    column = ColumnTotals()
    for each in costs:
        column.costs[each.kind].add(each)
    return column


def judged(usd: float | None, **models: int) -> CountedCost:
    used = {model: ModelCalls(calls) for model, calls in models.items()}
    return CountedCost("judge", sum(models.values()), usd, 0, 0, used)


def is_known(model: str) -> bool:
    return model == "known"


def test_a_run_with_prices_names_no_model() -> None:
    assert unpriced_calls([("known", totals(CountedCost("target", 3, 0.1), judged(0.1, known=2)))], is_known) == []


def test_calls_of_a_target_are_counted_over_its_prompts() -> None:
    columns = [("m", totals(CountedCost("target", 3, None))), ("m", totals(CountedCost("target", 2, None)))]
    assert unpriced_calls(columns, is_known) == [UnpricedCalls("m", ("target",), 5)]


def test_where_a_provider_has_told_some_costs_the_number_is_unknown() -> None:
    column = totals(CountedCost("target", 3, None), CountedCost("target", 2, 0.1))
    assert unpriced_calls([("m", column)], is_known) == [UnpricedCalls("m", ("target",), None)]


def test_of_several_judges_only_those_without_a_price_are_named() -> None:
    column = totals(CountedCost("target", 1, 0.1), judged(None, known=4, other=2), judged(0.1, known=1))
    assert unpriced_calls([("known", column)], is_known) == [UnpricedCalls("other", ("judge",), 2)]


def test_a_model_is_named_once_with_all_that_it_was_called_for() -> None:
    column = totals(CountedCost("target", 3, None), judged(None, m=2))
    assert unpriced_calls([("m", column)], is_known) == [UnpricedCalls("m", ("target", "judge"), 5)]


def test_judges_of_which_no_use_was_recorded_are_not_named() -> None:
    """Those of earlier releases."""
    assert unpriced_calls([("known", totals(CountedCost("judge", 2, None)))], is_known) == []
