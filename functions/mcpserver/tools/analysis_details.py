"""Reads parts of the stored analysis of a run: dimensions, contested scenarios, latencies; nothing is computed here."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from cupel_core.errors import Invalid
from mcpserver.figures import AnalysisState, ContestedBrief, ReadAnalysis, column_name, read_figures
from mcpserver.models import ResultModel
from mcpserver.registry import tool
from mcpserver.request import ToolRequest

TargetName = Annotated[
    str, Field(strict=True, min_length=1, max_length=300, description="Id of a target, or its model")
]


class GetDimensionAnalysis(ReadAnalysis):
    model: Annotated[TargetName | None, Field(description="Of one target instead of all together")] = None


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
    position = None if arguments.model is None else _position(figures["columns"], arguments.model)
    dimensions = [
        _dimension(each, each["overall"] if position is None else each["columns"][position])
        for each in figures["dimensions"]
    ]
    target = None if position is None else column_name(figures, position)
    return DimensionEffects(**state, target=target, dimensions=dimensions)


def _position(columns: list[dict[str, Any]], model: str) -> int:
    for number, column in enumerate(columns):
        if model in (column["targetId"], column["modelId"], column["name"]):
            return number
    known = ", ".join(each["targetId"] for each in columns)
    raise Invalid.field("model", f"is no target of the run, which has {known}")


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
        Field(description="`contested`: targets differ; `most_variable`, `least_variable`: repeats of one target do"),
    ] = ContestedOrder.CONTESTED
    limit: Annotated[int, Field(strict=True, ge=1, le=100)] = 10


class ContestedScenarios(AnalysisState):
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
        listed = figures["variability"][end] if figures["variability"] else []
        found = [{**each, "target": column_name(figures, each["column"])} for each in listed]
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


@tool(
    "getRunAnalysis",
    title="Get latencies and costs",
    description="Percentiles of latency, turns and output tokens, and the cost, of every target of a run.",
    max_kb=3,
)
def get_latency_stats(request: ToolRequest, arguments: ReadAnalysis) -> LatencyFigures:
    state, figures = read_figures(request, arguments.run_id)
    targets = [
        TargetOperations.model_validate({**each["estimate"], **each["operations"], "name": each["name"]})
        for each in figures["columns"]
    ]
    return LatencyFigures(**state, targets=targets)
