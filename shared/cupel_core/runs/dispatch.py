"""From a run to messages: a range fan-out that goes on where it stopped.

Each provider's slices are sent in windows, the next when its queue has room, so that a queue holds a little of every
run and not all of the one that came first. The cursors are saved after the sends they cover, so a crash repeats
messages and loses none; a repeated slice finds its work claimed or done.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import ACTIVE, Run, RunStatus
from cupel_core.domain.runs.slices import cut, leaves, providers_of
from cupel_core.errors import NotFound, RetryableError
from cupel_core.messages import DispatchOrder, ProbeSlice
from cupel_core.runs import backpressure
from cupel_core.runs.reopen import prepare
from cupel_core.settings import settings
from cupel_core.store import barrier, executions, outbox, queues, runs
from cupel_core.store.barrier import LeafItem, Tree
from cupel_core.store.clients import AWS_ERRORS

_RESERVE_SECONDS = 10.0


def ask(run: Run) -> None:
    """Orders the dispatch that the run's move has written down; where that fails the sweeper orders it."""
    order = DispatchOrder(workspace=run.workspace, run_id=run.id, epoch=run.epoch)
    with suppress(RetryableError, *AWS_ERRORS):
        queues.send(settings().dispatch_queue_url, [order])


def carry_out(order: DispatchOrder, now: datetime, seconds_left: Callable[[], float]) -> None:
    """Sends the slices of the run's missing probes; short of room or time it sends itself the order again."""
    pending = outbox.get(order)
    if pending is None:
        return
    # Looked at before each window: a run of a million that is deleted or paused must not fill the queues any further.
    while run := _current(order):
        cursors = dict(pending.cursors)
        windows = _windows(run.plan, cursors)
        if not windows:
            _begin_finish_if_done(order, run)
            break
        waits = {
            provider: backpressure.seconds_until(run, provider) if provider in cursors else 0 for provider in windows
        }
        if min(waits.values()) > 0 or seconds_left() < _RESERVE_SECONDS:
            if outbox.advance(pending, cursors, now):
                _order_again(order, min(waits.values()))
            return
        for provider in (provider for provider, wait in waits.items() if not wait):
            _send(order, run, provider, windows[provider])
            cursors[provider] = windows[provider][-1] + 1
        order = order.model_copy(update={"looks": 0})
        if not outbox.advance(pending, cursors, now):
            return
        pending = replace(pending, cursors=cursors)
    outbox.remove(order)


def _order_again(order: DispatchOrder, wait_seconds: int) -> None:
    """Less and less often while there is no room: each look is two requests, and slow calls leave much time."""
    later = order.model_copy(update={"looks": order.looks + 1 if wait_seconds else order.looks})
    delay = max(wait_seconds, min(wait_seconds * 2**order.looks, backpressure.LONGEST_LOOK_SECONDS))
    queues.send(settings().dispatch_queue_url, [later], delay_seconds=delay)


def _windows(plan: Plan, cursors: Mapping[str, int]) -> dict[str, list[int]]:
    """The leaves to be sent next, by provider; those that are sent to the end are left out."""
    providers = dict.fromkeys(providers_of(plan))
    windows = {each: _window(plan, each, cursors.get(each, 0)) for each in providers}
    return {provider: window for provider, window in windows.items() if window}


def _window(plan: Plan, provider: str, first: int) -> list[int]:
    most = backpressure.WINDOW_LEAVES + backpressure.REST_LEAVES
    following = list(islice(leaves(plan, provider, first), most + 1))
    return following if len(following) <= most else following[: backpressure.WINDOW_LEAVES]


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


def _send(order: DispatchOrder, run: Run, provider: str, window: Sequence[int]) -> None:
    """Sends the provider's slices of these leaves to its queue of the run's priority."""
    known: dict[int, LeafItem] = {}
    # Before the first probe has begun nothing can have an outcome, so there is nothing to read.
    if run.status is not RunStatus.PENDING:
        for parent in sorted({Node(0, number).parent.number for number in window}):
            known |= prepare(run, Node(1, parent))
    pieces = [piece for number in window for piece in _slices(order, run.plan, provider, number, known.get(number))]
    queues.send(settings().probe_queue_url(provider, run.priority), pieces, group=run.id)


def _slices(
    order: DispatchOrder, plan: Plan, provider: str, number: int, known: LeafItem | None
) -> Iterator[ProbeSlice]:
    """Of one leaf."""
    covered = range(number * FANOUT, min((number + 1) * FANOUT, plan.total))
    missing = known.leaf.missing(covered) if known else covered
    for owner, indexes in cut(plan, missing):
        if owner == provider:
            yield ProbeSlice(
                workspace=order.workspace, run_id=order.run_id, epoch=order.epoch, leaf=number, indexes=indexes
            )
