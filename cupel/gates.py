"""What a pipeline asks of a run's results. An infrastructure failure is no failure of a model, and counted apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cupel.results import ModelResults


@dataclass(frozen=True)
class Gate:
    """`fail_under` is a share of the judged probes of all models together; None asks nothing."""

    fail_under: float | None = None
    allow_errors: int | None = None
    """So many probes may have errored or be unscored; 0 where only `fail_under` is given."""

    @property
    def is_open(self) -> bool:
        return self.fail_under is None and self.allow_errors is None

    def complaints(self, results: Sequence[ModelResults]) -> tuple[str, ...]:
        """Why the results do not pass; empty when they do."""
        return () if self.is_open else (*self._of_rate(results), *self._of_errors(results))

    def _of_rate(self, results: Sequence[ModelResults]) -> Iterator[str]:
        if self.fail_under is None:
            return
        rate, judged = success_rate(results), sum(model.correct.judged for model in results if model.correct)
        if rate is None:
            yield "nothing was judged: there are no assertions, and no criteria with a judge that could be asked"
        elif rate < self.fail_under:
            yield f"success rate {rate:.3f} of {judged:,} judged probes is below {self.fail_under:g}"

    def _of_errors(self, results: Sequence[ModelResults]) -> Iterator[str]:
        failed, unscored = sum(model.failed for model in results), sum(model.unscored for model in results)
        allowed = self.allow_errors or 0
        if failed + unscored > allowed:
            yield f"{failed:,} probes errored and {unscored:,} could not be scored; {allowed:,} are allowed"


def success_rate(results: Sequence[ModelResults]) -> float | None:
    """Of the judged probes of all models together; None when there are none."""
    correct = [model.correct for model in results if model.correct]
    judged = sum(each.judged for each in correct)
    return sum(each.successes for each in correct) / judged if judged else None
