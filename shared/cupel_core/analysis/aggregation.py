"""Aggregates figures over several runs, either by groups of runs or for one target across all of them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import NamedTuple

from cupel_core.analysis.basic import read_matrix
from cupel_core.analysis.queries import NewestAnalysis, get_newest
from cupel_core.analysis.tabulate import counted_inputs, read_counts
from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import MAX_LIMIT
from cupel_core.domain.analysis.aggregates import AggregateRow, AggregateSpec, Aggregation
from cupel_core.domain.analysis.records import AnalysisStatus
from cupel_core.domain.runs.run import TERMINAL, Run
from cupel_core.store import analyses, definitions, runs

MAX_CELLS = 200_000
"""Limits the combinations of scenario, target and prompt of all runs: these take about 3 s of processor time."""


MAX_EXAMINED_RUNS = 500
_READERS = 8


def aggregate(workspace: str, spec: AggregateSpec) -> list[AggregateRow]:
    """Return a row for each group that has probes.

    Raises NotFound for an unknown run, Conflict for a run that has not ended, and Invalid if the runs are too large or
    no run has a named target, prompt or dimension.
    """
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


class ProfiledRun(NamedTuple):
    run: Run
    is_stale: bool
    document: bytes


def list_profiled_runs(workspace: str, target: str, definition_id: str | None, limit: int) -> list[ProfiledRun]:
    """Return the newest runs that have an analysis and this target, given by its id or its model.

    Raises Invalid for a definition that the workspace never had.
    """
    if definition_id is not None and definitions.find(workspace, definition_id) is None:
        raise Invalid.field("definitionId", f"there is no definition {definition_id}")
    found = list(islice(_runs_of(workspace, target, definition_id), limit))
    analyzed = [(run, newest) for run, newest in zip(found, get_newest(found), strict=True) if newest is not None]
    completed = [each for each in analyzed if each[1].record.status is AnalysisStatus.COMPLETED]
    with ThreadPoolExecutor(_READERS) as pool:
        return list(pool.map(_read, *zip(*completed, strict=True))) if completed else []


def _read(run: Run, newest: NewestAnalysis) -> ProfiledRun:
    return ProfiledRun(run, newest.stale_reason is not None, analyses.read_document(newest.record))


def _runs_of(workspace: str, target: str, definition_id: str | None) -> Iterator[Run]:
    cursor: str | None = None
    for _ in range(MAX_EXAMINED_RUNS // MAX_LIMIT):
        page = runs.list_runs(workspace, definition_id=definition_id, limit=MAX_LIMIT, cursor=cursor)
        yield from (run for run in page.items if run.status in TERMINAL and run.plan.columns_of(target))
        cursor = page.next_cursor
        if cursor is None:
            return
