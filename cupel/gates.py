"""Conditions that a pipeline sets on a run's results. Infrastructure errors are not counted as failures of a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cupel.counts import count_of
from cupel.results import ModelResults
from cupel.terminal import shorten
from cupel_core.domain.scoring.left_out_checks import add_checks, left_out_message


@dataclass(frozen=True)
class Gate:
    """`fail_under` is a share of the judged probes of all models together; None sets no condition."""

    fail_under: float | None = None
    allow_errors: int | None = None
    """How many probes may be errored or unscored; 0 if only `fail_under` is given."""
    allow_left_out_checks: bool = False
    """Whether conversations without some of the checks that their author wrote may pass."""

    @property
    def is_unconditional(self) -> bool:
        return self.fail_under is None and self.allow_errors is None

    def violations(self, results: Sequence[ModelResults]) -> tuple[str, ...]:
        """Why the results do not pass; empty if they do."""
        if self.is_unconditional:
            return ()
        return (*self._rate_violations(results), *self._error_violations(results), *self._check_violations(results))

    def _rate_violations(self, results: Sequence[ModelResults]) -> Iterator[str]:
        if self.fail_under is None:
            return
        rate, judged = pass_rate(results), sum(model.pass_rate.judged for model in results if model.pass_rate)
        if rate is None:
            yield _why_unjudged(results)
        elif rate < self.fail_under:
            yield f"pass rate {rate:.3f} of {count_of(judged, 'judged probe')} is below {self.fail_under:g}"

    def _error_violations(self, results: Sequence[ModelResults]) -> Iterator[str]:
        errored, unscored = sum(model.errored for model in results), sum(model.unscored for model in results)
        allowed = self.allow_errors or 0
        if errored + unscored > allowed:
            yield f"{count_of(errored, 'probe')} errored and {unscored:,} could not be scored; {allowed:,} are allowed"

    def _check_violations(self, results: Sequence[ModelResults]) -> Iterator[str]:
        partly = sum(model.partly_checked for model in results)
        if partly and not self.allow_left_out_checks:
            checks = add_checks(model.left_out_checks for model in results)
            missing = left_out_message(partly, sum(model.completed for model in results), checks)
            yield f"{missing}; --allow-left-out-checks accepts that"


def _why_unjudged(results: Sequence[ModelResults]) -> str:
    """Why no probe has a result: no answer, no checks, or checks that could not be computed."""
    completed, unscored = sum(model.completed for model in results), sum(model.unscored for model in results)
    if not completed:
        return "nothing was judged: no probe completed"
    if not unscored:
        return "nothing was judged: the definition has no assertions, and no criteria together with a judge model"
    return f"{unscored:,} of {count_of(completed, 'answer')} could not be scored ({_main_reason(results)})"


def _main_reason(results: Sequence[ModelResults]) -> str:
    """The most frequent cause over all models, with an example and the number of the others."""
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
    """Share of passed ones among the judged probes of all models; None if there are none."""
    rates = [model.pass_rate for model in results if model.pass_rate]
    judged = sum(each.judged for each in rates)
    return sum(each.passed for each in rates) / judged if judged else None
