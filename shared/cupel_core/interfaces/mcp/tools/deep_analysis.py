from enum import StrEnum
from typing import Annotated, Any

import orjson
from pydantic import Field

from cupel_core.analysis import queries
from cupel_core.base.errors import Conflict
from cupel_core.domain.analysis.records import AnalysisKind
from cupel_core.interfaces.mcp.figures import AnalysisState, ReadAnalysis, failure_text, texts
from cupel_core.interfaces.mcp.models import UntrustedResult
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest


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


class DeepFigures(AnalysisState, UntrustedResult):
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
        raise Conflict(f"the deep analysis of the run failed{failure_text(view)}")
    figures = orjson.loads(view.document)
    return DeepFigures(
        run_id=arguments.run_id,
        metric=figures["metric"],
        is_stale=view.stale_reason is not None,
        part=arguments.part,
        columns=[each["name"] for each in figures["columns"]],
        figures={name: figures[name] for name in _PARTS[arguments.part]},
        unavailable=[f"{each['part']}: {each['reason']}" for each in figures["unavailable"]],
        cautions=texts(figures["cautions"]),
    )
