"""Probes as lists of probes show them."""

from typing import Annotated, Any, Self

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel, Time, read_from
from cupel_core.contract.results import ProbeResultResponse, RoleCosts, SpendResponse
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.run import (
    ProbeStatus,
)
from cupel_core.domain.runs.views import ProbeView


class ProbeErrorResponse(ResponseModel):
    """An infrastructure error; it never counts as the model's failure."""

    code: ProbeErrorCode
    message: str
    attempts: int
    """Number of calls that were tried."""
    total_spend: Annotated[SpendResponse, read_from("spending.total")]
    """Spent on the calls that were answered before the error."""
    costs: Annotated[RoleCosts, read_from("spending.by_role")]
    created_at: Time


class CaseFields(ResponseModel):
    """What a probe is about, as it was at the run's start."""

    scenario_id: str
    scenario_name: str | None
    """Null only if the run's snapshot is gone."""
    persona_id: str | None
    persona_name: str | None
    repeat: int
    """Number of the repeat, from 0. Example: 0"""
    variables: dict[str, Any]
    """The scenario's `metadata.vars`, used in its assertions. Example: {"delay": "two months"}"""
    dimensions: dict[str, float]
    """The scenario's score per dimension."""
    metadata: dict[str, Any]
    """The scenario's metadata, without `vars`."""


class ProbeResponse(CaseFields, ColumnFields):
    id: str
    """Example: run_01k1f0aa-7"""
    run_id: Annotated[str, read_from("run.id")]
    index: int
    """Position in the run, from 0; it never changes."""
    status: ProbeStatus
    thread_id: str
    """Id under which the agent knows the conversation; changes on retry.

    Example: 0b9a6f0e-6d3c-5c0e-9a55-3c1f9a7d2e41
    """
    created_at: Annotated[Time, read_from("run.created_at")]
    """Time of its run's creation."""
    started_at: Time | None
    """Start of its conversation; for a running probe without a checkpoint, the time at which a worker took it, perhaps
    a little earlier; null before, or if not known."""
    completed_at: Time | None
    """Time of its completion or error."""
    updated_at: Time
    """The latest of these times."""
    latency_ms: int | None
    """Time spent in calls of the target. Example: 620"""
    result: ProbeResultResponse | None
    """Verdict with score and reason; null if nothing was judged."""
    error: ProbeErrorResponse | None
    attempts: list[ProbeErrorResponse]
    """Errors of earlier attempts, before retries, oldest first."""

    @classmethod
    def of(cls, view: ProbeView) -> Self:
        return cls.from_value(view, **cls.fields_of(view))

    @classmethod
    def fields_of(cls, view: ProbeView) -> dict[str, Any]:
        """Return what is not an attribute of the view."""
        return {
            **cls.fields_of_column(view.column),
            **vars(view.case),
            "latency_ms": view.conversation.duration_ms if view.conversation else None,
            "result": view.transcript.result if view.transcript else None,
        }


class ProbePage(ResponseModel):
    items: list[ProbeResponse]
    next_cursor: str | None
