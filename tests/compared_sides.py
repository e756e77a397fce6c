"""Sides of comparisons from lists of answers, for tests."""

from collections.abc import Mapping, Sequence

from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.matching import ComparisonSide, SideColumn, SideScenario
from cupel_core.domain.runs.plan import Column
from cupel_core.domain.runs.targets import Target

CODES = "12345"


def cell_of(answers: str) -> Cell:
    """The counts of answers: `1`-`5` a decision, `o` other, `e` an error, `+` a pass, `-` a failure."""
    codes = [answers.count(code) for code in CODES]
    passed, judged = answers.count("+"), answers.count("+") + answers.count("-")
    return Cell(*codes, other=answers.count("o") + judged, errored=answers.count("e"), judged=judged, passed=passed)


def side(
    answers: Mapping[str, Sequence[str]],
    run_id: str = "run_a",
    scenarios: Sequence[SideScenario] | None = None,
) -> ComparisonSide:
    """By column (`target`, or `target · prompt`), the answers to each case."""
    columns = [_column(name) for name in answers]
    cells = [[cell_of(each) for each in of_cases] for of_cases in answers.values()]
    scenarios = scenarios or [scenario(f"s{number}", {None: number}) for number in range(len(cells[0]))]
    numbered = tuple(SideColumn(number, column) for number, column in enumerate(columns))
    return ComparisonSide(run_id, numbered, scenarios, lambda column, case: cells[column][case])


def scenario(
    scenario_id: str, cases: Mapping[str | None, int], dimensions: Mapping[str, float] | None = None
) -> SideScenario:
    return SideScenario(scenario_id, f"Scenario {scenario_id}", dimensions or {}, cases)


def _column(name: str) -> Column:
    target, _, prompt = name.partition(" · ")
    return Column(Target(target), prompt or None)
