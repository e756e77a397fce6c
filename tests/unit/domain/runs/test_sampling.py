import statistics
from itertools import chain
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.sampling import expand, from_few_groups, sample

counts, percentages, seeds = st.integers(1, 400), st.integers(1, 100), st.integers(0, 2**31 - 1)


@given(counts, percentages, seeds)
def test_same_count_percentage_and_seed_give_the_same_scenarios_in_the_same_order(
    count: int, percentage: int, seed: int
) -> None:
    assert sample(count, percentage, seed) == sample(count, percentage, seed)


@given(counts, percentages, seeds)
def test_a_sample_draws_each_scenario_once_and_at_least_one(count: int, percentage: int, seed: int) -> None:
    drawn = sample(count, percentage, seed)
    assert len(set(drawn)) == len(drawn) == max(1, count * percentage // 100)
    assert set(drawn) <= set(range(count))


@given(counts, percentages, percentages, seeds)
def test_a_larger_sample_of_the_same_seed_is_the_smaller_and_what_it_grows_by(
    count: int, one: int, other: int, seed: int
) -> None:
    small, large = sorted((one, other))
    kept, added = sample(count, small, seed), expand(count, small, large, seed)
    assert sorted(kept + added) == sample(count, large, seed)


def test_a_seed_draws_what_it_has_always_drawn() -> None:
    # Recorded runs name their seed: what it draws must never change.
    assert sample(10, 50, 42) == [2, 3, 5, 7, 8]


SHORT, LONG = [1] * 1_000, [400] * 20
MIXED = [*[SHORT] * 50, *[LONG] * 150]


@pytest.mark.parametrize(
    "groups",
    [
        [*[SHORT] * 10, *[LONG] * 40],
        [*[LONG] * 10, SHORT, SHORT],
        [SHORT, LONG],
        [SHORT, LONG] * 10,
        [SHORT, LONG, LONG, LONG, LONG] * 10,
        Random(1).sample(MIXED, len(MIXED)),
    ],
    ids=["short first", "long first", "one of each", "in turn", "many long between", "in any order"],
)
def test_a_few_groups_have_about_the_mean_of_all_items(groups: list[list[int]]) -> None:
    chosen = from_few_groups(groups, list(map(sum, groups)), 5, 200)
    assert statistics.mean(chosen) == pytest.approx(statistics.mean(chain(*groups)), rel=0.35)
    assert 190 <= len(chosen) <= 210


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(1, 8), st.integers(1, 100))
def test_items_are_chosen_from_at_most_so_many_groups(lengths: list[int], max_groups: int, count: int) -> None:
    groups = [[(number, item) for item in range(length)] for number, length in enumerate(lengths)]
    chosen = from_few_groups(groups, list(map(len, groups)), max_groups, count)
    assert 1 <= len({number for number, _ in chosen}) <= max_groups
    assert len(chosen) <= count + max_groups


def test_all_items_are_chosen_if_they_are_few() -> None:
    assert from_few_groups([[1, 2, 3], [4, 5, 6]], [3, 3], 5, 200) == [1, 2, 3, 4, 5, 6]
