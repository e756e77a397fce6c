"""Prepare the barrier before a later dispatch: take out errors to retry, and report full leaves to their parents.

Both may be repeated: a leaf is reopened once per retry round, and adding a member to a set twice adds it once.

Retried errors are copied to the probe's history before they are taken out of their leaves. The inner nodes of each
retry round are separate, so full leaves are reported to those of the new round. Workers of an earlier round may still
be recording, so every leaf that is not full is closed to them: their transcripts count in the leaf's round, and an
error that they record too late is run again.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import Run
from cupel_core.store import attempts, barrier, executions
from cupel_core.store.barrier import LeafItem, Tree


def prepare_leaves(run: Run, numbers: Sequence[int]) -> dict[int, LeafItem]:
    """These leaves by number, ready for dispatch."""
    tree = Tree.for_run(run)
    ranges = run.retry.ranges(run.plan) if run.retry else ()
    was_running = run.retry_round != run.conversation_round
    prepared = {
        number: _reopen_leaf(tree, Node(0, number), item, ranges, was_running=was_running)
        for number, item in barrier.get_leaves(tree.ref, numbers).items()
    }
    _report_full_leaves(run, tree, prepared)
    return prepared


def _report_full_leaves(run: Run, tree: Tree, leaves: Mapping[int, LeafItem]) -> None:
    full = (Node(0, number) for number, item in leaves.items() if item.leaf.is_full(Node(0, number), tree.total))
    for parent, nodes in groupby(sorted(full), key=attrgetter("parent")):
        by_position = {node.number % FANOUT: node for node in nodes}
        for position in sorted(barrier.unreported_children(tree, parent, by_position)):
            node = by_position[position]
            if barrier.propagate(tree, node, leaves[node.number]):
                executions.start_finish(tree.ref, run.fencing_token)


def _reopen_leaf(
    tree: Tree, node: Node, item: LeafItem, ranges: Sequence[range], *, was_running: bool = False
) -> LeafItem:
    """Workers of an earlier round may still record if the run `was_running`, so all leaves but full ones are reopened.

    Otherwise an error that such a worker records could be overwritten by a worker of this round and count twice.
    """
    if item.reopened_in_round >= tree.retry_round:
        return item
    errored = [offset for offset in item.leaf.failed if any(node.first_index + offset in span for span in ranges)]
    if not errored and (not was_running or item.leaf.is_full(node, tree.total)):
        return item
    attempts.record(tree.ref, [node.first_index + offset for offset in errored])
    return barrier.reopen(tree, node, errored)
