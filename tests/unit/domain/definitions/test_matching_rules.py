"""Rules leave combinations of levels out of a matrix."""

from typing import Any

import pytest

from cupel_core.domain.definitions.definitions import Content, Dimension, Level, content_errors
from cupel_core.domain.definitions.matrix import Matrix

DIMENSIONS = tuple(
    Dimension(name, tuple(Level(score, f"{name} {score}") for score in (1, 2, 3))) for name in ("Delay", "Mood")
)


def combinations(*rules: dict[str, Any]) -> list[tuple[float, ...]]:
    matrix = Matrix(Content(template="[Delay] [Mood]", dimensions=DIMENSIONS, matching_rules=rules))
    return [tuple(level.score for level in matrix.levels(index)) for index in range(matrix.size)]


def test_without_rules_there_is_every_combination() -> None:
    assert len(combinations()) == 9


def test_excluded_combinations_are_left_out() -> None:
    remaining = combinations({"exclude": {"delay": 1, "mood": [2, 3]}})
    assert remaining == [(1, 1), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (3, 3)]


def test_a_conditional_rule_restricts_the_combinations_it_applies_to() -> None:
    assert combinations({"when": {"Delay": 1}, "only": {"Mood": 3}}, {"only": {"Delay": [1, 2]}}) == [
        (1, 3), (2, 1), (2, 2), (2, 3),
    ]  # fmt: skip


def test_a_scenario_tells_its_combination_among_all() -> None:
    rules = ({"exclude": {"Delay": 1}},)
    matrix = Matrix(Content(template="[Delay] [Mood]", dimensions=DIMENSIONS, matching_rules=rules))
    scenario = next(iter(matrix))
    assert (scenario.metadata, scenario.messages[0].content) == ({"combination": 3}, "Delay 2 Mood 1")


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"any": "thing"}, "matchingRules.0"),
        ({"exclude": {"Delay": 1}, "only": {"Mood": 1}}, "matchingRules.0"),
        ({"when": {"Delay": 1}}, "matchingRules.0"),
        ({"exclude": {}}, "matchingRules.0.exclude"),
        ({"exclude": ["Delay"]}, "matchingRules.0.exclude"),
        ({"exclude": {"Price": 1}}, "matchingRules.0.exclude.Price"),
        ({"only": {"Mood": 4}}, "matchingRules.0.only.Mood"),
        ({"only": {"Mood": []}}, "matchingRules.0.only.Mood"),
        ({"only": {"Mood": True}}, "matchingRules.0.only.Mood"),
    ],
)
def test_an_invalid_rule_names_the_field(rule: dict[str, Any], field: str) -> None:
    content = Content(template="[Delay] [Mood]", dimensions=DIMENSIONS, matching_rules=(rule,))
    assert [issue.field for issue in content_errors(content)] == [field]
