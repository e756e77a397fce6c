"""Reads a comparison with its most changed scenarios, and figures over several runs."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.analysis import aggregation, comparisons
from cupel_core.base.paging import fill_page
from cupel_core.contract.aggregates import AggregateRowResponse, AggregateRuns
from cupel_core.contract.common import Time
from cupel_core.contract.comparisons import RunComparisonResponse, ScenarioChangeResponse
from cupel_core.domain.analysis.aggregates import GroupBy
from cupel_core.domain.analysis.jobs import JobStatus
from cupel_core.interfaces.gateway.validation import parse
from cupel_core.interfaces.mcp.models import (
    Arguments,
    Id,
    Offset,
    ResultModel,
    Text,
    ToolResult,
    UntrustedResult,
)
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest

_MAX_RUNS = 20
_MAX_DIMENSIONS = 5


class SideBrief(ResultModel):
    run_id: str
    targets: Annotated[list[str], Field(description="All if empty")]
    prompts: Annotated[list[str], Field(description="All if empty")]


class ComparisonBrief(ResultModel):
    id: str
    status: JobStatus
    baseline: SideBrief
    comparison: SideBrief
    experiment_id: str | None = None
    verdict: str | None = None
    sentence: Annotated[str | None, Field(description="The verdict in words")] = None
    created_at: Time


class GetComparison(Arguments):
    comparison_id: Id
    row: Annotated[
        int | None,
        Field(strict=True, ge=0, le=200, description="Position of a row: only its changed scenarios are listed"),
    ] = None
    scenarios: Annotated[int, Field(strict=True, ge=0, le=50, description="How many of them")] = 5


class ComparedTarget(ResultModel):
    target_id: str
    prompt_id: str | None = None


class RatioBrief(ResultModel):
    verdict: str | None = None
    sentence: str
    scenarios: int
    left_out: dict[str, int]
    ratio: float | None = None
    interval: list[float] | None = None
    adjusted_p: float | None = None


class ComparisonRowBrief(ResultModel):
    baseline: list[ComparedTarget]
    comparison: list[ComparedTarget]
    verdict: str
    sentence: str
    scenarios: int
    baseline_mean: float | None = None
    comparison_mean: float | None = None
    difference: float | None = None
    interval: list[float] | None = None
    test: str
    adjusted_p: float | None = None
    effect_size: float | None = None
    minimum_detectable_effect: float | None = None
    changes: Annotated[dict[str, int], Field(description="Scenarios that increased, decreased, stayed unchanged")]
    cost_ratio: RatioBrief
    time_ratio: RatioBrief
    cautions: list[str]


class ScenarioChangeBrief(ResultModel):
    row: int
    scenario_id: str
    scenario_name: str
    baseline: float
    comparison: float
    difference: float


class FailureReason(ResultModel):
    where: str
    why: str


class ComparisonDetail(UntrustedResult, ComparisonBrief):
    job_id: str
    is_stale: bool
    failure: FailureReason | None = None
    metric: str | None = None
    margin: Annotated[float | None, Field(description="Smaller differences do not matter")] = None
    overall: Annotated[ComparisonRowBrief | None, Field(description="All pairs together")] = None
    rows: Annotated[list[ComparisonRowBrief], Field(description="One per pair of targets; empty until it is completed")]
    what_changed: Annotated[list[str], Field(description="Differences of the runs, in sentences")]
    is_confounded: Annotated[bool | None, Field(description="Whether several changes could be the cause")] = None
    changed_scenarios: Annotated[
        list[ScenarioChangeBrief], Field(description="Of all rows, or of that one; the most changed first")
    ]


@tool(
    "getComparison",
    title="Get a comparison",
    is_default=True,
    description=(
        "A comparison of two runs or targets: differences with tests and intervals per target, verdicts in words, what"
        " differs between the runs, and the most changed scenarios."
    ),
    max_kb=6,
)
def get_comparison(request: ToolRequest, arguments: GetComparison) -> ComparisonDetail:
    view = comparisons.get(request.workspace, arguments.comparison_id)
    response = RunComparisonResponse.from_value(view.comparison, figures=view.figures, is_stale=view.is_stale)
    found = response.model_dump(mode="json", by_alias=True)
    figures = found["figures"] or {}
    return ComparisonDetail.model_validate(
        {
            **found,
            **{name: figures.get(name) for name in ("metric", "margin")},
            "overall": _row(figures["overall"]) if figures.get("overall") else None,
            "rows": [_row(each) for each in figures.get("rows", [])],
            "whatChanged": figures["whatChanged"]["summary"] if figures else [],
            "isConfounded": figures["whatChanged"]["isConfounded"] if figures else None,
            "changedScenarios": _changed_scenarios(request, arguments) if figures.get("rows") else [],
        }
    )


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "cautions": [each["message"] for each in row["cautions"]]}


def _changed_scenarios(request: ToolRequest, arguments: GetComparison) -> list[Any]:
    if not arguments.scenarios:
        return []
    entries = comparisons.list_scenarios(
        request.workspace, arguments.comparison_id, row=arguments.row, change=None, cursor=None
    )
    page = fill_page(entries, arguments.scenarios)
    return [ScenarioChangeResponse.model_validate(each).model_dump(by_alias=True) for each in page.items]


class AggregateResults(Arguments):
    run_ids: Annotated[list[Id], Field(min_length=1, max_length=_MAX_RUNS)]
    group_by: Annotated[tuple[GroupBy, ...], Field(max_length=len(GroupBy))] = ()
    dimensions: Annotated[
        tuple[Text, ...], Field(max_length=_MAX_DIMENSIONS, description="Also grouped by their levels")
    ] = ()
    target: Annotated[Text | None, Field(description="Only this target, by its id or model")] = None
    prompt_id: Id | None = None
    levels: Annotated[
        dict[Text, float] | None, Field(max_length=_MAX_DIMENSIONS, description="Only scenarios with these scores")
    ] = None
    offset: Annotated[Offset, Field(description="Rows to skip, to continue after a cut")] = 0


class AggregateRowBrief(ResultModel):
    run_id: str | None = None
    model: str | None = None
    target_id: str | None = None
    prompt_id: str | None = None
    levels: dict[str, float | None]
    runs: int
    completed: int
    errored: int
    mean_decision: float | None = None
    decision_interval95: list[float] | None = None
    pass_rate: float | None = None
    pass_rate_interval95: list[float] | None = None


class AggregatedRows(ToolResult):
    rows: list[AggregateRowBrief]
    total_rows: Annotated[int, Field(description="Regardless of `offset`")]


@tool(
    "getRunAnalysis",
    title="Aggregate results of runs",
    description="Mean decisions and pass rates over up to 20 runs, grouped by run, model, target, prompt or levels.",
    max_kb=8,
)
def aggregate_results(request: ToolRequest, arguments: AggregateResults) -> AggregatedRows:
    body = {
        "runIds": arguments.run_ids,
        "groupBy": arguments.group_by,
        "dimensions": arguments.dimensions,
        "target": arguments.target,
        "promptId": arguments.prompt_id,
        "levels": arguments.levels or {},
    }
    spec = parse(AggregateRuns, body, "").spec()
    found = aggregation.aggregate(request.workspace, spec)
    rows = [_aggregate_row(AggregateRowResponse.of(row, spec)) for row in found[arguments.offset :]]
    return AggregatedRows(rows=rows, total_rows=len(found))


def _aggregate_row(row: AggregateRowResponse) -> AggregateRowBrief:
    estimate = row.estimate
    return AggregateRowBrief(
        **{name: getattr(row, name) for name in ("run_id", "model", "target_id", "prompt_id", "levels", "runs")},
        completed=estimate.completed,
        errored=estimate.errored,
        mean_decision=estimate.decision.mean,
        decision_interval95=estimate.decision.interval,
        pass_rate=estimate.pass_rate.share,
        pass_rate_interval95=estimate.pass_rate.interval,
    )
