"""Experiments: runs under one hypothesis, compared with a baseline."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
from cupel_core.contract.compared_figures import CorrectedDifferenceResponse
from cupel_core.contract.comparisons import Alpha, ColumnName, Margin
from cupel_core.contract.fields import SINGLE_LINE, Id, ResourceName, not_blank, not_null
from cupel_core.domain.analysis.experiments import (
    Conclusion,
    ExpectedDirection,
    Experiment,
    ExperimentDesign,
    ExperimentRow,
    ExperimentStatus,
)
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.domain.runs.run import Run, RunStatus

Text = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=5_000), AfterValidator(not_blank)]
Variable = Annotated[
    str, StringConstraints(strict=True, min_length=1, max_length=200), AfterValidator(not_blank), SINGLE_LINE
]
_NONE: tuple[str, ...] = ()


class ExperimentFields(RequestModel):
    """The declaration of an experiment's author."""

    name: ResourceName | None = None
    """Example: Politeness of refunds"""
    hypothesis: Text | None = None
    """Example: A polite prompt grants more refunds."""
    null_hypothesis: Text | None = None
    """Claim that holds if the hypothesis does not; null if not written. Example: The prompt makes no difference."""
    description: Text | None = None
    direction: ExpectedDirection | None = None
    """Expected difference from the baseline."""
    target: ColumnName | None = None
    """Target that the expectation is about; null for all. Example: sober"""
    metric: Metric | None = None
    """Null: decisions if there are any, else pass rates. Example: DECISION"""
    minimum_effect: Margin | None = None
    """Smaller differences do not matter. Example: 0.25"""
    alpha: Alpha | None = 0.05
    """Significance level."""
    independent_variable: Variable | None = None
    """Aspect varied on purpose. Example: prompt"""
    controlled_variables: Annotated[tuple[Variable, ...], Field(max_length=50)] | None = _NONE
    """Aspects meant to stay equal. Example: ["scenarios", "temperature"]"""
    baseline_run_id: Id | None = None
    """Run that the others are compared with. Example: run_01k1f0aa"""
    tags: Annotated[tuple[Variable, ...], Field(max_length=50)] | None = _NONE

    _required_fields = field_validator("name", "hypothesis", "alpha", "controlled_variables", "tags")(not_null)


class UpdateExperiment(ExperimentFields):
    """Omitted fields keep their value and null clears it. `conclusion` ends the experiment; null opens it again."""

    model_config = example({"conclusion": "SUPPORTED", "note": "Holds for both targets."})

    conclusion: Conclusion | None = None
    """Conclusion of a person; null while it is open."""
    note: Text | None = None
    """Reason for the conclusion."""

    def fields(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class CreateExperiment(ExperimentFields):
    """Names are unique within a workspace, ignoring case."""

    model_config = example(
        {
            "name": "Politeness of refunds",
            "hypothesis": "A polite prompt grants more refunds.",
            "direction": "HIGHER",
            "baselineRunId": "run_01k1f0aa",
        }
    )

    name: ResourceName
    hypothesis: Text

    def design(self) -> ExperimentDesign:
        fields = self.model_dump()
        return ExperimentDesign(**{name: fields[name] for name in ExperimentDesign.__dataclass_fields__})


class ExperimentResponse(ResponseModel):
    id: str
    """Example: exp_01"""
    name: str
    """Example: Politeness of refunds"""
    status: ExperimentStatus
    hypothesis: str
    """Example: A polite prompt grants more refunds."""
    null_hypothesis: str | None
    """Claim that holds if the hypothesis does not; null if not written. Example: The prompt makes no difference."""
    description: str | None
    direction: ExpectedDirection | None
    """Expected difference from the baseline; null for no expectation."""
    target: str | None
    """Target that the expectation is about; null for all. Example: sober"""
    metric: Metric | None
    """Null: decisions if there are any, else pass rates. Example: DECISION"""
    minimum_effect: float | None
    """Smaller differences do not matter. Example: 0.25"""
    alpha: float
    """Significance level."""
    independent_variable: str | None
    """Aspect varied on purpose; null for none. Example: prompt"""
    controlled_variables: list[str]
    """Aspects meant to stay equal. Example: ["scenarios", "temperature"]"""
    baseline_run_id: str | None
    """Run that the others are compared with; null for none. Example: run_01k1f0aa"""
    tags: list[str]
    conclusion: Conclusion | None
    """Conclusion of a person; null while it is open."""
    note: str | None
    """Reason for the conclusion. Example: Holds for both targets."""
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, experiment: Experiment, *, has_runs: bool) -> "ExperimentResponse":
        return cls.from_value(experiment, **vars(experiment.design), status=experiment.status(has_runs=has_runs))


class ExperimentPage(ResponseModel):
    items: list[ExperimentResponse]
    next_cursor: str | None


class ExperimentRunResponse(ResponseModel):
    run_id: Annotated[str, read_from("id")]
    name: Annotated[str | None, read_from("labels.name")]
    """Example: Release candidate 2"""
    definition_name: str
    """Name of its definition when it started."""
    status: RunStatus
    created_at: Time
    cost_usd: float | None
    """Null until it has ended, or if a price is unknown."""

    @classmethod
    def of(cls, run: Run) -> "ExperimentRunResponse":
        return cls.from_value(run, cost_usd=(run.spend.recorded + run.spend.lost).known_usd if run.spend else None)


class ExperimentRowResponse(ResponseModel):
    """A target of a run, compared with the baseline."""

    run_id: str
    comparison_id: str
    """The comparison with the baseline. Example: cmp_5d41402abc4b2a76b9719d91"""
    target: str
    """Id of the target. Example: sober"""
    metric: Metric
    scenarios: int
    """Scenarios with results on both sides; each counts once. Example: 20"""
    baseline_mean: float | None
    """Mean of the baseline's scenarios, each once. Example: 3.1"""
    comparison_mean: float | None
    """Mean of the comparison side's scenarios, each once. Example: 3.5"""
    difference: float | None
    """Run minus baseline."""
    interval: list[float] | None
    """Confidence interval of the difference, 1 - alpha."""
    adjusted_p: float | None
    """Adjusted over all rows of the experiment by Holm's method."""
    verdict: ComparisonVerdict
    corrected_difference: CorrectedDifferenceResponse | None
    """Null unless people have labelled enough of both runs, and for decisions."""

    @classmethod
    def of(cls, row: ExperimentRow) -> "ExperimentRowResponse":
        return cls.from_value(
            row,
            scenarios=row.figures["scenarios"],
            baseline_mean=row.figures["baselineMean"],
            comparison_mean=row.figures["comparisonMean"],
            difference=row.figures["difference"],
            interval=row.figures["interval"],
            corrected_difference=row.figures.get("correctedDifference"),
        )


class PendingRunResponse(ResponseModel):
    run_id: str
    reason: str
    """Reason why it is not, or not yet, compared with the baseline. Example: it is being compared"""
    can_be_requested: bool
    """Whether its comparison is possible, as far as known, but not requested. Example: false"""
    is_in_progress: bool
    """Whether this changes by itself, as the run or the baseline goes on or the comparison is pending; false if the
    runs cannot be compared, or the comparison failed.

    Example: true
    """


class ExperimentSummaryResponse(ResponseModel):
    experiment: ExperimentResponse
    """Declarations and conclusion of its author."""
    runs: list[ExperimentRunResponse]
    """The runs, oldest first."""
    rows: list[ExperimentRowResponse]
    """A row per run and target, except for the baseline; at most 5,000, of the newest runs."""
    row_count: int
    """Number of rows; p is adjusted over all of them. Example: 2"""
    pending_run_ids: list[str]
    """Runs that go on, or are not compared yet. Example: []"""
    reasons: list[PendingRunResponse]
    """Reasons why these runs are not, or not yet, compared."""
    varied: list[str]
    """Aspects that differ between the baseline and a run. Example: ["prompt"]"""
    suggested_conclusion: Conclusion | None
    """Conclusion by the expectation; a person decides."""
