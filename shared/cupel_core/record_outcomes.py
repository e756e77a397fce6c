"""Recording outcomes: first in the table, then in the barrier's leaves, then upwards. Each step may be repeated."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cupel_core.clock import utc_now
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.run_spend import Recorded
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.domain.turns.conversation import ConversationState
from cupel_core.domain.turns.model_request import ProbeErrorCode
from cupel_core.errors import NotFound
from cupel_core.messages import ProbeSlice, RunRef
from cupel_core.settings import settings
from cupel_core.store import barrier, callbacks, checkpoints, executions, outcomes, runs, snapshots
from cupel_core.store.barrier import LeafItem, Tree

_UNREADABLE = ConversationState((), turns=1, cost_usd=None)
"""Of a damaged checkpoint, or one whose object is gone: at least one call was answered, for an unknown price."""


def record(
    run: Run,
    fencing_token: int,
    new_outcomes: Sequence[Outcome],
    already_recorded: Iterable[Recorded] = (),
    released_claims: Mapping[int, Sequence[str]] | None = None,
) -> None:
    """Record outcomes of probes, and start the finishing execution if they were the run's last.

    `already_recorded`: outcomes that are stored. They are added to the barrier once more, because the worker that
    stored them may have died before it did. `released_claims`: claims to release with the same writes
    (leaf → claimants).
    """
    recorded = list(already_recorded)
    if new_outcomes:
        recorded += outcomes.record(run, fencing_token, new_outcomes)
    _request_callbacks(run, recorded)
    claims = released_claims or {}
    by_leaf: dict[int, list[Recorded]] = {number: [] for number in claims}
    for each in recorded:
        by_leaf.setdefault(leaf_of(each.probe_index).number, []).append(each)
    for number in sorted(by_leaf):
        _record_in_leaf(Tree.for_run(run), Node(0, number), by_leaf[number], claims.get(number, ()), fencing_token)


def _request_callbacks(run: Run, recorded: Iterable[Recorded]) -> None:
    """Before the barrier: after a crash in between, the probes are still missing there, and this is repeated."""
    counted = sorted({each.probe_index for each in recorded if each.counts_in(run.retry_round)})
    if counted and run.callbacks is CallbackScope.PROBES:
        callbacks.request_for_probes(RunRef(run.workspace, run.id), counted, utc_now())


def _record_in_leaf(
    tree: Tree, node: Node, recorded: Sequence[Recorded], released: Sequence[str], fencing_token: int
) -> None:
    counted_in, item = _add_to_leaf(tree, node, recorded, released)
    if item.reopened_in_round <= counted_in.retry_round and barrier.propagate(counted_in, node, item):
        token = fencing_token if counted_in == tree else runs.get(tree.ref).fencing_token
        executions.start_finish(tree.ref, token)


def _add_to_leaf(
    tree: Tree, node: Node, recorded: Sequence[Recorded], released: Sequence[str] = ()
) -> tuple[Tree, LeafItem]:
    """Add outcomes to a leaf; returns the leaf and the tree in whose retry round they count.

    If a retry of the running run has reopened the leaf, transcripts count in its round, and errors are run again.
    """
    item = _add_in_round(tree, node, recorded, released)
    if item.reopened_in_round > tree.retry_round:
        tree = tree._replace(retry_round=item.reopened_in_round)
        item = _add_in_round(tree, node, recorded, released)
    return tree, item


def _add_in_round(tree: Tree, node: Node, recorded: Sequence[Recorded], released: Sequence[str]) -> LeafItem:
    """Every stored outcome adds its cost, also one that does not count in this retry round."""
    return barrier.record(
        tree,
        node,
        {each.probe_index: each.completed for each in recorded if each.counts_in(tree.retry_round)},
        released,
        [each.cost_member for each in recorded],
        [each.lost_member for each in recorded if each.lost_member is not None],
    )


def record_dropped(run: Run, probe_slice: ProbeSlice, now: datetime) -> None:
    """Count what a slice leaves behind that is dropped because its run is paused or over, or has a later token.

    That is what its unfinished conversations have cost, and outcomes whose worker died before the barrier. May be
    repeated; whoever drops a slice calls it first, so a conversation is counted while a message of its probe exists.

    A leaf that becomes full is not reported to its parent: if the run was retried, the leaf may still contain errors
    that its dispatch takes out. The dispatch, the workers of its messages and the sweeper report full leaves.
    """
    node = Node(0, probe_slice.leaf)
    indexes = [index for index in probe_slice.indexes if leaf_of(index) == node and index < run.plan.total]
    missing = barrier.get_leaf(probe_slice.run, node).leaf.missing(indexes)
    if not missing:
        return
    if recorded := outcomes.get_recorded(probe_slice.run, missing):
        _request_callbacks(run, recorded)
        _add_to_leaf(Tree.for_run(run), node, recorded)
    if costs := list(checkpoints.list_costs(probe_slice.run, missing, now)):
        barrier.add_checkpoint_costs(probe_slice.run, node, costs)


def conversation_so_far(ref: RunRef, index: int, conversation_round: int, now: datetime) -> ConversationState:
    """A probe's conversation up to its last checkpoint; empty if it has none."""
    try:
        return checkpoints.load(ref, index, conversation_round, now) or ConversationState(())
    except (NotFound, zlib.error, LookupError, TypeError, ValueError):
        return _UNREADABLE


def probe_error_of_run(
    run: Run, index: int, code: ProbeErrorCode, message: str, attempts: int, now: datetime
) -> ProbeError:
    """The error of one of the run's probes, with the ids of its scenario, model and persona."""
    probe = run.plan.probe(index)
    case = snapshots.get_case(run.snapshot_key, probe.case)
    return ProbeError(
        probe_index=index,
        scenario_id=case.scenario_id,
        model_id=run.plan.targets[probe.target],
        code=code,
        message=message,
        attempts=attempts,
        created_at=now,
        persona_id=case.persona_id,
        retry_round=run.retry_round,
        content_expires_at=now + retention if (retention := settings().retention) else None,
    )
