"""Reads the figures of a run from its stored analyses; nothing is computed here."""

from contextlib import suppress
from enum import StrEnum
from typing import Annotated, Any

import orjson
from pydantic import Field

from cupel_core.analysis import queries
from cupel_core.analysis.queries import AnalysisView
from cupel_core.domain.analysis.records import AnalysisKind
from cupel_core.errors import Conflict, Invalid, NotFound
from mcpserver.models import Arguments, Id, ResultModel, ToolResult
from mcpserver.registry import ToolGroup, tool
from mcpserver.request import ToolRequest

_MAX_CONTESTED = 5
TargetName = Annotated[
    str, Field(strict=True, min_length=1, max_length=300, description="Id of a target, or its model")
]


class ReadAnalysis(Arguments):
    run_id: Id


class RateBrief(ResultModel):
    value: Annotated[float | None, Field(description="Absent without answers")] = None
    interval95: list[float] | None = None
    n: Annotated[int, Field(description="Answers")]
    scenarios: int


class TargetFigures(ResultModel):
    name: str
    target_id: str
    prompt_id: str | None = None
    model_id: str
    completed: int
    errored: Annotated[int, Field(description="Infrastructure errors; no failures of the target")]
    decision: Annotated[RateBrief, Field(description="Mean of the decisions from 1 to 5")]
    pass_rate: RateBrief
    other_rate: Annotated[RateBrief, Field(description="Answers without a readable decision")]
    consistency: float | None = None
    is_outlier: bool


class AgreementBrief(ResultModel):
    alpha: Annotated[float | None, Field(description="Krippendorff's, ordinal")] = None
    interval95: list[float] | None = None
    level: str | None = None
    outliers: Annotated[list[str], Field(description="Targets that answer unlike the others")]


class ContestedBrief(ResultModel):
    scenario_id: str
    scenario_name: str
    variance: float
    range: float | None = None
    target: Annotated[str | None, Field(description="Whose repeats vary")] = None


class AnalysisState(ToolResult):
    run_id: str
    metric: Annotated[str, Field(description="What targets are compared by")]
    is_stale: Annotated[bool, Field(description="Whether computing it now would give other figures")]
    sample: Annotated[str | None, Field(description="What part of the scenarios the figures are based on")] = None


class RunFigures(AnalysisState):
    targets: list[TargetFigures]
    agreement: AgreementBrief | None = None
    contested: Annotated[list[ContestedBrief], Field(description="That the targets answer most differently")]
    insights: list[str] | None = None
    cautions: list[str]
    narrative: Annotated[list[str] | None, Field(description="Of the deep analysis, if there is one")] = None


class GetRunSummary(ReadAnalysis):
    include_insights: Annotated[bool, Field(strict=True)] = True


@tool(
    "getRunAnalysis",
    title="Get the summary of a run",
    description=(
        "The main figures of a run: each target's mean decision and pass rate with 95 % intervals, agreement, outliers,"
        " the most contested scenarios, insights and cautions."
    ),
    max_kb=8,
    group=ToolGroup.READ,
)
def get_run_summary(request: ToolRequest, arguments: GetRunSummary) -> RunFigures:
    state, figures = _read(request, arguments.run_id)
    return RunFigures(
        **state,
        targets=[_target(each) for each in figures["columns"]],
        agreement=_agreement(figures),
        contested=[ContestedBrief.model_validate(each) for each in figures["contested"][:_MAX_CONTESTED]],
        insights=_texts(figures["insights"]) if arguments.include_insights else None,
        cautions=_texts(figures["cautions"]),
        narrative=_narrative(request, arguments.run_id) if arguments.include_insights else None,
    )


def _read(request: ToolRequest, run_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What every result says of the analysis, and its figures as the API has them.

    NotFound, with the reason, if the run has none.
    """
    view = queries.get_analysis(request.workspace, run_id, None)
    if view.document is None:
        raise Conflict(f"the analysis of the run failed{_why(view)}; analyze_run computes it again")
    figures = orjson.loads(view.document)
    state = {
        "run_id": run_id,
        "metric": figures["metric"],
        "is_stale": view.stale_reason is not None,
        "sample": figures["sample"]["note"] if figures["sample"] else None,
    }
    return state, figures


def _why(view: AnalysisView) -> str:
    return f": {view.record.failure.why}" if view.record.failure else ""


def _texts(items: list[dict[str, Any]]) -> list[str]:
    return [each["text"] for each in items]


def _target(column: dict[str, Any]) -> TargetFigures:
    found = column["estimate"]
    decision = found["decision"]
    mean = {"value": decision["mean"], "n": decision["answers"], **decision}
    return TargetFigures.model_validate(
        {
            **column,
            **{name: found[name] for name in ("completed", "errored")},
            "decision": mean,
            "passRate": _share(found["passRate"]),
            "otherRate": _share(found["otherRate"]),
        }
    )


def _share(found: dict[str, Any]) -> dict[str, Any]:
    return {"value": found["share"], "n": found["trials"], **found}


def _agreement(figures: dict[str, Any]) -> AgreementBrief | None:
    found = figures["agreement"]
    if found is None:
        return None
    return AgreementBrief.model_validate({**found, "outliers": [_name(figures, each) for each in found["outliers"]]})


def _name(figures: dict[str, Any], column: int) -> str:
    return str(figures["columns"][column]["name"])


def _narrative(request: ToolRequest, run_id: str) -> list[str] | None:
    with suppress(NotFound):
        view = queries.get_analysis(request.workspace, run_id, None, AnalysisKind.DEEP)
        if view.document is not None:
            narrative = orjson.loads(view.document)["narrative"]
            return [narrative["headline"], *(each["text"] for each in narrative["findings"])]
    return None


class PairBrief(ResultModel):
    first: str
    second: str
    scenarios: int
    difference: Annotated[float | None, Field(description="Mean of the second less that of the first")] = None
    interval95: list[float] | None = None
    effect_size: float | None = None
    kappa: Annotated[float | None, Field(description="Quadratic-weighted agreement")] = None
    spearman: float | None = None
    adjusted_p: Annotated[float | None, Field(description="Of the rank correlation, by Holm")] = None


class StatisticalSummary(AnalysisState):
    targets: list[TargetFigures]
    pairs: list[PairBrief]
    cautions: list[str]
    methods: list[str]


_METHODS = [
    "means: t intervals with standard errors clustered by scenario",
    "shares: clustered by scenario; Wilson for a single scenario",
    "agreement: Krippendorff's alpha, ordinal; quadratic-weighted kappa; Holm over pairs",
]


@tool(
    "getRunAnalysis",
    title="Get the statistics of a run",
    description=(
        "Estimates with 95 % intervals of every target, differences and agreement of pairs of targets, and what limits"
        " them. Differences between runs are in get_comparison."
    ),
    max_kb=8,
)
def get_statistical_summary(request: ToolRequest, arguments: ReadAnalysis) -> StatisticalSummary:
    state, figures = _read(request, arguments.run_id)
    pairs = figures["agreement"]["pairs"] if figures["agreement"] else []
    return StatisticalSummary(
        **state,
        targets=[_target(each) for each in figures["columns"]],
        pairs=[
            PairBrief.model_validate(
                {**each, "first": _name(figures, each["first"]), "second": _name(figures, each["second"])}
            )
            for each in pairs
        ],
        cautions=_texts(figures["cautions"]),
        methods=_METHODS,
    )


class GetDimensionAnalysis(ReadAnalysis):
    model: Annotated[TargetName | None, Field(description="Of one target instead of all together")] = None


class LevelMean(ResultModel):
    score: float
    mean: float | None = None
    pass_rate: float | None = None
    n: int


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
    state, figures = _read(request, arguments.run_id)
    position = None if arguments.model is None else _position(figures["columns"], arguments.model)
    dimensions = [
        _dimension(each, each["overall"] if position is None else each["columns"][position])
        for each in figures["dimensions"]
    ]
    target = None if position is None else _name(figures, position)
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
                n=each["completed"],
            )
            for score, each in zip(found["levels"], of_target["levels"], strict=False)
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
    state, figures = _read(request, arguments.run_id)
    if arguments.order is ContestedOrder.CONTESTED:
        found = figures["contested"]
    else:
        end = "most" if arguments.order is ContestedOrder.MOST_VARIABLE else "least"
        listed = figures["variability"][end] if figures["variability"] else []
        found = [{**each, "target": _name(figures, each["column"])} for each in listed]
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
    state, figures = _read(request, arguments.run_id)
    targets = [
        TargetOperations.model_validate({**each["estimate"], **each["operations"], "name": each["name"]})
        for each in figures["columns"]
    ]
    return LatencyFigures(**state, targets=targets)


class DeepPartName(StrEnum):
    NARRATIVE = "narrative"
    COMPONENTS = "pca"
    OUTLIERS = "outliers"
    EFFECTS = "effects"
    INTERACTIONS = "interactions"


_PARTS = {
    DeepPartName.NARRATIVE: ("narrative",),
    DeepPartName.COMPONENTS: ("components",),
    DeepPartName.OUTLIERS: ("outlierTargets", "outlierScenarios"),
    DeepPartName.EFFECTS: ("design", "effects", "variance"),
    DeepPartName.INTERACTIONS: ("interactions",),
}


class GetDeepAnalysis(ReadAnalysis):
    part: DeepPartName = DeepPartName.NARRATIVE


class DeepFigures(AnalysisState):
    part: DeepPartName
    columns: Annotated[list[str], Field(description="Names of targets; positions in figures refer to them")]
    figures: Annotated[dict[str, Any], Field(description="As in the API's DeepAnalysisFigures; null: not computed")]
    unavailable: Annotated[list[str], Field(description="What could not be computed, and why")]
    cautions: list[str]


@tool(
    "getDeepAnalysis",
    title="Get a deep analysis",
    description=(
        "One part of the deep analysis of a run: the narrative, principal components, outliers, effects of dimensions"
        " or their interactions. analyze_run with kind `deep` computes it."
    ),
    max_kb=8,
)
def get_deep_analysis(request: ToolRequest, arguments: GetDeepAnalysis) -> DeepFigures:
    view = queries.get_analysis(request.workspace, arguments.run_id, None, AnalysisKind.DEEP)
    if view.document is None:
        raise Conflict(f"the deep analysis of the run failed{_why(view)}")
    figures = orjson.loads(view.document)
    return DeepFigures(
        run_id=arguments.run_id,
        metric=figures["metric"],
        is_stale=view.stale_reason is not None,
        part=arguments.part,
        columns=[each["name"] for each in figures["columns"]],
        figures={name: figures[name] for name in _PARTS[arguments.part]},
        unavailable=[f"{each['part']}: {each['reason']}" for each in figures["unavailable"]],
        cautions=_texts(figures["cautions"]),
    )
