from random import Random

import pytest

from cupel_core.domain.runs.run_spend import Cost, Recorded, cost_by_place, encode, lost_member, total, total_of
from cupel_core.domain.runs.spending import Spending
from cupel_core.domain.turns.conversation import Spend
from cupel_core.domain.turns.model_request import Usage


def test_a_cost_is_the_sum_of_all_calls() -> None:
    spending = Spending(Spend(1, Usage(), 0.5), judge=Spend(2, Usage(), 0.25), summary=Spend(1, Usage(), 0.000_000_001))
    assert Cost.of(spending) == Cost(750_000_001)


def test_a_cost_without_the_price_of_a_call_is_incomplete() -> None:
    assert Cost.of(Spending(Spend(1, Usage(), 0.5), judge=Spend(1, Usage(), None))) == Cost(500_000_000, False)


def test_costs_add_up_to_the_same_sum_in_any_order() -> None:
    costs = [Cost.of(Spending(Spend(1, Usage(), number / 7_000))) for number in range(1_000)]
    shuffled = Random(1).sample(costs, len(costs))
    assert sum(costs, Cost()) == sum(shuffled, Cost())


@pytest.mark.parametrize("cost", [Cost(), Cost(1), Cost(10**15, False), Cost(0, False)])
def test_a_member_has_its_place_and_its_cost(cost: Cost) -> None:
    assert cost_by_place([encode(1_234_599, cost)]) == {1_234_599: cost}


def test_of_several_costs_of_a_place_the_largest_counts() -> None:
    assert total([encode(3, Cost(5)), encode(3, Cost(7)), encode(4, Cost(1))]) == Cost(8)


def test_an_error_of_an_earlier_retry_round_keeps_its_place() -> None:
    members = [Recorded(7, False, 1, Cost(5)).cost_member, Recorded(7, True, 2, Cost(3)).cost_member]
    assert total_of(members, frozenset({7})) == Cost(8)


def test_the_total_is_incomplete_while_an_outcome_has_no_cost() -> None:
    assert total_of([encode(100, Cost(5))], frozenset({0, 1})) == Cost(5, False)


def test_two_lost_outcomes_of_a_probe_both_count() -> None:
    first, second = lost_member(7, Cost(5), "first"), lost_member(7, Cost(5), "second")
    assert total([first, first, second]) == Cost(10)
