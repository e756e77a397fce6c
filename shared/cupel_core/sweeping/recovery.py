"""Runs that a crash has left standing: found by what their barrier, queues and executions say, and set going again.

Every action may be repeated; each is told in the run's events.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum

from cupel_core.domain.runs.barrier import FANOUT, Node, root_of
from cupel_core.domain.runs.run import TERMINAL, Action, EventType, Failure, IllegalMove, Run, RunStatus
from cupel_core.domain.runs.slices import providers_of
from cupel_core.errors import Conflict, NotFound
from cupel_core.messages import DispatchOrder, RunRef
from cupel_core.settings import settings
from cupel_core.store import active_runs, barrier, executions, outbox, queues, runs
from cupel_core.store.active_runs import Active
from cupel_core.store.barrier import Tree
from cupel_core.store.executions import Revival

SILENT_FOR = timedelta(minutes=2)
"""SQS counts its messages approximately, so a queue is believed empty only when it stays so."""
_RESERVE_SECONDS = 10.0


class Recovery(StrEnum):
    """What was done for a run."""

    TOLD = "propagated"
    FINISH_STARTED = "finish-started"
    FINISH_GIVEN_UP = "finish-given-up"
    REDISPATCHED = "redispatched"


def recover(now: datetime, seconds_left: Callable[[], float]) -> Counter[Recovery]:
    """One look at every run that is not over, as far as time allows; how often each thing was done."""
    done: Counter[Recovery] = Counter()
    for standing in active_runs.every():
        if seconds_left() < _RESERVE_SECONDS:
            break
        run = _run(standing.ref)
        if run is None or run.status in TERMINAL:
            active_runs.forget(standing.ref)
            continue
        for recovery in _recover(run, standing, now):
            runs.tell(standing.ref, EventType.RECOVERED, now, {"action": recovery})
            done[recovery] += 1
    return done


def _run(ref: RunRef) -> Run | None:
    try:
        return runs.get(ref)
    except NotFound:
        return None


def _recover(run: Run, standing: Active, now: datetime) -> list[Recovery]:
    order = DispatchOrder(workspace=run.workspace, run_id=run.id, epoch=run.epoch)
    if run.status is RunStatus.PAUSED or outbox.get(order) is not None:
        return []  # Nobody waits for it, or its dispatch is still to come.
    if run.status is RunStatus.SUMMARIZING:
        return _revive_finish(run, now)
    told = [Recovery.TOLD] if _tell_full(Tree.of(run)) else []
    if barrier.is_finished(Tree.of(run)):
        return [*told, *_revive_finish(run, now)]
    return [*told, *_redispatch_if_silent(run, order, standing, now)]


def _revive_finish(run: Run, now: datetime) -> list[Recovery]:
    ref = RunRef(run.workspace, run.id)
    match executions.revive(ref, run.epoch):
        case Revival.ALIVE:
            return []
        case Revival.STARTED:
            return [Recovery.FINISH_STARTED]
        case Revival.GIVEN_UP:
            _fail(ref, run, now)
            return [Recovery.FINISH_GIVEN_UP]


def _fail(ref: RunRef, run: Run, now: datetime) -> None:
    failure = Failure("finishing", f"{executions.MOST_ATTEMPTS} executions of the finishing workflow ended early")
    data: dict[str, object] = {"failure": {"where": failure.where, "why": failure.why}}
    try:
        runs.move(ref, Action.FAIL, now, epoch=run.epoch, data=data, completed_at=now, failure=failure)
    except (IllegalMove, Conflict):
        return


def _tell_full(tree: Tree) -> int:
    """Adds full leaves to parents that were not told, and so upwards; how many leaves were told again."""
    root = root_of(tree.total)
    if root.level == 0:
        return 0
    parents = (Node(1, number) for number in range(-(-tree.total // Node(1, 0).span)))
    return sum(_tell_leaves(tree, parent) for parent in parents)


def _tell_leaves(tree: Tree, parent: Node) -> int:
    silent, told = barrier.silent_children(tree, parent), 0
    if not silent:
        return 0
    for number, item in barrier.leaves(tree.ref, parent).items():
        if number % FANOUT in silent and item.leaf.is_full(Node(0, number), tree.total):
            barrier.propagate(tree, Node(0, number), item.leaf)
            told += 1
    return told


def _redispatch_if_silent(run: Run, order: DispatchOrder, standing: Active, now: datetime) -> list[Recovery]:
    """Probes are missing and no queue holds a message: whatever carried them is lost."""
    urls = {settings().probe_queue_url(provider, run.priority) for provider in providers_of(run.plan)}
    if any(queues.depth(url).total for url in urls):
        if standing.silent_since is not None:
            active_runs.note_silence(standing.ref, None)
        return []
    if standing.silent_since is None:
        active_runs.note_silence(standing.ref, now)
        return []
    if now - standing.silent_since < SILENT_FOR:
        return []
    active_runs.note_silence(standing.ref, None)
    outbox.renew(order, now)
    queues.send(settings().dispatch_queue_url, [order])
    return [Recovery.REDISPATCHED]
