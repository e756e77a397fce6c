"""Experiments: runs under one hypothesis, compared with a baseline."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from cupel_core.contract.common import RequestModel, ResponseModel, Time, example, read_from
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
    """What its author declares."""

    name: ResourceName | None = None
    hypothesis: Text | None = None
    null_hypothesis: Text | None = None
    description: Text | None = None
    direction: Annotated[
        ExpectedDirection | None, Field(description="How runs are expected to differ from the baseline")
    ] = None
    target: Annotated[ColumnName | None, Field(description="Target that the expectation is about; null for all")] = None
    metric: Annotated[Metric | None, Field(description="Null: decisions if there are any, else pass rates")] = None
    minimum_effect: Annotated[Margin | None, Field(description="Smaller differences do not matter")] = None
    alpha: Annotated[Alpha | None, Field(description="Significance level")] = 0.05
    independent_variable: Annotated[Variable | None, Field(description="What is varied on purpose")] = None
    controlled_variables: Annotated[
        Annotated[tuple[Variable, ...], Field(max_length=50)] | None, Field(description="What is meant to stay equal")
    ] = _NONE
    baseline_run_id: Annotated[Id | None, Field(description="Run that the others are compared with")] = None
    tags: Annotated[tuple[Variable, ...], Field(max_length=50)] | None = _NONE

    _required_fields = field_validator("name", "hypothesis", "alpha", "controlled_variables", "tags")(not_null)


class UpdateExperiment(ExperimentFields):
    """Omitted fields keep their value and null clears it. `conclusion` ends the experiment; null opens it again."""

    model_config = example({"conclusion": "SUPPORTED", "note": "Holds for both targets."})

    conclusion: Annotated[Conclusion | None, Field(description="What a person concludes; null while it is open")] = None
    note: Annotated[Text | None, Field(description="Why it was concluded so")] = None

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
    name: str
    status: ExperimentStatus
    hypothesis: str
    null_hypothesis: str | None
    description: str | None
    direction: ExpectedDirection | None
    target: Annotated[str | None, Field(description="Target that the expectation is about; null for all")]
    metric: Annotated[Metric | None, Field(description="Null: decisions if there are any, else pass rates")]
    minimum_effect: Annotated[float | None, Field(description="Smaller differences do not matter")]
    alpha: Annotated[float, Field(description="Significance level")]
    independent_variable: str | None
    controlled_variables: list[str]
    baseline_run_id: str | None
    tags: list[str]
    conclusion: Annotated[Conclusion | None, Field(description="What a person concluded; null while it is open")]
    note: str | None
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
    definition_name: Annotated[str, Field(description="Name of its definition when it started")]
    status: RunStatus
    created_at: Time
    cost_usd: Annotated[float | None, Field(description="Null until it has ended, or if a price is unknown")]

    @classmethod
    def of(cls, run: Run) -> "ExperimentRunResponse":
        return cls.from_value(run, cost_usd=(run.spend.recorded + run.spend.lost).known_usd if run.spend else None)


class ExperimentRowResponse(ResponseModel):
    """A target of a run, compared with the baseline."""

    run_id: str
    comparison_id: Annotated[str, Field(description="The comparison with the baseline")]
    target: Annotated[str, Field(description="Id of the target")]
    metric: Metric
    scenarios: Annotated[int, Field(description="Scenarios with results on both sides; each counts once")]
    baseline_mean: float | None
    comparison_mean: float | None
    difference: Annotated[float | None, Field(description="Run minus baseline")]
    interval: Annotated[list[float] | None, Field(description="Confidence interval of the difference, 1 - alpha")]
    adjusted_p: Annotated[float | None, Field(description="Adjusted over all rows of the experiment by Holm's method")]
    verdict: ComparisonVerdict

    @classmethod
    def of(cls, row: ExperimentRow) -> "ExperimentRowResponse":
        return cls.from_value(
            row,
            scenarios=row.figures["scenarios"],
            baseline_mean=row.figures["baselineMean"],
            comparison_mean=row.figures["comparisonMean"],
            difference=row.figures["difference"],
            interval=row.figures["interval"],
        )


class PendingRunResponse(ResponseModel):
    run_id: str
    reason: Annotated[str, Field(description="Why it is not compared with the baseline, or not yet")]
    can_be_requested: Annotated[
        bool,
        Field(
            description="Whether nothing is known to be in the way of its comparison, but that nobody has requested it"
        ),
    ]
    is_in_progress: Annotated[
        bool,
        Field(
            description="Whether this changes by itself: the run or the baseline goes on, or the comparison is queued,"
            " about to be, or being computed; false if the runs cannot be compared, or the comparison failed"
        ),
    ]


class ExperimentSummaryResponse(ResponseModel):
    experiment: Annotated[ExperimentResponse, Field(description="What its author declared and concluded")]
    runs: Annotated[list[ExperimentRunResponse], Field(description="The runs, oldest first")]
    rows: Annotated[
        list[ExperimentRowResponse],
        Field(description="A row per run and target, except for the baseline; at most 5,000, of the newest runs"),
    ]
    row_count: Annotated[int, Field(description="How many rows there are; p is adjusted over all of them")]
    pending_run_ids: Annotated[list[str], Field(description="Runs that go on, or are not compared yet")]
    reasons: Annotated[list[PendingRunResponse], Field(description="Why these runs are not compared, or not yet")]
    varied: Annotated[list[str], Field(description="Aspects that differ between the baseline and a run")]
    suggested_conclusion: Annotated[
        Conclusion | None, Field(description="What the expectation says of the rows; a person concludes")
    ]
