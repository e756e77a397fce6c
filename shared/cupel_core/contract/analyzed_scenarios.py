"""Scenarios of an analysis, each with the outcomes of every column."""

from cupel_core.contract.analyzed_columns import ColumnNumber
from cupel_core.contract.common import ResponseModel
from cupel_core.domain.analysis.matrix import ScenarioRow


def scenario_fields(scenario: ScenarioRow) -> dict[str, str]:
    return {"scenario_id": scenario.id, "scenario_name": scenario.name}


class ScenarioCellResponse(ResponseModel):
    """Results of one target for a scenario."""

    column: ColumnNumber
    """Example: 0"""
    decided: int
    """Answers with a decision from 1 to 5. Example: 58"""
    mean_decision: float | None
    """Null without one. Example: 3.8"""
    judged: int
    """Answers with a result."""
    passed: int
    """Of these, the successful ones. Example: 2"""
    other: int
    """Answers without a readable decision. Example: 0"""
    errored: int
    """Probes without an answer."""
    variance: float | None
    """Variance between the repeats; null for fewer than two. Example: 0.5"""


class AnalyzedScenarioResponse(ResponseModel):
    scenario_id: str
    scenario_name: str
    """Its name."""
    scores: dict[str, float]
    """Scores by dimension. Example: {"delay": 5.0}"""
    variance: float | None
    """Variance of the targets' means; null for fewer than two. Example: 5.3"""
    range: float | None
    """Highest less lowest mean. Example: 4.0"""
    mean: float | None
    """Mean of the targets' means."""
    cells: list[ScenarioCellResponse]
    """Results by target, then by prompt."""


class AnalyzedScenarioPage(ResponseModel):
    items: list[AnalyzedScenarioResponse]
    next_cursor: str | None
