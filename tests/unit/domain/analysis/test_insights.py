"""What is said about dimensions: of all targets together, or of the single ones that they divide."""

from dataclasses import replace

import pytest

from cupel_core.domain.analysis.dimensions import DimensionAnalysis, DimensionFigures, LevelEffect, Trend
from cupel_core.domain.analysis.insights import strongest_trend, without_effect
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval

NAMES = ("sim/steady", "sim/bold")
NO_EFFECT = LevelEffect(0.02, 0.5, 0.8, 0.8)
EFFECT = LevelEffect(0.6, 20.0, 0.001, 0.001)
FLAT = Trend(0.01, 0.05, 0.2, Interval(-0.4, 0.4), 0.9, 0.9)
RISING = Trend(0.42, 0.7, 0.1, Interval(0.2, 0.6), 0.0001, 0.0004)
LINE = Trend(1.0, 1.0, 0.0, Interval(1.0, 1.0), None, None)
NOTHING = DimensionFigures((), NO_EFFECT, FLAT)


def dimension(
    overall: DimensionFigures, *columns: DimensionFigures, name: str = "role", levels: tuple[float, ...] = (1.0, 2.0)
) -> DimensionAnalysis:
    return DimensionAnalysis(name, 30, levels, overall, columns or (NOTHING, NOTHING))


def trend_texts(*dimensions: DimensionAnalysis, metric: Metric = Metric.DECISION) -> list[str]:
    return [each.text for each in strongest_trend(dimensions, metric, NAMES)]


def unshown(*dimensions: DimensionAnalysis) -> list[str]:
    return [each.text for each in without_effect(dimensions)]


def test_a_trend_of_all_targets_names_none() -> None:
    found = dimension(replace(NOTHING, trend=RISING))
    assert trend_texts(found) == ["The mean rises by 0.42 points per level of role (r 0.70, p < 0.001)."]


def test_a_trend_of_a_single_target_is_named() -> None:
    found = dimension(NOTHING, replace(NOTHING, trend=RISING), NOTHING)
    assert trend_texts(found) == [
        "For sim/steady, the mean rises by 0.42 points per level of role (r 0.70, p < 0.001)."
    ]


def test_a_trend_of_pass_rates_is_in_percentage_points() -> None:
    falling = replace(RISING, slope=-0.052, correlation=-0.3, adjusted_p=0.0123)
    found = dimension(NOTHING, NOTHING, replace(NOTHING, trend=falling))
    assert trend_texts(found, metric=Metric.PASS_RATE) == [
        "For sim/bold, the pass rate falls by 5.2 percentage points per level of role (r −0.30, p 0.012)."
    ]


@pytest.mark.parametrize("levels", [(10.0, 20.0), (), (1.0, 1.5, 2.0)])
def test_a_step_of_scores_that_are_not_consecutive_is_no_level(levels: tuple[float, ...]) -> None:
    (text,) = trend_texts(dimension(replace(NOTHING, trend=RISING), levels=levels))
    assert "per unit of role" in text


def test_the_closest_trend_is_named_and_that_of_all_targets_among_equal_ones() -> None:
    closer = replace(RISING, correlation=-0.8, slope=-0.5)
    first = dimension(replace(NOTHING, trend=RISING), replace(NOTHING, trend=RISING), NOTHING)
    second = dimension(NOTHING, NOTHING, replace(NOTHING, trend=closer), name="stakes")
    assert trend_texts(first)[0].startswith("The mean rises")
    assert trend_texts(first, second)[0].startswith("For sim/bold, the mean falls by 0.50 points per level of stakes")


def test_answers_on_a_line_are_a_trend_if_the_levels_show_an_effect() -> None:
    on_line = replace(NOTHING, trend=LINE)
    assert trend_texts(dimension(NOTHING, on_line, NOTHING)) == []
    assert trend_texts(dimension(NOTHING, replace(on_line, effect=EFFECT), NOTHING)) == [
        "For sim/steady, the mean rises by 1.00 points per level of role (r 1.00, without exception)."
    ]


@pytest.mark.parametrize(
    "shown",
    [replace(NOTHING, effect=EFFECT), replace(NOTHING, trend=RISING), replace(NOTHING, trend=LINE)],
    ids=["levels", "trend", "line"],
)
@pytest.mark.parametrize("is_single", [True, False])
def test_no_effect_is_not_said_of_a_dimension_for_which_one_is_shown(shown: DimensionFigures, is_single: bool) -> None:
    found = dimension(NOTHING, shown, NOTHING) if is_single else dimension(shown)
    assert unshown(found, dimension(NOTHING, name="mood")) == ["No effect can be shown of mood."]


def test_nothing_is_said_of_a_dimension_that_was_not_tested() -> None:
    assert unshown(dimension(DimensionFigures((), LevelEffect(None, None, None), None))) == []
