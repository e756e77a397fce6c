"""The result table of a run, as far as it is."""

from collections.abc import Mapping
from typing import Annotated

from cupel_core.contract.analysis import RunSampleResponse
from cupel_core.contract.analyzed_columns import Extrapolated, GroupEstimateResponse, OperatingFiguresResponse
from cupel_core.contract.calibrations import CorrectedRateResponse, JudgeAccuracyResponse
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.contract.left_out_checks import LeftOutCounts
from cupel_core.contract.results import RetryHelps
from cupel_core.contract.unscored import UnscoredReasonResponse, UnscoredReasons
from cupel_core.domain.analysis.basic import OperatingFigures
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.run_results import ColumnResults, RunResults
from cupel_core.domain.conversations.model_request import ProbeErrorCode, RequestParameter
from cupel_core.domain.runs.run import RunStatus


class ErrorReasonResponse(ResponseModel):
    """A kind of errors of probes."""

    code: str
    """Example: timeout"""
    count: int
    """Errored probes with this code."""
    probe_index: int
    """Index of the first such probe."""
    example: str | None
    """Its message; null if it is not among those that are read. Example: no answer within 60 s"""
    retry_helps: RetryHelps
    """Example: true"""


class OmittedParameterResponse(ResponseModel):
    """A parameter not sent, because the model refuses it or its provider does not have it."""

    name: RequestParameter
    """Name as in `omittedParameters` of a transcript."""
    answers: int
    """Completed probes without it. Example: 12"""


class ColumnResultsResponse(ColumnFields):
    """Results, times and costs of one target with one prompt."""

    probes: int
    """Number of its probes."""
    estimate: GroupEstimateResponse
    """Its figures."""
    extrapolated: Extrapolated
    judge_accuracy: JudgeAccuracyResponse | None
    """Null unless people have labelled transcripts of it, and while the run goes on."""
    corrected_pass_rate: Annotated[CorrectedRateResponse | None, read_from("judge_accuracy.corrected_pass_rate")] = None
    """Null if `judgeAccuracy` is."""
    unscored: Annotated[int, read_from("totals.unscored")]
    """Completed probes of which a weighted assertion could not be computed."""
    cut_answers: Annotated[int, read_from("totals.cut")]
    """Completed probes whose last answer was cut by a limit of tokens. Example: 0"""
    partly_checked: Annotated[int, read_from("totals.partly_checked")]
    """Completed probes of scenarios whose import left out checks. Example: 0"""
    left_out_checks: LeftOutCounts
    omitted_parameters: list[OmittedParameterResponse]
    """Parameters left out of its requests; the most frequent first."""
    tokens: Annotated[int, read_from("totals.tokens")]
    """Input and output tokens of the target's calls. Example: 6200"""
    operations: OperatingFiguresResponse
    """Time and cost of its probes."""
    errors: list[ErrorReasonResponse]
    """The most frequent first."""
    unscored_reasons: UnscoredReasons

    @classmethod
    def of(cls, found: ColumnResults, messages: Mapping[int, str]) -> "ColumnResultsResponse":
        return cls.from_value(
            found,
            **cls.fields_of_column(found.column),
            left_out_checks=dict(found.totals.left_out.most_common()),
            omitted_parameters=[
                OmittedParameterResponse(name=RequestParameter(name), answers=count)
                for name, count in sorted(found.totals.omitted.items(), key=lambda each: (-each[1], each[0]))
            ],
            operations=OperatingFigures.of(found.totals),
            errors=_reasons(found.totals, messages),
            unscored_reasons=UnscoredReasonResponse.list_of(found.totals.unscored_causes, messages),
        )


def _reasons(totals: ColumnTotals, messages: Mapping[int, str]) -> list[ErrorReasonResponse]:
    errors = sorted(totals.errors.items(), key=lambda each: (-each[1].probes, each[0]))
    return [
        ErrorReasonResponse(
            code=code,
            count=error.probes,
            probe_index=error.first_index,
            example=messages.get(error.first_index),
            retry_helps=not ProbeErrorCode(code).is_repeated_by_retry,
        )
        for code, error in errors
    ]


class RunResultsResponse(ResponseModel):
    """A row per target and prompt, from the outcomes so far."""

    run_id: Annotated[str, read_from("run.id")]
    status: Annotated[RunStatus, read_from("run.status")]
    total: Annotated[int, read_from("run.plan.total")]
    """Probes of the run."""
    recorded: int
    """Probes with an outcome. Example: 72"""
    counted: int
    """Outcomes that the rows are computed from. Example: 72"""
    is_complete: bool
    """True if these are all of them; if not, the next request counts more."""
    sample: RunSampleResponse
    """Part of the scenarios that the run has."""
    columns: list[ColumnResultsResponse]
    """Results by target, then by prompt."""

    @classmethod
    def of(cls, found: RunResults) -> "RunResultsResponse":
        return cls.from_value(
            found,
            counted=sum(column.estimate.probes for column in found.columns),
            columns=[ColumnResultsResponse.of(column, found.messages) for column in found.columns],
        )
