"""Analyses of runs. Figures are read from the attributes of the domain's results, which have the same names."""

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import Field

from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import RequestModel, ResponseModel, Time, example
from cupel_core.contract.results import RoleCosts
from cupel_core.contract.runs import FailureResponse
from cupel_core.contract.unscored import UnscoredReasonResponse, UnscoredReasons
from cupel_core.domain.analysis.agreement import AgreementLevel
from cupel_core.domain.analysis.basic import BasicAnalysis, ColumnAnalysis
from cupel_core.domain.analysis.cautions import CautionCode
from cupel_core.domain.analysis.insights import insights
from cupel_core.domain.analysis.matrix import ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.outlier_causes import OutlierCause
from cupel_core.domain.analysis.records import AnalysisKind, AnalysisRecord, AnalysisStatus, StaleReason
from cupel_core.domain.analysis.variability import ContestedScenario, VariableScenario
from cupel_core.domain.runs.plan import Column

Interval95 = Annotated[
    list[float] | None,
    Field(
        validation_alias="interval",
        serialization_alias="interval95",
        description="95% interval; see docs/statistics.md",
    ),
]
ColumnNumber = Annotated[int, Field(description="Position in `columns`")]
AdjustedP = Annotated[float | None, Field(description="p after Holm's adjustment for all such tests of the analysis")]


class MeanEstimateResponse(ResponseModel):
    """The mean of the decisions from 1 to 5; every scenario counts once."""

    answers: Annotated[int, Field(description="Answers with a decision from 1 to 5")]
    scenarios: Annotated[int, Field(description="Scenarios with such an answer")]
    mean: Annotated[float | None, Field(description="Null without an answer")]
    sd: Annotated[float | None, Field(description="Standard deviation of the answers")]
    median: Annotated[float | None, Field(description="Of the answers")]
    standard_error: Annotated[float | None, Field(description="Of the mean, clustered by scenario")]
    interval: Interval95


class ShareEstimateResponse(ResponseModel):
    """A share of trials, such as a pass rate; every scenario counts once."""

    successes: Annotated[int, Field(description="Trials that the share counts")]
    trials: Annotated[int, Field(description="Trials that the share is of")]
    scenarios: Annotated[int, Field(description="Scenarios with a trial")]
    share: Annotated[float | None, Field(description="Mean of the scenarios' shares; null without a trial")]
    standard_error: Annotated[float | None, Field(description="Of the share, clustered by scenario")]
    interval: Interval95
    effective_trials: Annotated[
        float, Field(description="Independent trials that would say as much about scenarios like these")
    ]


class CodeShareResponse(ResponseModel):
    code: Annotated[str, Field(description="Decision, `1` to `5` or `other`")]
    estimate: Annotated[
        ShareEstimateResponse, Field(description="Of the answers to which the decision rule was applied")
    ]


class RateBoundsResponse(ResponseModel):
    """The pass rate if all errored probes had failed, and if all had passed."""

    errors_as_failures: Annotated[ShareEstimateResponse, Field(description="If all errored probes had failed")]
    errors_as_passes: Annotated[ShareEstimateResponse, Field(description="If all errored probes had passed")]


class GroupEstimateResponse(ResponseModel):
    """Estimates over some of a run's probes."""

    completed: Annotated[int, Field(description="With a transcript")]
    errored: Annotated[int, Field(description="Without one, because of an infrastructure failure")]
    decision: Annotated[MeanEstimateResponse, Field(description="Mean of the decisions")]
    distribution: Annotated[
        list[CodeShareResponse],
        Field(description="Shares of the decisions, `other` last; empty if the definition has no decision rule"),
    ]
    pass_rate: Annotated[ShareEstimateResponse, Field(description="Passed ones among the judged")]
    pass_rate_bounds: Annotated[
        RateBoundsResponse | None,
        Field(description="Between which the pass rate is if errors are no chance; null without errors"),
    ]
    other_rate: Annotated[
        ShareEstimateResponse,
        Field(description="Those without a readable decision among the answers to which the decision rule was applied"),
    ]


class QuantilesResponse(ResponseModel):
    """Over completed probes; within 1 %."""

    mean: Annotated[float, Field(description="Exact")]
    p50: Annotated[float, Field(description="Median")]
    p95: Annotated[float, Field(description="95th percentile")]
    p99: Annotated[float, Field(description="99th percentile")]
    max: Annotated[float, Field(description="Largest value; exact")]


class OperatingFiguresResponse(ResponseModel):
    """What a target's probes took and cost."""

    duration_ms: Annotated[QuantilesResponse | None, Field(description="Of the target's calls, without waits")]
    turns: Annotated[QuantilesResponse | None, Field(description="Calls of the target")]
    input_tokens: Annotated[QuantilesResponse | None, Field(description="Of the target's calls")]
    output_tokens: Annotated[QuantilesResponse | None, Field(description="Of the target's calls")]
    cost_usd: Annotated[float | None, Field(description="Of all calls; null without calls or if a price is unknown")]
    costs: RoleCosts
    model_versions: Annotated[dict[str, int], Field(description="Answers by version that the provider named")]
    uncertain_usd: Annotated[
        float,
        Field(description="What calls that timed out or gave no answer may have cost besides"),
    ]


class WinRateResponse(ResponseModel):
    """How often a target decided for one of the two dimensions that the decision's codes favor."""

    dimension: Annotated[str, Field(description="Name of the dimension")]
    prioritized: Annotated[int, Field(description="Answers for it")]
    opposed: Annotated[int, Field(description="Answers for the other dimension")]
    neutral: Annotated[int, Field(description="Answers with the decision 3")]
    scenarios: Annotated[int, Field(description="Scenarios with a decided answer")]
    rate: Annotated[float | None, Field(description="Mean over scenarios of the share for it; null without answers")]
    interval: Interval95


class ExtrapolationResponse(ResponseModel):
    """What a run of all scenarios would show."""

    value: Annotated[float, Field(description="As over the scenarios of the sample")]
    standard_error: Annotated[float, Field(description="Of what the other scenarios add")]
    interval: Interval95


class GroupExtrapolationResponse(ResponseModel):
    """From a sample to all scenarios of the definition."""

    decision: Annotated[ExtrapolationResponse | None, Field(description="Mean of the decisions; null without an error")]
    pass_rate: Annotated[
        ExtrapolationResponse | None, Field(description="Passed ones among the judged; null without an error")
    ]


Extrapolated = Annotated[
    GroupExtrapolationResponse | None,
    Field(description="To all scenarios; null unless the run is a sample in which every probe has an outcome"),
]


class ColumnAnalysisResponse(ColumnFields):
    """Of one target, asked by one prompt."""

    name: Annotated[str, Field(description="Of target and prompt, for people")]
    estimate: Annotated[GroupEstimateResponse, Field(description="Its figures")]
    extrapolated: Extrapolated
    unscored: Annotated[int, Field(description="Completed probes of which a weighted assertion could not be computed")]
    operations: Annotated[OperatingFiguresResponse, Field(description="What its probes took and cost")]
    win_rates: Annotated[list[WinRateResponse], Field(description="Empty unless the decision has `favors`")]
    consistency: Annotated[
        float | None, Field(description="1 if repeats never differ, 0 if as much as they can; null without repeats")
    ]
    is_outlier: Annotated[bool, Field(description="Whether the others agree clearly better without it")]
    outlier_cause: Annotated[
        OutlierCause | None,
        Field(description="`noise` if its own repeats differ more than the others'; null if it is no outlier"),
    ]
    unscored_reasons: UnscoredReasons

    @classmethod
    def of(cls, found: ColumnAnalysis, column: Column) -> Self:
        return cls.from_value(
            found,
            **cls.fields_of_column(column),
            name=column.name,
            unscored_reasons=UnscoredReasonResponse.list_of(found.causes),
        )


class PairAgreementResponse(ResponseModel):
    """Two targets, over the scenarios that both have decided."""

    first: ColumnNumber
    second: ColumnNumber
    scenarios: Annotated[int, Field(description="That both have decided")]
    kappa: Annotated[float | None, Field(description="Quadratic-weighted: do they give the same answers?")]
    spearman: Annotated[float | None, Field(description="Rank correlation: do they order the scenarios alike?")]
    spearman_p: Annotated[float | None, Field(description="Of no correlation")]
    adjusted_p: AdjustedP
    equal_share: Annotated[float | None, Field(description="Share of equal answers")]
    difference: Annotated[float | None, Field(description="Mean of the second less that of the first")]
    interval: Interval95
    effect_size: Annotated[float | None, Field(description="The difference in standard deviations of scenarios")]


class LeaveOneOutResponse(ResponseModel):
    column: ColumnNumber
    alpha: Annotated[float | None, Field(description="Of the other targets; null for fewer than three targets")]
    gain: Annotated[float | None, Field(description="By how much it exceeds the alpha of all")]
    gain_interval: Annotated[
        list[float] | None,
        Field(
            serialization_alias="gainInterval95",
            description="95% interval of the gain; null if fewer than 5 scenarios are decided by two targets",
        ),
    ]


class AgreementResponse(ResponseModel):
    """How far the targets agree."""

    scenarios: Annotated[int, Field(description="Decided by at least two targets")]
    alpha: Annotated[float | None, Field(description="Krippendorff's, ordinal; null if all answers are the same")]
    interval: Interval95
    ac1: Annotated[float | None, Field(description="Gwet's, of pass rates; null for decisions")]
    rare_scenarios: Annotated[
        int | None, Field(description="Scenarios with an answer that is not the most frequent one; alpha rests on them")
    ]
    level: Annotated[AgreementLevel | None, Field(description="`high` from 0.8, `moderate` from 0.667")]
    without: Annotated[list[LeaveOneOutResponse], Field(description="Alpha without each target")]
    outliers: Annotated[
        list[int],
        Field(description="Targets without which alpha clearly rises (docs/statistics.md), as positions in `columns`"),
    ]
    pairs: Annotated[list[PairAgreementResponse], Field(description="Empty for more than 50 columns")]


class LevelEffectResponse(ResponseModel):
    """Whether the scenarios' means differ between levels."""

    eta_squared: Annotated[float | None, Field(description="Share of the variance of scenarios that levels explain")]
    statistic: Annotated[float | None, Field(description="Kruskal and Wallis's H")]
    p: Annotated[float | None, Field(description="Of no difference")]
    adjusted_p: AdjustedP


class TrendResponse(ResponseModel):
    """How answers change with the score."""

    slope: Annotated[float, Field(description="Points, or the share that passes, per unit of the score")]
    correlation: Annotated[float | None, Field(description="Pearson's")]
    standard_error: Annotated[float, Field(description="Of the slope, clustered by scenario")]
    interval: Interval95
    p: Annotated[float | None, Field(description="Of no trend; null if the answers follow a line exactly")]
    adjusted_p: AdjustedP


class DimensionFiguresResponse(ResponseModel):
    levels: Annotated[list[GroupEstimateResponse], Field(description="In the order of the dimension's levels")]
    effect: Annotated[LevelEffectResponse, Field(description="Of the levels")]
    trend: Annotated[TrendResponse | None, Field(description="Null for fewer than 5 scenarios or a single score")]


class DimensionAnalysisResponse(ResponseModel):
    """How answers depend on one dimension."""

    name: Annotated[str, Field(description="Of the dimension")]
    scenarios: Annotated[int, Field(description="With a score in it")]
    levels: Annotated[list[float], Field(description="Scores, ascending; empty for more than 50")]
    overall: Annotated[DimensionFiguresResponse, Field(description="Of all targets together")]
    columns: Annotated[list[DimensionFiguresResponse], Field(description="By target, then by prompt")]


class ContestedScenarioResponse(ResponseModel):
    """A scenario that the targets answer differently."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    variance: Annotated[float, Field(description="Of the targets' means")]
    range: Annotated[float, Field(description="Between the highest and the lowest mean")]
    noise: Annotated[
        float | None,
        Field(description="Part of the variance that repeats alone would cause; null without repeats"),
    ]


class VariableScenarioResponse(ResponseModel):
    """A scenario that one target answers differently in its repeats."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    column: ColumnNumber
    variance: Annotated[float, Field(description="Between the repeats")]


class VariabilityResponse(ResponseModel):
    """Of the repeats."""

    most: Annotated[list[VariableScenarioResponse], Field(description="At most 100, the most variable first")]
    least: Annotated[list[VariableScenarioResponse], Field(description="At most 100, the least variable first")]


class AnalysisCautionResponse(ResponseModel):
    """What to know before relying on the figures."""

    code: Annotated[CautionCode, Field(description="Kind of caution")]
    text: Annotated[str, Field(description="In words")]
    columns: Annotated[list[int], Field(description="Positions in `columns` that it is about; all if empty")]


class InsightResponse(ResponseModel):
    """A finding in words; rules make it from the figures, no model is asked."""

    kind: Annotated[str, Field(description="Kind of finding, such as `outlier`")]
    text: Annotated[str, Field(description="In words")]
    facts: Annotated[dict[str, Any], Field(description="The figures that it rests on")]


class RunSampleResponse(ResponseModel):
    """Which part of the definition's scenarios the run has."""

    scenarios: Annotated[int, Field(description="That the run has")]
    total: Annotated[int, Field(description="That the definition's version has")]
    seed: Annotated[int, Field(description="Of the sample")]
    is_drawn: Annotated[
        bool, Field(description="Whether they are a random sample; otherwise all, or those that an eval names")
    ]
    probes_to_add: Annotated[int, Field(description="By an expansion to all scenarios; about, if personas differ much")]
    note: Annotated[str | None, Field(description="In words; null for a run that is no sample")]


class AnalysisFigures(ResponseModel):
    """The figures of an analysis."""

    metric: Annotated[Metric, Field(description="What targets are compared by: the mean decision, or the pass rate")]
    scenario_count: Annotated[int, Field(description="Scenarios of the run")]
    sample: Annotated[RunSampleResponse, Field(description="Which part of the scenarios the run has")]
    overall: Annotated[GroupEstimateResponse, Field(description="Of all targets together")]
    overall_extrapolated: Extrapolated
    columns: Annotated[list[ColumnAnalysisResponse], Field(description="By target, then by prompt")]
    agreement: Annotated[AgreementResponse | None, Field(description="Null for a single target")]
    dimensions: Annotated[list[DimensionAnalysisResponse], Field(description="The strongest first")]
    contested: Annotated[list[ContestedScenarioResponse], Field(description="At most 100, the most contested first")]
    variability: Annotated[VariabilityResponse | None, Field(description="Null without repeats")]
    insights: Annotated[list[InsightResponse], Field(description="At most 12 findings in words")]
    cautions: Annotated[list[AnalysisCautionResponse], Field(description="What to know before relying on the figures")]

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
        """As it is stored."""
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


def scenario_fields(scenario: ScenarioRow) -> dict[str, str]:
    return {"scenario_id": scenario.id, "scenario_name": scenario.name}


class AnalyzeRun(RequestModel):
    model_config = example({"kind": "basic", "force": False})

    kind: Annotated[
        AnalysisKind, Field(description="`deep` adds components, outliers, effects, interactions; a job computes it")
    ] = AnalysisKind.BASIC
    force: Annotated[bool, Field(strict=True, description="Compute it again although nothing has changed")] = False
    narrative: Annotated[
        bool,
        Field(
            strict=True,
            description="Of a deep analysis: whether the `analysisModel` of the settings, if there is one, writes its "
            "narrative; otherwise rules do, which costs nothing",
        ),
    ] = True
    rescore_id: Annotated[
        str | None,
        Field(
            strict=True, min_length=1, max_length=64, description="Analyze its results instead of the run's own scoring"
        ),
    ] = None


class AnalysisSummaryResponse(ResponseModel):
    """An analysis without its figures."""

    id: Annotated[str | None, Field(description="Null while it is being computed")]
    run_id: str
    kind: Annotated[AnalysisKind, Field(description="Which analysis")]
    rescore_id: Annotated[str | None, Field(description="Rescore that was analyzed; null for the run's own scoring")]
    status: Annotated[
        AnalysisStatus | None,
        Field(description="Null while it is being computed; `GET …/analysis` tells when it is there"),
    ]
    algorithm_version: Annotated[str | None, Field(description="How the figures were computed")]
    inputs_hash: Annotated[str | None, Field(description="Equal for equal outcomes; null if the analysis failed")]
    created_at: Annotated[Time | None, Field(description="When it was computed")]
    is_current: Annotated[bool, Field(description="Whether it is the newest of its kind")]
    is_stale: Annotated[bool, Field(description="Whether computing it now would give other figures")]
    stale_reason: Annotated[
        StaleReason | None,
        Field(description="`inputs`: outcomes changed, `algorithm`: another build computed it, `requested`: by force"),
    ]
    failure: Annotated[FailureResponse | None, Field(description="Why it failed; null if it did not")]
    job_id: Annotated[
        str | None, Field(description="Job that computes it, in the response that says so; null otherwise")
    ] = None

    @classmethod
    def of(cls, record: AnalysisRecord, reason: StaleReason | None, *, is_current: bool) -> Self:
        return cls.from_value(record, is_current=is_current, is_stale=reason is not None, stale_reason=reason)


class AnalysisPage(ResponseModel):
    items: list[AnalysisSummaryResponse]
    next_cursor: str | None


class AnalysisResponse(AnalysisSummaryResponse):
    """An analysis with its figures."""

    figures: Annotated[AnalysisFigures | None, Field(description="Null if the analysis failed")]


class ScenarioCellResponse(ResponseModel):
    """What one target made of a scenario."""

    column: ColumnNumber
    decided: Annotated[int, Field(description="Answers with a decision from 1 to 5")]
    mean_decision: Annotated[float | None, Field(description="Null without one")]
    judged: Annotated[int, Field(description="Answers with a result")]
    passed: Annotated[int, Field(description="Of these, the successful ones")]
    other: Annotated[int, Field(description="Answers without a readable decision")]
    errored: Annotated[int, Field(description="Probes without an answer")]
    variance: Annotated[float | None, Field(description="Between the repeats; null for fewer than two")]


class AnalyzedScenarioResponse(ResponseModel):
    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    scores: Annotated[dict[str, float], Field(description="By dimension")]
    variance: Annotated[float | None, Field(description="Of the targets' means; null for fewer than two")]
    range: Annotated[float | None, Field(description="Between the highest and the lowest mean")]
    mean: Annotated[float | None, Field(description="Of the targets' means")]
    cells: Annotated[list[ScenarioCellResponse], Field(description="By target, then by prompt")]


class AnalyzedScenarioPage(ResponseModel):
    items: list[AnalyzedScenarioResponse]
    next_cursor: str | None
