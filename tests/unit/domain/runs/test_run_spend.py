from random import Random

import pytest

from cupel_core.domain.conversations.model_request import Usage
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.run_spend import (
    Cost,
    RunSpend,
    checkpoint_member,
    cost_by_place,
    encode,
    inner_spend,
    leaf_spend,
    total,
)
from cupel_core.domain.runs.spending import Spending


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
    members = [encode(107, Cost(5)), encode(207, Cost(3))]
    assert leaf_spend(members, Cost(), (), lambda _: 0).recorded == Cost(8)


def test_a_conversation_counts_until_it_has_an_outcome() -> None:
    checkpoints = [checkpoint_member(7, 2, Cost(4))]
    for token, expected in ((1, Cost(9)), (2, Cost(5)), (3, Cost(5))):
        outcome = encode(token * 100 + 7, Cost(5))
        assert leaf_spend([outcome], Cost(), checkpoints, lambda _: 0).recorded == expected


def test_the_targets_of_a_child_add_up_in_its_parent() -> None:
    child = leaf_spend([encode(101, Cost(5)), encode(102, Cost(7))], Cost(), (), lambda offset: offset)
    parent = inner_spend([*child.as_child(3), *child.as_child(4)], ())
    assert parent == RunSpend(Cost(24), by_column={1: Cost(10), 2: Cost(14)})
