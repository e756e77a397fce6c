"""An analysis fits into a response, however many targets, dimensions and levels a run has."""

from random import Random

import pytest

from cupel_core.contract.analysis import AnalysisFigures
from cupel_core.domain.analysis.basic import AnalysisInput, BasicAnalysis, analyze
from cupel_core.domain.analysis.cautions import CautionCode
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.analysis.counts import RunCounts, count, scenario_cases
from cupel_core.domain.analysis.extrapolation import RunSample
from cupel_core.domain.analysis.matrix import ScenarioRow, cell_matrix
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.targets import plain_targets

MAX_BYTES = 5_000_000
"""Of a response, in which quotes are escaped."""


def analyzed(targets: int, scenarios: int, dimensions: int, levels: int) -> BasicAnalysis:
    """Two repeats; every score of every dimension occurs."""
    rng = Random(1)
    plan = Plan(plain_targets(*(f"openai/model-{number}" for number in range(targets))), (scenarios,), 2)
    made = (
        CountedOutcome(index, is_completed=True, code=str(rng.randint(1, 5)), success=rng.random() < 0.5, score=0.5)
        for index in range(plan.total)
    )
    counts = RunCounts(plan, scenario_cases(range(scenarios)), count(plan, range(plan.total), made))
    names = tuple(f"dimension {number}" for number in range(dimensions))
    rows = [
        ScenarioRow(f"scn_{number:026d}", f"case {number} ".ljust(200, "x"), scores(number, dimensions, levels))
        for number in range(scenarios)
    ]
    totals = [counts.totals.column(number) for number in range(targets)]
    sample = RunSample(scenarios, scenarios, seed=1, is_drawn=False)
    return analyze(AnalysisInput(cell_matrix(counts, rows, names), totals, names, plan.total, sample))


def scores(number: int, dimensions: int, levels: int) -> tuple[float, ...]:
    return tuple(float((number + position) % levels) for position in range(dimensions))


@pytest.mark.parametrize(("targets", "dimensions", "levels"), [(200, 50, 50), (50, 50, 20), (100, 10, 10)])
def test_a_document_fits_into_a_response(targets: int, dimensions: int, levels: int) -> None:
    found = analyzed(targets, 60, dimensions, levels)
    columns = Plan(plain_targets(*(f"openai/model-{number}" for number in range(targets))), (60,)).columns
    json = AnalysisFigures.of(found, columns).to_json()
    assert len(json) + json.count(b'"') < MAX_BYTES


def test_levels_of_single_targets_are_left_out_first() -> None:
    few, many = (analyzed(targets, 20, 2, 10) for targets in (2, 60))
    assert all(len(column.levels) == 10 for each in few.dimensions for column in each.columns)
    assert all(len(each.overall.levels) == 10 for each in many.dimensions)
    assert not any(column.levels for each in many.dimensions for column in each.columns)
    assert all(column.effect.p is not None for each in many.dimensions for column in each.columns)
    assert CautionCode.MANY_LEVELS in {each.code for each in many.cautions}
    assert CautionCode.MANY_LEVELS not in {each.code for each in few.cautions}


def test_the_first_dimensions_of_the_definition_are_analyzed() -> None:
    found = analyzed(200, 12, 20, 2)
    assert {each.name for each in found.dimensions} == {f"dimension {number}" for number in range(15)}
    assert "only the first 15 of 20 dimensions are analyzed" in {each.text for each in found.cautions}
