"""Corrected means of codes, against the authors' ppi-python (tools/calibration_oracles.py)."""

import json
from math import sqrt
from random import Random
from typing import Any

import pytest

from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.calibration.code_means import (
    CorrectedMean,
    LabelledCode,
    ScenarioCodes,
    corrected_code_mean,
    predicted_mean,
)
from cupel_core.domain.calibration.corrected_rates import Uncorrected, UncorrectedReason
from cupel_core.domain.statistics import Z_95
from tests.oracles import FROZEN_FOLDER

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "calibration.json").read_text())


def labelled(case: dict[str, Any]) -> list[LabelledCode]:
    rows = zip(case["judge"], case["label"], case["weight"], strict=False)
    return [LabelledCode(str(number), *row) for number, row in enumerate(rows)]


def judged(case: dict[str, Any]) -> dict[str, float]:
    return {str(number): float(code) for number, code in enumerate(case["judge"])}


@pytest.mark.parametrize("case", FROZEN["codes"])
def test_the_mean_and_its_tuning_agree_with_ppi_python(case: dict[str, Any]) -> None:
    found = predicted_mean(labelled(case), judged(case))
    assert found.mean == pytest.approx(case["mean"], abs=1e-9)
    assert found.tuning == pytest.approx(case["tuning"], abs=1e-9)


@pytest.mark.parametrize("case", [each for each in FROZEN["codes"] if set(each["weight"]) == {1.0}])
def test_the_parts_of_the_variance_agree_with_ppi_python(case: dict[str, Any]) -> None:
    """The authors divide the labels' squares by n instead of n - 1, use z instead of t, and add no covariance. With
    weights, they take the weighted values as they are, where the mean of weights is fixed here."""
    found, labels = predicted_mean(labelled(case), judged(case)), len(case["label"])
    reach = Z_95 * sqrt(found.prediction_variance + found.label_variance * (labels - 1) / labels)
    assert (found.mean - reach, found.mean + reach) == pytest.approx(case["interval"], abs=1e-9)


@pytest.mark.parametrize("case", FROZEN["codes"])
def test_the_interval_is_students_with_the_covariance(case: dict[str, Any]) -> None:
    codes = [ScenarioCodes(scenario, (code,)) for scenario, code in judged(case).items()]
    found, parts = corrected_code_mean(labelled(case), codes), predicted_mean(labelled(case), judged(case))
    assert isinstance(found, CorrectedMean)
    variance = parts.prediction_variance + parts.label_variance + 2 * parts.covariance
    reach = t_quantile(0.975, len(case["label"]) - 1) * sqrt(variance)
    assert found.interval == pytest.approx((found.mean - reach, found.mean + reach), abs=1e-9)
    assert found.standard_error == pytest.approx(sqrt(variance))


def codes_of(scenarios: int, noise: float) -> tuple[list[LabelledCode], list[ScenarioCodes]]:
    rng = Random(3)
    true = [rng.choice((1, 2, 3, 4, 5)) for _ in range(scenarios)]
    codes = [
        ScenarioCodes(str(at), (float(min(5, max(1, round(each + rng.gauss(0, noise))))),))
        for at, each in enumerate(true)
    ]
    return [LabelledCode(each.scenario, each.codes[0], label) for each, label in zip(codes, true, strict=True)], codes


def test_a_good_judge_makes_the_interval_narrower() -> None:
    labels, codes = codes_of(300, 0.4)
    found = corrected_code_mean(labels[:40], codes)
    assert isinstance(found, CorrectedMean)
    alone = found.labels_only_interval
    assert found.interval.high - found.interval.low < 0.6 * (alone.high - alone.low)
    assert found.tuning > 0.7


def test_all_labelled_has_the_mean_of_the_labels() -> None:
    labels, codes = codes_of(50, 1.0)
    found = corrected_code_mean(labels, codes)
    assert isinstance(found, CorrectedMean)
    assert found.mean == pytest.approx(found.labels_only_mean)
    assert found.interval == pytest.approx(found.labels_only_interval, abs=0.02)


def test_a_judge_that_always_says_the_same_is_not_used() -> None:
    labels = [LabelledCode(str(number), 3.0, float(number % 5 + 1)) for number in range(40)]
    codes = [ScenarioCodes(str(number), (3.0,)) for number in range(80)]
    found = corrected_code_mean(labels, codes)
    assert isinstance(found, CorrectedMean)
    assert (found.tuning, found.mean) == (0, pytest.approx(3))


def test_labels_of_one_scenario_are_one_unit() -> None:
    labels, codes = codes_of(60, 0.4)
    found = corrected_code_mean(
        [*labels[:29], *labels[:29]], [ScenarioCodes(each.scenario, each.codes * 2) for each in codes]
    )
    assert found == Uncorrected(UncorrectedReason.TOO_FEW_LABELS, 58, 30)


def test_without_transcripts_there_is_no_mean() -> None:
    assert corrected_code_mean([], []) == Uncorrected(UncorrectedReason.NO_TRANSCRIPTS, 0, 30)
