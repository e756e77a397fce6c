"""Prepare the barrier before a later dispatch: take out errors to retry, and report full leaves to their parents.

Both may be repeated: a leaf is reopened once per retry round, and adding a member to a set twice adds it once.
"""

from collections.abc import Sequence

from cupel_core.domain.runs.barrier import FANOUT, Node, child_count
from cupel_core.domain.runs.run import Run
from cupel_core.store import attempts, barrier, executions
from cupel_core.store.barrier import LeafItem, Tree


def prepare_leaves(run: Run, parent: Node) -> dict[int, LeafItem]:
    """The leaves below a level-1 node by number, ready for dispatch."""
    tree = Tree.for_run(run)
    ranges = run.retry.ranges(run.plan) if run.retry else ()
    leaves = barrier.list_leaves(tree.ref, parent)
    was_running = run.retry_round != run.conversation_round
    if was_running:
        leaves = {number: LeafItem() for number in _children(parent, tree.total)} | leaves
    prepared = {
        number: _reopen_leaf(tree, Node(0, number), item, ranges, was_running=was_running)
        for number, item in leaves.items()
    }
    unreported = barrier.unreported_children(tree, parent)
    for number, item in prepared.items():
        node = Node(0, number)
        needs_report = number % FANOUT in unreported and item.leaf.is_full(node, tree.total)
        if needs_report and barrier.propagate(tree, node, item):
            executions.start_finish(tree.ref, run.fencing_token)
    return prepared


def _children(parent: Node, total: int) -> range:
    first = parent.number * FANOUT
    return range(first, first + child_count(parent, total))


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
