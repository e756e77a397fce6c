"""The figures of a deep analysis. They are computed by `cupel_core.analysis.deep`, the only place that needs numpy.

Columns and scenarios are named by their numbers in the matrix. A part that cannot be computed is None, and
`unavailable` says why.
"""

from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.matrix import ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval

ALGORITHM_VERSION = "deep-4"
"""Of these figures: an analysis of an earlier one is stale."""


class DeepPart(StrEnum):
    """What needs more targets, scenarios or dimensions than a run may have."""

    COMPONENTS = "components"
    OUTLIER_TARGETS = "outlierTargets"
    OUTLIER_SCENARIOS = "outlierScenarios"
    DESIGN = "design"
    EFFECTS = "effects"
    INTERACTIONS = "interactions"
    VARIANCE = "variance"


class UnavailablePart(NamedTuple):
    part: DeepPart
    reason: str


class Loading(NamedTuple):
    """What a scenario contributes to a component; the squares of all scenarios add up to 1."""

    scenario: int
    value: float


class DimensionCorrelation(NamedTuple):
    dimension: str
    correlation: float | None
    """Of the scenarios' loadings with their scores; None if either does not vary."""


@dataclass(frozen=True)
class Component:
    """A direction in which targets differ: one with a high coordinate answers scenarios with high loadings higher."""

    explained_share: float
    """Of the variance between targets."""
    chance_share: float
    """The 95th percentile of what it explains after the targets' answers were shuffled within each scenario."""
    is_above_chance: bool
    coordinates: tuple[float, ...]
    """By column of `Components.columns`."""
    loadings: tuple[Loading, ...]
    """The largest, by their absolute value."""
    dimensions: tuple[DimensionCorrelation, ...]


@dataclass(frozen=True)
class Components:
    columns: tuple[int, ...]
    scenarios: int
    """Decided by at least four fifths of the columns."""
    imputed_share: float
    """Of the values, those that were estimated because a column has no answer."""
    above_chance: int
    """Leading components that explain more than chance."""
    components: tuple[Component, ...]


class OutlierIndicator(StrEnum):
    """How a target is found to answer unlike the others."""

    DISTANCE = "distance"
    FOREST = "forest"
    AGREEMENT = "agreement"


class OmittedIndicator(NamedTuple):
    indicator: OutlierIndicator
    reason: str


@dataclass(frozen=True)
class TargetOutlyingness:
    column: int
    distance: float | None
    """Mahalanobis's, in the space of the first components."""
    distance_p: float | None
    distance_adjusted_p: float | None
    """Holm's, over the targets."""
    forest_score: float | None
    """Of an isolation forest: about 0.5 for a target like the others, 1 for one that is easily set apart."""
    agreement_gain: float | None
    """By how much alpha rises without it."""
    indicators: tuple[OutlierIndicator, ...]
    """Those that flag it."""
    is_outlier: bool


@dataclass(frozen=True)
class OutlierTargets:
    targets: tuple[TargetOutlyingness, ...]
    omitted: tuple[OmittedIndicator, ...]


class OutlierScenario(NamedTuple):
    scenario: int
    score: float
    """Of an isolation forest."""
    means: tuple[float, ...]
    """By column of `OutlierScenarios.columns`."""


class OutlierScenarios(NamedTuple):
    columns: tuple[int, ...]
    scenarios: tuple[OutlierScenario, ...]
    """Those with the highest scores."""


class PairCorrelation(NamedTuple):
    """Of the scores of two dimensions over the run's scenarios."""

    first: str
    second: str
    scenarios: int
    correlation: float | None


class DimensionInflation(NamedTuple):
    """By how much the variance of a dimension's slope is larger than if no other dimension varied with it."""

    dimension: str
    factor: float | None
    """None if the others determine it, or if it does not vary."""
    is_collinear: bool


@dataclass(frozen=True)
class Design:
    correlations: tuple[PairCorrelation, ...]
    inflation: tuple[DimensionInflation, ...]


@dataclass(frozen=True)
class Slope:
    """Of one dimension, the others being equal."""

    dimension: str
    slope: float
    """Points, or the share that passes, per unit of the score."""
    per_step: float
    """Per step between neighboring levels."""
    standardized: float | None
    """In standard deviations of the answers per standard deviation of the score."""
    standard_error: float
    interval: Interval
    p: float | None
    """None if the answers follow the regression exactly."""
    adjusted_p: float | None
    """Holm's, over the target's dimensions."""


@dataclass(frozen=True)
class Regression:
    """Of a column's answers on the scores of all dimensions together."""

    column: int
    scenarios: int
    answers: int
    intercept: float
    """At the mean of all scores."""
    r_squared: float | None
    """None if all answers are the same."""
    slopes: tuple[Slope, ...]


@dataclass(frozen=True)
class SlopeEquality:
    """Whether a dimension moves all targets alike: Wald's test, as Hotelling's."""

    dimension: str
    spread: float
    """Standard deviation of the targets' slopes per step."""
    statistic: float | None
    df: tuple[int, int] | None
    p: float | None
    """None if slopes differ and the answers follow them exactly."""
    adjusted_p: float | None
    """Holm's, over the dimensions."""


@dataclass(frozen=True)
class Effects:
    dimensions: tuple[str, ...]
    regressions: tuple[Regression, ...]
    equality: tuple[SlopeEquality, ...]
    """The most divisive dimension first; empty for a single target."""


@dataclass(frozen=True)
class Interaction:
    """How the slope of one dimension changes with another, for one column."""

    column: int
    first: str
    second: str
    coefficient: float
    """Change of the first one's slope per unit of the second."""
    standard_error: float
    p: float | None
    adjusted_p: float | None
    """Holm's, over all pairs of dimensions and targets."""
    r_squared_gain: float
    """The additional share of the variance of answers that it explains."""
    first_levels: tuple[float, ...]
    second_levels: tuple[float, ...]
    means: tuple[tuple[float | None, ...], ...]
    """By level of the first dimension, then of the second; empty for too many levels."""


@dataclass(frozen=True)
class Interactions:
    tested: int
    """Pairs of dimensions, over all targets."""
    largest: tuple[Interaction, ...]


@dataclass(frozen=True)
class VarianceShares:
    """Where the differences between single answers come from; the shares add up to 1."""

    columns: tuple[int, ...]
    scenarios: int
    """Answered by all of these columns."""
    variance: float
    target: float
    scenario: float
    target_by_scenario: float
    """With what differs between repeats, if there are none."""
    repeat: float | None
    """Between the answers of one target to one scenario; None without repeats."""


class DeepCautionCode(StrEnum):
    IMPUTED = "IMPUTED"
    COLLINEAR = "COLLINEAR"
    PARTIAL_DIMENSIONS = "PARTIAL_DIMENSIONS"
    MANY_DIMENSIONS = "MANY_DIMENSIONS"
    FEW_SCENARIOS = "FEW_SCENARIOS"
    EXCLUDED_TARGETS = "EXCLUDED_TARGETS"
    PARTIAL = "PARTIAL"


class DeepCaution(NamedTuple):
    code: DeepCautionCode
    text: str
    columns: tuple[int, ...] = ()
    """Those it is about; all if empty."""


@dataclass(frozen=True)
class DeepAnalysis:
    metric: Metric
    scenarios: tuple[ScenarioRow, ...]
    components: Components | None
    outlier_targets: OutlierTargets | None
    outlier_scenarios: OutlierScenarios | None
    design: Design | None
    effects: Effects | None
    interactions: Interactions | None
    variance: VarianceShares | None
    unavailable: tuple[UnavailablePart, ...]
    cautions: tuple[DeepCaution, ...]
