from typing import Annotated, Any

import orjson
from pydantic import Field

from cupel_core.analysis import queries
from cupel_core.analysis.queries import AnalysisView
from cupel_core.base.errors import Conflict, Invalid
from cupel_core.interfaces.mcp.models import Arguments, Id, Offset, ResultModel, ToolResult
from cupel_core.interfaces.mcp.request import ToolRequest


class ReadAnalysis(Arguments):
    run_id: Id


TargetName = Annotated[
    str, Field(strict=True, min_length=1, max_length=300, description="Name or id of a target, or its model")
]


class ReadTargets(ReadAnalysis):
    targets: Annotated[
        list[TargetName] | None, Field(min_length=1, max_length=100, description="Only these; all if omitted")
    ] = None
    offset: Annotated[Offset, Field(description="Targets to skip, to continue after a cut")] = 0


class AnalysisState(ToolResult):
    run_id: str
    metric: Annotated[str, Field(description="The metric that targets are compared by")]
    is_stale: Annotated[bool, Field(description="Whether recomputing it would give other figures")]
    sample: Annotated[str | None, Field(description="What part of the scenarios the figures are based on")] = None


class ContestedBrief(ResultModel):
    scenario_id: str
    scenario_name: str
    variance: float
    range: float | None = None
    target: Annotated[str | None, Field(description="Whose repeats vary")] = None


def read_figures(request: ToolRequest, run_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields of an analysis that every result has, and its figures as the API has them.

    Raises NotFound, with the reason, if the run has no analysis.
    """
    view = queries.get_analysis(request.workspace, run_id, None)
    if view.document is None:
        raise Conflict(f"the analysis of the run failed{failure_text(view)}; analyze_run computes it again")
    figures = orjson.loads(view.document)
    state = {
        "run_id": run_id,
        "metric": figures["metric"],
        "is_stale": view.stale_reason is not None,
        "sample": figures["sample"]["note"] if figures["sample"] else None,
    }
    return state, figures


def failure_text(view: AnalysisView) -> str:
    return f": {view.record.failure.why}" if view.record.failure else ""


def texts(items: list[dict[str, Any]]) -> list[str]:
    return [each["text"] for each in items]


def chosen_columns(figures: dict[str, Any], names: list[str] | None) -> list[int]:
    """Return positions in the order of the analysis. Raises Invalid for a name without a column."""
    columns = figures["columns"]
    if names is None:
        return list(range(len(columns)))
    chosen: set[int] = set()
    for name in names:
        if not (found := named_columns(columns, name)):
            raise Invalid.field(
                "targets", f"{name} is no target of the run, which has {join_values(columns, 'targetId')}"
            )
        chosen.update(found)
    return sorted(chosen)


def join_values(columns: list[dict[str, Any]], name: str) -> str:
    return ", ".join(dict.fromkeys(each[name] for each in columns if each.get(name)))


def named_columns(columns: list[dict[str, Any]], name: str) -> list[int]:
    """Return the positions of the columns of a target: by its name, or else its id, or else its model."""
    for key in ("name", "targetId", "modelId"):
        if found := [number for number, each in enumerate(columns) if each[key] == name]:
            return found
    return []


def column_name(figures: dict[str, Any], column: int) -> str:
    return str(figures["columns"][column]["name"])
