"""From a run to messages: a range fan-out that goes on where it stopped.

The cursor is saved after the sends it covers, so a crash repeats messages and loses none; a repeated slice finds its
work claimed or done.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime

from shared.domain.barrier import FANOUT, Node
from shared.domain.plan import Plan
from shared.domain.runs import ACTIVE, Run, RunStatus
from shared.domain.slices import cut
from shared.errors import NotFound, RetryableError
from shared.messages import DispatchOrder, ProbeSlice
from shared.runs.reopening import prepare
from shared.settings import settings
from shared.store import barrier, executions, outbox, queues, runs
from shared.store.barrier import LeafItem, Tree
from shared.store.clients import AWS_ERRORS

_LEAVES_PER_STEP = 100
"""The cursor moves by so many leaves: one partition of the barrier, and some hundred messages."""
_RESERVE_SECONDS = 10.0


def ask(run: Run) -> None:
    """Orders the dispatch that the run's move has written down; where that fails the sweeper orders it."""
    order = DispatchOrder(workspace=run.workspace, run_id=run.id, epoch=run.epoch)
    with suppress(RetryableError, *AWS_ERRORS):
        queues.send(settings().dispatch_queue_url, [order])


def carry_out(order: DispatchOrder, now: datetime, seconds_left: Callable[[], float]) -> None:
    """Sends the slices of the run's missing probes; near the deadline it sends itself the order again."""
    pending = outbox.get(order)
    if pending is None:
        return
    next_leaf = pending.next_leaf
    # Looked at before each step: a run of a million that is deleted or paused must not fill the queues any further.
    while run := _current(order):
        if next_leaf >= _leaves(run.plan):
            _begin_finish_if_done(order, run)
            break
        if seconds_left() < _RESERVE_SECONDS:
            queues.send(settings().dispatch_queue_url, [order])
            return
        _send_step(order, run, next_leaf)
        next_leaf += _LEAVES_PER_STEP
        outbox.advance(order, next_leaf, now)
    outbox.remove(order)


def _begin_finish_if_done(order: DispatchOrder, run: Run) -> None:
    """There may be nothing missing; then no probe is left to notice that the root is full."""
    if run.status is RunStatus.RUNNING and barrier.is_finished(Tree.of(run)):
        executions.begin(order.run, order.epoch)


def _current(order: DispatchOrder) -> Run | None:
    """The run, unless it is gone or the order is of an epoch that is over."""
    try:
        run = runs.get(order.run)
    except NotFound:
        return None
    return run if run.epoch == order.epoch and run.status in ACTIVE else None


def _leaves(plan: Plan) -> int:
    return -(-plan.total // FANOUT)


def _send_step(order: DispatchOrder, run: Run, first_leaf: int) -> None:
    """Sends the slices of up to a hundred leaves, each provider's to its queue of the run's priority."""
    # Before the first probe has begun nothing can have an outcome, so there is nothing to read.
    known = prepare(run, Node(1, first_leaf // FANOUT)) if run.status is not RunStatus.PENDING else {}
    by_provider: dict[str, list[ProbeSlice]] = {}
    for provider, piece in _slices(order, run.plan, first_leaf, known):
        by_provider.setdefault(provider, []).append(piece)
    for provider, pieces in by_provider.items():
        queues.send(settings().probe_queue_url(provider, run.priority), pieces, group=run.id)


def _slices(
    order: DispatchOrder, plan: Plan, first_leaf: int, known: dict[int, LeafItem]
) -> Iterator[tuple[str, ProbeSlice]]:
    for number in range(first_leaf, min(first_leaf + _LEAVES_PER_STEP, _leaves(plan))):
        covered = range(number * FANOUT, min((number + 1) * FANOUT, plan.total))
        missing = known.get(number, LeafItem()).leaf.missing(covered)
        for provider, indexes in cut(plan, missing):
            yield (
                provider,
                ProbeSlice(
                    workspace=order.workspace, run_id=order.run_id, epoch=order.epoch, leaf=number, indexes=indexes
                ),
            )
