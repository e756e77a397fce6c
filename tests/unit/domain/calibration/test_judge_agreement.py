"""Agreement of a judge with labels, against scikit-learn and statsmodels (tools/calibration_oracles.py)."""

import json
from random import Random
from typing import Any

import pytest

from cupel_core.domain.analysis.distributions import normal_quantile
from cupel_core.domain.calibration.judge_agreement import judge_agreement, kappa_interval
from cupel_core.domain.calibration.labels import (
    ConfusionCounts,
    LabelledShare,
    LabelledVerdict,
    WeightedOutcome,
    labelled_share,
)
from cupel_core.domain.statistics import wilson_interval
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "calibration.json").read_text())


def verdicts(pattern: str) -> list[LabelledVerdict]:
    """Each pair of characters is a verdict and a label: `+` passes, `-` fails, `?` is undecided or skipped."""
    values = {"+": True, "-": False, "?": None}
    pairs = pattern.split()
    return [LabelledVerdict(str(number), values[judge], values[label]) for number, (judge, label) in enumerate(pairs)]


@pytest.mark.parametrize("case", FROZEN["agreement"])
def test_figures_agree_with_scikit_learn(case: dict[str, Any]) -> None:
    labels = [
        LabelledVerdict(str(number), bool(judge), bool(label), weight=weight)
        for number, (judge, label, weight) in enumerate(zip(case["judge"], case["label"], case["weight"], strict=True))
    ]
    found = judge_agreement(labels)
    assert found.kappa == pytest.approx(case["kappa"], abs=1e-9)
    for name in ("sensitivity", "specificity", "pass_predictive_value", "fail_predictive_value"):
        assert getattr(found, name).share == pytest.approx(case[name], abs=1e-9)
    (both_failed, only_judge_passed), (only_label_passed, both_passed) = case["table"]
    total = both_failed + only_judge_passed + only_label_passed + both_passed
    assert found.judge_pass_rate == pytest.approx((both_passed + only_judge_passed) / total, abs=1e-9)
    assert found.label_pass_rate == pytest.approx((both_passed + only_label_passed) / total, abs=1e-9)


@pytest.mark.parametrize("case", FROZEN["proportions"])
def test_wilsons_interval_agrees_with_statsmodels(case: dict[str, Any]) -> None:
    found = wilson_interval(case["passed"], case["labels"], normal_quantile((1 + case["confidence"]) / 2))
    assert found == pytest.approx(case["wilson"], abs=1e-9)


def test_shares_have_their_numbers() -> None:
    found = judge_agreement(verdicts("++ ++ ++ +- -+ -- -- ?+ +?"))
    assert (found.labels, found.scenarios, found.skipped, found.undecided) == (7, 7, 1, 1)
    assert found.counts == ConfusionCounts(3, 1, 1, 2)
    assert found.sensitivity is not None
    assert (found.sensitivity.share, found.sensitivity.labels) == (0.75, 4)
    assert found.specificity is not None
    assert (found.specificity.share, found.specificity.labels) == (pytest.approx(2 / 3), 3)
    assert found.constant_accuracy == pytest.approx(4 / 7)


def test_a_constant_judge_has_no_kappa_and_a_high_ac1() -> None:
    found = judge_agreement(verdicts("++ " * 19 + "+-"))
    assert found.kappa == pytest.approx(0)
    assert found.ac1 is not None
    assert found.ac1 > 0.9
    assert found.agreement is not None
    assert found.agreement.share == found.constant_accuracy


def test_without_labels_nothing_is_said() -> None:
    found = judge_agreement(verdicts("+? ?+"))
    assert (found.labels, found.skipped, found.undecided) == (0, 1, 1)
    assert (found.kappa, found.agreement, found.kappa_interval) == (None, None, None)
    assert kappa_interval([]) is None


def test_only_passes_have_no_specificity_and_no_kappa() -> None:
    found = judge_agreement(verdicts("++ ++ ++"))
    assert (found.specificity, found.kappa, found.kappa_interval) == (None, None, None)


def test_a_judge_that_is_always_right_has_an_interval_with_a_width() -> None:
    found = judge_agreement(verdicts("++ " * 20 + "-- " * 10))
    assert found.kappa == 1
    assert found.kappa_interval is not None
    assert 0.6 < found.kappa_interval.low < 0.95
    assert found.kappa_interval.high == 1


def test_the_order_of_labels_does_not_matter() -> None:
    rng = Random(4)
    labels = [
        LabelledVerdict(str(number), rng.random() < 0.8, rng.random() < 0.8, weight=rng.choice((1.0, 4.0)))
        for number in range(300)
    ]
    shuffled = rng.sample(labels, len(labels))
    assert kappa_interval(labels) == kappa_interval(shuffled)


def test_many_kinds_of_scenarios_are_combined() -> None:
    rng = Random(5)
    labels = [
        LabelledVerdict(str(number), rng.random() < 0.8, rng.random() < 0.8, weight=1 + rng.random())
        for number in range(2_000)
    ]
    found, expected = kappa_interval(labels), judge_agreement(labels).kappa
    assert found is not None
    assert expected is not None
    assert found.low < expected < found.high
    assert found.high - found.low < 0.12


def test_unequal_weights_are_worth_fewer_labels() -> None:
    outcomes = [WeightedOutcome(str(number), number % 2 == 0, 1.0 if number < 10 else 3.0) for number in range(20)]
    found = labelled_share(outcomes)
    assert found is not None
    assert found.effective_labels == pytest.approx(40**2 / (10 + 90))


def test_equal_labels_of_a_scenario_are_worth_one() -> None:
    outcomes = [WeightedOutcome(str(number // 5), number // 5 % 2 == 0, 1.0) for number in range(100)]
    found = labelled_share(outcomes)
    assert found is not None
    assert (found.labels, found.scenarios) == (100, 20)
    assert found.effective_labels == pytest.approx(20, rel=0.05)
    independent = labelled_share([WeightedOutcome(str(number // 5), number % 2 == 0, 1.0) for number in range(100)])
    assert independent is not None
    assert independent.effective_labels > 60


def test_an_interval_uses_the_effective_labels() -> None:
    wide, narrow = LabelledShare(0.8, 100, 20.0, 100), LabelledShare(0.8, 100, 100.0, 100)
    assert wide.interval().low < narrow.interval().low < 0.8 < narrow.interval().high < wide.interval().high
    assert narrow.interval(0.8).low > narrow.interval(0.95).low
