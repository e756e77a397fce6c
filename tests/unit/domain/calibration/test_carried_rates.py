"""Errors of a judge that are carried from one run to another."""

from random import Random

import pytest

from cupel_core.domain.calibration.carried_rates import (
    JudgeErrors,
    carried_pass_rate,
    judge_errors,
    lang_reiczigel_interval,
    pooled_errors,
    transport_test,
)
from cupel_core.domain.calibration.corrected_rates import (
    CorrectedRate,
    CorrectionMethod,
    Uncorrected,
    UncorrectedReason,
)
from cupel_core.domain.calibration.labels import LabelledShare, LabelledVerdict, ScenarioVerdicts


def labels(right_passes: int, wrong_passes: int, right_failures: int, wrong_failures: int) -> list[LabelledVerdict]:
    """Labelled passes that the judge gets right and wrong, then labelled failures."""
    cells = [(True, True)] * right_passes + [(False, True)] * wrong_passes
    cells += [(False, False)] * right_failures + [(True, False)] * wrong_failures
    return [LabelledVerdict(f"l{number}", *cell) for number, cell in enumerate(cells)]


def errors(*counts: int, source: str = "run_a") -> JudgeErrors:
    found = judge_errors(labels(*counts), source)
    assert found is not None
    return found


def verdicts(passed: int, failed: int) -> list[ScenarioVerdicts]:
    cells = [(1, 0)] * passed + [(0, 1)] * failed
    return [ScenarioVerdicts(str(number), *cell) for number, cell in enumerate(cells)]


GOOD = (76, 4, 18, 2)
"""Sensitivity 0.95 of 80 labels, specificity 0.9 of 20."""


def test_sensitivity_and_specificity() -> None:
    found = errors(*GOOD)
    assert (found.sensitivity.share, found.specificity.share) == (0.95, 0.9)
    assert found.youden == pytest.approx(0.85)
    assert judge_errors(labels(5, 1, 0, 0)) is None


def test_an_undecided_verdict_counts_as_not_passed() -> None:
    found = judge_errors([*labels(3, 0, 1, 0), LabelledVerdict("a", None, True), LabelledVerdict("b", None, False)])
    assert found is not None
    assert (found.sensitivity.share, found.specificity.share) == (0.75, 1.0)


def test_the_rate_is_that_of_rogan_and_gladen() -> None:
    """Of 0.8·0.95 + 0.2·0.1 = 0.78 passes by the judge, 0.8 are true."""
    found = carried_pass_rate(errors(*GOOD), verdicts(780, 220), labels(19, 1, 5, 0))
    assert isinstance(found, CorrectedRate)
    assert found.method is CorrectionMethod.CARRIED
    assert found.rate == pytest.approx(0.8)
    assert found.interval is not None
    assert found.interval.low < 0.8 < found.interval.high
    assert found.judge_rate == pytest.approx(0.78)


def test_the_interval_of_lang_and_reiczigel() -> None:
    """By hand: z² = 3.84146, judged rate 0.778929, sensitivity 77/82, specificity 19/22, rate 0.800543, shift
    -0.003909, reach 0.070433."""
    assert lang_reiczigel_interval(0.78, 1_000, errors(*GOOD)) == pytest.approx((0.7262, 0.8671), abs=0.0001)


def test_a_judge_that_knows_nothing_has_the_whole_interval() -> None:
    assert lang_reiczigel_interval(0.5, 100, errors(10, 10, 10, 10)) == (0, 1)
    found = carried_pass_rate(errors(10, 10, 10, 10), verdicts(50, 50), labels(10, 10, 5, 5))
    assert found == Uncorrected(UncorrectedReason.USELESS_JUDGE, 30, 20)


def test_too_few_fresh_labels_leave_the_target_uncalibrated() -> None:
    found = carried_pass_rate(errors(*GOOD), verdicts(78, 22), labels(14, 1, 4, 0))
    assert found == Uncorrected(UncorrectedReason.UNCALIBRATED_TARGET, 19, 20)


def test_fresh_labels_that_contradict_refuse_the_calibration() -> None:
    found = carried_pass_rate(errors(*GOOD), verdicts(78, 22), labels(15, 10, 2, 8))
    assert found == Uncorrected(UncorrectedReason.CALIBRATION_DIFFERS, 35, 20)


def test_without_transcripts_there_is_no_rate() -> None:
    assert carried_pass_rate(errors(*GOOD), [], []) == Uncorrected(UncorrectedReason.NO_TRANSCRIPTS, 0, 20)


def test_a_kind_of_label_that_is_missing_is_not_tested() -> None:
    only_passes = transport_test(errors(*GOOD), labels(19, 1, 0, 0))
    assert only_passes.specificity_p is None
    assert only_passes.sensitivity_p == pytest.approx(1.0)
    only_failures = transport_test(errors(*GOOD), labels(0, 0, 4, 16))
    assert only_failures.sensitivity_p is None
    assert not only_failures.is_passed
    assert transport_test(errors(*GOOD), []).is_passed


def test_targets_alike_are_pooled_and_others_stay_apart() -> None:
    alike = pooled_errors({name: errors(18, 2, 9, 1) for name in "abc"})
    assert alike["a"].sensitivity.effective_labels == pytest.approx(40)
    assert alike["a"].sensitivity.share == pytest.approx(0.9)
    apart = pooled_errors({"a": errors(19, 1, 9, 1), "b": errors(10, 10, 9, 1), "c": errors(2, 18, 9, 1)})
    assert apart["a"].sensitivity.share == pytest.approx(0.95, abs=0.06)
    assert apart["a"].sensitivity.effective_labels < 23


def test_two_targets_are_not_pooled() -> None:
    given = {"a": errors(18, 2, 9, 1), "b": errors(18, 2, 9, 1)}
    assert pooled_errors(given) == given


def test_weights_undo_the_oversampling_of_failures() -> None:
    """A tenth of the judge's passes and all of its failures are labelled."""
    rng, drawn = Random(1), []
    for number in range(20_000):
        label = rng.random() < 0.9
        judge = rng.random() < (0.9 if label else 0.2)
        if not judge or rng.random() < 0.1:
            drawn.append(LabelledVerdict(str(number), judge, label, weight=10.0 if judge else 1.0))
    found = judge_errors(drawn)
    assert found is not None
    assert found.sensitivity.share == pytest.approx(0.9, abs=0.01)
    unweighted = judge_errors([each._replace(weight=1.0) for each in drawn])
    assert unweighted is not None
    assert unweighted.sensitivity.share < 0.6


def test_shares_have_intervals_of_their_own() -> None:
    assert isinstance(errors(*GOOD).sensitivity, LabelledShare)
    assert errors(*GOOD).sensitivity.interval().high < 1
