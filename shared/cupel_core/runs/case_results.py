"""The results of a run by case, read from digests: only those of the rows of a page."""

from collections.abc import Iterable, Iterator
from itertools import chain

from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.domain.runs.case_results import CaseResults, cell_indexes, cell_results
from cupel_core.domain.runs.plan import Plan
from cupel_core.runs.probe_ranges import check_column
from cupel_core.store import outcomes, runs, selections, snapshots
from cupel_core.store.selections import RUN_SCORING

MAX_PROBES = 2_000
"""Read for a page, of up to as many leaves: a page of many columns and repeats has fewer rows."""


def list_cases(
    workspace: str, run_id: str, *, model: str | None, prompt_id: str | None, limit: int, cursor: str | None
) -> Iterator[Entry[CaseResults]]:
    """By case; `model` and `prompt_id` choose columns. Raises Invalid for an unknown target or prompt."""
    run = runs.get(RunRef(workspace, run_id))
    ref, plan = RunRef(run.workspace, run.id), run.plan
    check_column(plan, model, prompt_id)
    columns = plan.columns_of(model, prompt_id)
    first, count = decode_index(cursor), max(1, min(limit, MAX_PROBES // (len(columns) * plan.repeats)))
    cases = range(first, min(first + count, plan.cases))
    cells = {(case, column): cell_indexes(plan, case, column) for case in cases for column in columns}
    found = {each.probe_index: each for each in outcomes.list_digests(ref, sorted(chain(*cells.values())))}
    winners = _winners(ref, plan, cases)
    for case in cases:
        row = (cell_results(plan.columns[each], cells[case, each], found, winners) for each in columns)
        yield Entry(encode_cursor(str(case)), CaseResults(case, snapshots.get_case(run.snapshot_key, case), tuple(row)))
    if cases.stop < plan.cases:
        yield Entry(encode_cursor(str(cases.stop)), None)


def _winners(ref: RunRef, plan: Plan, cases: Iterable[int]) -> set[int]:
    """The probes whose answers were found the best. A selection is stored with its first column's probe."""
    if len(plan.columns) == 1:
        return set()
    compared = [index for case in cases for index in cell_indexes(plan, case, 0)]
    parts = ([index for index in compared if index in segment] for segment in plan.column_ranges(0))
    ranges = (range(part[0], part[-1] + 1) for part in parts if part)
    stored = chain.from_iterable(selections.list_range(ref, RUN_SCORING, indexes) for indexes in ranges)
    return {selection.winner for selection in stored if selection.winner is not None}
