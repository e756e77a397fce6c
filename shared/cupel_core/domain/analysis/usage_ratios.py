"""Costs and times of the target's calls compared scenario by scenario: ratios, and what they say in words.

A ratio has no margin, as nobody has said which one does not matter, so none is EQUIVALENT. Times of two runs have no
verdict: the provider's load at their times is the same for all scenarios of a run, so no interval over scenarios
includes it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.matching import ColumnPair, ComparisonSide, MatchedScenario
from cupel_core.domain.analysis.multiple_testing import holm
from cupel_core.domain.analysis.paired_ratios import RatioEstimate, ratio_estimate
from cupel_core.domain.analysis.usage_samples import LeftOut, UsageMeasure, merged_sample, usage_sample
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.statistics import MIN_SCENARIOS
from cupel_core.domain.text.figures import format_confidence, format_p, format_signed_percent

_OTHER_TIMES = "The runs were made at different times, so the provider's load may be the reason."
_NO_SPREAD = "Nearly all scenarios have the same ratio, so there is no interval."


@dataclass(frozen=True)
class UsageRatio:
    """The cost or the time of one row of a comparison."""

    measure: UsageMeasure
    estimate: RatioEstimate
    left_out: Mapping[LeftOut, int]
    """It counts the common scenarios without a ratio; empty for all pairs together."""
    adjusted_p: float | None = None
    verdict: ComparisonVerdict | None = None
    """None for times of two runs, and if both sides are the same conversations."""
    sentence: str = ""


class RowNames(NamedTuple):
    """A sentence calls the sides of a row by these names."""

    subject: str
    reference: str


class UsageComparison(NamedTuple):
    """The rows of a comparison, and what their costs and times are computed from."""

    pairs: Sequence[ColumnPair]
    names: Sequence[RowNames]
    """They are those of each pair, and then of all pairs together if there are several."""
    baseline: ComparisonSide
    comparison: ComparisonSide
    common: Sequence[MatchedScenario]
    alpha: float

    @property
    def is_of_one_run(self) -> bool:
        return self.baseline.run_id == self.comparison.run_id

    def ratios(self, measure: UsageMeasure) -> list[UsageRatio]:
        """Return one for each of `names`, with p adjusted over all of them."""
        samples = [usage_sample(measure, pair, self.baseline, self.comparison, self.common) for pair in self.pairs]
        if len(samples) > 1:
            samples.append(merged_sample(samples))
        estimates = [ratio_estimate(list(sample.scenarios.values()), self.alpha) for sample in samples]
        adjusted = holm([estimate.p for estimate in estimates])
        return [
            self._concluded(UsageRatio(measure, estimate, dict(sample.left_out), p), row)
            for row, (sample, estimate, p) in enumerate(zip(samples, estimates, adjusted, strict=True))
        ]

    def _concluded(self, ratio: UsageRatio, row: int) -> UsageRatio:
        if self._has_same_conversations(row):
            return _untested(ratio)
        verdict = _verdict(ratio, self.alpha, is_of_one_run=self.is_of_one_run)
        sentence = _sentence(replace(ratio, verdict=verdict), self.names[row], self.alpha)
        return replace(ratio, verdict=verdict, sentence=sentence)

    def _has_same_conversations(self, row: int) -> bool:
        pairs = self.pairs[row : row + 1] or self.pairs
        return self.is_of_one_run and all(pair.baseline == pair.comparison for pair in pairs)


def _untested(ratio: UsageRatio) -> UsageRatio:
    """Two gradings of the same conversations have nothing to compare here."""
    estimate = replace(ratio.estimate, interval=None, p=None)
    return replace(ratio, estimate=estimate, adjusted_p=None, sentence="Both sides are the same conversations.")


def _verdict(ratio: UsageRatio, alpha: float, *, is_of_one_run: bool) -> ComparisonVerdict | None:
    estimate = ratio.estimate
    if estimate.ratio is None or estimate.scenarios < MIN_SCENARIOS:
        return ComparisonVerdict.NOT_COMPARABLE
    if ratio.measure is UsageMeasure.TIME and not is_of_one_run:
        return None
    if ratio.adjusted_p is None or ratio.adjusted_p >= alpha:
        return ComparisonVerdict.INCONCLUSIVE
    return ComparisonVerdict.HIGHER if estimate.ratio > 1 else ComparisonVerdict.LOWER


def _sentence(ratio: UsageRatio, names: RowNames, alpha: float) -> str:
    estimate = ratio.estimate
    if estimate.ratio is None or ratio.verdict is ComparisonVerdict.NOT_COMPARABLE:
        return _too_few(ratio)
    figures = ", ".join(_figures(ratio, estimate, alpha))
    start = "Not enough data: " if ratio.verdict is ComparisonVerdict.INCONCLUSIVE else ""
    difference = f"{_difference(ratio.measure, estimate.ratio)} than {names.reference}"
    notes = [_OTHER_TIMES] * (ratio.verdict is None) + [_NO_SPREAD] * (estimate.interval is None)
    return " ".join([f"{start}{names.subject} {difference} ({figures}).", *notes])


def _too_few(ratio: UsageRatio) -> str:
    known = "known cost above $0" if ratio.measure is UsageMeasure.COST else "known time"
    return f"Too few scenarios have a {known} on both sides: {ratio.estimate.scenarios} of at least {MIN_SCENARIOS}."


def _difference(measure: UsageMeasure, ratio: float) -> str:
    share = format_signed_percent(ratio - 1).lstrip("+−")
    word = "less" if ratio < 1 else "more"
    return f"costs {share} {word}" if measure is UsageMeasure.COST else f"takes {share} {word} time"


def _figures(ratio: UsageRatio, estimate: RatioEstimate, alpha: float) -> list[str]:
    figures = []
    if estimate.interval is not None:
        low, high = (format_signed_percent(bound - 1) for bound in estimate.interval)
        figures.append(f"{format_confidence(alpha)} CI {low} to {high}")
    if ratio.adjusted_p is not None:
        figures.append(f"adjusted p {format_p(ratio.adjusted_p)}")
    return [*figures, f"{estimate.scenarios:,} scenarios"]
