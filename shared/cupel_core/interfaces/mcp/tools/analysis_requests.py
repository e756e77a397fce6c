"""Requests analyses and comparisons, and waits for them for a limited time."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.analysis import comparisons, deep_requests, queries
from cupel_core.analysis.lists import wait_for_job
from cupel_core.contract.comparisons import CreateComparison, RunComparisonResponse
from cupel_core.contract.operation import ToolGroup
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisStatus
from cupel_core.domain.analysis.verdicts import ComparisonVerdict
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.models import Arguments, Id, ResultModel, ToolResult
from cupel_core.interfaces.mcp.registry import ToolEffect, tool
from cupel_core.interfaces.mcp.request import ToolRequest
from cupel_core.workspace.access.waiting import may_wait

MAX_WAIT_SECONDS = 20
Wait = Annotated[
    int,
    Field(
        strict=True,
        ge=0,
        le=MAX_WAIT_SECONDS,
        description="Seconds to wait for the result, if it is queued and few requests wait",
    ),
]


class AnalyzeRunArguments(Arguments):
    run_id: Id
    kind: AnalysisKind = AnalysisKind.BASIC
    force: Annotated[bool, Field(strict=True, description="Also if nothing has changed since the last one")] = False
    wait_seconds: Wait = MAX_WAIT_SECONDS


class RequestedAnalysisResult(ToolResult):
    run_id: str
    kind: AnalysisKind
    analysis_id: str | None = None
    status: Annotated[AnalysisStatus | None, Field(description="Absent while it is computed")] = None
    job_id: Annotated[str | None, Field(description="The job that computes it: see get_job")] = None


@tool(
    "analyzeRun",
    title="Analyze a run",
    is_default=True,
    description=(
        "Computes the analysis of a run that has ended, unless it is current. `deep` is a job, which calls models and"
        " may cost money: this waits for a while, then returns its id. get_run_summary and get_deep_analysis have the"
        " figures."
    ),
    max_kb=1,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.UPDATE,
    is_idempotent=False,
    calls_models=True,
)
def analyze_run(request: ToolRequest, arguments: AnalyzeRunArguments) -> RequestedAnalysisResult:
    record, job_id = _request(request, arguments)
    fields: dict[str, Any] = {"run_id": arguments.run_id, "kind": arguments.kind}
    if record is None and job_id is not None and _is_over(request, job_id, arguments.wait_seconds):
        record = queries.get_analysis(request.workspace, arguments.run_id, None, arguments.kind).record
    if record is None:
        return RequestedAnalysisResult(**fields, job_id=job_id)
    return RequestedAnalysisResult(**fields, analysis_id=record.id, status=record.status)


def _request(request: ToolRequest, arguments: AnalyzeRunArguments) -> tuple[Any, str | None]:
    if arguments.kind is AnalysisKind.BASIC:
        found = queries.request_analysis(request.workspace, arguments.run_id, None, request.now, force=arguments.force)
        return found, None
    record, job = deep_requests.request(request.workspace, arguments.run_id, None, request.now, force=arguments.force)
    return record, job.id if job else None


def _is_over(request: ToolRequest, job_id: str, seconds: float) -> bool:
    with may_wait(request.caller, seconds) as is_permitted:
        return wait_for_job(request.workspace, job_id, seconds if is_permitted else 0).status.is_over


TargetNames = Annotated[
    list[Annotated[str, Field(strict=True, min_length=1, max_length=200)]],
    Field(max_length=100, description="Ids or models of its targets; all if empty"),
]


PromptIds = Annotated[list[Id], Field(max_length=100, description="Ids of the definition's prompts; all if empty")]


class CompareRuns(Arguments):
    baseline_run_id: Id
    comparison_run_id: Annotated[Id, Field(description="The same run to compare its own targets")]
    baseline_targets: TargetNames = Field(default_factory=list)
    comparison_targets: TargetNames = Field(default_factory=list)
    baseline_prompts: PromptIds = Field(default_factory=list)
    comparison_prompts: PromptIds = Field(default_factory=list)
    metric: Metric | None = None
    margin: Annotated[float | None, Field(strict=True, gt=0, le=4, description="Smaller differences do not matter")] = (
        None
    )
    alpha: Annotated[float, Field(strict=True, ge=0.0001, le=0.5)] = 0.05
    wait_seconds: Wait = MAX_WAIT_SECONDS


class ComparedTargets(ResultModel):
    targets: list[str]
    verdict: ComparisonVerdict
    sentence: str
    difference: float | None = None
    interval: list[float] | None = None
    adjusted_p: float | None = None


class RequestedComparisonResult(ToolResult):
    comparison_id: str
    status: JobStatus
    job_id: str
    failure: str | None = None
    rows: Annotated[list[ComparedTargets], Field(description="By pair of targets, once it is completed")]
    changes: Annotated[list[str], Field(description="What differs between the runs")]


@tool(
    "createComparison",
    title="Compare runs",
    is_default=True,
    description=(
        "Compares two runs that have ended, scenario by scenario: differences with intervals, adjusted p-values and a"
        " verdict per target. A job does it: this waits for a while. get_comparison has it again, with more figures."
    ),
    max_kb=6,
    group=ToolGroup.ANALYSIS,
    effect=ToolEffect.UPDATE,
)
def compare_runs(request: ToolRequest, arguments: CompareRuns) -> RequestedComparisonResult:
    body: dict[str, Any] = {
        "baseline": {
            "runId": arguments.baseline_run_id,
            "targets": arguments.baseline_targets,
            "prompts": arguments.baseline_prompts,
        },
        "comparison": {
            "runId": arguments.comparison_run_id,
            "targets": arguments.comparison_targets,
            "prompts": arguments.comparison_prompts,
        },
        "alpha": arguments.alpha,
    }
    body |= {name: value for name in ("metric", "margin") if (value := getattr(arguments, name)) is not None}
    spec = parse(CreateComparison, body, "").spec()
    view, _is_new = comparisons.request(request.workspace, spec, request.now)
    if not view.comparison.status.is_over and _is_over(request, view.comparison.job_id, arguments.wait_seconds):
        view = comparisons.get(request.workspace, view.comparison.id)
    return _result(RunComparisonResponse.from_value(view.comparison, figures=view.figures, is_stale=view.is_stale))


def _result(found: RunComparisonResponse) -> RequestedComparisonResult:
    figures = found.figures
    return RequestedComparisonResult(
        comparison_id=found.id,
        status=found.status,
        job_id=found.job_id,
        failure=found.failure.why if found.failure else None,
        rows=[
            ComparedTargets(
                targets=list(dict.fromkeys(each.target_id for each in (*row.baseline, *row.comparison))),
                verdict=row.verdict,
                sentence=row.sentence,
                difference=row.difference,
                interval=row.interval,
                adjusted_p=row.adjusted_p,
            )
            for row in (figures.rows if figures else ())
        ],
        changes=figures.what_changed.summary if figures else [],
    )
