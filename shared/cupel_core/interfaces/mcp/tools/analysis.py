"""Reads the main figures of a run from its stored analyses; nothing is computed here."""

from contextlib import suppress
from typing import Annotated, Any

import orjson
from pydantic import Field

from cupel_core.analysis import queries
from cupel_core.base.errors import NotFound
from cupel_core.domain.analysis.records import AnalysisKind
from cupel_core.interfaces.mcp.figures import (
    AnalysisState,
    ContestedBrief,
    ReadTargets,
    chosen_columns,
    column_name,
    read_figures,
    texts,
)
from cupel_core.interfaces.mcp.models import Offset, ResultModel, UntrustedResult
from cupel_core.interfaces.mcp.registry import tool
from cupel_core.interfaces.mcp.request import ToolRequest

_MAX_CONTESTED = 5


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


class RunFigures(AnalysisState, UntrustedResult):
    targets: list[TargetFigures]
    total_targets: Annotated[int, Field(description="Regardless of `offset`")]
    agreement: AgreementBrief | None = None
    contested: Annotated[list[ContestedBrief], Field(description="Scenarios that the targets answer most differently")]
    insights: list[str] | None = None
    cautions: list[str]
    narrative: Annotated[list[str] | None, Field(description="Of the deep analysis, if there is one")] = None


class GetRunSummary(ReadTargets):
    include_insights: Annotated[bool, Field(strict=True)] = True


@tool(
    "getRunAnalysis",
    title="Get the summary of a run",
    is_default=True,
    description=(
        "The main figures of a run: each target's mean decision and pass rate with 95% intervals, agreement, outliers,"
        " the most contested scenarios, insights and cautions."
    ),
    max_kb=8,
)
def get_run_summary(request: ToolRequest, arguments: GetRunSummary) -> RunFigures:
    state, figures = read_figures(request, arguments.run_id)
    chosen = chosen_columns(figures, arguments.targets)
    return RunFigures(
        **state,
        targets=[_target(figures["columns"][each]) for each in chosen[arguments.offset :]],
        total_targets=len(chosen),
        agreement=_agreement(figures),
        contested=[ContestedBrief.model_validate(each) for each in figures["contested"][:_MAX_CONTESTED]],
        insights=texts(figures["insights"]) if arguments.include_insights else None,
        cautions=texts(figures["cautions"]),
        narrative=_narrative(request, arguments.run_id) if arguments.include_insights else None,
    )


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
    return AgreementBrief.model_validate(
        {**found, "outliers": [column_name(figures, each) for each in found["outliers"]]}
    )


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
    adjusted_p: Annotated[float | None, Field(description="Of the rank correlation, adjusted by Holm")] = None


class GetStatisticalSummary(ReadTargets):
    pair_offset: Annotated[Offset, Field(description="Pairs to skip, to continue after a cut")] = 0


class StatisticalSummary(AnalysisState):
    targets: list[TargetFigures]
    total_targets: Annotated[int, Field(description="Regardless of `offset`")]
    pairs: Annotated[list[PairBrief], Field(description="Pairs of these targets, regardless of `offset`")]
    total_pairs: Annotated[int, Field(description="Regardless of `pair_offset`")]
    cautions: list[str]
    methods: list[str]


_METHODS = [
    "means: t intervals with standard errors clustered by scenario",
    "shares: Wilson intervals of effective trials; of fewer than five scenarios for exactly these",
    "agreement: Krippendorff's alpha, ordinal; quadratic-weighted kappa; Holm over pairs",
]


@tool(
    "getRunAnalysis",
    title="Get the statistics of a run",
    description=(
        "Estimates with 95% intervals of every target, differences and agreement of pairs of targets, and what limits"
        " them. Differences between runs are in get_comparison."
    ),
    max_kb=8,
)
def get_statistical_summary(request: ToolRequest, arguments: GetStatisticalSummary) -> StatisticalSummary:
    state, figures = read_figures(request, arguments.run_id)
    chosen = chosen_columns(figures, arguments.targets)
    pairs = [
        each
        for each in (figures["agreement"]["pairs"] if figures["agreement"] else ())
        if {each["first"], each["second"]} <= set(chosen)
    ]
    return StatisticalSummary(
        **state,
        targets=[_target(figures["columns"][each]) for each in chosen[arguments.offset :]],
        total_targets=len(chosen),
        pairs=[_pair(figures, each) for each in pairs[arguments.pair_offset :]],
        total_pairs=len(pairs),
        cautions=texts(figures["cautions"]),
        methods=_METHODS,
    )


def _pair(figures: dict[str, Any], found: dict[str, Any]) -> PairBrief:
    names = {side: column_name(figures, found[side]) for side in ("first", "second")}
    return PairBrief.model_validate({**found, **names})
