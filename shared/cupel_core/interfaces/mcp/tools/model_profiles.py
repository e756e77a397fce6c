from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Annotated, Any

import orjson
from pydantic import Field

from cupel_core.analysis.aggregation import ProfiledRun, list_profiled_runs
from cupel_core.contract.common import Time
from cupel_core.interfaces.mcp.models import Arguments, Id, ResultModel, ToolResult
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest

_MAX_DIMENSIONS = 5


class GetModelProfile(Arguments):
    model: Annotated[str, Field(strict=True, min_length=1, max_length=300, description="Id of a target, or its model")]
    definition_id: Annotated[Id | None, Field(description="Only runs of this definition")] = None
    runs: Annotated[int, Field(strict=True, ge=1, le=20, description="How many, the newest first")] = 20


class ProfileRow(ResultModel):
    run_id: str
    definition_id: str
    completed_at: Time | None = None
    target: Annotated[str, Field(description="With the prompt, if there are several")]
    mean_decision: float | None = None
    decision_interval95: list[float] | None = None
    pass_rate: float | None = None
    is_outlier: Annotated[bool, Field(description="Whether it answers unlike the other targets of the run")]
    is_stale: Annotated[bool, Field(description="Whether recomputing the analysis would give other figures")]


class DimensionStrength(ResultModel):
    name: str
    runs: Annotated[int, Field(description="In which it was measured")]
    mean_eta_squared: Annotated[float, Field(description="Share of the variance that its levels explain")]


class ModelProfile(ToolResult):
    model: str
    rows: Annotated[list[ProfileRow], Field(description="Newest first; none if no analyzed run had the model")]
    outlier_rows: int
    dimensions: Annotated[list[DimensionStrength], Field(description="The strongest first")]


@tool(
    "getRunAnalysis",
    title="Get the profile of a model",
    description=(
        "What a model did in the newest runs that had it: its figures per run, how often it is an outlier, and which"
        " dimensions its answers depend on most. Decisions of different definitions do not compare."
    ),
    max_kb=6,
)
def get_model_profile(request: ToolRequest, arguments: GetModelProfile) -> ModelProfile:
    found = list_profiled_runs(request.workspace, arguments.model, arguments.definition_id, arguments.runs)
    rows: list[ProfileRow] = []
    strengths: dict[str, list[float]] = defaultdict(list)
    for each in found:
        figures = orjson.loads(each.document)
        for number in _columns(figures, arguments.model):
            rows.append(_row(each, figures["columns"][number]))
            for name, strength in _strengths(figures, number):
                strengths[name].append(strength)
    dimensions = [
        DimensionStrength(name=name, runs=len(values), mean_eta_squared=fmean(values))
        for name, values in strengths.items()
    ]
    dimensions.sort(key=lambda each: each.mean_eta_squared, reverse=True)
    return ModelProfile(
        model=arguments.model,
        rows=rows,
        outlier_rows=sum(each.is_outlier for each in rows),
        dimensions=dimensions[:_MAX_DIMENSIONS],
    )


def _columns(figures: dict[str, Any], model: str) -> Iterator[int]:
    for number, column in enumerate(figures["columns"]):
        if model in (column["targetId"], column["modelId"]):
            yield number


def _row(found: ProfiledRun, column: dict[str, Any]) -> ProfileRow:
    estimate = column["estimate"]
    return ProfileRow(
        run_id=found.run.id,
        definition_id=found.run.definition_id,
        completed_at=found.run.completed_at,
        target=column["name"],
        mean_decision=estimate["decision"]["mean"],
        decision_interval95=estimate["decision"]["interval95"],
        pass_rate=estimate["passRate"]["share"],
        is_outlier=column["isOutlier"],
        is_stale=found.is_stale,
    )


def _strengths(figures: dict[str, Any], column: int) -> Iterator[tuple[str, float]]:
    for dimension in figures["dimensions"]:
        strength = dimension["columns"][column]["effect"]["etaSquared"]
        if strength is not None:
            yield dimension["name"], strength
