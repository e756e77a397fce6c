"""Reads runs."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import Time
from cupel_core.contract.runs import RunResponse
from cupel_core.domain.runs.run import PauseReason, Priority, RunStatus
from cupel_core.domain.runs.views import RunView
from cupel_core.interfaces.mcp.models import (
    Arguments,
    Id,
    ListArguments,
    ListResult,
    Offset,
    ResultModel,
    Text,
    UntrustedResult,
)
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.interfaces.mcp.results import list_result
from cupel_core.runs import queries


class ProgressBrief(ResultModel):
    total: Annotated[int, Field(description="Probes of the run")]
    completed: int
    failed: Annotated[int, Field(description="Ended in an infrastructure error, which is no failure of the model")]


class RunBrief(ResultModel):
    id: str
    name: str | None = None
    definition_id: str
    definition_name: str
    definition_version: int
    experiment_id: str | None = None
    status: RunStatus
    models: list[str]
    total_targets: Annotated[int, Field(description="get_run continues a list of them that was cut")]
    progress: ProgressBrief
    cost_usd: float | None = None
    created_at: Time
    completed_at: Time | None = None


class ListRuns(ListArguments):
    definition_id: Id | None = None
    experiment_id: Id | None = None
    status: RunStatus | None = None
    tag: Annotated[str | None, Field(strict=True, min_length=1, max_length=100)] = None
    name: Annotated[Text | None, Field(description="Part of the name, in any case")] = None


@tool(
    "listRuns",
    title="List runs",
    description="Runs, newest first: status, models, progress, cost. get_run has the configuration of one.",
    max_kb=4,
)
def list_runs(request: ToolRequest, arguments: ListRuns) -> ListResult[RunBrief]:
    page = queries.list_runs(
        request.workspace,
        definition_id=arguments.definition_id,
        experiment_id=arguments.experiment_id,
        status=arguments.status,
        name=arguments.name,
        tag=arguments.tag,
        limit=arguments.limit,
        cursor=arguments.cursor,
    )
    return list_result(request, ListResult[RunBrief], page.entries(), arguments.limit, run_view)


def run_view(view: RunView) -> RunBrief:
    return RunBrief.model_validate(_fields(RunResponse.of(view)))


def _fields(run: RunResponse) -> dict[str, Any]:
    """What both views are made of."""
    return {
        **run.model_dump(by_alias=False),
        "models": run.config.models,
        "total_targets": len(run.config.targets),
        "cost_usd": run.spend.cost_usd,
    }


class GetRun(Arguments):
    run_id: Id
    offset: Annotated[Offset, Field(description="Targets to skip, to continue after a cut")] = 0


class TargetBrief(ResultModel):
    id: str
    label: str | None = None
    model: str | None = None
    connector_id: str | None = None
    agent_name: str | None = None
    params: dict[str, Any]


class RunConfigBrief(ResultModel):
    targets: list[TargetBrief]
    prompt_ids: list[str]
    sample_percentage: int
    sample_seed: int
    repeats: int
    params: dict[str, Any]
    max_turns: int | None = None
    profile_id: str | None = None
    judge_model: str | None = None
    persona_model: str | None = None


class FailureBrief(ResultModel):
    where: str
    why: str


class SuspendedModelBrief(ResultModel):
    model: str
    until: Time
    reason: str


class PauseCauseBrief(ResultModel):
    model: str
    message: str


class RunBudgetBrief(ResultModel):
    max_budget_usd: float
    spent_usd: float
    reserved_usd: Annotated[float, Field(description="For calls that are in flight")]
    projected_usd: Annotated[float | None, Field(description="What the whole run is expected to cost")] = None


class RunDetail(UntrustedResult, RunBrief):
    tags: list[str]
    priority: Priority
    config: RunConfigBrief
    sample: Annotated[str | None, Field(description="Which part of the scenarios the run has")] = None
    budget: Annotated[RunBudgetBrief | None, Field(description="Absent without a limit")] = None
    pause_reason: PauseReason | None = None
    pause_cause: Annotated[PauseCauseBrief | None, Field(description="What must be repaired")] = None
    failure: FailureBrief | None = None
    suspended_models: Annotated[
        list[SuspendedModelBrief], Field(description="Models that are not called for a while, because calls failed")
    ]
    started_at: Time | None = None
    duration_ms: int | None = None


@tool(
    "getRun",
    title="Get a run",
    description=(
        "A run: its targets and configuration, progress, cost, budget, and why it is paused, waits or has failed."
        " get_run_summary has its figures."
    ),
    max_kb=4,
)
def get_run(request: ToolRequest, arguments: GetRun) -> RunDetail:
    view = queries.get_run(request.workspace, arguments.run_id, request.now)
    run = RunResponse.of(view)
    fields = _fields(run) | _of_targets(view, run, arguments.offset)
    return RunDetail.model_validate({**fields, "sample": _sample_note(run), "budget": run.spend.budget})


def _of_targets(view: RunView, run: RunResponse, offset: int) -> dict[str, Any]:
    """The fields that concern the targets from this position on, in their order, so that a cut loses none of them."""
    models = list(dict.fromkeys(each.model for each in view.run.plan.targets[offset:]))
    suspended = {each.model: each for each in run.suspended_models}
    return {
        "models": models,
        "config": {**run.config.model_dump(by_alias=False), "targets": run.config.targets[offset:]},
        "suspended_models": [suspended[each] for each in models if each in suspended],
    }


def _sample_note(run: RunResponse) -> str | None:
    if run.scenario_count == run.scenario_total:
        return None
    share = run.config.sample_percentage
    return f"{run.scenario_count} of {run.scenario_total} scenarios ({share} %, seed {run.config.sample_seed})"
