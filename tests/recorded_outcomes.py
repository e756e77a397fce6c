"""Outcomes as a worker leaves them in a run's leaves; nothing is reported to their parents, and nobody is called."""

from collections.abc import Mapping, Sequence

from cupel_core.base.ids import new_short_id
from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.leaf_log import LoggedOutcome, OutcomePage
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome
from cupel_core.store import barrier, outcomes
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import LeafItem


def store_outcomes(run: Run, fencing_token: int, recorded: Sequence[Outcome]) -> dict[int, LeafItem]:
    """Store outcomes and add them to their leaves; returns these by number."""
    pages = outcomes.write(RunRef(run.workspace, run.id), fencing_token, recorded)
    tree = Tree.for_run(run)
    return {number: barrier.record(tree, Node(0, number), pages[number]) for number in pages}


def count_outcomes(tree: Tree, node: Node, counted: Mapping[int, bool], released: Sequence[str] = ()) -> LeafItem:
    """Add outcomes to a leaf (probe index → completed), which nobody will read; returns the leaf."""
    page = {index % FANOUT: LoggedOutcome(completed) for index, completed in counted.items()}
    return barrier.record(tree, node, [OutcomePage(new_short_id(), tree.retry_round, page)] if page else [], released)
