"""The result table of a run, also while it goes on: what each target and prompt achieved, took and cost."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from itertools import islice

from cupel_core.analysis.basic import read_sample
from cupel_core.analysis.tabulate import counted_inputs, read_available
from cupel_core.analysis.unscored_messages import unscored_messages
from cupel_core.base.messages import RunRef
from cupel_core.domain.analysis.counts import RunCounts
from cupel_core.domain.analysis.estimates import group_estimate
from cupel_core.domain.analysis.extrapolation import RunSample, extrapolate
from cupel_core.domain.analysis.run_results import ColumnResults, RunResults
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, readable_at
from cupel_core.store import outcomes, runs

MAX_EXAMPLES = 50
"""Errors whose message is read."""


def get_results(workspace: str, run_id: str, now: datetime, has_time: Callable[[], bool]) -> RunResults:
    """The results so far. Without time, what is not counted yet is left to the next request."""
    run = runs.get(RunRef(workspace, run_id))
    inputs = counted_inputs(run)
    available = read_available(inputs, has_time)
    sample, is_over = read_sample(run), inputs.recorded == run.plan.total
    columns = tuple(
        _column(run, available.counts, number, sample if is_over else None) for number in range(len(run.plan.columns))
    )
    messages = _messages(inputs.ref, columns, now)
    return RunResults(run, inputs.recorded, available.is_complete, columns, sample, messages)


def _column(run: Run, counts: RunCounts, number: int, sample: RunSample | None) -> ColumnResults:
    plan, estimate = run.plan, group_estimate(Counter(counts.column_cells(number)))
    probes = plan.total // len(plan.columns)
    return ColumnResults(
        plan.columns[number], probes, estimate, extrapolate(estimate, sample), counts.totals.column(number)
    )


def _messages(ref: RunRef, columns: tuple[ColumnResults, ...], now: datetime) -> dict[int, str]:
    """Messages may quote a conversation, so they are not in the counts; a deleted one says so."""
    examples = sorted({error.first_index for each in columns for error in each.totals.errors.values()})
    found = outcomes.get_many(ref, islice(examples, MAX_EXAMPLES))
    errors = {index: readable_at(error, now).message for index, error in found.items() if isinstance(error, ProbeError)}
    return errors | unscored_messages(ref, (each.totals for each in columns), now)
