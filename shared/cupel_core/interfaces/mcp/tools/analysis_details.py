"""Reads parts of the stored analysis of a run: dimensions, contested scenarios, latencies; nothing is computed here."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from cupel_core.base.errors import Invalid
from cupel_core.interfaces.mcp.figures import (
    AnalysisState,
    ContestedBrief,
    ReadAnalysis,
    ReadTargets,
    TargetName,
    chosen_columns,
    column_name,
    join_values,
    named_columns,
    read_figures,
)
from cupel_core.interfaces.mcp.models import Id, ResultModel, UntrustedResult
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest


class GetDimensionAnalysis(ReadAnalysis):
    model: Annotated[TargetName | None, Field(description="Of one target instead of all together")] = None
    prompt_id: Annotated[Id | None, Field(description="Of the target with this prompt, if the run has several")] = None


class LevelMean(ResultModel):
    score: float
    mean: float | None = None
    pass_rate: float | None = None
    n: Annotated[int, Field(description="Answers that `mean` is of")]
    completed: int


class DimensionBrief(ResultModel):
    name: str
    scenarios: int
    eta_squared: Annotated[float | None, Field(description="Share of the variance that the levels explain")] = None
    adjusted_p: float | None = None
    slope: Annotated[float | None, Field(description="Per unit of the score")] = None
    slope_interval95: list[float] | None = None
    correlation: float | None = None
    levels: list[LevelMean]


class DimensionEffects(AnalysisState):
    target: str | None = None
    dimensions: Annotated[list[DimensionBrief], Field(description="The strongest first")]


@tool(
    "getRunAnalysis",
    title="Get the effects of dimensions",
    description="How answers depend on each dimension of the scenarios: effects, trends and means by level.",
    max_kb=6,
)
def get_dimension_analysis(request: ToolRequest, arguments: GetDimensionAnalysis) -> DimensionEffects:
    state, figures = read_figures(request, arguments.run_id)
    position = _position(figures["columns"], arguments.model, arguments.prompt_id)
    dimensions = [
        _dimension(each, each["overall"] if position is None else each["columns"][position])
        for each in figures["dimensions"]
    ]
    target = None if position is None else column_name(figures, position)
    return DimensionEffects(**state, target=target, dimensions=dimensions)


def _position(columns: list[dict[str, Any]], model: str | None, prompt_id: str | None) -> int | None:
    if model is None and prompt_id is None:
        return None
    of_model = range(len(columns)) if model is None else named_columns(columns, model)
    if not of_model:
        raise Invalid.field("model", f"is no target of the run, which has {join_values(columns, 'targetId')}")
    found = [each for each in of_model if prompt_id in (None, columns[each].get("promptId"))]
    if len(found) == 1:
        return found[0]
    prompts = join_values([columns[each] for each in of_model], "promptId")
    if not found:
        raise Invalid.field("prompt_id", f"is no prompt of the target, which has {prompts or 'none'}")
    chosen = [columns[each] for each in found]
    if len({each["targetId"] for each in chosen}) > 1:
        raise Invalid.field("model", f"must name one of the targets {join_values(chosen, 'targetId')}")
    raise Invalid.field("prompt_id", f"is required, because the target has several prompts: {prompts}")


def _dimension(found: dict[str, Any], of_target: dict[str, Any]) -> DimensionBrief:
    trend, effect = of_target["trend"] or {}, of_target["effect"]
    return DimensionBrief(
        name=found["name"],
        scenarios=found["scenarios"],
        eta_squared=effect["etaSquared"],
        adjusted_p=effect["adjustedP"],
        slope=trend.get("slope"),
        slope_interval95=trend.get("interval95"),
        correlation=trend.get("correlation"),
        levels=[
            LevelMean(
                score=score,
                mean=each["decision"]["mean"],
                pass_rate=each["passRate"]["share"],
                n=each["decision"]["answers"],
                completed=each["completed"],
            )
            for score, each in zip(found["levels"], of_target["levels"], strict=True)
        ],
    )


class ContestedOrder(StrEnum):
    CONTESTED = "contested"
    MOST_VARIABLE = "most_variable"
    LEAST_VARIABLE = "least_variable"


class GetContestedScenarios(ReadAnalysis):
    order: Annotated[
        ContestedOrder,
        Field(
            description="`contested`: scenarios that targets answer most differently;"
            " `most_variable`, `least_variable`: repeats of one target differ most, least"
        ),
    ] = ContestedOrder.CONTESTED
    limit: Annotated[int, Field(strict=True, ge=1, le=100)] = 10


class ContestedScenarios(AnalysisState, UntrustedResult):
    scenarios: list[ContestedBrief]


@tool(
    "getRunAnalysis",
    title="Get contested scenarios",
    description="Scenarios that targets answer most differently, or whose repeats differ most or least.",
    max_kb=4,
)
def get_contested_scenarios(request: ToolRequest, arguments: GetContestedScenarios) -> ContestedScenarios:
    state, figures = read_figures(request, arguments.run_id)
    if arguments.order is ContestedOrder.CONTESTED:
        found = figures["contested"]
    else:
        end = "most" if arguments.order is ContestedOrder.MOST_VARIABLE else "least"
        varied = figures["variability"][end] if figures["variability"] else []
        found = [{**each, "target": column_name(figures, each["column"])} for each in varied]
    scenarios = [ContestedBrief.model_validate(each) for each in found[: arguments.limit]]
    return ContestedScenarios(**state, scenarios=scenarios)


class QuantilesBrief(ResultModel):
    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class TargetOperations(ResultModel):
    name: str
    completed: int
    errored: int
    duration_ms: Annotated[QuantilesBrief | None, Field(description="Of the target's calls, without waits")] = None
    turns: QuantilesBrief | None = None
    output_tokens: QuantilesBrief | None = None
    cost_usd: float | None = None


class LatencyFigures(AnalysisState):
    targets: list[TargetOperations]
    total_targets: Annotated[int, Field(description="Regardless of `offset`")]


@tool(
    "getRunAnalysis",
    title="Get latencies and costs",
    description="Percentiles of latency, turns and output tokens, and the cost, of every target of a run.",
    max_kb=3,
)
def get_latency_stats(request: ToolRequest, arguments: ReadTargets) -> LatencyFigures:
    state, figures = read_figures(request, arguments.run_id)
    chosen = chosen_columns(figures, arguments.targets)
    targets = [_operations(figures["columns"][each]) for each in chosen[arguments.offset :]]
    return LatencyFigures(**state, targets=targets, total_targets=len(chosen))


def _operations(column: dict[str, Any]) -> TargetOperations:
    return TargetOperations.model_validate({**column["estimate"], **column["operations"], "name": column["name"]})
