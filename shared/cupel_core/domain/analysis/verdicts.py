"""Decides the verdict on a difference, and words it in sentences without a model."""

from collections.abc import Iterable
from enum import StrEnum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.stratified import OwnDifference
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval
from cupel_core.domain.text.figures import format_confidence, format_decimal, format_p, format_percent


class ComparisonVerdict(StrEnum):
    """The verdicts are checked in this order."""

    NOT_COMPARABLE = "NOT_COMPARABLE"
    """There are fewer than five common scenarios, but more than one."""
    EQUIVALENT = "EQUIVALENT"
    """The interval of the equivalence test lies within the margin, so any remaining difference does not matter."""
    HIGHER = "HIGHER"
    LOWER = "LOWER"
    """HIGHER and LOWER compare with the baseline: the adjusted p is below the level."""
    INCONCLUSIVE = "INCONCLUSIVE"


class EffectSize(StrEnum):
    """Effect sizes have Cohen's names."""

    NEGLIGIBLE = "negligible"
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"

    @classmethod
    def of(cls, d: float) -> "EffectSize":
        bounds = ((0.2, cls.NEGLIGIBLE), (0.5, cls.SMALL), (0.8, cls.MEDIUM))
        return next((word for bound, word in bounds if abs(d) < bound), cls.LARGE)


@dataclass(frozen=True)
class Evidence:
    metric: Metric
    alpha: float
    margin: float
    scenarios: int
    difference: float | None
    interval: Interval | None
    equivalence_interval: Interval | None
    p: float | None
    """The p and the interval are for this difference alone."""
    adjusted_p: float | None
    detectable_effect: float | None
    scenarios_needed: int | None

    @property
    def is_within_margin(self) -> bool:
        return self.equivalence_interval is not None and (
            -self.margin < self.equivalence_interval.low and self.equivalence_interval.high < self.margin
        )


def verdict_of(evidence: Evidence) -> ComparisonVerdict:
    if evidence.difference is None or 1 < evidence.scenarios < MIN_SCENARIOS:
        return ComparisonVerdict.NOT_COMPARABLE
    if evidence.is_within_margin:
        return ComparisonVerdict.EQUIVALENT
    if evidence.adjusted_p is not None and evidence.adjusted_p < evidence.alpha:
        return ComparisonVerdict.HIGHER if evidence.difference > 0 else ComparisonVerdict.LOWER
    return ComparisonVerdict.INCONCLUSIVE


def sentence_of(verdict: ComparisonVerdict, evidence: Evidence, subject: str, reference: str) -> str:
    """Return the sentence; `subject` and `reference` name the comparison side and the baseline."""
    match verdict:
        case ComparisonVerdict.NOT_COMPARABLE:
            return f"Too few scenarios have results on both sides: {evidence.scenarios} of at least {MIN_SCENARIOS}."
        case ComparisonVerdict.HIGHER | ComparisonVerdict.LOWER:
            return f"{subject} {_difference(evidence)} than {reference} ({_figures(evidence)})."
        case ComparisonVerdict.EQUIVALENT:
            interval = evidence.equivalence_interval
            level = _interval(evidence, interval, 2 * evidence.alpha) if interval else ""
            scenarios = _count(evidence.scenarios)
            return f"No difference of {amount(evidence, evidence.margin)} or more ({level}, {scenarios})."
        case ComparisonVerdict.INCONCLUSIVE:
            difference = f"{subject} {_difference(evidence)} than {reference}"
            return f"Not enough data: {difference} ({_figures(evidence)}).{_power(evidence)}"


def further_sentences(evidence: Evidence, own: OwnDifference | None, errors_fail: float | None) -> list[str]:
    sentences = []
    if own is not None and own.p is not None and evidence.scenarios > 1:
        interval = own.interval and _interval(evidence, own.interval, evidence.alpha)
        figures = ", ".join(_present([interval, f"p {format_p(own.p)}"]))
        sentences.append(
            f"If only these scenarios matter, the difference is {_signed(evidence, own.difference)} ({figures})."
        )
    if errors_fail is not None:
        sentences.append(f"With errored conversations as failures, the difference is {_signed(evidence, errors_fail)}.")
    return sentences


def _signed(evidence: Evidence, difference: float) -> str:
    return f"{'+' if difference > 0 else ''}{amount(evidence, difference)}"


def amount(evidence: Evidence, value: float) -> str:
    return f"{_number(evidence, value)} {'percentage points' if evidence.metric.is_rate else 'points'}"


def _difference(evidence: Evidence) -> str:
    difference = evidence.difference or 0.0
    verb = {
        Metric.DECISION: "rates",
        Metric.PASS_RATE: "has a pass rate that is",
        Metric.PASS_RATE_ERRORS_FAIL: "has a pass rate, with errors as failures, that is",
        Metric.OTHER_RATE: "has a rate of unreadable answers that is",
    }[evidence.metric]
    return f"{verb} {amount(evidence, abs(difference))} {'lower' if difference < 0 else 'higher'}"


def _figures(evidence: Evidence) -> str:
    figures = [
        evidence.interval and _interval(evidence, evidence.interval, evidence.alpha),
        _p(evidence),
        _count(evidence.scenarios),
    ]
    return ", ".join(_present(figures))


def _p(evidence: Evidence) -> str | None:
    """Return the adjusted p, after the difference's own p if the two differ."""
    if evidence.adjusted_p is None:
        return None
    adjusted = f"adjusted p {format_p(evidence.adjusted_p)}"
    is_same = evidence.p is None or format_p(evidence.p) == format_p(evidence.adjusted_p)
    return adjusted if is_same else f"p {format_p(evidence.p)} for this row alone, {adjusted}"


def _power(evidence: Evidence) -> str:
    if evidence.detectable_effect is None or evidence.detectable_effect <= evidence.margin:
        return ""
    detectable = amount(evidence, evidence.detectable_effect)
    needed = f"about {evidence.scenarios_needed:,} scenarios would detect {_number(evidence, evidence.margin)}"
    return f" It had an 80% chance to detect {detectable} or more; {needed}."


def _interval(evidence: Evidence, interval: Interval, alpha: float) -> str:
    bounds = f"{_number(evidence, interval.low)} to {_number(evidence, interval.high)}"
    return f"{format_confidence(alpha)} CI {bounds}"


def _number(evidence: Evidence, value: float) -> str:
    return format_percent(value).removesuffix("%") if evidence.metric.is_rate else format_decimal(value)


def _count(scenarios: int) -> str:
    return f"{scenarios:,} scenario{'' if scenarios == 1 else 's'}"


def _present(texts: Iterable[str | bool | None]) -> list[str]:
    return [text for text in texts if isinstance(text, str)]
