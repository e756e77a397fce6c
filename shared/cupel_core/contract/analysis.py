"""Analyses of runs. Figures are read from the attributes of the domain's results, which have the same names."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field

from cupel_core.contract.analyzed_columns import (
    ColumnAnalysisResponse,
    ColumnNumber,
    Extrapolated,
    GroupEstimateResponse,
)
from cupel_core.contract.analyzed_scenarios import scenario_fields
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.fields import Interval95
from cupel_core.contract.runs import FailureResponse
from cupel_core.domain.analysis.agreement import AgreementLevel
from cupel_core.domain.analysis.basic import BasicAnalysis
from cupel_core.domain.analysis.cautions import CautionCode
from cupel_core.domain.analysis.insights import insights
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus, StaleReason
from cupel_core.domain.analysis.variability import ContestedScenario, VariableScenario
from cupel_core.domain.runs.plan import Column

AdjustedP = Annotated[float | None, Field(description="p after Holm's adjustment for all such tests of the analysis")]


class PairAgreementResponse(ResponseModel):
    """Two targets, over the scenarios that both have decided."""

    first: ColumnNumber
    """Example: 1"""
    second: ColumnNumber
    """Example: 2"""
    scenarios: int
    """Scenarios that both have decided. Example: 12"""
    kappa: float | None
    """Quadratic-weighted kappa: whether they give the same answers. Example: -0.856"""
    spearman: float | None
    """Rank correlation: whether they order the scenarios alike. Example: -0.9804"""
    spearman_p: float | None
    """p-value of no correlation. Example: 0.0"""
    adjusted_p: AdjustedP
    """Example: 0.0"""
    equal_share: float | None
    """Share of equal answers. Example: 0.1042"""
    difference: float | None
    """Mean of the second less that of the first. Example: 0.5"""
    interval: Interval95
    effect_size: float | None
    """The difference in standard deviations of scenarios. Example: 0.3285"""


class LeaveOneOutResponse(ResponseModel):
    column: ColumnNumber
    """Example: 2"""
    alpha: float | None
    """Alpha of the other targets; null for fewer than three targets. Example: 0.8401"""
    gain: float | None
    """Increase over the alpha of all. Example: 1.1327"""
    gain_interval: Annotated[list[float] | None, Field(serialization_alias="gainInterval95")]
    """95% interval of the gain; null if fewer than 5 scenarios are decided by two targets. Example: [0.9418, 1.3236]"""


class AgreementResponse(ResponseModel):
    """Agreement between the targets."""

    scenarios: int
    """Decided by at least two targets. Example: 12"""
    alpha: float | None
    """Krippendorff's ordinal alpha; null if all answers are the same. Example: -0.2927"""
    interval: Interval95
    ac1: float | None
    """Gwet's AC1 of pass rates; null for decisions. Example: 0.91"""
    rare_scenarios: int | None
    """Scenarios with an answer that is not the most frequent one; alpha rests on them. Example: 4"""
    level: AgreementLevel | None
    """`high` from 0.8, `moderate` from 0.667."""
    without: list[LeaveOneOutResponse]
    """Alpha without each target."""
    outliers: list[int]
    """Targets without which alpha clearly rises (docs/statistics.md), as positions in `columns`. Example: [2]"""
    pairs: list[PairAgreementResponse]
    """Empty for more than 50 columns."""


class LevelEffectResponse(ResponseModel):
    """Test whether the scenarios' means differ between levels."""

    eta_squared: float | None
    """Share of the variance of scenarios that levels explain. Example: 0.9847"""
    statistic: float | None
    """Kruskal and Wallis's H. Example: 10.8036"""
    p: float | None
    """p-value of no difference. Example: 0.0289"""
    adjusted_p: AdjustedP
    """Example: 0.0866"""


class TrendResponse(ResponseModel):
    """Change of answers with the score."""

    slope: float
    """Points, or the share that passes, per unit of the score. Example: -1.0463"""
    correlation: float | None
    """Pearson's correlation. Example: -0.9404"""
    standard_error: float
    """Standard error of the slope, clustered by scenario."""
    interval: Interval95
    p: float | None
    """p-value of no trend; null if the answers follow a line exactly. Example: 0.0"""
    adjusted_p: AdjustedP
    """Example: 0.0"""


class DimensionFiguresResponse(ResponseModel):
    levels: list[GroupEstimateResponse]
    """Estimates by level, in order."""
    effect: LevelEffectResponse
    """Effect of the levels."""
    trend: TrendResponse | None
    """Null for fewer than 5 scenarios or a single score."""


class DimensionAnalysisResponse(ResponseModel):
    """Dependence of answers on one dimension."""

    name: str
    """Name of the dimension."""
    scenarios: int
    """Scenarios with a score in it. Example: 12"""
    levels: list[float]
    """Scores, ascending; empty for more than 50. Example: [1.0, 2.0, 3.0, 4.0, 5.0]"""
    overall: DimensionFiguresResponse
    """Figures of all targets together."""
    columns: list[DimensionFiguresResponse]
    """Figures by target, then by prompt."""


class ContestedScenarioResponse(ResponseModel):
    """A scenario that the targets answer differently."""

    scenario_id: str
    scenario_name: str
    """Its name."""
    variance: float
    """Variance of the targets' means. Example: 0.0833"""
    range: float
    """Highest less lowest mean. Example: 0.5"""
    noise: float | None
    """Part of the variance that repeats alone would cause; null without repeats. Example: 0.0208"""


class VariableScenarioResponse(ResponseModel):
    """A scenario that one target answers differently in its repeats."""

    scenario_id: str
    scenario_name: str
    """Its name."""
    column: ColumnNumber
    """Example: 1"""
    variance: float
    """Variance between the repeats. Example: 2.0"""


class VariabilityResponse(ResponseModel):
    """Variability of the repeats."""

    most: list[VariableScenarioResponse]
    """The most variable scenarios first; at most 100."""
    least: list[VariableScenarioResponse]
    """The least variable scenarios first; at most 100."""


class AnalysisCautionResponse(ResponseModel):
    """A caution about relying on the figures."""

    code: CautionCode
    """Kind of caution."""
    text: str
    """The caution in words."""
    columns: list[int]
    """Positions in `columns` that it is about; all if empty. Example: []"""


class InsightResponse(ResponseModel):
    """A finding in words; rules make it from the figures, no model is asked."""

    kind: str
    """Kind of finding, such as `outlier`. Example: trend"""
    text: str
    """The finding in words."""
    facts: dict[str, Any]
    """The figures that it rests on. Example: {"dimension": "delay", "slope": 0.2769}"""


class RunSampleResponse(ResponseModel):
    """The run's part of the definition's scenarios."""

    scenarios: int
    """Scenarios of the run. Example: 12"""
    total: int
    """Scenarios of the definition's version."""
    seed: int
    """Seed of the sample."""
    is_drawn: bool
    """True for a random sample, false for all or those that an eval names. Example: true"""
    probes_to_add: int
    """Probes of an expansion to all scenarios; roughly, if personas differ. Example: 648"""
    note: str | None
    """Description of the sample; null for other runs. Example: Based on 10% of the scenarios (12 of 120, seed 42)."""


class AnalysisFigures(ResponseModel):
    """The figures of an analysis."""

    metric: Metric
    """Compared metric: the mean decision, or the pass rate."""
    scenario_count: int
    """Scenarios of the run."""
    sample: RunSampleResponse
    """Part of the scenarios that the run has."""
    overall: GroupEstimateResponse
    """Estimate over all targets together."""
    overall_extrapolated: Extrapolated
    columns: list[ColumnAnalysisResponse]
    """Figures by target, then by prompt."""
    agreement: AgreementResponse | None
    """Null for a single target."""
    dimensions: list[DimensionAnalysisResponse]
    """The strongest first."""
    contested: list[ContestedScenarioResponse]
    """The most contested scenarios first; at most 100."""
    variability: VariabilityResponse | None
    """Null without repeats."""
    insights: list[InsightResponse]
    """Findings in words; at most 12."""
    cautions: list[AnalysisCautionResponse]
    """Cautions about the figures."""

    @classmethod
    def of(cls, found: BasicAnalysis, columns: Sequence[Column]) -> Self:
        return cls.from_value(
            found,
            scenario_count=len(found.scenarios),
            columns=list(map(ColumnAnalysisResponse.of, found.columns, columns)),
            contested=[_contested(found, each) for each in found.contested],
            variability=_variability(found),
            insights=insights(found, tuple(column.name for column in columns)),
        )

    def to_json(self) -> bytes:
        """Return the JSON that is stored."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


def _variability(found: BasicAnalysis) -> VariabilityResponse | None:
    if found.variability is None:
        return None
    return VariabilityResponse(
        most=[_variable(found, each) for each in found.variability.most],
        least=[_variable(found, each) for each in found.variability.least],
    )


def _contested(found: BasicAnalysis, each: ContestedScenario) -> ContestedScenarioResponse:
    return ContestedScenarioResponse.from_value(each, **scenario_fields(found.scenarios[each.scenario]))


def _variable(found: BasicAnalysis, each: VariableScenario) -> VariableScenarioResponse:
    return VariableScenarioResponse.from_value(each, **scenario_fields(found.scenarios[each.scenario]))


class AnalyzeRun(RequestModel):
    model_config = example({"kind": "basic", "force": False})

    kind: AnalysisKind = AnalysisKind.BASIC
    """`deep` adds components, outliers, effects, interactions; a job computes it."""
    force: Annotated[bool, Field(strict=True)] = False
    """Compute it again although nothing has changed."""
    narrative: Annotated[bool, Field(strict=True)] = True
    """Whether the settings' `analysisModel`, if any, writes the narrative of a deep analysis; otherwise rules do, at
    no cost.

    Example: true
    """
    rescore_id: Annotated[str | None, Field(strict=True, min_length=1, max_length=64)] = None
    """Analyze its results instead of the run's own scoring."""


class AnalysisSummaryResponse(ResponseModel):
    """An analysis without its figures."""

    id: str | None
    """Null while it is being computed."""
    run_id: str
    kind: AnalysisKind
    """Kind of analysis."""
    rescore_id: str | None
    """Rescore that was analyzed; null for the run's own scoring."""
    status: AnalysisStatus | None
    """Null while it is being computed; `GET …/analysis` tells when it is there."""
    algorithm_version: str | None
    """Version of the computation. Example: basic-3"""
    inputs_hash: str | None
    """Equal for equal outcomes; null if the analysis failed. Example: 9f86d081884c7d65"""
    created_at: Time | None
    """Time of the computation."""
    is_current: bool
    """True if it is the newest of its kind. Example: true"""
    is_stale: bool
    """True if computing it now would give other figures. Example: false"""
    stale_reason: StaleReason | None
    """`inputs`: outcomes changed, `algorithm`: another build computed it, `requested`: by force."""
    failure: FailureResponse | None
    """Cause of the failure; null without one."""
    job_id: str | None = None
    """Job that computes it, in the response that says so; null otherwise. Example: job_cmp_5d41402abc4b2a76b9719d91"""

    @classmethod
    def of(cls, record: AnalysisRecord, reason: StaleReason | None, *, is_current: bool) -> Self:
        return cls.from_value(record, is_current=is_current, is_stale=reason is not None, stale_reason=reason)


class AnalysisPage(ResponseModel):
    items: list[AnalysisSummaryResponse]
    next_cursor: str | None


class AnalysisResponse(AnalysisSummaryResponse):
    """An analysis with its figures."""

    figures: AnalysisFigures | None
    """Null if the analysis failed."""
