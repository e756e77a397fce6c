"""Compares costs and times of the target's calls scenario by scenario, as ratios and in words.

No margin of ratios is defined as negligible, so none is EQUIVALENT. Times of two runs have no verdict: the provider's
load affects all scenarios of a run alike, so no interval over scenarios includes it. The typical conversation is that
of the mean logarithm, so nothing is said about the total.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp
from statistics import fmean
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.distributions import binomial_mid_p, t_quantile, t_two_sided_p
from cupel_core.domain.analysis.matching import ColumnPair, ComparisonSide, MatchedScenario
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.paired import PairedValues, usual_difference
from cupel_core.domain.analysis.significance import SignificanceTest
from cupel_core.domain.analysis.usage_samples import LeftOut, UsageMeasure, UsageSample, merged_sample, usage_sample
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval, standard_error
from cupel_core.domain.text.figures import (
    format_confidence,
    format_p,
    format_ratio_interval,
    format_ratio_words,
    is_same_ratio,
)

_DIGITS = 9
"""Logarithms of ratios that agree in this many decimal places are equal."""


_OTHER_RUN = "Both are different runs, so the provider's load may be the reason."
_THIS_TIME = "This holds at the time of this run, and the load may differ between models too."
_NO_SPREAD = "Nearly all scenarios have the same ratio, so there is no interval."
_SAME_CONVERSATIONS = "Both sides are the same conversations."


@dataclass(frozen=True)
class RatioEstimate:
    scenarios: int
    baseline: float | None = None
    comparison: float | None = None
    ratio: float | None = None
    interval: Interval | None = None
    """None with fewer than MIN_SCENARIOS, and if nearly all scenarios have the same ratio: others may have
    any."""
    test: SignificanceTest = SignificanceTest.PAIRED_T
    p: float | None = None
    usual: float | None = None
    usual_scenarios: int = 0


def ratio_estimate(logarithms: Sequence[PairedValues], alpha: float) -> RatioEstimate:
    """Compare scenarios by the logarithms of their amounts. The test is Student's paired t, or a sign test if hardly
    any scenario has another ratio than the others."""
    if not logarithms:
        return RatioEstimate(0)
    differences = [pair.difference for pair in logarithms]
    mean, error = fmean(differences), standard_error(differences)
    means = exp(fmean(pair.baseline for pair in logarithms)), exp(fmean(pair.comparison for pair in logarithms))
    scenarios = len(logarithms)
    if error is None or scenarios < MIN_SCENARIOS:
        return RatioEstimate(scenarios, *means, exp(mean))
    rounded = [round(each, _DIGITS) for each in differences]
    if (usual := usual_difference(rounded)) is not None:
        p = _sign_p(rounded, round(mean, _DIGITS))
        sign = SignificanceTest.SIGN
        return RatioEstimate(scenarios, *means, exp(mean), None, sign, p, exp(usual), rounded.count(usual))
    reach = t_quantile(1 - alpha / 2, scenarios - 1) * error
    interval = Interval(exp(mean - reach), exp(mean + reach))
    p = t_two_sided_p(mean / error, scenarios - 1)
    return RatioEstimate(scenarios, *means, exp(mean), interval, SignificanceTest.PAIRED_T, p)


def _sign_p(differences: Sequence[float], mean: float) -> float | None:
    """Return the mid-p of a sign test; None if the mean does not have the sign of most scenarios."""
    rose, fell = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    return None if (rose - fell) * mean <= 0 else binomial_mid_p(min(rose, fell), rose + fell)


@dataclass(frozen=True)
class UsageRatio:
    measure: UsageMeasure
    estimate: RatioEstimate
    left_out: Mapping[LeftOut, int]
    ratio_of_means: float | None = None
    """The ratio of the mean costs over the same scenarios; None for times."""
    adjusted_p: float | None = None
    verdict: ComparisonVerdict | None = None
    """None for times of two runs, and if both sides are the same conversations."""
    sentence: str = ""

    @property
    def is_comparable(self) -> bool:
        return self.estimate.scenarios >= MIN_SCENARIOS


class RowNames(NamedTuple):
    subject: str
    reference: str


class UsageComparison(NamedTuple):
    pairs: Sequence[ColumnPair]
    names: Sequence[RowNames]
    """The names are those of each pair, followed by those of all pairs together if there are several."""
    baseline: ComparisonSide
    comparison: ComparisonSide
    common: Sequence[MatchedScenario]
    alpha: float

    @property
    def is_of_one_run(self) -> bool:
        return self.baseline.run_id == self.comparison.run_id

    def ratios(self, measure: UsageMeasure) -> list[UsageRatio]:
        """Return a ratio for each of `names`, with p adjusted over all of them."""
        samples = [usage_sample(measure, pair, self.baseline, self.comparison, self.common) for pair in self.pairs]
        is_tested = [not (self.is_of_one_run and pair.baseline == pair.comparison) for pair in self.pairs]
        if len(samples) > 1:
            tested = [sample for sample, is_its in zip(samples, is_tested, strict=True) if is_its]
            samples.append(merged_sample(tested or samples))
            is_tested.append(bool(tested))
        ratios = [
            _ratio_of(measure, sample, self.alpha, is_tested=is_its)
            for sample, is_its in zip(samples, is_tested, strict=True)
        ]
        adjusted = holm([ratio.estimate.p for ratio in ratios])
        return [
            self._concluded(replace(ratio, adjusted_p=p), names) if is_its else ratio
            for ratio, p, names, is_its in zip(ratios, adjusted, self.names, is_tested, strict=True)
        ]

    def _concluded(self, ratio: UsageRatio, names: RowNames) -> UsageRatio:
        verdict = _verdict(ratio, self.alpha, is_of_one_run=self.is_of_one_run)
        return replace(ratio, verdict=verdict, sentence=_sentence(replace(ratio, verdict=verdict), names, self.alpha))


def _ratio_of(measure: UsageMeasure, sample: UsageSample, alpha: float, *, is_tested: bool) -> UsageRatio:
    estimate = ratio_estimate([each.logarithms for each in sample.scenarios.values()], alpha)
    left_out = dict(Counter(sample.left_out.values()))
    if is_tested:
        return UsageRatio(measure, estimate, left_out, sample.ratio_of_means)
    return UsageRatio(measure, replace(estimate, interval=None, p=None), left_out, sentence=_SAME_CONVERSATIONS)


def _verdict(ratio: UsageRatio, alpha: float, *, is_of_one_run: bool) -> ComparisonVerdict | None:
    if ratio.measure is UsageMeasure.TIME and not is_of_one_run:
        return None
    main = _main_ratio(ratio.estimate)
    if main is None or not ratio.is_comparable:
        return ComparisonVerdict.NOT_COMPARABLE
    if ratio.adjusted_p is None or ratio.adjusted_p >= alpha or main == 1:
        return ComparisonVerdict.INCONCLUSIVE
    return ComparisonVerdict.HIGHER if main > 1 else ComparisonVerdict.LOWER


def _main_ratio(estimate: RatioEstimate) -> float | None:
    """Return the ratio that is tested: the one that nearly all scenarios have, or that of the means."""
    return estimate.ratio if estimate.usual is None else estimate.usual


def _sentence(ratio: UsageRatio, names: RowNames, alpha: float) -> str:
    main = _main_ratio(ratio.estimate)
    if main is None or not ratio.is_comparable:
        return _too_few(ratio)
    if ratio.estimate.usual == 1:
        sentence = f"{names.subject} {_difference(ratio.measure, main, names)} in {_usual_scenarios(ratio.estimate)}"
        return " ".join([f"{sentence}.", *_notes(ratio, main)])
    where = "In the typical conversation"
    if ratio.estimate.usual is not None:
        where = f"In {_usual_scenarios(ratio.estimate)}"
    if ratio.verdict is ComparisonVerdict.INCONCLUSIVE:
        where = f"Not enough data: {where[0].lower()}{where[1:]}"
    difference = _difference(ratio.measure, main, names)
    figures = ", ".join(_figures(ratio, ratio.estimate, alpha))
    sentence = f"{where}, {names.subject} {difference}{f' ({figures})' if figures else ''}"
    return " ".join([f"{sentence}.", *_notes(ratio, main)])


def _usual_scenarios(estimate: RatioEstimate) -> str:
    usual, scenarios = estimate.usual_scenarios, estimate.scenarios
    return f"all {scenarios:,} scenarios" if usual == scenarios else f"{usual:,} of {scenarios:,} scenarios"


def _notes(ratio: UsageRatio, main: float) -> list[str]:
    notes = []
    if ratio.measure is UsageMeasure.TIME and ratio.verdict is None:
        notes.append(_OTHER_RUN)
    if ratio.measure is UsageMeasure.TIME and ratio.verdict in (ComparisonVerdict.HIGHER, ComparisonVerdict.LOWER):
        notes.append(_THIS_TIME)
    if ratio.estimate.usual not in (None, 1):
        notes.append(_NO_SPREAD)
    mean = ratio.ratio_of_means
    if mean is not None and (main - 1) * (mean - 1) < 0 and not is_same_ratio(main) and not is_same_ratio(mean):
        amount = format_ratio_words(mean)
        notes.append(f"On average over these scenarios it costs {amount}: a few expensive scenarios decide.")
    return notes


def _too_few(ratio: UsageRatio) -> str:
    known = "known cost above $0" if ratio.measure is UsageMeasure.COST else "known time"
    return f"Too few scenarios have a {known} on both sides: {ratio.estimate.scenarios} of at least {MIN_SCENARIOS}."


def _difference(measure: UsageMeasure, ratio: float, names: RowNames) -> str:
    amount = f"{format_ratio_words(ratio)}{' time' if measure is UsageMeasure.TIME else ''}"
    if ratio == 1:
        amount = "the same" if measure is UsageMeasure.COST else "the same time"
    elif is_same_ratio(ratio):
        amount = "about the same" if measure is UsageMeasure.COST else "about the same time"
    word = "as" if is_same_ratio(ratio) or "as much" in amount else "than"
    return f"{'costs' if measure is UsageMeasure.COST else 'takes'} {amount} {word} {names.reference}"


def _figures(ratio: UsageRatio, estimate: RatioEstimate, alpha: float) -> list[str]:
    figures = []
    if estimate.interval is not None:
        figures.append(f"{format_confidence(alpha)} CI {format_ratio_interval(estimate.interval)}")
    if ratio.adjusted_p is not None:
        figures.append(f"adjusted p {format_p(ratio.adjusted_p)}")
    return figures if estimate.usual else [*figures, f"{estimate.scenarios:,} scenarios"]
