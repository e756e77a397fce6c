"""Figures over several runs, from their counts."""

from cupel_core.analysis.basic import read_matrix
from cupel_core.analysis.tabulate import counted_inputs, read_counts
from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.aggregates import AggregateRow, AggregateSpec, Aggregation
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.store import runs

MAX_CELLS = 200_000
"""Combinations of scenario, target and prompt of all runs: about 3 s of processor time."""


def aggregate(workspace: str, spec: AggregateSpec) -> list[AggregateRow]:
    """A row per group that has probes. Raises NotFound for an unknown run, Conflict for one that goes on, and Invalid
    for runs that are too large, or if no run has a target, prompt or dimension that is named."""
    found = _read_runs(workspace, spec)
    _check(spec, found)
    aggregation = Aggregation(spec)
    dimensions: set[str] = set()
    for run in found:
        columns = run.plan.columns_of(spec.target, spec.prompt_id)
        if not columns:
            continue
        matrix = read_matrix(run, read_counts(counted_inputs(run)))
        dimensions.update(matrix.dimensions)
        aggregation.add(run.id, [(number, run.plan.columns[number]) for number in columns], matrix)
    for field, names in (("dimensions", spec.dimensions), ("levels", tuple(spec.levels))):
        if unknown := [name for name in names if name not in dimensions]:
            known = ", ".join(sorted(dimensions)) or "none"
            raise Invalid.field(field, f"{unknown[0]} is no dimension of the runs' scenarios: {known}")
    return aggregation.rows()


def _read_runs(workspace: str, spec: AggregateSpec) -> list[Run]:
    """In the order in which they are named."""
    by_ref = runs.get_many(RunRef(workspace, run_id) for run_id in spec.run_ids)
    found = {ref.run_id: run for ref, run in by_ref.items()}
    for run_id in spec.run_ids:
        if run_id not in found:
            raise NotFound(f"there is no run {run_id}")
        if found[run_id].status not in TERMINAL:
            raise Conflict(f"the run {run_id} is {found[run_id].status}; only runs that have ended can be aggregated")
    return [found[run_id] for run_id in spec.run_ids]


def _check(spec: AggregateSpec, found: list[Run]) -> None:
    cells = sum(run.plan.total // run.plan.repeats for run in found)
    if cells > MAX_CELLS:
        raise Invalid.field(
            "runIds",
            f"the runs have {cells:,} combinations of scenario, target and prompt; at most {MAX_CELLS:,} are possible",
        )
    for field, target, prompt_id in (("target", spec.target, None), ("promptId", None, spec.prompt_id)):
        if not any(run.plan.columns_of(target, prompt_id) for run in found):
            raise Invalid.field(field, "no run has it")
