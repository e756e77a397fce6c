"""From outcomes to progress: transcripts first, then the barrier, then upwards. Every step may be repeated."""

from collections.abc import Mapping, Sequence

from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.store import barrier, executions, outcomes
from cupel_core.store.barrier import Tree


def record(
    run: Run,
    epoch: int,
    found: Sequence[Outcome],
    known: Mapping[int, bool] | None = None,
    released: Mapping[int, Sequence[str]] | None = None,
) -> None:
    """Records what probes have come to, and starts the finishing execution when they were the last.

    `known` are probes whose outcome is already stored (index → completed): they are told to the barrier once more,
    because whoever stored them may not have. `released` are the claims (leaf → claimants) that end with this.
    """
    tree = Tree.of(run)
    stands = dict(known or {})
    if found:
        stands |= outcomes.record(run, epoch, found)
    claims = released or {}
    by_leaf: dict[int, dict[int, bool]] = {number: {} for number in claims}
    for index, completed in stands.items():
        by_leaf.setdefault(leaf_of(index).number, {})[index] = completed
    for number in sorted(by_leaf):
        node = Node(0, number)
        leaf = barrier.record(tree, node, by_leaf[number], claims.get(number, ()))
        if barrier.propagate(tree, node, leaf):
            executions.begin(tree.ref, epoch)
