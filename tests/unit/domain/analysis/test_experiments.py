import pytest

from cupel_core.domain.analysis.comparison import compare
from cupel_core.domain.analysis.comparison_document import figures_json
from cupel_core.domain.analysis.comparison_requests import ComparisonOptions
from cupel_core.domain.analysis.experiments import (
    Conclusion,
    ExpectedDirection,
    ExperimentDesign,
    experiment_rows,
    suggested_conclusion,
)
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from tests.compared_sides import side

RISE = (["1", "2", "1", "2", "1", "3"], ["2", "4", "3", "4", "2", "3"])
SAME = (["1", "2", "3", "4", "5", "1"] * 10, ["1", "2", "3", "4", "5", "1"] * 10)
LITTLE = (["2222", "3333", "4444"] * 200, ["2223", "3334", "4444"] * 200)
"""A difference of a sixth of a point, which is significant."""


def figures(before: list[str], after: list[str]):
    return figures_json(compare(side({"m": before}), side({"m": after}, "run_b"), ComparisonOptions()))


def test_p_values_are_adjusted_over_all_rows_of_the_experiment():
    once = experiment_rows([("run_1", "cmp_1", figures(*RISE))], 0.05)
    often = experiment_rows([(f"run_{n}", f"cmp_{n}", figures(*RISE)) for n in range(20)], 0.05)
    assert often[0].adjusted_p == pytest.approx(20 * once[0].adjusted_p)
    assert (once[0].verdict, often[0].verdict) == (ComparisonVerdict.HIGHER, ComparisonVerdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("direction", "answers", "conclusion"),
    [
        (ExpectedDirection.HIGHER, RISE, Conclusion.SUPPORTED),
        (ExpectedDirection.LOWER, RISE, Conclusion.REJECTED),
        (ExpectedDirection.HIGHER, SAME, Conclusion.INCONCLUSIVE),
        (ExpectedDirection.EQUIVALENT, LITTLE, Conclusion.SUPPORTED),
        (ExpectedDirection.EQUIVALENT, RISE, Conclusion.REJECTED),
        (ExpectedDirection.EQUIVALENT, (["1"] * 60, ["5"] * 59 + ["4"]), Conclusion.REJECTED),
        (ExpectedDirection.EQUIVALENT, SAME, Conclusion.SUPPORTED),
        (ExpectedDirection.HIGHER, (["1", "5", "3", "2", "4"], ["2", "3", "5", "1", "4"]), Conclusion.INCONCLUSIVE),
        (None, RISE, None),
    ],
)
def test_the_expectation_suggests_a_conclusion(direction, answers, conclusion):
    rows = experiment_rows([("run_1", "cmp_1", figures(*answers))], 0.05)
    assert suggested_conclusion(ExperimentDesign("h", direction=direction), rows) is conclusion


@pytest.mark.parametrize(
    ("direction", "effect", "conclusion"),
    [
        (ExpectedDirection.HIGHER, 0.1, Conclusion.SUPPORTED),
        (ExpectedDirection.HIGHER, 0.16, Conclusion.INCONCLUSIVE),
        (ExpectedDirection.HIGHER, 0.25, Conclusion.REJECTED),
        (ExpectedDirection.LOWER, 0.1, Conclusion.REJECTED),
        (ExpectedDirection.EQUIVALENT, 0.1, Conclusion.REJECTED),
    ],
)
def test_a_minimum_effect_is_what_the_difference_is_tested_against(direction, effect, conclusion):
    """The difference is 0.17, with an interval of 0.16 to 0.18."""
    design = ExperimentDesign("h", direction=direction, minimum_effect=effect)
    compared = compare(side({"m": LITTLE[0]}), side({"m": LITTLE[1]}, "run_b"), design.options)
    rows = experiment_rows([("run_1", "cmp_1", figures_json(compared))], 0.05)
    assert suggested_conclusion(design, rows) is conclusion


def test_an_expectation_may_be_about_one_target():
    rows = experiment_rows([("run_1", "cmp_1", figures(*RISE))], 0.05)
    assert suggested_conclusion(ExperimentDesign("h", direction=ExpectedDirection.HIGHER, target="n"), rows) is None
