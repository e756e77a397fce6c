"""`cupel.compare_results` compares evaluations in this process."""

import pytest

import cupel
from cupel.errors import UsageError
from cupel.in_process import Evaluation
from cupel_core.domain.analysis.cautions import ComparisonCaution
from cupel_core.domain.analysis.usage_samples import UsageMeasure
from cupel_core.domain.analysis.verdicts import ComparisonVerdict


def evaluated(rating: str, names: list[str] | None = None) -> Evaluation:
    scenarios = [
        {"name": name, "messages": [{"role": "user", "content": name}]}
        for name in names or [f"case {number}" for number in range(8)]
    ]
    definition = {"name": "ratings", "content": {"decision": {"pattern": "([1-5])"}}, "scenarios": scenarios}
    return cupel.evaluate(definition, [answering(rating)])


def answering(rating: str):
    def rate(messages):
        number = int(messages[-1]["content"].rpartition(" ")[2])
        return str(min(5, int(rating) + number % 2))

    return rate


def test_evaluations_are_compared_scenario_by_scenario():
    figures = cupel.compare_results(evaluated("1"), evaluated("4"), margin=0.5)
    row = figures.rows[0]
    assert (figures.common_scenarios, row.estimate.difference) == (8, 3)
    assert ComparisonCaution.NO_VARIATION in row.cautions


def test_equal_evaluations_of_few_scenarios_are_no_proof_of_equivalence():
    figures = cupel.compare_results(evaluated("2"), evaluated("2"))
    assert (figures.rows[0].verdict, figures.rows[0].estimate.difference) == (ComparisonVerdict.INCONCLUSIVE, 0)


def test_equal_evaluations_of_many_scenarios_are_equivalent():
    names = [f"case {number}" for number in range(60)]
    one, other = evaluated("2", names), evaluated("2", names)
    assert cupel.compare_results(one, other).rows[0].verdict is ComparisonVerdict.EQUIVALENT


def test_scenarios_are_matched_by_name():
    shifted = [f"case {number}" for number in range(3, 11)]
    figures = cupel.compare_results(evaluated("2"), evaluated("2", shifted))
    assert (figures.common_scenarios, figures.only_baseline, figures.only_comparison) == (5, 3, 3)
    assert figures.rows[0].estimate.difference == 0


def test_an_evaluation_is_not_compared_with_itself():
    one = evaluated("2")
    with pytest.raises(UsageError, match="comparison: is the same as the baseline"):
        cupel.compare_results(one, one)


def test_without_common_scenarios_it_is_refused():
    with pytest.raises(UsageError, match="share neither names nor dimension scores"):
        cupel.compare_results(evaluated("2"), evaluated("2", ["other 1", "other 2"]))


@pytest.mark.parametrize("alpha", [0.0005, 0.21, 0.0])
def test_a_level_beyond_its_range_is_refused(alpha: float):
    with pytest.raises(UsageError, match=r"alpha: must be from 0\.001 to 0\.2"):
        cupel.compare_results(evaluated("2"), evaluated("2"), alpha=alpha)


def test_an_unknown_metric_is_named():
    with pytest.raises(
        UsageError, match="'speed' is not one of DECISION, PASS_RATE, PASS_RATE_ERRORS_FAIL, OTHER_RATE"
    ):
        cupel.compare_results(evaluated("2"), evaluated("2"), metric="speed")


def test_a_margin_above_one_is_refused_of_a_rate():
    with pytest.raises(UsageError, match="margin: must be at most 1: PASS_RATE is a share"):
        cupel.compare_results(evaluated("2"), evaluated("2"), metric="pass_rate", margin=2)


def test_costs_and_times_in_this_process_are_paired_by_scenario():
    definition = {
        "name": "ratings",
        "content": {"decision": {"pattern": "([1-5])"}},
        "scenarios": [
            {"name": f"case {n}", "messages": [{"role": "user", "content": f"Rate case {n}."}]} for n in range(6)
        ],
    }
    figures = cupel.compare_results(*(cupel.evaluate(definition, [target]) for target in ("sim/steady", "sim/bold")))
    ratios = figures.rows[0].usage
    assert set(ratios) == set(UsageMeasure)
    assert all(ratio.estimate.scenarios + sum(ratio.left_out.values()) == 6 for ratio in ratios.values())


def test_targets_without_a_price_have_no_ratio_of_costs():
    cost = cupel.compare_results(evaluated("1"), evaluated("4")).rows[0].usage[UsageMeasure.COST]
    assert (cost.estimate.ratio, cost.verdict) == (None, ComparisonVerdict.NOT_COMPARABLE)
    assert sum(cost.left_out.values()) == 8
