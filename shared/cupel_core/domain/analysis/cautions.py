from collections.abc import Iterator, Sequence
from enum import StrEnum

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.agreement import MAX_COLUMNS, Agreement
from cupel_core.domain.analysis.breakdowns import MAX_GROUPS
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.crossed import MIN_PERSONAS
from cupel_core.domain.analysis.dimensions import DimensionAnalysis
from cupel_core.domain.analysis.estimates import GroupEstimate
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.paired import PairedEstimate
from cupel_core.domain.analysis.paired_samples import PairedSample
from cupel_core.domain.scoring.left_out_checks import add_checks, left_out_message
from cupel_core.domain.statistics import MIN_SCENARIOS
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.figures import format_percent

SMALL_SAMPLE, MODERATE_SAMPLE = 10, 30
HIGH_OTHER = 0.10
UNEVEN_ERRORS = 0.05
MIN_RARE = 10
"""Alpha is uncertain if fewer scenarios than this have a rarer answer, however many others there are."""


class CautionCode(StrEnum):
    PARTIAL = "PARTIAL"
    LEFT_OUT_CHECKS = "LEFT_OUT_CHECKS"
    ONE_SCENARIO = "ONE_SCENARIO"
    FEW_SCENARIOS = "FEW_SCENARIOS"
    SMALL_SAMPLE = "SMALL_SAMPLE"
    MODERATE_SAMPLE = "MODERATE_SAMPLE"
    NO_DECISIONS = "NO_DECISIONS"
    NO_RESULTS = "NO_RESULTS"
    HIGH_OTHER = "HIGH_OTHER"
    UNEVEN_ERRORS = "UNEVEN_ERRORS"
    PARTIAL_DIMENSIONS = "PARTIAL_DIMENSIONS"
    MANY_DIMENSIONS = "MANY_DIMENSIONS"
    MANY_LEVELS = "MANY_LEVELS"
    MANY_TARGETS = "MANY_TARGETS"
    RARE_ANSWERS = "RARE_ANSWERS"
    PERSONAS = "PERSONAS"


@dataclass(frozen=True)
class Caution:
    code: CautionCode
    text: str
    columns: tuple[int, ...] = ()
    """The caution is about these columns; it is about all if empty."""


@dataclass(frozen=True)
class CautionInput:
    metric: Metric
    overall: GroupEstimate
    columns: Sequence[GroupEstimate]
    dimensions: Sequence[DimensionAnalysis]
    named_dimensions: int
    scenarios: int
    missing_probes: int
    has_decision_rule: bool
    totals: Sequence[ColumnTotals] = ()
    agreed: Agreement | None = None
    personas: int = 1


def cautions(given: CautionInput) -> tuple[Caution, ...]:
    return (
        *_partial(given),
        *_left_out(given),
        *_sample_size(given),
        *_decisions(given),
        *_errors(given),
        *_dimensions(given),
        *_targets(given),
        *_agreement(given),
        *_personas(given),
    )


def _personas(given: CautionInput) -> Iterator[Caution]:
    if given.personas > 1:
        text = f"{given.personas} personas: intervals are for exactly these, and not for users like them"
        offered = MIN_PERSONAS <= given.personas <= MAX_GROUPS and given.scenarios >= MIN_SCENARIOS
        hint = "; the breakdown by persona has intervals for those" if offered else ""
        yield Caution(CautionCode.PERSONAS, f"{text}{hint}")


def _agreement(given: CautionInput) -> Iterator[Caution]:
    """Yield nothing for fewer scenarios than SMALL_SAMPLE, because another caution already covers them."""
    agreed = given.agreed
    if agreed is None or agreed.alpha is None or agreed.rare_scenarios is None or agreed.scenarios < SMALL_SAMPLE:
        return
    if agreed.rare_scenarios < MIN_RARE:
        others = "all targets pass" if given.metric is Metric.PASS_RATE else "all targets give the most frequent answer"
        text = f"agreement depends on {count_of(agreed.rare_scenarios, 'scenario')}: in all others, {others}"
        yield Caution(CautionCode.RARE_ANSWERS, text)


def _partial(given: CautionInput) -> Iterator[Caution]:
    if given.missing_probes:
        yield Caution(
            CautionCode.PARTIAL, f"without an outcome yet: {count_of(given.missing_probes, 'conversation')} of the run"
        )


def _left_out(given: CautionInput) -> Iterator[Caution]:
    partly = sum(each.partly_checked for each in given.totals)
    if partly:
        text = left_out_message(partly, given.overall.completed, add_checks(each.left_out for each in given.totals))
        columns = tuple(number for number, each in enumerate(given.totals) if each.partly_checked)
        yield Caution(CautionCode.LEFT_OUT_CHECKS, text, columns if len(columns) < len(given.totals) else ())


def _sample_size(given: CautionInput) -> Iterator[Caution]:
    number = given.overall.scenarios(given.metric)
    if number == 1:
        yield Caution(
            CautionCode.ONE_SCENARIO,
            "a single scenario: the figures say how its repeats are answered, and nothing about other scenarios",
        )
    elif 1 < number < MIN_SCENARIOS:
        yield Caution(
            CautionCode.FEW_SCENARIOS,
            f"{number} scenarios: intervals hold for exactly these, and say nothing about other scenarios",
        )
    elif MIN_SCENARIOS <= number < SMALL_SAMPLE:
        yield Caution(
            CautionCode.SMALL_SAMPLE, f"{number} scenarios: intervals are wide, and small effects are not found"
        )
    elif SMALL_SAMPLE <= number < MODERATE_SAMPLE:
        yield Caution(CautionCode.MODERATE_SAMPLE, f"{number} scenarios: only large effects can be seen")


def _decisions(given: CautionInput) -> Iterator[Caution]:
    if given.overall.completed and not given.overall.pass_rate.trials and not given.overall.decision.answers:
        undecided = "no answer has a decision from 1 to 5, and none" if given.has_decision_rule else "no answer"
        yield Caution(CautionCode.NO_RESULTS, f"{undecided} was judged")
    if not given.has_decision_rule:
        return
    if given.overall.completed and not given.overall.decision.answers:
        yield Caution(CautionCode.NO_DECISIONS, "no decision from 1 to 5 could be read from any answer")
        return
    high = tuple(number for number, column in enumerate(given.columns) if (column.other_rate.share or 0.0) > HIGH_OTHER)
    if high:
        yield Caution(
            CautionCode.HIGH_OTHER,
            "no decision could be read from more than 10% of the answers; the means leave them out",
            high,
        )


def _errors(given: CautionInput) -> Iterator[Caution]:
    rates = [rate for column in given.columns if (rate := column.error_rate) is not None]
    if rates and max(rates) - min(rates) > UNEVEN_ERRORS:
        yield Caution(
            CautionCode.UNEVEN_ERRORS,
            f"between {format_percent(min(rates))} and {format_percent(max(rates))} of the targets' conversations "
            "errored, so the targets may have answered different scenarios",
        )


def _dimensions(given: CautionInput) -> Iterator[Caution]:
    partial = sorted(each.name for each in given.dimensions if each.scenarios < given.scenarios)
    if partial:
        yield Caution(CautionCode.PARTIAL_DIMENSIONS, f"not every scenario has a score in {', '.join(partial[:5])}")
    if len(given.dimensions) < given.named_dimensions:
        number = len(given.dimensions)
        text = f"only the first {number:,} of {given.named_dimensions:,} dimensions are analyzed"
        yield Caution(CautionCode.MANY_DIMENSIONS, text)
    if any(each.levels and not all(column.levels for column in each.columns) for each in given.dimensions):
        yield Caution(CautionCode.MANY_LEVELS, "there are too many targets and levels for estimates of each by level")


def _targets(given: CautionInput) -> Iterator[Caution]:
    if len(given.columns) > MAX_COLUMNS:
        yield Caution(CautionCode.MANY_TARGETS, f"pairs are not compared for more than {MAX_COLUMNS} targets")


class ComparisonCaution(StrEnum):
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
    ComparisonCaution.FEW_SCENARIOS: "Fewer than 5 scenarios: the figures say nothing about other scenarios.",
    ComparisonCaution.SMALL_SAMPLE: "Fewer than 10 scenarios: only large differences can be detected.",
    ComparisonCaution.MODERATE_SAMPLE: "Fewer than 30 scenarios: small differences cannot be detected.",
    ComparisonCaution.NO_VARIATION: "Nearly all scenarios differ by the same amount; the interval allows for others.",
    ComparisonCaution.HIGH_OTHER: "More than 10% of the answers of a side have no readable code.",
    ComparisonCaution.UNEVEN_ERRORS: "The shares of errored conversations differ by more than 5 percentage points.",
    ComparisonCaution.ERRORS_DECIDE: "The difference has another sign if errored conversations count as failures.",
    ComparisonCaution.SUBSTITUTED: "The sides have different targets or prompts.",
    ComparisonCaution.PERSONAS: "Intervals are for exactly these personas, and not for users like them.",
}


def size_cautions(estimate: PairedEstimate) -> Iterator[ComparisonCaution]:
    count = estimate.scenarios
    if count == 1:
        yield ComparisonCaution.ONE_SCENARIO
    elif count < MIN_SCENARIOS:
        yield ComparisonCaution.FEW_SCENARIOS
    elif count < SMALL_SAMPLE:
        yield ComparisonCaution.SMALL_SAMPLE
    elif count < MODERATE_SAMPLE:
        yield ComparisonCaution.MODERATE_SAMPLE
    if estimate.is_rare:
        yield ComparisonCaution.NO_VARIATION


def data_cautions(sample: PairedSample, metric: Metric) -> Iterator[ComparisonCaution]:
    if metric is Metric.DECISION and any(_share(cell.other, cell.ruled) > HIGH_OTHER for cell in sample.totals):
        yield ComparisonCaution.HIGH_OTHER
    before, after = (_share(cell.errored, cell.errored + cell.completed) for cell in sample.totals)
    if abs(after - before) > UNEVEN_ERRORS:
        yield ComparisonCaution.UNEVEN_ERRORS
    if sample.pair.is_substituted:
        yield ComparisonCaution.SUBSTITUTED
    if any(len(scenario.cases) > 1 for scenario in sample.scenarios):
        yield ComparisonCaution.PERSONAS


def error_cautions(difference: float | None, with_errors: float | None) -> Iterator[ComparisonCaution]:
    """Warn if errors decide the sign; `with_errors` is the difference with errored probes as failures, or None."""
    if difference is not None and with_errors is not None and difference * with_errors < 0:
        yield ComparisonCaution.ERRORS_DECIDE


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
