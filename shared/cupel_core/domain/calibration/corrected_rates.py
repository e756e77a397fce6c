"""Corrects the pass rate of a judge for its errors, as labels of the same run show them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from math import fsum, sqrt
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.calibration.labels import (
    LabelledShare,
    LabelledVerdict,
    ScenarioVerdicts,
    WeightedOutcome,
    cluster_effect,
    labelled_share,
)
from cupel_core.domain.calibration.posteriors import (
    DRAWS,
    StratumPosterior,
    central_interval,
    draw_rates,
    draw_rates_of_these,
)
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, Proportion, Trials

MIN_LABELLED_SCENARIOS = 20
VERDICTS = (True, False, None)
"""The judge's verdicts, each of which is a stratum: passed, failed, undecided."""


class CorrectionMethod(StrEnum):
    POST_STRATIFIED = "POST_STRATIFIED"
    ALL_LABELLED = "ALL_LABELLED"
    CARRIED = "CARRIED"
    """Sensitivity and specificity come from another run of the same judge and target."""


class UncorrectedReason(StrEnum):
    NO_TRANSCRIPTS = "NO_TRANSCRIPTS"
    TOO_FEW_LABELS = "TOO_FEW_LABELS"
    UNLABELLED_VERDICT = "UNLABELLED_VERDICT"
    UNCALIBRATED_TARGET = "UNCALIBRATED_TARGET"
    CALIBRATION_DIFFERS = "CALIBRATION_DIFFERS"
    USELESS_JUDGE = "USELESS_JUDGE"


_MESSAGES = {
    UncorrectedReason.NO_TRANSCRIPTS: "the judge decided no transcript",
    UncorrectedReason.TOO_FEW_LABELS: "at least {needed} scenarios need a label",
    UncorrectedReason.UNLABELLED_VERDICT: "no transcript of one of the judge's verdicts has a label",
    UncorrectedReason.UNCALIBRATED_TARGET: "labels of {needed} scenarios of this target are needed in both runs",
    UncorrectedReason.CALIBRATION_DIFFERS: "the labels of this run contradict the errors of the other one",
    UncorrectedReason.USELESS_JUDGE: "the judge hardly tells passes from failures",
}


class Uncorrected(NamedTuple):
    reason: UncorrectedReason
    labels: int
    needed: int
    """Number of labels, or of fresh labels, that the method needs."""
    verdict: bool | None = None
    """The verdict without a label, if that is the reason."""

    @property
    def message(self) -> str:
        return _MESSAGES[self.reason].format(needed=self.needed)


@dataclass(frozen=True)
class CorrectedRate:
    method: CorrectionMethod
    rate: float
    interval: Interval | None
    """Interval for scenarios like these; None for fewer than five scenarios."""
    interval_of_these: Interval
    """Interval for exactly these transcripts; without width if all of them are labelled."""
    judge_rate: float | None
    """Pass rate by the judge's decided verdicts, each scenario once."""
    labels: int
    scenarios: int
    labels_only: LabelledShare | None
    """Pass rate by the labels, without the judge's other verdicts."""
    influences: Mapping[str, float]
    """Contributions to the error of the rate, by scenario, or by label of another run. Two rates share the errors of
    what they have in common."""
    confidence: float = 0.95
    lower_bound: float | None = None
    """One-sided bound for scenarios like these; with fewer than five scenarios, for exactly these."""

    @property
    def standard_error(self) -> float:
        return sqrt(fsum(each * each for each in self.influences.values()))


class SkipBounds(NamedTuple):
    """Bounds for what the skipped transcripts would have been labelled: people skip some kinds of transcripts more
    often, so the labelled ones are no random sample."""

    skipped: int
    skip_rate: float
    """Share of skipped transcripts among those drawn for labelling, weighted by 1/π."""
    skips_as_failures: CorrectedRate | Uncorrected
    skips_as_passes: CorrectedRate | Uncorrected


def corrected_pass_rate(
    labels: Iterable[LabelledVerdict],
    verdicts: Sequence[ScenarioVerdicts],
    confidence: float = 0.95,
    draws: int = DRAWS,
    bound_confidence: float = 0.95,
) -> CorrectedRate | Uncorrected:
    """Correct the pass rate of one target of one run with labels of its own transcripts.

    The rate is Σ f·p over the judge's verdicts (passed, failed, undecided), where f is the share of transcripts with
    the verdict and p the share of passes among their labels. Each scenario counts once. The rule for the method does
    not depend on the labels' values:

    - If all transcripts have a label, the rate is that of the labels, and only scenarios like these are uncertain.
    - If MIN_LABELLED_SCENARIOS scenarios have a label, and so has each verdict that occurs, the rate is
      post-stratified: f has a Dirichlet and each p a beta posterior with Jeffreys' priors, and the interval is the
      middle part of seeded draws.
    - Otherwise there is no rate, but the reason.

    The labels are divided by a design effect in two parts. One is the correlation of labels that share a scenario. The
    other is the covariance between a scenario's verdicts and its labels' deviations from p, because both come from the
    same scenarios; it is 0 with one transcript per scenario.

    `confidence` is that of the intervals, and `bound_confidence` that of the lower bound.
    """
    strata = _Strata(labels, verdicts)
    if not verdicts:
        return Uncorrected(UncorrectedReason.NO_TRANSCRIPTS, len(strata.labels), MIN_LABELLED_SCENARIOS)
    if not strata.is_complete and strata.labelled_scenarios < MIN_LABELLED_SCENARIOS:
        return Uncorrected(UncorrectedReason.TOO_FEW_LABELS, len(strata.labels), MIN_LABELLED_SCENARIOS)
    for verdict in VERDICTS:
        if strata.shares[verdict] and not strata.of_verdict[verdict]:
            return Uncorrected(UncorrectedReason.UNLABELLED_VERDICT, 0, 1, verdict)
    rate, draws_of_these = strata.rate, [strata.rate]
    if not strata.is_complete:
        draws_of_these = draw_rates_of_these(strata.posteriors(strata.clustering), draws)
    interval, drawn = None, draws_of_these
    if len(verdicts) >= MIN_SCENARIOS:
        posteriors = strata.posteriors(strata.clustering + strata.covariance_effect)
        drawn = draw_rates(posteriors, strata.judge_passes.effective_trials, draws)
        interval = central_interval(drawn, rate, confidence)
    return CorrectedRate(
        method=CorrectionMethod.ALL_LABELLED if strata.is_complete else CorrectionMethod.POST_STRATIFIED,
        rate=rate,
        interval=interval,
        interval_of_these=central_interval(draws_of_these, rate, confidence),
        judge_rate=judge_pass_rate(verdicts),
        labels=len(strata.labels),
        scenarios=strata.labelled_scenarios,
        labels_only=labelled_share(
            [WeightedOutcome(each.scenario, bool(each.label), strata.weight(each)) for each in strata.labels]
        ),
        influences=strata.influences(),
        confidence=confidence,
        lower_bound=central_interval(drawn, rate, 2 * bound_confidence - 1).low,
    )


def skip_bounds(
    labels: Sequence[LabelledVerdict], verdicts: Sequence[ScenarioVerdicts], confidence: float = 0.95
) -> SkipBounds | None:
    """Return the corrected rates if all skipped transcripts had been failures, and passes; None without skips."""
    skipped = [each for each in labels if each.label is None]
    if not skipped:
        return None

    def labelled_as(label: bool) -> CorrectedRate | Uncorrected:
        replaced = [each._replace(label=label) if each.label is None else each for each in labels]
        return corrected_pass_rate(replaced, verdicts, confidence)

    share = fsum(each.weight for each in skipped) / fsum(each.weight for each in labels)
    return SkipBounds(len(skipped), share, labelled_as(False), labelled_as(True))


def judge_pass_rate(verdicts: Iterable[ScenarioVerdicts]) -> float | None:
    """Return the mean over scenarios of the judge's share of passes; None if it decided nothing."""
    shares = [each.passed / (each.passed + each.failed) for each in verdicts if each.passed + each.failed]
    return fsum(shares) / len(shares) if shares else None


class RateVariance(NamedTuple):
    """Parts of the variance of a corrected rate for scenarios like these."""

    of_verdicts: float
    """Part that remains however many transcripts are labelled."""
    of_labels: Mapping[bool | None, float]
    """Variance that one label of each verdict would leave, by verdict."""
    shares: Mapping[bool | None, float]
    """Shares of the verdicts among the transcripts."""


def rate_variance(labels: Iterable[LabelledVerdict], verdicts: Sequence[ScenarioVerdicts]) -> RateVariance:
    """Return the variance parts; a verdict without a label counts as half passes."""
    return _Strata(labels, verdicts).variance()


class _Strata:
    """Labels and transcripts by the judge's verdict, with what follows from them for the corrected rate."""

    def __init__(self, labels: Iterable[LabelledVerdict], verdicts: Sequence[ScenarioVerdicts]) -> None:
        self.labels = [each for each in labels if each.label is not None]
        self._verdicts = {each.scenario: each for each in verdicts if each.transcripts}
        self.of_verdict = {verdict: [each for each in self.labels if each.judge is verdict] for verdict in VERDICTS}
        self._counts = {verdict: sum(each.count(verdict) for each in verdicts) for verdict in VERDICTS}
        self._check()
        self.labelled_scenarios = len({each.scenario for each in self.labels})
        self.is_complete = len(self.labels) == sum(self._counts.values())
        self.shares = {verdict: self._share(verdict) for verdict in VERDICTS}
        self._labelled = {verdict: self._labelled_share(verdict) for verdict in VERDICTS if self.of_verdict[verdict]}
        self.rate = fsum(self.shares[verdict] * share.share for verdict, share in self._labelled.items())
        self.judge_passes = Proportion()
        for each in self._verdicts.values():
            self.judge_passes.add(Trials.of_share(each.transcripts, each.passed))

    def _check(self) -> None:
        for verdict, labels in self.of_verdict.items():
            counts = Counter(each.scenario for each in labels)
            for scenario, number in counts.items():
                if scenario not in self._verdicts or self._verdicts[scenario].count(verdict) < number:
                    raise ValueError(f"{scenario} has more labels than transcripts with this verdict")

    def _share(self, verdict: bool | None) -> float:
        total = fsum(each.count(verdict) / each.transcripts for each in self._verdicts.values())
        return total / len(self._verdicts) if self._verdicts else 0.0

    def weight(self, label: LabelledVerdict) -> float:
        """Return the weight in the mean over scenarios, each of which counts once."""
        return label.weight / self._verdicts[label.scenario].transcripts

    def _labelled_share(self, verdict: bool | None) -> "_LabelledStratum":
        labels = self.of_verdict[verdict]
        weights = [self.weight(each) for each in labels]
        total = fsum(weights)
        share = fsum(weight for weight, each in zip(weights, labels, strict=True) if each.label) / total
        return _LabelledStratum(share, total * total / fsum(weight * weight for weight in weights), total)

    @cached_property
    def _residuals(self) -> list[tuple[str, float]]:
        """Contributions of the labels to the error of the rate, by scenario."""
        return [
            (each.scenario, self.shares[verdict] / stratum.total_weight * self.weight(each) * deviation)
            for verdict, stratum in self._labelled.items()
            for each in self.of_verdict[verdict]
            if (deviation := bool(each.label) - stratum.share)
        ]

    @cached_property
    def clustering(self) -> float:
        """Factor by which labels that share scenarios have a larger variance than independent ones."""
        variance = fsum(self.shares[verdict] * stratum.variance for verdict, stratum in self._labelled.items())
        independent = fsum(each * each for _, each in self._residuals)
        return cluster_effect(Counter(each.scenario for each in self.labels), self._residuals, independent, variance)

    @property
    def covariance_effect(self) -> float:
        """Twice the covariance of verdicts and labels' deviations, relative to the variance of the labels."""
        of_verdicts, of_labels = self._influences_of_verdicts, _summed(self._residuals)
        covariance = fsum(of_verdicts[scenario] * residual for scenario, residual in of_labels.items())
        independent = fsum(
            self.shares[verdict] ** 2 * stratum.variance / stratum.effective_labels
            for verdict, stratum in self._labelled.items()
        )
        return 2 * max(0.0, covariance) / independent

    def variance(self) -> RateVariance:
        of_labels = {}
        for verdict in VERDICTS:
            stratum = self._labelled.get(verdict, _LabelledStratum(0.5, 0.0, 0.0))
            if self.shares[verdict]:
                of_labels[verdict] = self.shares[verdict] ** 2 * stratum.variance * self.clustering
        of_verdicts = fsum(each * each for each in self._influences_of_verdicts.values())
        return RateVariance(of_verdicts, of_labels, self.shares)

    def influences(self) -> Mapping[str, float]:
        return _summed([*self._influences_of_verdicts.items(), *self._residuals])

    @cached_property
    def _influences_of_verdicts(self) -> dict[str, float]:
        expected = {
            scenario: fsum(
                each.count(verdict) / each.transcripts * stratum.share for verdict, stratum in self._labelled.items()
            )
            for scenario, each in self._verdicts.items()
        }
        return {scenario: (value - self.rate) / len(expected) for scenario, value in expected.items()}

    def posteriors(self, effect: float) -> list[StratumPosterior]:
        """Return what is known of each verdict if the labels have this design effect. Passes and failures may occur
        among other transcripts even if they do not among these."""
        return [self._posterior(verdict, effect) for verdict in VERDICTS if verdict is not None or self.shares[verdict]]

    def _posterior(self, verdict: bool | None, effect: float) -> StratumPosterior:
        stratum, labels = self._labelled.get(verdict), self.of_verdict[verdict]
        if stratum is None:
            return StratumPosterior(self.shares[verdict], 0.0, 0.0)
        weights = [1 / self._verdicts[each.scenario].transcripts for each in labels]
        passed = fsum(weight for weight, each in zip(weights, labels, strict=True) if each.label)
        return StratumPosterior(
            share=self.shares[verdict],
            pass_share=stratum.share,
            effective_labels=stratum.effective_labels / effect,
            labelled_share=min(1.0, fsum(weights) / (self.shares[verdict] * len(self._verdicts))),
            observed_pass_share=passed / fsum(weights),
            unlabelled=self._counts[verdict] - len(labels),
        )


class _LabelledStratum(NamedTuple):
    share: float
    effective_labels: float
    total_weight: float

    @property
    def variance(self) -> float:
        """Variance of one label, which is above zero even if all labels are equal."""
        smoothed = (self.share * self.effective_labels + 0.5) / (self.effective_labels + 1)
        return smoothed * (1 - smoothed)


def _summed(amounts: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for key, amount in amounts:
        sums[key] += amount
    return sums
