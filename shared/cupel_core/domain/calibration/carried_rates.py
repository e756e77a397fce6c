"""Carries the errors of a judge, measured in one run, to another run of the same judge, rubric and target.

Sensitivity and specificity stay the same if only the share of passes changes. They change with the kind of transcripts:
other targets, harder scenarios, longer answers. So each target has its own, and fresh labels of the other run test
whether they still hold.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import chi_squared_quantile, normal_quantile, normal_upper_tail
from cupel_core.domain.calibration.corrected_rates import (
    CorrectedRate,
    CorrectionMethod,
    Uncorrected,
    UncorrectedReason,
    judge_pass_rate,
)
from cupel_core.domain.calibration.labels import (
    LabelledShare,
    LabelledVerdict,
    ScenarioVerdicts,
    WeightedOutcome,
    labelled_share,
)
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, Proportion, Trials

MIN_FRESH_LABELS = 20
MIN_POOLED_TARGETS = 3
_TRANSPORT_ALPHA = 0.1
"""A true difference is missed more often than a false one is found, so the level is not 0.05."""
_LEAST_YOUDEN = 0.05
_POOLING_CONFIDENCE = 0.8


class JudgeErrors(NamedTuple):
    """Errors of a judge as labels show them. A verdict that the judge did not decide counts as not passed."""

    sensitivity: LabelledShare
    specificity: LabelledShare
    sensitivity_influences: Mapping[str, float]
    """Contributions to the error of the sensitivity, by scenario of the labels."""
    specificity_influences: Mapping[str, float]
    source: str = ""
    """Identifies the labels, so that two rates that were corrected with the same ones share their errors."""

    @property
    def youden(self) -> float:
        """Youden's index: sensitivity + specificity - 1. It is 0 for a judge that knows nothing."""
        return self.sensitivity.share + self.specificity.share - 1


class TransportTest(NamedTuple):
    """Compares a judge's errors in two runs; each p is None if one run has no label of that kind."""

    sensitivity_p: float | None
    specificity_p: float | None

    @property
    def p(self) -> float | None:
        """The smaller p, adjusted for two tests."""
        known = [p for p in self if p is not None]
        return min(1.0, len(known) * min(known)) if known else None

    @property
    def is_passed(self) -> bool:
        return self.p is None or self.p >= _TRANSPORT_ALPHA


def judge_errors(labels: Iterable[LabelledVerdict], source: str = "") -> JudgeErrors | None:
    """Measure sensitivity and specificity; None if there is no labelled pass or no labelled failure."""
    labelled = [each for each in labels if each.label is not None]
    passes = [WeightedOutcome(each.scenario, each.judge is True, each.weight) for each in labelled if each.label]
    failures = [
        WeightedOutcome(each.scenario, each.judge is not True, each.weight) for each in labelled if not each.label
    ]
    sensitivity, specificity = labelled_share(passes), labelled_share(failures)
    if sensitivity is None or specificity is None:
        return None
    return JudgeErrors(
        sensitivity,
        specificity,
        _influences(passes, sensitivity.share),
        _influences(failures, specificity.share),
        source,
    )


def transport_test(calibration: JudgeErrors, fresh: Iterable[LabelledVerdict]) -> TransportTest:
    """Test whether the fresh labels have the same sensitivity and specificity.

    The test is that of two proportions with the factor (n - 1)/n (Campbell 2007) and effective numbers of labels. With
    20 fresh labels it finds large differences only.
    """
    errors = [each for each in fresh if each.label is not None]
    found = judge_errors(errors)
    if found is not None:
        return TransportTest(
            _two_proportions_p(calibration.sensitivity, found.sensitivity),
            _two_proportions_p(calibration.specificity, found.specificity),
        )
    passed = labelled_share([WeightedOutcome(each.scenario, each.judge is each.label, each.weight) for each in errors])
    if passed is None:
        return TransportTest(None, None)
    if errors[0].label:
        return TransportTest(_two_proportions_p(calibration.sensitivity, passed), None)
    return TransportTest(None, _two_proportions_p(calibration.specificity, passed))


def carried_pass_rate(
    calibration: JudgeErrors,
    verdicts: Sequence[ScenarioVerdicts],
    fresh: Sequence[LabelledVerdict],
    confidence: float = 0.95,
    bound_confidence: float = 0.95,
) -> CorrectedRate | Uncorrected:
    """Correct the pass rate of a run with the errors that another run of the same judge and target showed.

    The rate is that of Rogan and Gladen (1978), cut to [0, 1], and the interval that of Lang and Reiczigel (2014).
    There is none with fewer than MIN_FRESH_LABELS fresh labels of this run, if `transport_test` rejects that the errors
    are the same, or if the judge says hardly more than chance. The fresh labels are used for the test alone.
    """
    labelled = [each for each in fresh if each.label is not None]

    def uncorrected(reason: UncorrectedReason) -> Uncorrected:
        return Uncorrected(reason, len(labelled), MIN_FRESH_LABELS)

    if not verdicts:
        return uncorrected(UncorrectedReason.NO_TRANSCRIPTS)
    if len({each.scenario for each in labelled}) < MIN_FRESH_LABELS:
        return uncorrected(UncorrectedReason.UNCALIBRATED_TARGET)
    if not transport_test(calibration, labelled).is_passed:
        return uncorrected(UncorrectedReason.CALIBRATION_DIFFERS)
    if calibration.youden < _LEAST_YOUDEN:
        return uncorrected(UncorrectedReason.USELESS_JUDGE)
    passes = Proportion()
    for each in verdicts:
        passes.add(Trials.of_share(each.transcripts, each.passed))
    judged = passes.mean or 0.0
    rate = min(1.0, max(0.0, (judged + calibration.specificity.share - 1) / calibration.youden))
    interval = lang_reiczigel_interval(judged, passes.effective_trials, calibration, confidence)
    return CorrectedRate(
        method=CorrectionMethod.CARRIED,
        rate=rate,
        interval=_including(interval, rate) if len(verdicts) >= MIN_SCENARIOS else None,
        interval_of_these=_including(lang_reiczigel_interval(judged, passes.answers, calibration, confidence), rate),
        judge_rate=judge_pass_rate(verdicts),
        labels=len(labelled),
        scenarios=len({each.scenario for each in labelled}),
        labels_only=labelled_share(
            [WeightedOutcome(each.scenario, bool(each.label), each.weight) for each in labelled]
        ),
        influences=_carried_influences(calibration, verdicts, judged, rate),
        confidence=confidence,
        lower_bound=_including(
            lang_reiczigel_interval(
                judged,
                passes.effective_trials if len(verdicts) >= MIN_SCENARIOS else passes.answers,
                calibration,
                2 * bound_confidence - 1,
            ),
            rate,
        ).low,
    )


def lang_reiczigel_interval(judged: float, trials: float, errors: JudgeErrors, confidence: float = 0.95) -> Interval:
    """Return the interval of a pass rate of which the judge let the share `judged` of `trials` pass.

    Lang and Reiczigel, "Confidence limits for prevalence of disease adjusted for estimated sensitivity and specificity"
    (2014, doi:10.1016/j.prevetmed.2013.09.015). It is [0, 1] if the judge says no more than chance.
    """
    z = normal_quantile((1 + confidence) / 2)
    n, n1, n0 = trials + z * z, errors.sensitivity.effective_labels + 2, errors.specificity.effective_labels + 2
    judged = (judged * trials + z * z / 2) / n
    sensitivity, specificity = (errors.sensitivity.successes + 1) / n1, (errors.specificity.successes + 1) / n0
    youden = sensitivity + specificity - 1
    if youden <= 0:
        return Interval(0.0, 1.0)
    rate = (judged + specificity - 1) / youden
    of_sensitivity = sensitivity * (1 - sensitivity) / n1
    of_specificity = specificity * (1 - specificity) / n0
    variance = judged * (1 - judged) / n + rate * rate * of_sensitivity + (1 - rate) ** 2 * of_specificity
    center = rate + 2 * z * z * (rate * of_sensitivity - (1 - rate) * of_specificity)
    reach = z * sqrt(variance) / youden
    return Interval(min(1.0, max(0.0, center - reach)), max(0.0, min(1.0, center + reach)))


def pooled_errors(by_target: Mapping[str, JudgeErrors]) -> dict[str, JudgeErrors]:
    """Move the errors for each target towards those for the other targets, as far as the targets are alike.

    A share gets as many labels of the other targets' mean as a beta distribution of the targets' true shares would have
    (empirical Bayes), but never more than the target's own. The variance between targets is an upper 80 % bound,
    because few targets say little about it. Fewer than MIN_POOLED_TARGETS targets are not pooled.
    """
    if len(by_target) < MIN_POOLED_TARGETS:
        return dict(by_target)
    targets = sorted(by_target)
    sensitivities = _pooled([by_target[target].sensitivity for target in targets])
    specificities = _pooled([by_target[target].specificity for target in targets])
    return {
        target: by_target[target]._replace(sensitivity=sensitivity, specificity=specificity)
        for target, sensitivity, specificity in zip(targets, sensitivities, specificities, strict=True)
    }


def _pooled(shares: Sequence[LabelledShare]) -> list[LabelledShare]:
    weights = [each.effective_labels for each in shares]
    total, successes = fsum(weights), fsum(each.successes for each in shares)
    mean = successes / total
    variance = max(mean * (1 - mean), 0.5 / (total + 1))
    spread = fsum(each.effective_labels * (each.share - mean) ** 2 for each in shares) / variance
    by_chance = chi_squared_quantile(1 - _POOLING_CONFIDENCE, len(shares) - 1)
    between = max(0.0, spread - by_chance) * variance / (total - fsum(weight * weight for weight in weights) / total)
    prior = max(0.0, variance / between - 1) if between else total
    result = []
    for each in shares:
        others = (successes - each.successes) / (total - each.effective_labels)
        added = min(prior, each.effective_labels, total - each.effective_labels)
        labels = each.effective_labels + added
        result.append(each._replace(share=(each.successes + added * others) / labels, effective_labels=labels))
    return result


def _two_proportions_p(one: LabelledShare, other: LabelledShare) -> float:
    labels = one.effective_labels + other.effective_labels
    pooled = (one.successes + other.successes) / labels
    variance = pooled * (1 - pooled) * (1 / one.effective_labels + 1 / other.effective_labels)
    if variance <= _ROUNDING:
        return 1.0
    distance = abs(one.share - other.share) / sqrt(variance) * sqrt((labels - 1) / labels)
    return 2 * normal_upper_tail(distance)


def _carried_influences(
    calibration: JudgeErrors, verdicts: Sequence[ScenarioVerdicts], judged: float, rate: float
) -> dict[str, float]:
    youden = calibration.youden
    result = {each.scenario: (each.passed / each.transcripts - judged) / (len(verdicts) * youden) for each in verdicts}
    for scenario, influence in calibration.sensitivity_influences.items():
        result[f"{calibration.source}/{scenario}"] = -rate * influence / youden
    for scenario, influence in calibration.specificity_influences.items():
        key = f"{calibration.source}/{scenario}"
        result[key] = result.get(key, 0.0) + (1 - rate) * influence / youden
    return result


def _influences(outcomes: Sequence[WeightedOutcome], share: float) -> dict[str, float]:
    total, result = fsum(each.weight for each in outcomes), dict[str, float]()
    for each in outcomes:
        result[each.scenario] = result.get(each.scenario, 0.0) + each.weight * (each.value - share) / total
    return result


def _including(interval: Interval, rate: float) -> Interval:
    return Interval(min(interval.low, rate), max(interval.high, rate))


_ROUNDING = 1e-12
