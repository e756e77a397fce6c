from enum import StrEnum

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.statistics import Trials


class Metric(StrEnum):
    DECISION = "DECISION"
    """The mean of the decision codes 1-5."""
    PASS_RATE = "PASS_RATE"  # noqa: S105 - no password
    PASS_RATE_ERRORS_FAIL = "PASS_RATE_ERRORS_FAIL"  # noqa: S105 - no password
    """The share of judged answers and errors that passed: an error counts as a failure."""
    OTHER_RATE = "OTHER_RATE"
    """The share of answers without a readable code, among those to which the decision rule was applied."""

    @property
    def is_rate(self) -> bool:
        return self is not Metric.DECISION

    @property
    def default_margin(self) -> float:
        """Return the difference below which most people do not care: a quarter of a point, or five percentage
        points."""
        return 0.05 if self.is_rate else 0.25

    def trials(self, cell: Cell) -> Trials:
        match self:
            case Metric.DECISION:
                return Trials(cell.decided, cell.code_sum, cell.code_squares)
            case Metric.PASS_RATE:
                return Trials(cell.judged, cell.passed, cell.passed)
            case Metric.PASS_RATE_ERRORS_FAIL:
                # If answers are not judged, an error does not count as a failed check either.
                is_judged = cell.judged or not cell.completed
                return Trials.of_share((cell.judged + cell.errored) if is_judged else 0, cell.passed)
            case Metric.OTHER_RATE:
                return Trials(cell.ruled, cell.other, cell.other)
