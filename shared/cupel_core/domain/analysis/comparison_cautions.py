"""What to bear in mind when reading a row of a comparison."""

from collections.abc import Iterator
from enum import StrEnum

from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.paired import PairedEstimate
from cupel_core.domain.analysis.paired_samples import PairedSample
from cupel_core.domain.statistics import MIN_SCENARIOS

_SMALL, _MODERATE = 10, 30
_HIGH_OTHER, _UNEVEN_ERRORS = 0.10, 0.05


class ComparisonCaution(StrEnum):
    """What to bear in mind when reading a row."""

    ONE_SCENARIO = "ONE_SCENARIO"
    FEW_SCENARIOS = "FEW_SCENARIOS"
    SMALL_SAMPLE = "SMALL_SAMPLE"
    MODERATE_SAMPLE = "MODERATE_SAMPLE"
    NO_VARIATION = "NO_VARIATION"
    HIGH_OTHER = "HIGH_OTHER"
    UNEVEN_ERRORS = "UNEVEN_ERRORS"
    ERRORS_DECIDE = "ERRORS_DECIDE"
    SUBSTITUTED = "SUBSTITUTED"
    PERSONAS = "PERSONAS"

    @property
    def message(self) -> str:
        return _MESSAGES[self]


_MESSAGES = {
    ComparisonCaution.ONE_SCENARIO: "One scenario: the figures hold for it alone, not for others like it.",
    ComparisonCaution.FEW_SCENARIOS: "Fewer than 5 scenarios: nothing follows for others like them.",
    ComparisonCaution.SMALL_SAMPLE: "Fewer than 10 scenarios: only large differences can be detected.",
    ComparisonCaution.MODERATE_SAMPLE: "Fewer than 30 scenarios: small differences cannot be detected.",
    ComparisonCaution.NO_VARIATION: "Nearly all scenarios differ by the same amount; the interval allows for others.",
    ComparisonCaution.HIGH_OTHER: "More than 10% of the answers of a side have no readable code.",
    ComparisonCaution.UNEVEN_ERRORS: "The shares of errored probes differ by more than 5 percentage points.",
    ComparisonCaution.ERRORS_DECIDE: "The difference has another sign if errored probes count as failures.",
    ComparisonCaution.SUBSTITUTED: "The sides have different targets or prompts.",
    ComparisonCaution.PERSONAS: "Intervals are for exactly these personas, and not for users like them.",
}


def size_cautions(estimate: PairedEstimate) -> Iterator[ComparisonCaution]:
    count = estimate.scenarios
    if count == 1:
        yield ComparisonCaution.ONE_SCENARIO
    elif count < MIN_SCENARIOS:
        yield ComparisonCaution.FEW_SCENARIOS
    elif count < _SMALL:
        yield ComparisonCaution.SMALL_SAMPLE
    elif count < _MODERATE:
        yield ComparisonCaution.MODERATE_SAMPLE
    if estimate.is_rare:
        yield ComparisonCaution.NO_VARIATION


def data_cautions(sample: PairedSample, metric: Metric) -> Iterator[ComparisonCaution]:
    if metric is Metric.DECISION and any(_share(cell.other, cell.ruled) > _HIGH_OTHER for cell in sample.totals):
        yield ComparisonCaution.HIGH_OTHER
    before, after = (_share(cell.errored, cell.errored + cell.completed) for cell in sample.totals)
    if abs(after - before) > _UNEVEN_ERRORS:
        yield ComparisonCaution.UNEVEN_ERRORS
    if sample.pair.is_substituted:
        yield ComparisonCaution.SUBSTITUTED
    if any(len(scenario.cases) > 1 for scenario in sample.scenarios):
        yield ComparisonCaution.PERSONAS


def error_cautions(difference: float | None, with_errors: float | None) -> Iterator[ComparisonCaution]:
    """`with_errors` is the difference if errored probes count as failures; None if that is not asked."""
    if difference is not None and with_errors is not None and difference * with_errors < 0:
        yield ComparisonCaution.ERRORS_DECIDE


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
