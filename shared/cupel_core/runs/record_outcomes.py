"""Recording of outcomes: first in pages, then in the logs of the leaves, then upwards. Each step may be repeated.

Every outcome is stored before the barrier counts its probe. A page that no log names was written by a worker that died
in between; the worker that takes its probes over appends the page, if both of its items exist. The message for the
webhook is sent between the pages and the logs: after a crash before it, the probes are still missing in the barrier, so
the next worker sends it.
"""

import zlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from cupel_core.base.clock import utc_now
from cupel_core.base.errors import NotFound
from cupel_core.base.messages import ProbeSlice, RunRef
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.resources.webhooks import CallbackScope
from cupel_core.domain.runs.barrier import Node, leaf_of
from cupel_core.domain.runs.leaf_log import OutcomePage
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.store import barrier, callbacks, checkpoints, executions, outcomes, runs, snapshots
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.settings import settings

_UNREADABLE = ConversationState((), turns=1, cost_usd=None)
"""The state in place of a checkpoint that is damaged or gone. At least one call was answered, for an unknown price."""


def record(
    run: Run,
    fencing_token: int,
    new_outcomes: Sequence[Outcome],
    released_claims: Mapping[int, Sequence[str]] | None = None,
) -> None:
    """Record outcomes of probes, and start the finishing execution if they were the run's last. `released_claims` has
    the claimants by leaf whose claims the same writes release."""
    ref = RunRef(run.workspace, run.id)
    pages = outcomes.write(ref, fencing_token, new_outcomes) if new_outcomes else {}
    _request_callbacks(run, pages)
    claims = released_claims or {}
    for number in sorted(pages.keys() | claims.keys()):
        _record_in_leaf(run, fencing_token, Node(0, number), pages.get(number, ()), claims.get(number, ()))


def record_unreported(run: Run, fencing_token: int, node: Node) -> LeafItem:
    """Record the outcomes of a leaf whose worker died before it could. Return the leaf afterwards."""
    item = barrier.get_leaf(RunRef(run.workspace, run.id), node)
    if pages := _find_unreported(run, node, item):
        return _record_in_leaf(run, fencing_token, node, pages)
    return item


def _find_unreported(run: Run, node: Node, item: LeafItem) -> list[OutcomePage]:
    pages = outcomes.list_unreported(RunRef(run.workspace, run.id), node, item)
    if pages:
        _request_callbacks(run, {node.number: pages})
    return pages


def _request_callbacks(run: Run, pages_by_leaf: Mapping[int, Sequence[OutcomePage]]) -> None:
    """Request webhook calls for the probes before the barrier counts them. After a crash in between, the probes are
    still missing in the barrier, and this is repeated."""
    if run.callbacks is not CallbackScope.PROBES:
        return
    counted = {
        Node(0, number).first_index + offset
        for number, pages in pages_by_leaf.items()
        for page in pages
        for offset in page.counted_in(run.retry_round)
    }
    if counted:
        callbacks.request_for_probes(RunRef(run.workspace, run.id), sorted(counted), utc_now())


def _record_in_leaf(
    run: Run, fencing_token: int, node: Node, pages: Sequence[OutcomePage], released: Sequence[str] = ()
) -> LeafItem:
    """Add pages to a leaf, and report it to its parent if it is full. Return the leaf. If a retry of the running run
    has reopened the leaf, it counts in the retry's round."""
    tree = Tree.for_run(run)
    item = barrier.record(tree, node, pages, released)
    current = tree._replace(retry_round=max(tree.retry_round, item.reopened_in_round))
    if barrier.propagate(current, node, item):
        executions.start_finish(tree.ref, fencing_token if current == tree else runs.get(tree.ref).fencing_token)
    return item


def record_dropped(run: Run, probe_slice: ProbeSlice) -> None:
    """Count what a slice has left that is dropped because its run is paused or over, or has a later token.

    That is the cost of its unfinished conversations, and outcomes whose worker died before the barrier. It may be
    repeated, and is called before the slice is dropped, so a conversation is counted while a message of its probe
    exists. A leaf that becomes full is not reported to its parent: if the run was retried, the leaf may still contain
    errors that its dispatch removes. The dispatch, the workers of its messages and the sweeper report full leaves.
    """
    node = Node(0, probe_slice.leaf)
    indexes = [index for index in probe_slice.indexes if leaf_of(index) == node and index < run.plan.total]
    item = barrier.get_leaf(probe_slice.run, node)
    missing = item.leaf.missing(indexes)
    if not missing:
        return
    if pages := _find_unreported(run, node, item):
        barrier.record(Tree.for_run(run), node, pages)
    if costs := list(checkpoints.list_costs(probe_slice.run, missing)):
        barrier.add_checkpoint_costs(probe_slice.run, node, costs)


def conversation_so_far(ref: RunRef, index: int, conversation_round: int, now: datetime) -> ConversationState:
    """Return a probe's conversation up to its last checkpoint. It is empty if there is none."""
    try:
        return checkpoints.load(ref, index, conversation_round, now) or ConversationState(())
    except (NotFound, zlib.error, LookupError, TypeError, ValueError):
        return _UNREADABLE


def probe_error_of_run(
    run: Run, index: int, code: ProbeErrorCode, message: str, attempts: int, now: datetime
) -> ProbeError:
    probe = run.plan.probe(index)
    case = snapshots.get_case(run.snapshot_key, probe.case)
    return ProbeError(
        probe_index=index,
        scenario_id=case.scenario_id,
        model_id=run.plan.columns[probe.column].target.model,
        code=code,
        message=message,
        attempts=attempts,
        created_at=now,
        persona_id=case.persona_id,
        retry_round=run.retry_round,
        content_expires_at=now + retention if (retention := settings().retention) else None,
    )
