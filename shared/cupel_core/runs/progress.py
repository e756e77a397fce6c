"""The progress of a run: how far each of its columns is, what holds it up, and its latest events.

Counts and costs are exact, from the barrier. Results, tokens and the causes of errors are those of a bounded number of
outcomes, which the views count. The number of reads is bounded at any size: for a million probes a query of the inner
nodes, one for each of them that is not full, and batches of leaves and outcomes.

- Completed and errored probes are exact: a parent knows these numbers of each full leaf. A leaf that several targets
  share is read itself if it has errors.
- Costs are those of the run's spend by target.
- Running conversations are those that the claims in open leaves name as begun, about 3 s late.
- Pass rates, decisions and tokens are of all outcomes if there are up to 500; of more, one at random is read from each
  block of a target's probes, and the blocks double in size as the target progresses.
- Causes of errors are those of the newest errored probes, about 100 in all.
- The rate and the time left follow from up to eight readings of the last seconds. Readers write them to an item every
  two seconds while the run is active; nothing is written per probe.
- Delays are read from the run's status, the governors of its providers and the accounts of its budgets.

A request takes at most about 110 reads for a million probes of two targets, and about ten once most inner nodes are
full.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.budgets import workspace_budgets
from cupel_core.domain.budgets.account import BudgetAccount
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.limits.provider_status import ProviderStatus
from cupel_core.domain.runs.column_progress import (
    ColumnCounts,
    LeafCounts,
    count_columns,
    errored_indexes,
    leaves_to_read,
    sample_indexes,
)
from cupel_core.domain.runs.column_samples import ColumnSample, sample_columns
from cupel_core.domain.runs.delays import called_models, delays_of
from cupel_core.domain.runs.rates import Reading, rates, with_reading
from cupel_core.domain.runs.run import ACTIVE, TERMINAL, Progress, Run, RunEvent
from cupel_core.domain.runs.transcripts import readable_at
from cupel_core.domain.runs.views import ColumnProgressView, RunProgressView
from cupel_core.runs.queries import progress
from cupel_core.store import barrier, budgets, counters, events, governor, outcomes, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import Leaves


def get_progress(workspace: str, run_id: str, now: datetime) -> RunProgressView:
    """Return the progress. Raise NotFound if the run was deleted."""
    run = runs.get(RunRef(workspace, run_id))
    state, leaves = _read_leaves(run)
    counts = count_columns(run.plan, leaves, now.timestamp())
    samples = _read_samples(run, leaves, counts, now)
    speeds = _measure_rates(run, counts, now)
    statuses = _read_provider_statuses(run)
    account = budgets.get(RunRef(workspace, run_id)) if run.budget else None
    awaited, spend = _awaited_budget(run, account, now), run.spend or state.spend
    running, columns = sum(each.running for each in counts), list[ColumnProgressView]()
    for number, (column, count, sample) in enumerate(zip(run.plan.columns, counts, samples, strict=True)):
        cost = spend.of_column(number)
        is_free = count.completed > 0 and not cost.priced_usd  # Calls without a price wait for no budget.
        delays = delays_of(
            run,
            column.target.model,
            statuses,
            None if is_free else awaited,
            is_complete=count.recorded == count.total,
            queued=count.total - count.recorded - count.running,
            running=running,
        )
        columns.append(ColumnProgressView(column, count, sample, speeds[number], delays))
    return RunProgressView(run, now, spend, tuple(columns), account, run.completed_at or state.recorded_at)


def count_in_flight(run: Run, now: datetime) -> int:
    leaves = barrier.read_leaves(Tree.for_run(run)).leaves
    return sum(len(leaf.detail.running(now.timestamp())) for leaf in leaves if leaf.detail is not None)


def _awaited_budget(run: Run, account: BudgetAccount | None, now: datetime) -> BudgetScope | None:
    """Return the budget that is reserved for other calls, so that calls of the run wait for it."""
    if run.status not in ACTIVE:
        return None
    if run.budget and account and account.is_awaited(run.budget.probe_limit, now.timestamp()):
        return BudgetScope.RUN
    return workspace_budgets.awaited_scope(run.workspace, run.id, now)


def _read_leaves(run: Run) -> Leaves:
    """Read every leaf that was written to, in detail where its parent does not know enough."""
    tree = Tree.for_run(run)
    state, leaves = barrier.read_leaves(tree)
    details = barrier.get_leaves(tree.ref, leaves_to_read(run.plan, leaves))
    read = {number: item.counts(number) for number, item in details.items()}
    return Leaves(state, [read.get(leaf.number, leaf) for leaf in leaves])


def _read_samples(
    run: Run, leaves: Sequence[LeafCounts], counts: Sequence[ColumnCounts], now: datetime
) -> Sequence[ColumnSample]:
    indexes = {*sample_indexes(run.plan, leaves, counts), *errored_indexes(run.plan, leaves)}
    digests = outcomes.list_digests(RunRef(run.workspace, run.id), sorted(indexes))
    return sample_columns(run.plan, (readable_at(digest, now) for digest in digests))


def _measure_rates(run: Run, counts: Sequence[ColumnCounts], now: datetime) -> Sequence[float | None]:
    if run.status not in ACTIVE:
        return [None] * len(counts)
    ref = RunRef(run.workspace, run.id)
    readings = counters.get_readings(ref)
    current = Reading(now.timestamp(), tuple(each.recorded for each in counts))
    extended = with_reading(readings, current)
    if extended is not readings:
        counters.save_readings(ref, extended)
    return rates(readings, current)


def _read_provider_statuses(run: Run) -> Mapping[str, ProviderStatus]:
    if run.status not in ACTIVE:
        return {}
    models = (model for target in run.models for model in called_models(run, target))
    return governor.get_statuses(run.workspace, (model.partition("/")[0] for model in models))


class EventFeed(NamedTuple):
    """The events since the last poll. `progress` is None once the run is over, because then its events have it."""

    run: Run
    events: tuple[RunEvent, ...]
    progress: Progress | None


def poll(workspace: str, run_id: str, after: int) -> EventFeed:
    """Return events with a `seq` above `after`. The run is read first: if it is over by then, no later event is
    missed."""
    ref = RunRef(workspace, run_id)
    run = runs.get(ref)
    return EventFeed(run, events.list_after(ref, after), None if run.status in TERMINAL else progress(run))
