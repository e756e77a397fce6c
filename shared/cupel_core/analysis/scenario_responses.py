"""Scenarios of a run with what its columns made of them, as they are responded with."""

from cupel_core.analysis.queries import AnalyzedScenario
from cupel_core.contract.analysis import AnalyzedScenarioResponse, ScenarioCellResponse


def scenario_response(found: AnalyzedScenario) -> AnalyzedScenarioResponse:
    return AnalyzedScenarioResponse(
        scenario_id=found.id,
        scenario_name=found.name,
        scores=found.scores,
        variance=found.variance,
        range=found.range,
        mean=found.mean,
        cells=[
            ScenarioCellResponse(
                column=each.column,
                decided=each.cell.decided,
                mean_decision=each.cell.mean_code,
                judged=each.cell.judged,
                passed=each.cell.passed,
                other=each.cell.other,
                errored=each.cell.errored,
                variance=each.variance,
            )
            for each in found.cells
        ],
    )
