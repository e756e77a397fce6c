"""Adds what summaries and comparisons have cost to the run's spend, after each slice."""

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT, leaf_of
from cupel_core.domain.runs.leaf_ranges import LeafRange
from cupel_core.domain.runs.run import RunStatus
from cupel_core.store import barrier, outcomes, runs
from cupel_core.store.barrier import Tree


def record_costs(ref: RunRef, fencing_token: int, leaf_range: LeafRange) -> None:
    """Add what the outcomes of these leaves have cost by now to the barrier, from the leaves up to its root.

    May be repeated, because the costs are those of the stored outcomes and not of an invocation.
    """
    run = runs.find(ref)
    if run is None or run.fencing_token != fencing_token or run.status is not RunStatus.SUMMARIZING:
        return
    tree, indexes = Tree.for_run(run), leaf_range.indexes(run.plan.total)
    for first in range(indexes.start, indexes.stop, FANOUT):
        node = leaf_of(first)
        costs = outcomes.list_own_costs(ref, node, barrier.get_leaf(ref, node))
        item = barrier.record(tree, node, costs=costs)
        barrier.propagate(tree, node, item)
