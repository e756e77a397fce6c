"""Deep analyses of runs. Figures are read from the attributes of the domain's results, which have the same names."""

from collections.abc import Sequence
from typing import Self

from cupel_core.contract.analysis import AnalysisSummaryResponse
from cupel_core.contract.columns import ColumnFields
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_effects import (
    DesignCheckResponse,
    DimensionEffectsResponse,
    DimensionInteractionsResponse,
    VarianceSharesResponse,
)
from cupel_core.contract.deep_targets import (
    OutlierScenariosResponse,
    OutlierTargetsResponse,
    PrincipalComponentsResponse,
)
from cupel_core.contract.fields import Interval95
from cupel_core.domain.analysis.deep import DeepAnalysis, DeepCautionCode, DeepPart
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.analysis.narratives import Narrative, NarrativeTopic
from cupel_core.domain.runs.plan import Column


class NarrativeFactResponse(ResponseModel):
    """A figure that the sentences cite."""

    id: str
    """Unique in this analysis. Example: alpha"""
    label: str
    """Meaning of the figure. Example: Krippendorff's alpha of all targets"""
    value: float
    """The figure. Example: -0.3142"""
    interval: Interval95
    n: int | None
    """What it is computed from, such as scenarios; null if it says itself. Example: 36"""


class NarrativeFindingResponse(ResponseModel):
    """A section says what the figures show about one topic."""

    topic: NarrativeTopic
    """Subject of the finding. Example: agreement"""
    text: str
    """`information unavailable` if the figures say nothing about it.

    Example: Agreement between the targets is low over 36 scenarios (alpha -0.31).
    """
    facts: list[str]
    """Ids of the figures that it rests on. Example: ["alpha"]"""


class DroppedFindingResponse(ResponseModel):
    """A finding whose citations did not hold."""

    topic: NarrativeTopic
    """Subject of the finding. Example: interactions"""
    reason: str
    """Check that the finding failed. Example: says 0.3, which it does not cite"""


class NarrativeResponse(ResponseModel):
    """The analysis in sentences, by rules or a model; each number in them is one of the figures that they cite."""

    headline: str
    """The main finding. Example: sim/contrarian answers unlike the other targets."""
    findings: list[NarrativeFindingResponse]
    """One of each topic."""
    limitations: list[str]
    """Limits of the findings; at most five. Example: ["12 scenarios: slopes are called significant too often"]"""
    next_steps: list[str]
    """Suggestions; at most three. Example: ["Read what sim/contrarian answers to the most unusual scenarios."]"""
    facts: list[NarrativeFactResponse]
    """All that is cited."""
    dropped: list[DroppedFindingResponse]
    """Findings that are not shown; rules wrote those in their place."""
    model: str | None
    """Model that was asked to write it; null for rules alone."""
    calls: int
    """Number of its calls."""
    cost_usd: float | None
    """Cost of these calls; null without any, or if a price is unknown."""
    error: str | None
    """Reason why rules wrote all sentences instead of the model."""


class DeepAnalysisColumn(ColumnFields):
    """A target, asked by one prompt."""

    name: str
    """Name of target and prompt, for people. Example: sober · polite"""


class UnavailablePartResponse(ResponseModel):
    """A part that this run has too few targets, scenarios or dimensions for."""

    part: DeepPart
    """Field that is null. Example: interactions"""
    reason: str
    """Data that the part needs. Example: needs at least 2 dimensions in which the scores of the scenarios vary"""


class DeepCautionResponse(ResponseModel):
    """Readers should know this before relying on the figures."""

    code: DeepCautionCode
    """Kind of caution."""
    text: str
    """The caution in words.

    Example: 12 % of the values are estimated, because targets have no answer to these scenarios
    """
    columns: list[int]
    """Positions in `columns` that it is about; all if empty. Example: []"""


class DeepAnalysisFigures(ResponseModel):
    """The figures of a deep analysis; docs/statistics.md explains them. `unavailable` says why a part is null."""

    metric: Metric
    """Compared metric: the mean decision, or the pass rate."""
    scenario_count: int
    """Scenarios of the run."""
    columns: list[DeepAnalysisColumn]
    """Columns by target, then by prompt."""
    components: PrincipalComponentsResponse | None
    """Directions in which targets differ."""
    outlier_targets: OutlierTargetsResponse | None
    """Targets unlike the others."""
    outlier_scenarios: OutlierScenariosResponse | None
    """Scenarios unlike the others."""
    design: DesignCheckResponse | None
    """Independence of the dimensions."""
    effects: DimensionEffectsResponse | None
    """Regressions on all dimensions together."""
    interactions: DimensionInteractionsResponse | None
    """Interactions of pairs of dimensions."""
    variance: VarianceSharesResponse | None
    """Sources of the differences."""
    unavailable: list[UnavailablePartResponse]
    """Reasons for parts that are null."""
    cautions: list[DeepCautionResponse]
    """Cautions about the figures."""
    narrative: NarrativeResponse
    """The figures in sentences."""

    @classmethod
    def of(cls, found: DeepAnalysis, columns: Sequence[Column], narrative: Narrative) -> Self:
        rows, components, outliers = found.scenarios, found.components, found.outlier_scenarios
        return cls.from_value(
            found,
            scenario_count=len(rows),
            columns=columns,
            components=PrincipalComponentsResponse.of(components, rows) if components else None,
            outlier_scenarios=OutlierScenariosResponse.of(outliers, rows) if outliers else None,
            narrative=narrative,
        )

    def to_json(self) -> bytes:
        """Return the document as it is stored."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True)


class DeepAnalysisResponse(AnalysisSummaryResponse):
    """A deep analysis with its figures."""

    algorithm_version: str | None
    """Version of the computation. Example: deep-4"""
    figures: DeepAnalysisFigures | None
    """Null if the analysis failed."""
