"""The result table of a run, as far as it is."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from cupel_core.contract.analysis import (
    Extrapolated,
    GroupEstimateResponse,
    OperatingFiguresResponse,
    RunSampleResponse,
)
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
    """Why probes are errored."""

    code: str
    count: Annotated[int, Field(description="Errored probes with this code")]
    probe_index: Annotated[int, Field(description="Of the first of them")]
    example: Annotated[str | None, Field(description="Its message; null if it is not among those that are read")]
    retry_helps: RetryHelps


class OmittedParameterResponse(ResponseModel):
    """A parameter that was not sent, because the model refuses it or its provider does not have it."""

    name: Annotated[RequestParameter, Field(description="As in `omittedParameters` of a transcript")]
    answers: Annotated[int, Field(description="Completed probes without it")]


class ColumnResultsResponse(ColumnFields):
    """What one target, asked by one prompt, achieved, took and cost."""

    probes: Annotated[int, Field(description="That the run has of it")]
    estimate: Annotated[GroupEstimateResponse, Field(description="Its figures")]
    extrapolated: Extrapolated
    unscored: Annotated[
        int,
        Field(description="Completed probes of which a weighted assertion could not be computed"),
        read_from("totals.unscored"),
    ]
    cut_answers: Annotated[
        int,
        Field(description="Completed probes whose last answer was cut by a limit of tokens"),
        read_from("totals.cut"),
    ]
    partly_checked: Annotated[
        int,
        Field(description="Completed probes of scenarios whose import left out checks"),
        read_from("totals.partly_checked"),
    ]
    left_out_checks: LeftOutCounts
    omitted_parameters: Annotated[
        list[OmittedParameterResponse],
        Field(description="What was left out of its requests; the most frequent first"),
    ]
    tokens: Annotated[int, Field(description="Of the target's calls, in and out"), read_from("totals.tokens")]
    operations: Annotated[OperatingFiguresResponse, Field(description="What its probes took and cost")]
    errors: Annotated[list[ErrorReasonResponse], Field(description="The most frequent first")]
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
    total: Annotated[int, Field(description="Probes of the run"), read_from("run.plan.total")]
    recorded: Annotated[int, Field(description="Probes with an outcome")]
    counted: Annotated[int, Field(description="Outcomes that the rows are computed from")]
    is_complete: Annotated[
        bool, Field(description="Whether these are all of them; if not, the next request counts more")
    ]
    sample: Annotated[RunSampleResponse, Field(description="Which part of the scenarios the run has")]
    columns: Annotated[list[ColumnResultsResponse], Field(description="By target, then by prompt")]

    @classmethod
    def of(cls, found: RunResults) -> "RunResultsResponse":
        return cls.from_value(
            found,
            counted=sum(column.estimate.probes for column in found.columns),
            columns=[ColumnResultsResponse.of(column, found.messages) for column in found.columns],
        )
