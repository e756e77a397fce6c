"""Corrected pass rates."""

import json
from random import Random
from typing import Any

import pytest

from cupel_core.domain.calibration.corrected_rates import (
    CorrectedRate,
    CorrectionMethod,
    Uncorrected,
    UncorrectedReason,
    corrected_pass_rate,
    skip_bounds,
)
from cupel_core.domain.calibration.labels import LabelledVerdict, ScenarioVerdicts
from cupel_core.domain.calibration.posteriors import StratumPosterior, central_interval, draw_rates_of_these
from tests.oracles import FROZEN_FOLDER
from tests.statistics.calibrations import JudgedSetting, corrected_coverage, judged_run

FROZEN: dict[str, list[dict[str, Any]]] = json.loads((FROZEN_FOLDER / "calibration.json").read_text())


def single_verdicts(passed: int, failed: int, undecided: int = 0) -> list[ScenarioVerdicts]:
    """Scenarios with one transcript each; those that passed come first."""
    cells = [(1, 0, 0)] * passed + [(0, 1, 0)] * failed + [(0, 0, 1)] * undecided
    return [ScenarioVerdicts(str(number), *cell) for number, cell in enumerate(cells)]


def labelled(judge: bool | None, first: int, *labels: bool | None) -> list[LabelledVerdict]:
    return [LabelledVerdict(str(first + place), judge, label) for place, label in enumerate(labels)]


def corrected(labels: list[LabelledVerdict], verdicts: list[ScenarioVerdicts]) -> CorrectedRate:
    found = corrected_pass_rate(labels, verdicts)
    assert isinstance(found, CorrectedRate)
    return found


def test_the_rate_weights_the_labels_of_each_verdict() -> None:
    """Of 80 passes, 9 of 10 labels are passes; of 20 failures, 3 of 10."""
    labels = labelled(True, 0, *[True] * 9, False) + labelled(False, 80, *[True] * 3, *[False] * 7)
    found = corrected(labels, single_verdicts(80, 20))
    assert found.method is CorrectionMethod.POST_STRATIFIED
    assert found.rate == pytest.approx(0.8 * 0.9 + 0.2 * 0.3)
    assert found.judge_rate == 0.8
    assert found.interval is not None
    assert found.interval.low < found.interval_of_these.low < found.rate
    assert found.rate < found.interval_of_these.high < found.interval.high
    assert found.standard_error == pytest.approx(0.086, abs=0.01)


@pytest.mark.parametrize("case", FROZEN["proportions"])
def test_one_verdict_has_the_interval_of_jeffreys(case: dict[str, Any]) -> None:
    """With 40,000 draws, the quantiles are within 0.004 of those of statsmodels."""
    share = case["passed"] / case["labels"]
    drawn = draw_rates_of_these([StratumPosterior(1.0, share, case["labels"], unlabelled=10**9)], draws=40_000)
    found = central_interval(drawn, share, case["confidence"])
    low, high = case["jeffreys"]
    assert found == pytest.approx((min(low, share), max(high, share)), abs=0.004)


def test_all_labelled_has_no_sampling_error() -> None:
    labels = labelled(True, 0, *[True] * 25, *[False] * 5) + labelled(False, 30, *[True] * 2, *[False] * 8)
    found = corrected(labels, single_verdicts(30, 10))
    assert found.method is CorrectionMethod.ALL_LABELLED
    assert found.rate == pytest.approx(27 / 40)
    assert found.interval_of_these == pytest.approx((found.rate, found.rate))
    assert found.interval is not None
    assert found.labels_only is not None
    alone = found.labels_only.interval()
    assert found.interval == pytest.approx(alone, abs=0.03)


def test_few_transcripts_need_no_least_number_if_all_are_labelled() -> None:
    found = corrected(labelled(True, 0, True, True, False), single_verdicts(3, 0))
    assert (found.method, found.interval) == (CorrectionMethod.ALL_LABELLED, None)


@pytest.mark.parametrize(
    ("labels", "verdicts", "reason", "verdict"),
    [
        ([], [], UncorrectedReason.NO_TRANSCRIPTS, None),
        (labelled(True, 0, *[True] * 19), single_verdicts(40, 10), UncorrectedReason.TOO_FEW_LABELS, None),
        (labelled(True, 0, *[True] * 20), single_verdicts(40, 10), UncorrectedReason.UNLABELLED_VERDICT, False),
        (labelled(True, 0, *[True] * 20), single_verdicts(40, 0, 1), UncorrectedReason.UNLABELLED_VERDICT, None),
    ],
)
def test_what_cannot_be_corrected_has_a_reason(
    labels: list[LabelledVerdict], verdicts: list[ScenarioVerdicts], reason: UncorrectedReason, verdict: bool | None
) -> None:
    found = corrected_pass_rate(labels, verdicts)
    assert isinstance(found, Uncorrected)
    assert (found.reason, found.verdict) == (reason, verdict)


def test_undecided_transcripts_are_a_stratum() -> None:
    labels = labelled(True, 0, *[True] * 20) + labelled(None, 40, True, False, False, False)
    found = corrected(labels, single_verdicts(40, 0, 10))
    assert found.rate == pytest.approx(0.8 + 0.2 * 0.25)
    assert found.judge_rate == 1


def test_labels_of_unknown_transcripts_are_refused() -> None:
    with pytest.raises(ValueError, match="more labels than transcripts"):
        corrected_pass_rate(labelled(False, 0, True), single_verdicts(30, 10))


def test_each_scenario_counts_once_however_many_transcripts_it_has() -> None:
    verdicts = [ScenarioVerdicts("many", 0, 50), *(ScenarioVerdicts(str(number), 1, 0) for number in range(49))]
    labels = [LabelledVerdict("many", False, False), *labelled(True, 0, *[True] * 20)]
    found = corrected(labels, verdicts)
    assert found.rate == pytest.approx(49 / 50)


def test_labels_of_one_scenario_make_the_interval_wider() -> None:
    setting = JudgedSetting(100, 0.7, 0.9, 0.8, scenarios=200, repeats=5, correlation=0.9)
    rng = Random(6)
    run = judged_run(setting, rng)
    spread = corrected(run.drawn(100, rng), run.verdicts)
    whole = corrected(run.whole_scenarios(20, rng), run.verdicts)
    assert spread.interval is not None
    assert whole.interval is not None
    width = spread.interval.high - spread.interval.low
    assert whole.interval.high - whole.interval.low > 1.3 * width


def test_skips_bound_the_rate() -> None:
    labels = labelled(True, 0, *[True] * 20, None, None) + labelled(False, 80, *[False] * 10, None)
    verdicts = single_verdicts(80, 20)
    found = skip_bounds(labels, verdicts)
    assert found is not None
    assert (found.skipped, found.skip_rate) == (3, pytest.approx(3 / 33))
    low, high = found.skips_as_failures, found.skips_as_passes
    assert isinstance(low, CorrectedRate)
    assert isinstance(high, CorrectedRate)
    assert low.rate < corrected(labels, verdicts).rate < high.rate
    assert skip_bounds(labels[:20], verdicts) is None


def test_the_same_labels_give_the_same_interval() -> None:
    labels = labelled(True, 0, *[True] * 18, False, False) + labelled(False, 80, True, *[False] * 9)
    first = corrected(labels, single_verdicts(80, 20))
    assert first == corrected(labels[::-1], single_verdicts(80, 20))


def test_a_biased_judge_misses_and_the_corrected_interval_holds() -> None:
    """A small sample of `make statistics`."""
    setting = JudgedSetting(60, 0.8, 0.8, 0.7, scenarios=120)
    assert corrected_coverage(setting, 60, 7).of_rate > 0.85
    run = judged_run(setting, Random(8))
    found = corrected(run.drawn(60, Random(9)), run.verdicts)
    assert found.judge_rate is not None
    assert found.judge_rate < 0.75
