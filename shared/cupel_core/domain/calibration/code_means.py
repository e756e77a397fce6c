"""Corrects the mean of a judge's codes 1-5 by labels that are codes too."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.calibration.corrected_rates import Uncorrected, UncorrectedReason
from cupel_core.domain.statistics import CODE_LIMITS, Interval

MIN_CODED_SCENARIOS = 30
"""The interval by Student's t misses too often if there are fewer."""


class LabelledCode(NamedTuple):
    """A judge's code of a transcript, and that of a person."""

    scenario: str
    judge: float
    label: float
    weight: float = 1.0
    """1/π, where π is the probability with which the transcript was drawn."""


class ScenarioCodes(NamedTuple):
    """Codes that the judge gave to all transcripts of a scenario."""

    scenario: str
    codes: tuple[float, ...]


class PredictedMean(NamedTuple):
    """A prediction-powered mean with the parts of its variance."""

    mean: float
    tuning: float
    """Weight of the judge's codes, between 0 (they are not used) and 1."""
    prediction_variance: float
    label_variance: float
    covariance: float
    """Covariance of both parts, which have scenarios in common."""


class CorrectedMean(NamedTuple):
    mean: float
    interval: Interval
    standard_error: float
    judge_mean: float
    labels_only_mean: float
    labels_only_interval: Interval
    tuning: float
    labels: int
    scenarios: int


class CodedScenario(NamedTuple):
    """A scenario with labels: the means of its labels, and of the judge's codes of the same transcripts."""

    scenario: str
    label: float
    judge: float
    weight: float


def corrected_code_mean(
    labels: Sequence[LabelledCode], codes: Sequence[ScenarioCodes], confidence: float = 0.95
) -> CorrectedMean | Uncorrected:
    """Correct the mean of the judge's codes over a run, each scenario once.

    From MIN_CODED_SCENARIOS labelled scenarios on, it is the estimate of PPI++ (Angelopoulos, Duchi and Zrnic 2023,
    arXiv:2311.01453), with Student's t for the number of labelled scenarios, which are the units. Otherwise there is
    none.
    """
    coded = {each.scenario: fsum(each.codes) / len(each.codes) for each in codes if each.codes}
    units = _units(labels, {each.scenario: len(each.codes) for each in codes})
    if not coded:
        return Uncorrected(UncorrectedReason.NO_TRANSCRIPTS, len(labels), MIN_CODED_SCENARIOS)
    if len(units) < MIN_CODED_SCENARIOS:
        return Uncorrected(UncorrectedReason.TOO_FEW_LABELS, len(labels), MIN_CODED_SCENARIOS)
    found = predicted_mean(units, coded)
    labels_only = predicted_mean(units, coded, tuning=0.0)
    t = t_quantile((1 + confidence) / 2, len(units) - 1)
    error = sqrt(max(0.0, found.prediction_variance + found.label_variance + 2 * found.covariance))
    return CorrectedMean(
        mean=min(CODE_LIMITS.high, max(CODE_LIMITS.low, found.mean)),
        interval=_cut(found.mean, t * error),
        standard_error=error,
        judge_mean=fsum(coded.values()) / len(coded),
        labels_only_mean=labels_only.mean,
        labels_only_interval=_cut(labels_only.mean, t * sqrt(labels_only.label_variance)),
        tuning=found.tuning,
        labels=len(labels),
        scenarios=len(units),
    )


def predicted_mean(
    units: Sequence[CodedScenario], coded: Mapping[str, float], tuning: float | None = None
) -> PredictedMean:
    """Return the mean λ·F + (Y - λ·F of the labelled), where F are the judge's codes and Y the labels.

    λ is that of the authors' `ppi_mean_ci`, which takes labelled and other scenarios for two samples. Here the labelled
    scenarios are among all, so the covariance of both parts is added to the variance.
    """
    total, number, everything = fsum(each.weight for each in units), len(units), list(coded.values())
    weights = [each.weight / total * number for each in units]
    judge_mean = fsum(everything) / len(everything)
    if tuning is None:
        tuning = _tuning(units, weights, everything)
    residuals = [weight * (each.label - tuning * each.judge) for weight, each in zip(weights, units, strict=True)]
    shift = fsum(residuals) / number
    centered = [
        weight * (each.label - tuning * each.judge - shift) for weight, each in zip(weights, units, strict=True)
    ]
    covariance = fsum(
        tuning * (coded[each.scenario] - judge_mean) / len(everything) * own / number
        for own, each in zip(centered, units, strict=True)
    )
    return PredictedMean(
        mean=tuning * judge_mean + shift,
        tuning=tuning,
        prediction_variance=tuning**2 * _variance(everything) / len(everything),
        label_variance=fsum(each * each for each in centered) / (number * (number - 1)),
        covariance=covariance,
    )


def _tuning(units: Sequence[CodedScenario], weights: Sequence[float], everything: Sequence[float]) -> float:
    """Return the authors' estimate of the λ with the least variance."""
    number, judge_mean = len(units), fsum(everything) / len(everything)
    start = (
        judge_mean
        + fsum(weight * (each.label - each.judge) for weight, each in zip(weights, units, strict=True)) / number
    )
    of_labels = [weight * (each.label - start) for weight, each in zip(weights, units, strict=True)]
    of_judge = [weight * (each.judge - start) for weight, each in zip(weights, units, strict=True)]
    means = fsum(of_labels) / number, fsum(of_judge) / number
    covariance = (
        fsum((label - means[0]) * (judge - means[1]) for label, judge in zip(of_labels, of_judge, strict=True)) / number
    )
    both = [*of_judge, *(code - start for code in everything)]
    variance = _variance(both) * len(both) / (len(both) - 1)
    if not variance:
        return 0.0
    return min(1.0, max(0.0, covariance / ((1 + number / len(everything)) * variance)))


def _variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((each - mean) ** 2 for each in values) / len(values)


def _units(labels: Iterable[LabelledCode], transcripts: Mapping[str, int]) -> list[CodedScenario]:
    """Average the labels of each scenario; a scenario counts once, however many transcripts it has."""
    by_scenario: defaultdict[str, list[LabelledCode]] = defaultdict(list)
    for each in labels:
        by_scenario[each.scenario].append(each)
    units = []
    for scenario, own in by_scenario.items():
        weight = fsum(each.weight for each in own)
        label = fsum(each.weight * each.label for each in own) / weight
        judge = fsum(each.weight * each.judge for each in own) / weight
        units.append(CodedScenario(scenario, label, judge, weight / transcripts[scenario]))
    return units


def _cut(mean: float, reach: float) -> Interval:
    return Interval(
        min(CODE_LIMITS.high, max(CODE_LIMITS.low, mean - reach)),
        max(CODE_LIMITS.low, min(CODE_LIMITS.high, mean + reach)),
    )
