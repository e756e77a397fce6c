"""The scores of a run, or of one of its rescores: pass rates with their errors, pass@k and pass^k."""

from collections.abc import Callable, Iterator

from cupel_core.analysis.basic import read_rows
from cupel_core.analysis.tabulate import counted_inputs, read_available
from cupel_core.analysis.unscored_messages import unscored_messages
from cupel_core.base.clock import utc_now
from cupel_core.base.errors import RetryableError
from cupel_core.base.messages import RunRef
from cupel_core.base.paging import Entry, decode_index, encode_cursor
from cupel_core.domain.analysis.counts import RunCounts
from cupel_core.domain.runs.run import Run
from cupel_core.domain.scoring.derived_metrics import read_derived_metrics
from cupel_core.domain.scoring.scores import ScenarioScoresView, Scores, column_scores, scenario_scores
from cupel_core.runs.probe_ranges import check_column
from cupel_core.store import runs, snapshots


def scores_by_column(
    workspace: str,
    run_id: str,
    *,
    rescore_id: str | None,
    model: str | None,
    prompt_id: str | None,
    k: int | None,
    has_time: Callable[[], bool],
) -> Scores:
    """By target, then by prompt, or of one of them; `rescore_id` None means the run's own scoring.

    Raises RetryableError if there is no time to count all outcomes; the next call continues.
    """
    run = runs.get(RunRef(workspace, run_id))
    check_column(run.plan, model, prompt_id)
    trials, counts = _trials(run, k), _read(run, rescore_id, has_time)
    derived = read_derived_metrics((snapshots.get_definition(run.snapshot_key) or {}).get("derivedMetrics"))
    numbers = run.plan.columns_of(model, prompt_id)
    columns = tuple(column_scores(column, counts, trials, derived) for column in numbers)
    messages = unscored_messages(
        RunRef(workspace, run_id), (each.totals for each in columns), utc_now(), rescore_id=rescore_id
    )
    return Scores(run, trials, columns, messages)


def scores_by_scenario(
    workspace: str,
    run_id: str,
    *,
    rescore_id: str | None,
    model: str | None,
    prompt_id: str | None,
    k: int | None,
    cursor: str | None,
    has_time: Callable[[], bool],
) -> Iterator[Entry[ScenarioScoresView]]:
    """By column, then in the order of the run's scenarios; without scenarios that have no transcript."""
    run = runs.get(RunRef(workspace, run_id))
    check_column(run.plan, model, prompt_id)
    trials, counts, start = _trials(run, k), _read(run, rescore_id, has_time), decode_index(cursor)
    rows = read_rows(run, counts)
    for column in run.plan.columns_of(model, prompt_id):
        for position, scores in scenario_scores(column, counts, trials):
            number = column * len(rows) + position
            if number >= start:
                view = ScenarioScoresView(scores, rows[position].id, run.plan.columns[column], rows[position].name)
                yield Entry(encode_cursor(str(number)), view)


def _read(run: Run, rescore_id: str | None, has_time: Callable[[], bool]) -> RunCounts:
    available = read_available(counted_inputs(run, rescore_id), has_time)
    if not available.is_complete:
        raise RetryableError("the outcomes are still being counted; try again", retry_after=1)
    return available.counts


def _trials(run: Run, k: int | None) -> int:
    return run.plan.repeats if k is None else k
