"""The scores of a run, or of one of its rescores: pass rates with their errors, pass@k and pass^k."""

from collections.abc import Iterable, Iterator
from itertools import chain

from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.derived_metrics import read_derived_metrics
from cupel_core.domain.scoring.scores import (
    ScenarioScores,
    ScenarioScoresView,
    ScoredResult,
    Scores,
    column_scores,
    scenario_scores,
)
from cupel_core.errors import TooLarge
from cupel_core.messages import RunRef
from cupel_core.paging import Entry, decode_index, encode_cursor
from cupel_core.probe_ranges import probe_ranges
from cupel_core.store import digests, rescores, runs, snapshots

MAX_PROBES = 100_000
"""Read within the time of a request: each takes 33 microseconds of a whole core, and a function has a third of one."""


def scores_by_column(
    workspace: str, run_id: str, *, rescore_id: str | None, model: str | None, prompt_id: str | None, k: int | None
) -> Scores:
    """By target, then by prompt, or of one of them; `rescore_id` None means the run's own scoring.

    Raises TooLarge for more than MAX_PROBES probes.
    """
    run = _get_run(workspace, run_id, rescore_id)
    probe_count = sum(len(indexes) for indexes in probe_ranges(run.plan, model, prompt_id))
    if probe_count > MAX_PROBES:
        raise TooLarge(
            f"{probe_count:,} probes are too many for one response (maximum {MAX_PROBES:,}): name one target"
        )
    trials = _trials(run, k)
    derived = read_derived_metrics((snapshots.get_definition(run.snapshot_key) or {}).get("derivedMetrics"))
    columns = (
        column_scores(column, _results(run, rescore_id, run.plan.column_ranges(column)), trials, derived)
        for column in run.plan.columns_of(model, prompt_id)
    )
    return Scores(run, trials, tuple(columns))


def scores_by_scenario(
    workspace: str,
    run_id: str,
    *,
    rescore_id: str | None,
    model: str | None,
    prompt_id: str | None,
    k: int | None,
    cursor: str | None,
) -> Iterator[Entry[ScenarioScoresView]]:
    """By column, then in the order of the run's scenarios; without scenarios that have no transcript."""
    run = _get_run(workspace, run_id, rescore_id)
    results = _results(run, rescore_id, probe_ranges(run.plan, model, prompt_id, decode_index(cursor)))
    rows = scenario_scores(results, _trials(run, k))
    return (Entry(encode_cursor(str(row.first_index)), _view(run, row)) for row in rows)


def _view(run: Run, row: ScenarioScores) -> ScenarioScoresView:
    case = snapshots.get_case(run.snapshot_key, run.plan.probe(row.first_index).case)
    return ScenarioScoresView(row, run.plan.columns[row.column], case.scenario_name)


def _get_run(workspace: str, run_id: str, rescore_id: str | None) -> Run:
    """NotFound if the run, or its rescore, is unknown."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    if rescore_id is not None:
        rescores.get(ref, rescore_id)
    return run


def _trials(run: Run, k: int | None) -> int:
    return run.plan.repeats if k is None else k


def _results(run: Run, rescore_id: str | None, ranges: Iterable[range]) -> Iterator[ScoredResult]:
    ref, plan = RunRef(run.workspace, run.id), run.plan
    if rescore_id is None:
        return chain.from_iterable(digests.list_run_digests(ref, plan, indexes) for indexes in ranges)
    return chain.from_iterable(digests.list_rescore_digests(ref, plan, rescore_id, indexes) for indexes in ranges)
