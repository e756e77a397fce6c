from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.runs.sampling import expand, sample

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
