"""Where targets lie in a deep analysis, and which targets and scenarios are unlike the others."""

from collections.abc import Sequence
from typing import Self

from cupel_core.contract.analyzed_columns import ColumnNumber
from cupel_core.contract.analyzed_scenarios import scenario_fields
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_fields import ColumnNumbers, DimensionName
from cupel_core.domain.analysis.deep import Component, Components, OutlierIndicator, OutlierScenarios
from cupel_core.domain.analysis.matrix import ScenarioRow


class ScenarioLoadingResponse(ResponseModel):
    """A scenario's contribution to a component."""

    scenario_id: str
    scenario_name: str
    """Its name."""
    value: float
    """Loading; the squares of all scenarios add up to 1. Example: 0.2565"""


class LoadingCorrelationResponse(ResponseModel):
    """Correlation of the loadings with a dimension's scores: it names the component."""

    dimension: DimensionName
    """Example: delay"""
    correlation: float | None
    """Pearson's correlation; null if loadings or scores do not vary. Example: -0.9406"""


class PrincipalComponentResponse(ResponseModel):
    """A direction in which the targets differ."""

    explained_share: float
    """Share of the variance between targets. Example: 0.8814"""
    chance_share: float
    """Share that shuffled answers exceed in one of 20 cases. Example: 0.6545"""
    is_above_chance: bool
    """True if it and those before it explain more than chance. Example: true"""
    coordinates: list[float]
    """Coordinates of the targets, in the order of `columns`. Example: [-2.0242, -7.3597, 9.3839]"""
    loadings: list[ScenarioLoadingResponse]
    """The 20 largest, by their absolute value."""
    dimensions: list[LoadingCorrelationResponse]
    """Correlations of the loadings with dimensions."""

    @classmethod
    def of(cls, found: Component, scenarios: Sequence[ScenarioRow]) -> Self:
        loadings = [
            ScenarioLoadingResponse.from_value(each, **scenario_fields(scenarios[each.scenario]))
            for each in found.loadings
        ]
        return cls.from_value(found, loadings=loadings)


class PrincipalComponentsResponse(ResponseModel):
    """Positions of targets if each scenario is a dimension, seen from where they differ most."""

    columns: ColumnNumbers
    """Example: [0, 1, 2]"""
    scenarios: int
    """Scenarios that at least 80 % of the targets have decided. Example: 36"""
    imputed_share: float
    """Share of the values that is estimated, because a target has no answer. Example: 0.0"""
    above_chance: int
    """Leading components that explain more than chance. Example: 1"""
    components: list[PrincipalComponentResponse]
    """The largest components first; at most 5."""

    @classmethod
    def of(cls, found: Components, scenarios: Sequence[ScenarioRow]) -> Self:
        components = [PrincipalComponentResponse.of(each, scenarios) for each in found.components]
        return cls.from_value(found, components=components)


class TargetOutlyingnessResponse(ResponseModel):
    """Signs that one target answers unlike the others."""

    column: ColumnNumber
    """Example: 2"""
    distance: float | None
    """Mahalanobis distance in the space of the first components. Example: 1.1547"""
    distance_p: float | None
    """p-value of so large a distance; approximate. Example: 0.0118"""
    distance_adjusted_p: float | None
    """p after Holm's adjustment for all targets. Example: 0.0353"""
    forest_score: float | None
    """Score of an isolation forest; about 0.5 for usual ones. Example: 0.6841"""
    agreement_gain: float | None
    """Increase of alpha without the target. Example: 1.1327"""
    indicators: list[OutlierIndicator]
    """Indicators that flag it. Example: ["distance", "agreement"]"""
    is_outlier: bool
    """Two indicators flag it; below 5 targets, agreement alone does. Example: true"""


class OmittedIndicatorResponse(ResponseModel):
    """An indicator that could not be used."""

    indicator: OutlierIndicator
    """Name of the indicator. Example: forest"""
    reason: str
    """Reason for the omission. Example: needs at least 8 targets"""


class OutlierTargetsResponse(ResponseModel):
    """Targets that answer unlike the others."""

    targets: list[TargetOutlyingnessResponse]
    """All that are compared."""
    omitted: list[OmittedIndicatorResponse]
    """Indicators that could not be used."""


class OutlyingScenarioResponse(ResponseModel):
    """A scenario that is answered unlike the others."""

    scenario_id: str
    scenario_name: str
    """Its name."""
    score: float
    """Score of an isolation forest; about 0.5 for usual ones. Example: 0.6213"""
    means: list[float]
    """Means of the targets, in the order of `columns`. Example: [1.0, 1.0, 5.0]"""


class OutlierScenariosResponse(ResponseModel):
    columns: ColumnNumbers
    """Example: [0, 1, 2]"""
    scenarios: list[OutlyingScenarioResponse]
    """The 20 with the highest scores."""

    @classmethod
    def of(cls, found: OutlierScenarios, scenarios: Sequence[ScenarioRow]) -> Self:
        outlying = [
            OutlyingScenarioResponse.from_value(each, **scenario_fields(scenarios[each.scenario]))
            for each in found.scenarios
        ]
        return cls.from_value(found, scenarios=outlying)
