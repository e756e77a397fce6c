"""Defines the figures of a deep analysis, which `cupel_core.analysis.deep` computes, the only place that needs numpy.

Columns and scenarios are identified by their numbers in the matrix. A part that cannot be computed is None, and
`unavailable` says why.
"""

from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.matrix import ScenarioRow
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.statistics import Interval

ALGORITHM_VERSION = "deep-4"
"""An analysis that was computed by another version is stale."""


class DeepPart(StrEnum):
    """Parts of a deep analysis that need more targets, scenarios or dimensions than some runs have."""

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
    """States what a scenario contributes to a component; the squares over all scenarios add up to 1."""

    scenario: int
    value: float


class DimensionCorrelation(NamedTuple):
    dimension: str
    correlation: float | None
    """The correlation is between the scenarios' loadings and their scores; it is None if either does not vary."""


@dataclass(frozen=True)
class Component:
    """Describes a direction in which targets differ: one with a high coordinate answers scenarios with high loadings
    higher."""

    explained_share: float
    chance_share: float
    """The 95th percentile of the share explained after shuffling the targets' answers within each scenario."""
    is_above_chance: bool
    coordinates: tuple[float, ...]
    """The coordinates are in the order of `Components.columns`."""
    loadings: tuple[Loading, ...]
    """The loadings that are largest in absolute value are listed."""
    dimensions: tuple[DimensionCorrelation, ...]


@dataclass(frozen=True)
class Components:
    columns: tuple[int, ...]
    scenarios: int
    """Scenarios count if at least four fifths of the columns have decided them."""
    imputed_share: float
    above_chance: int
    components: tuple[Component, ...]


class OutlierIndicator(StrEnum):
    """A method that finds targets that answer unlike the others."""

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
    """The Mahalanobis distance in the space of the first components."""
    distance_p: float | None
    distance_adjusted_p: float | None
    """The p-value is adjusted by Holm's method over the targets."""
    forest_score: float | None
    """The score of an isolation forest is about 0.5 for a target like the others, and 1 for one that is easily
    isolated."""
    agreement_gain: float | None
    indicators: tuple[OutlierIndicator, ...]
    is_outlier: bool


@dataclass(frozen=True)
class OutlierTargets:
    targets: tuple[TargetOutlyingness, ...]
    omitted: tuple[OmittedIndicator, ...]


class OutlierScenario(NamedTuple):
    scenario: int
    score: float
    means: tuple[float, ...]
    """The means are in the order of `OutlierScenarios.columns`."""


class OutlierScenarios(NamedTuple):
    columns: tuple[int, ...]
    scenarios: tuple[OutlierScenario, ...]
    """The scenarios with the highest scores are listed."""


class PairCorrelation(NamedTuple):
    first: str
    second: str
    scenarios: int
    correlation: float | None


class DimensionInflation(NamedTuple):
    """States how many times larger the variance of a dimension's slope is than if no other dimension varied with it."""

    dimension: str
    factor: float | None
    """None if the other dimensions determine it, or if it does not vary."""
    is_collinear: bool


@dataclass(frozen=True)
class Design:
    correlations: tuple[PairCorrelation, ...]
    inflation: tuple[DimensionInflation, ...]


@dataclass(frozen=True)
class Slope:
    dimension: str
    slope: float
    """The slope is in points, or in the share that passes, per unit of the score."""
    per_step: float
    standardized: float | None
    """The slope in standard deviations of the answers per standard deviation of the score."""
    standard_error: float
    interval: Interval
    p: float | None
    """None if the answers follow the regression exactly."""
    adjusted_p: float | None
    """The p-value is adjusted by Holm's method over the target's dimensions."""


@dataclass(frozen=True)
class Regression:
    column: int
    scenarios: int
    answers: int
    intercept: float
    r_squared: float | None
    """None if all answers are the same."""
    slopes: tuple[Slope, ...]


@dataclass(frozen=True)
class SlopeEquality:
    """Tests whether a dimension moves all targets alike, by Wald's test in Hotelling's form."""

    dimension: str
    spread: float
    statistic: float | None
    df: tuple[int, int] | None
    p: float | None
    """None if slopes differ and the answers follow them exactly."""
    adjusted_p: float | None
    """The p-value is adjusted by Holm's method over the dimensions."""


@dataclass(frozen=True)
class Effects:
    dimensions: tuple[str, ...]
    regressions: tuple[Regression, ...]
    equality: tuple[SlopeEquality, ...]
    """The most divisive dimension comes first; it is empty for a single target."""


@dataclass(frozen=True)
class Interaction:
    column: int
    first: str
    second: str
    coefficient: float
    """The first dimension's slope changes by this much per unit of the second."""
    standard_error: float
    p: float | None
    adjusted_p: float | None
    """The p-value is adjusted by Holm's method over all pairs of dimensions and targets."""
    r_squared_gain: float
    first_levels: tuple[float, ...]
    second_levels: tuple[float, ...]
    means: tuple[tuple[float | None, ...], ...]
    """The means are by level of the first dimension, then of the second; empty if there are too many levels."""


@dataclass(frozen=True)
class Interactions:
    tested: int
    largest: tuple[Interaction, ...]


@dataclass(frozen=True)
class VarianceShares:
    """Divides the variance of single answers by its sources; the shares add up to 1."""

    columns: tuple[int, ...]
    scenarios: int
    """Scenarios count if all of these columns have answered them."""
    variance: float
    target: float
    scenario: float
    target_by_scenario: float
    """Without repeats, this share includes what differs between repeats."""
    repeat: float | None
    """The share between one target's answers to one scenario; None without repeats."""


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
    """The caution is about these columns; it is about all if empty."""


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
