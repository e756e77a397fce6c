"""Every combination, in a fixed order."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cupel_core.domain.definitions.definitions import Content, Dimension, Level
from cupel_core.domain.definitions.matrix import LevelOptionChoice, Matrix


def dimension(name: str, levels: int, options: int = 0) -> Dimension:
    dimension_levels = (
        Level(score, f"{name}{score}", None, tuple(f"{name}{score}-{option}" for option in range(options)))
        for score in range(1, levels + 1)
    )
    return Dimension(name, tuple(dimension_levels))


def content(*dimensions: Dimension) -> Content:
    template = " ".join(f"[{dimension.name}]" for dimension in dimensions)
    return Content(template=f"Case: {template}", dimensions=dimensions)


sizes = st.lists(st.integers(1, 4), max_size=4)


def contents(sizes: list[int], options: int = 0) -> Content:
    return content(*(dimension("abcd"[number], size, options) for number, size in enumerate(sizes)))


@given(sizes)
def test_every_combination_occurs_once_and_the_last_dimension_changes_fastest(sizes: list[int]) -> None:
    scores = [tuple(scenario.dimensions.values()) for scenario in Matrix(contents(sizes))]
    assert scores == list(product(*(range(1, size + 1) for size in sizes)))


@given(sizes)
def test_its_size_is_the_number_of_scenarios(sizes: list[int]) -> None:
    matrix = Matrix(contents(sizes))
    assert matrix.size == len(list(matrix))


def test_each_level_is_expressed_by_its_first_option() -> None:
    matrix = Matrix(content(dimension("a", 2, options=3)))
    assert [scenario.messages[0].content for scenario in matrix] == ["Case: a1-0", "Case: a2-0"]


def test_a_level_without_options_is_expressed_by_its_label() -> None:
    assert next(iter(Matrix(content(dimension("a", 1))))).messages[0].content == "Case: a1"


@given(sizes, st.integers())
def test_the_same_seed_draws_the_same_options(sizes: list[int], seed: int) -> None:
    drawn = Matrix(contents(sizes, options=5), LevelOptionChoice.RANDOM, seed)
    assert list(drawn) == list(Matrix(contents(sizes, options=5), LevelOptionChoice.RANDOM, seed))


def test_another_seed_draws_other_options() -> None:
    texts = {Matrix(contents([2, 2, 2], options=5), LevelOptionChoice.RANDOM, seed).text(0) for seed in range(50)}
    assert len(texts) > 10


def test_drawn_options_are_of_the_combinations_own_levels() -> None:
    matrix = Matrix(contents([3, 3], options=4), LevelOptionChoice.RANDOM, 7)
    for index in range(matrix.size):
        own = [level.options for level in matrix.levels(index)]
        assert all(phrase in options for phrase, options in zip(matrix.phrases(index), own, strict=True))


def test_a_template_without_dimensions_is_one_scenario() -> None:
    assert [scenario.messages[0].content for scenario in Matrix(Content(template="Just this."))] == ["Just this."]


def test_a_matrix_is_counted_without_being_written() -> None:
    assert Matrix(contents([4] * 4)).size == 256
    assert Matrix(content(*(dimension(f"d{n}", 10) for n in range(30)))).size == 10**30


def test_a_combination_past_the_end_is_an_index_error() -> None:
    with pytest.raises(IndexError):
        Matrix(contents([2, 2])).levels(4)
