"""Checks conditions of a pipeline on a run's results. Infrastructure errors are not counted as failures of a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean

from cupel.columns import column_of
from cupel.counts import count_of
from cupel.json_types import Json
from cupel.results import ModelResults, PassRate
from cupel.terminal import shorten
from cupel_core.domain.scoring.left_out_checks import add_checks, left_out_message
from cupel_core.domain.text.figures import format_interval, format_percent


class ErrorsAs(StrEnum):
    """Selects what an errored probe counts as in a pass rate."""

    MISSING = "missing"
    FAIL = "fail"


@dataclass(frozen=True)
class Gate:
    """Holds the conditions of a gate. `fail_under` is a pass rate that every target must reach; None sets no
    condition."""

    fail_under: float | None = None
    allow_errors: int | None = None
    """Number of probes that may be errored or unscored; 0 if only `fail_under` is given."""
    allow_left_out_checks: bool = False
    confidence: float | None = None
    """A target fails only if scenarios like these have a rate below `fail_under` with this confidence; None compares
    the rate alone."""
    errors_as: ErrorsAs = ErrorsAs.MISSING
    """Errored probes that count as failures in the rate do not fail the gate in any other way, unless `allow_errors`
    limits their number."""

    @property
    def is_unconditional(self) -> bool:
        return self.fail_under is None and self.allow_errors is None

    def violations(self, results: Sequence[ModelResults]) -> tuple[str, ...]:
        if self.is_unconditional:
            return ()
        return (*self._rate_violations(results), *self._error_violations(results), *self._check_violations(results))

    def _rate_violations(self, results: Sequence[ModelResults]) -> Iterator[str]:
        if self.fail_under is None:
            return
        if all(model.pass_rate is None for model in results):
            yield _why_unjudged(results)
            return
        for model in results:
            subject = f"{model.name}: " if len(results) > 1 else ""
            if (rate := self._rate_of(model)) is None:
                yield f"{subject}{_why_unjudged([model])}"
            elif self._is_below(rate, self.fail_under):
                yield f"{subject}{self._rate_text(rate)} is below {self.fail_under:g}"

    def pass_rate(self, results: Sequence[ModelResults]) -> float | None:
        rates = [rate.share for model in results if (rate := self._rate_of(model)) is not None]
        return fmean(rates) if rates else None

    def _rate_of(self, model: ModelResults) -> PassRate | None:
        rate = model.pass_rate
        if rate is None or self.errors_as is ErrorsAs.MISSING:
            return rate
        return rate.errors_fail or rate

    def _rate_text(self, rate: PassRate) -> str:
        interval = format_interval(rate.interval, format_percent)
        of = f", 95% interval {interval}," if interval else ""
        probes = count_of(
            rate.judged,
            "judged conversation" if self.errors_as is ErrorsAs.MISSING else "judged or errored conversation",
        )
        return f"pass rate {format_percent(rate.share)} of {probes}{of}"

    def _is_below(self, rate: PassRate, limit: float) -> bool:
        if self.confidence is None:
            return rate.share < limit
        return rate.upper_bound(self.confidence) < limit

    def _error_violations(self, results: Sequence[ModelResults]) -> Iterator[str]:
        errored, unscored = sum(model.errored for model in results), sum(model.unscored for model in results)
        allowed = self.allow_errors or 0
        if self.errors_as is ErrorsAs.FAIL and self.allow_errors is None:
            if unscored:
                yield f"{count_of(unscored, 'answer')} could not be scored"
        elif errored + unscored > allowed:
            errors = count_of(errored, "conversation")
            yield f"{errors} errored and {unscored:,} could not be scored; --allow-errors allows {allowed:,}"

    def _check_violations(self, results: Sequence[ModelResults]) -> Iterator[str]:
        partly = sum(model.partly_checked for model in results)
        if partly and not self.allow_left_out_checks:
            checks = add_checks(model.left_out_checks for model in results)
            missing = left_out_message(partly, sum(model.completed for model in results), checks)
            yield f"{missing}; --allow-left-out-checks accepts that"


@dataclass(frozen=True)
class CalibratedGate:
    """Holds the pass rate, corrected for the judge's errors, that every target must reach.

    With a confidence, its lower bound must reach it: a run passes only if that much is shown.
    """

    fail_under: float
    confidence: float | None = None

    def violations(self, calibration: Json, targets: Sequence[str]) -> Iterator[str]:
        by_target = {column_of(each).name: each["corrected"] for each in calibration["columns"]}
        for target in targets:
            subject = f"{target}: " if len(targets) > 1 else ""
            if target not in by_target:
                yield f"{subject}the judge is not calibrated: no transcript has a blind label"
            elif (rate := by_target[target])["rate"] is None:
                yield f"{subject}the judge is not calibrated: {rate['message']}"
            elif self._reached(rate) < self.fail_under:
                yield f"{subject}{self._text(rate)} is below {self.fail_under:g}"

    def _reached(self, rate: Json) -> float:
        return float(rate["rate"] if self.confidence is None else rate["lowerBound"])

    def _text(self, rate: Json) -> str:
        text = f"corrected pass rate {format_percent(rate['rate'])}"
        if self.confidence is None:
            return text
        return f"{text}, of which {format_percent(rate['lowerBound'])} is shown with confidence {self.confidence:g},"


def _why_unjudged(results: Sequence[ModelResults]) -> str:
    completed, unscored = sum(model.completed for model in results), sum(model.unscored for model in results)
    if not completed:
        return "nothing was judged: no conversation completed"
    if not unscored:
        return "nothing was judged: the definition has no assertions, and no criteria together with a judge model"
    return f"{unscored:,} of {count_of(completed, 'answer')} could not be scored ({_main_reason(results)})"


def _main_reason(results: Sequence[ModelResults]) -> str:
    counts, examples = Counter[str](), dict[str, str]()
    for reason in (reason for model in results for reason in model.unscored_reasons):
        counts[reason.name] += reason.count
        examples.setdefault(reason.name, shorten(reason.example, 200))
    if not counts:
        return "the server does not say why"
    name, _ = counts.most_common(1)[0]
    others = len(counts) - 1
    example = f": {examples[name]}" if examples[name] else ""
    return f"{name}{example}" + (f"; and {count_of(others, 'other cause')}" if others else "")


def pass_rate(results: Sequence[ModelResults]) -> float | None:
    return Gate().pass_rate(results)
