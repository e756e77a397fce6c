"""Where targets lie in a deep analysis, and which targets and scenarios are unlike the others."""

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field

from cupel_core.contract.analysis import ColumnNumber, scenario_fields
from cupel_core.contract.common import ResponseModel
from cupel_core.contract.deep_fields import ColumnNumbers, DimensionName
from cupel_core.domain.analysis.deep import Component, Components, OutlierIndicator, OutlierScenarios
from cupel_core.domain.analysis.matrix import ScenarioRow


class ScenarioLoadingResponse(ResponseModel):
    """What a scenario contributes to a component."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    value: Annotated[float, Field(description="Loading; the squares of all scenarios add up to 1")]


class LoadingCorrelationResponse(ResponseModel):
    """How the loadings go with the scores of a dimension: it names the component."""

    dimension: DimensionName
    correlation: Annotated[float | None, Field(description="Pearson's; null if loadings or scores do not vary")]


class PrincipalComponentResponse(ResponseModel):
    """A direction in which the targets differ."""

    explained_share: Annotated[float, Field(description="Of the variance between targets")]
    chance_share: Annotated[float, Field(description="Share that shuffled answers exceed in one of 20 cases")]
    is_above_chance: Annotated[bool, Field(description="Whether it and those before it explain more than chance")]
    coordinates: Annotated[list[float], Field(description="Of each target, in the order of `columns`")]
    loadings: Annotated[list[ScenarioLoadingResponse], Field(description="The 20 largest, by their absolute value")]
    dimensions: Annotated[list[LoadingCorrelationResponse], Field(description="What goes with the loadings")]

    @classmethod
    def of(cls, found: Component, scenarios: Sequence[ScenarioRow]) -> Self:
        loadings = [
            ScenarioLoadingResponse.from_value(each, **scenario_fields(scenarios[each.scenario]))
            for each in found.loadings
        ]
        return cls.from_value(found, loadings=loadings)


class PrincipalComponentsResponse(ResponseModel):
    """Where targets lie if each scenario is a dimension of its own, seen from where they differ most."""

    columns: ColumnNumbers
    scenarios: Annotated[int, Field(description="That at least 80 % of the targets have decided")]
    imputed_share: Annotated[float, Field(description="Of the values: estimated, because a target has no answer")]
    above_chance: Annotated[int, Field(description="Leading components that explain more than chance")]
    components: Annotated[list[PrincipalComponentResponse], Field(description="At most 5, the largest first")]

    @classmethod
    def of(cls, found: Components, scenarios: Sequence[ScenarioRow]) -> Self:
        components = [PrincipalComponentResponse.of(each, scenarios) for each in found.components]
        return cls.from_value(found, components=components)


class TargetOutlyingnessResponse(ResponseModel):
    """How far one target answers unlike the others."""

    column: ColumnNumber
    distance: Annotated[float | None, Field(description="Mahalanobis's, in the space of the first components")]
    distance_p: Annotated[float | None, Field(description="Of so large a distance by chance; approximate")]
    distance_adjusted_p: Annotated[float | None, Field(description="After Holm's adjustment for all targets")]
    forest_score: Annotated[float | None, Field(description="Of an isolation forest; about 0.5 for usual ones")]
    agreement_gain: Annotated[float | None, Field(description="By how much alpha rises without it")]
    indicators: Annotated[list[OutlierIndicator], Field(description="Indicators that flag it")]
    is_outlier: Annotated[bool, Field(description="Two indicators flag it; below 5 targets, agreement alone does")]


class OmittedIndicatorResponse(ResponseModel):
    """An indicator that could not be used."""

    indicator: Annotated[OutlierIndicator, Field(description="Which one")]
    reason: Annotated[str, Field(description="Why")]


class OutlierTargetsResponse(ResponseModel):
    """Targets that answer unlike the others."""

    targets: Annotated[list[TargetOutlyingnessResponse], Field(description="All that are compared")]
    omitted: Annotated[list[OmittedIndicatorResponse], Field(description="Indicators that could not be used")]


class OutlyingScenarioResponse(ResponseModel):
    """A scenario that is answered unlike the others."""

    scenario_id: str
    scenario_name: Annotated[str, Field(description="Its name")]
    score: Annotated[float, Field(description="Of an isolation forest; about 0.5 for usual ones")]
    means: Annotated[list[float], Field(description="Of each target, in the order of `columns`")]


class OutlierScenariosResponse(ResponseModel):
    columns: ColumnNumbers
    scenarios: Annotated[list[OutlyingScenarioResponse], Field(description="The 20 with the highest scores")]

    @classmethod
    def of(cls, found: OutlierScenarios, scenarios: Sequence[ScenarioRow]) -> Self:
        outlying = [
            OutlyingScenarioResponse.from_value(each, **scenario_fields(scenarios[each.scenario]))
            for each in found.scenarios
        ]
        return cls.from_value(found, scenarios=outlying)
