"""Recovery of runs after a crash. A run without progress is recognized by its barrier, queues and executions.

Every action may be repeated; each is recorded as an event of the run.

- A full node that its parent does not know of is propagated.
- A full root without a live finishing execution gets one: `<runId>-<token>-2` and so on after one that ended. After
five that died, the run is FAILED.
- A run with missing probes whose queues have been silent for two minutes is dispatched again. If other runs fill the
queues, so is a run without progress for 15 minutes, then 30, then 60, unless its provider is paused.

The transactions that change a run's status maintain the list of open runs.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from operator import attrgetter

from aws_lambda_powertools import Logger

from cupel_core.base.errors import AppError, Conflict
from cupel_core.base.messages import DispatchRequest, RunRef
from cupel_core.domain.runs.barrier import FANOUT, Node, root_of
from cupel_core.domain.runs.run import (
    TERMINAL,
    Action,
    IllegalTransition,
    PauseReason,
    Run,
    RunEventType,
    RunFailure,
    RunStatus,
)
from cupel_core.domain.runs.slices import providers_of
from cupel_core.domain.runs.stalls import Stall
from cupel_core.providers import queue_of
from cupel_core.runs import control
from cupel_core.store import active_runs, barrier, executions, governor, outbox, queues, runs
from cupel_core.store.active_runs import ActiveRun
from cupel_core.store.barrier import Tree
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.executions import RestartResult
from cupel_core.store.settings import settings
from cupel_core.workspace.sweeping.in_turn import in_turn
from cupel_core.workspace.sweeping.lost_messages import NOTHING_LOST

REDISPATCH_AFTER_SILENCE = timedelta(minutes=2)
"""SQS's message counts are approximate, so a queue counts as empty only if it stays so."""
_RESERVE_SECONDS = 10.0

logger = Logger(child=True)


class RecoveryAction(StrEnum):
    PROPAGATED = "propagated"
    FINISH_STARTED = "finish-started"
    FINISH_GIVEN_UP = "finish-given-up"
    REDISPATCHED = "redispatched"
    RESUMED = "resumed"
    """The run was paused because of its budget, which has enough left again."""


def recover_runs(
    now: datetime, seconds_left: Callable[[], float], lost_before: datetime = NOTHING_LOST
) -> Counter[RecoveryAction]:
    """Check every run that is not over while time allows. Return how often each action was taken. Messages from before
    `lost_before` are known to be lost, and their workers to be dead."""
    actions: Counter[RecoveryAction] = Counter()
    has_time = partial(_has_time, seconds_left)
    for active_run in in_turn("runs", active_runs.list_active_runs, attrgetter("sort_key"), has_time):
        try:
            actions.update(_recover_run(active_run, now, lost_before))
        except (AppError, *AWS_ERRORS):  # A run that was deleted meanwhile, for example, must not delay others.
            logger.exception("a run could not be recovered", run_id=active_run.ref.run_id)
    return actions


def _has_time(seconds_left: Callable[[], float]) -> bool:
    return seconds_left() >= _RESERVE_SECONDS


def _recover_run(active_run: ActiveRun, now: datetime, lost_before: datetime) -> list[RecoveryAction]:
    run = runs.find(active_run.ref)
    if run is None or run.status in TERMINAL:
        active_runs.remove(active_run.ref)
        return []
    actions = _recover(run, active_run, now, lost_before)
    for action in actions:
        runs.append_event(active_run.ref, RunEventType.RECOVERED, now, {"action": action})
    return actions


def _recover(run: Run, active_run: ActiveRun, now: datetime, lost_before: datetime) -> list[RecoveryAction]:
    request = DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)
    if run.pause_reason == PauseReason.BUDGET and run.status is RunStatus.PAUSED:
        return _resume_if_affordable(run, now)
    if run.status is RunStatus.PAUSED or outbox.get(request) is not None:
        return []  # Nothing is due, or its dispatch is still pending.
    if run.status is RunStatus.SUMMARIZING:
        return _ensure_finishing(run, now)
    propagated = [RecoveryAction.PROPAGATED] if _propagate_full_leaves(Tree.for_run(run)) else []
    if barrier.is_finished(Tree.for_run(run)):
        return [*propagated, *_ensure_finishing(run, now)]
    if run.created_at < lost_before:
        barrier.revoke_claims(Tree.for_run(run), lost_before)
        return [*propagated, *_redispatch(request, now)]
    return [*propagated, *_redispatch_if_silent(run, request, active_run, now)]


def _resume_if_affordable(run: Run, now: datetime) -> list[RecoveryAction]:
    """Resume the run if its budget has enough again. A worker that seemed dead may have returned its reservations."""
    try:
        control.resume(run.workspace, run.id, now, fencing_token=run.fencing_token)
    except Conflict:  # The budget has too little, or the run was changed.
        return []
    return [RecoveryAction.RESUMED]


def _ensure_finishing(run: Run, now: datetime) -> list[RecoveryAction]:
    ref = RunRef(run.workspace, run.id)
    match executions.ensure_finish_running(ref, run.fencing_token):
        case RestartResult.ALREADY_RUNNING:
            return []
        case RestartResult.STARTED:
            return [RecoveryAction.FINISH_STARTED]
        case RestartResult.GIVEN_UP:
            _fail(ref, run, now)
            return [RecoveryAction.FINISH_GIVEN_UP]


def _fail(ref: RunRef, run: Run, now: datetime) -> None:
    failure = RunFailure("finishing", f"{executions.MAX_ATTEMPTS} executions of the finishing workflow ended early")
    data: dict[str, object] = {"failure": failure.to_event()}
    try:
        runs.transition(
            ref,
            Action.FAIL,
            now,
            fencing_token=run.fencing_token,
            event_data=data,
            completed_at=now,
            failure=failure,
            spend=barrier.get_state(Tree.for_run(run)).spend,
        )
    except (IllegalTransition, Conflict):
        return


def _propagate_full_leaves(tree: Tree) -> int:
    """Add full leaves to parents that do not know of them, and so upwards. Return how many leaves were added."""
    root = root_of(tree.total)
    if root.level == 0:
        return 0
    parents = (Node(1, number) for number in range(-(-tree.total // Node(1, 0).span)))
    return sum(_propagate_below(tree, parent) for parent in parents)


def _propagate_below(tree: Tree, parent: Node) -> int:
    unreported, propagated = barrier.unreported_children(tree, parent, range(FANOUT)), 0
    if not unreported:
        return 0
    for number, item in barrier.list_leaves(tree.ref, parent).items():
        if number % FANOUT in unreported and item.leaf.is_full(Node(0, number), tree.total):
            barrier.propagate(tree, Node(0, number), item)
            propagated += 1
    return propagated


def _redispatch_if_silent(
    run: Run, request: DispatchRequest, active_run: ActiveRun, now: datetime
) -> list[RecoveryAction]:
    """Dispatch the run again if probes are missing and no queue has had a message of it for long enough."""
    lanes = {queue_of(provider) for provider in providers_of(run.plan)}
    urls = [settings().probe_queue_url(lane, run.priority) for lane in lanes]
    if any(queues.get_depth(url).total for url in urls):
        if active_run.silent_since is not None:
            active_runs.set_silent_since(active_run.ref, None)
        return _redispatch_if_stalled(run, request, active_run, now)
    if active_run.silent_since is None:
        active_runs.set_silent_since(active_run.ref, now)
        return []
    if now - active_run.silent_since < REDISPATCH_AFTER_SILENCE:
        return []
    active_runs.set_silent_since(active_run.ref, None)
    return _redispatch(request, now)


def _redispatch_if_stalled(
    run: Run, request: DispatchRequest, active_run: ActiveRun, now: datetime
) -> list[RecoveryAction]:
    """Dispatch the run again if it has made no progress for long. Its messages may be lost among those of other
    runs."""
    counts = barrier.get_progress(Tree.for_run(run))
    recorded = counts.completed + counts.failed
    stall = active_run.stall.observe(recorded, now) if active_run.stall else Stall(recorded, now)
    due = stall.is_due(now) and not _is_held_up(run)
    stall = stall.redispatched(now) if due else stall
    if stall != active_run.stall:
        active_runs.set_stall(active_run.ref, stall)
    return _redispatch(request, now) if due else []


def _is_held_up(run: Run) -> bool:
    statuses = [governor.get_status(run.workspace, provider) for provider in set(providers_of(run.plan))]
    return any(status.paused or status.blocked_until or status.suspended_models for status in statuses)


def _redispatch(request: DispatchRequest, now: datetime) -> list[RecoveryAction]:
    outbox.restart(request, now)
    queues.send(settings().dispatch_queue_url, [request], group=request.workspace)
    return [RecoveryAction.REDISPATCHED]
