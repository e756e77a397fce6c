"""What a later epoch does to the barrier before it sends anything: retried errors are taken out, full leaves told.

Both may be repeated: a leaf is reopened once per generation, and a member of a set is added once.
"""

from collections.abc import Sequence

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.run import Run
from cupel_core.store import attempts, barrier, executions
from cupel_core.store.barrier import LeafItem, Tree


def prepare(run: Run, parent: Node) -> dict[int, LeafItem]:
    """The leaves below a level-1 node as they are to be dispatched, by number."""
    tree = Tree.of(run)
    ranges = run.retry.ranges(run.plan) if run.retry else ()
    found = {
        number: _reopened(tree, Node(0, number), item, ranges)
        for number, item in barrier.leaves(tree.ref, parent).items()
    }
    silent = barrier.silent_children(tree, parent)
    for number, item in found.items():
        node = Node(0, number)
        untold = number % FANOUT in silent and item.leaf.is_full(node, tree.total)
        if untold and barrier.propagate(tree, node, item.leaf):
            executions.begin(tree.ref, run.epoch)
    return found


def _reopened(tree: Tree, node: Node, item: LeafItem, ranges: Sequence[range]) -> LeafItem:
    if item.reopened >= tree.generation:
        return item
    errored = [offset for offset in item.leaf.failed if any(node.first_index + offset in span for span in ranges)]
    if not errored:
        return item
    attempts.keep(tree.ref, [node.first_index + offset for offset in errored])
    return barrier.reopen(tree, node, errored)
