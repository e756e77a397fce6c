"""The analysis of an evaluation in this process, by the functions that analyze a run of a stack."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cupel.json_types import Json
from cupel_core.domain.analysis.basic import AnalysisInput, analyze
from cupel_core.domain.analysis.counted_outcomes import counted_outcome
from cupel_core.domain.analysis.counts import RunCounts, count, scenario_cases
from cupel_core.domain.analysis.matrix import ScenarioRow, cell_matrix, dimension_names
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.plan import Plan

if TYPE_CHECKING:
    from cupel.in_process.evaluation import Evaluation


def analysis_of(evaluation: "Evaluation") -> Json:
    """The figures of `GET /runs/{id}/analysis`."""
    # The models of the analysis take a while to import.
    import json

    from cupel_core.contract.analysis import AnalysisFigures

    columns = evaluation.columns
    scenarios, positions = _cases(evaluation)
    prompts = tuple(dict.fromkeys(column.prompt_id for column in columns if column.prompt_id is not None))
    targets = tuple({column.target.id: column.target for column in columns}.values())
    plan = Plan(targets, (len(positions),), evaluation.repeats, prompts)
    outcomes = (counted_outcome(result.outcome) for result in evaluation.results)
    counts = RunCounts(plan, scenario_cases(positions), count(plan, range(plan.total), outcomes))
    content = evaluation.content
    dimensions = dimension_names(
        [dimension.name for dimension in content.dimensions], (scenario.dimensions for scenario in scenarios)
    )
    rows = [
        ScenarioRow(each.id or each.name, each.name, tuple(each.dimensions.get(name) for name in dimensions))
        for each in scenarios
    ]
    figures = analyze(
        AnalysisInput(
            matrix=cell_matrix(counts, rows, dimensions),
            totals=[counts.totals.column(number) for number in range(len(columns))],
            names=tuple(column.name for column in columns),
            probes=plan.total,
            has_decision_rule=content.decision is not None,
            favors=content.decision.favors if content.decision else {},
            sample=evaluation.sample,
        )
    )
    document: Json = json.loads(AnalysisFigures.of(figures, columns).to_json())
    return document


def _cases(evaluation: "Evaluation") -> tuple[list[Scenario], Sequence[int]]:
    """The scenarios in the order of the plan, and that of each case."""
    numbers: dict[int, int] = {}
    scenarios, positions = list[Scenario](), list[int]()
    for scenario in _first_column(evaluation):
        if id(scenario) not in numbers:
            numbers[id(scenario)] = len(scenarios)
            scenarios.append(scenario)
        positions.append(numbers[id(scenario)])
    return scenarios, positions


def _first_column(evaluation: "Evaluation") -> Iterator[Scenario]:
    """The scenario of each case: the first repeats of the first column."""
    cases = len(evaluation.results) // (len(evaluation.columns) * evaluation.repeats)
    results = sorted(evaluation.results, key=lambda result: result.probe.index)
    return (results[case * evaluation.repeats].probe.scenario for case in range(cases))
