"""Dispatch: send the slices of a run's missing probes to the queues of their providers.

Each provider's slices are sent in windows, the next one when its queue has room, so that a queue holds a little of
every run instead of all of the first one. Cursors are saved after the sends they cover, so a crash repeats messages but
loses none; the worker that receives a repeated slice finds its probes claimed or done.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice

from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import ACTIVE, Run, RunStatus
from cupel_core.domain.runs.slices import cut_slices, provider_leaves, providers_of
from cupel_core.errors import NotFound, RetryableError
from cupel_core.messages import DispatchRequest, ProbeSlice
from cupel_core.runs import backpressure
from cupel_core.runs.reopen import prepare_leaves
from cupel_core.settings import settings
from cupel_core.store import barrier, executions, outbox, queues, runs
from cupel_core.store.barrier import LeafItem, Tree
from cupel_core.store.clients import AWS_ERRORS

_RESERVE_SECONDS = 10.0

type _Windows = Mapping[str, Sequence[int]]
"""The leaves to send next, by provider."""


def enqueue(run: Run) -> None:
    """Request the dispatch that the run's transition wrote to the outbox. If sending fails, the sweeper does it."""
    request = DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)
    with suppress(RetryableError, *AWS_ERRORS):
        queues.send(settings().dispatch_queue_url, [request])


def execute(request: DispatchRequest, now: datetime, seconds_left: Callable[[], float]) -> None:
    """Send the slices of the run's missing probes; without room or time left, enqueue the request again."""
    pending = outbox.get(request)
    if pending is None:
        return
    # Read before each window: a run of a million probes that is deleted or paused must not fill the queues any further.
    while run := _active_run(request):
        windows = _next_windows(run.plan, pending.cursors)
        if not windows:
            _start_finish_if_complete(request, run)
            break
        wait_seconds = _wait_by_provider(run, windows, pending.cursors)
        if min(wait_seconds.values()) > 0 or seconds_left() < _RESERVE_SECONDS:
            if outbox.advance(pending, dict(pending.cursors), now):
                _requeue(request, min(wait_seconds.values()))
            return
        ready = {provider: window for provider, window in windows.items() if not wait_seconds[provider]}
        cursors = {**pending.cursors, **_send_windows(request, run, ready)}
        request = request.model_copy(update={"attempts_without_room": 0})
        if not outbox.advance(pending, cursors, now):
            return
        pending = replace(pending, cursors=cursors)
    outbox.remove(request)


def _active_run(request: DispatchRequest) -> Run | None:
    """None if the run was deleted or is not active, or the request is void."""
    try:
        run = runs.get(request.run)
    except NotFound:
        return None
    return run if run.fencing_token == request.fencing_token and run.status in ACTIVE else None


def _next_windows(plan: Plan, cursors: Mapping[str, int]) -> _Windows:
    """Without the providers whose leaves are all sent."""
    providers = dict.fromkeys(providers_of(plan))
    windows = {provider: _next_window(plan, provider, cursors.get(provider, 0)) for provider in providers}
    return {provider: window for provider, window in windows.items() if window}


def _next_window(plan: Plan, provider: str, first_leaf: int) -> list[int]:
    max_leaves = backpressure.WINDOW_LEAVES + backpressure.FINAL_WINDOW_EXTRA_LEAVES
    following = list(islice(provider_leaves(plan, provider, first_leaf), max_leaves + 1))
    return following if len(following) <= max_leaves else following[: backpressure.WINDOW_LEAVES]


def _wait_by_provider(run: Run, windows: _Windows, cursors: Mapping[str, int]) -> dict[str, int]:
    """Seconds until each queue may have room; the first window of a provider never waits."""
    return {
        provider: backpressure.seconds_until_capacity(run, provider) if provider in cursors else 0
        for provider in windows
    }


def _requeue(request: DispatchRequest, wait_seconds: int) -> None:
    """Checks become less frequent while no queue has room: each takes two requests, and slow calls leave much time."""
    attempts = request.attempts_without_room
    again = request.model_copy(update={"attempts_without_room": attempts + 1 if wait_seconds else attempts})
    delay = max(wait_seconds, min(wait_seconds * 2**attempts, backpressure.MAX_RECHECK_SECONDS))
    queues.send(settings().dispatch_queue_url, [again], delay_seconds=delay)


def _start_finish_if_complete(request: DispatchRequest, run: Run) -> None:
    """If no probe was missing, no worker is left to notice that the barrier is full."""
    if run.status is RunStatus.RUNNING and barrier.is_finished(Tree.for_run(run)):
        executions.start_finish(request.run, request.fencing_token)


def _send_windows(request: DispatchRequest, run: Run, windows: _Windows) -> dict[str, int]:
    """Send the slices of these leaves; returns the new cursors."""
    for provider, window in windows.items():
        slices = list(_window_slices(request, run, provider, window))
        queues.send(settings().probe_queue_url(provider, run.priority), slices, group=run.id)
    return {provider: window[-1] + 1 for provider, window in windows.items()}


def _window_slices(request: DispatchRequest, run: Run, provider: str, window: Sequence[int]) -> Iterator[ProbeSlice]:
    prepared: dict[int, LeafItem] = {}
    # Before the first probe has started, no leaf has an outcome, so there is nothing to read.
    if run.status is not RunStatus.PENDING:
        for parent in sorted({Node(0, number).parent.number for number in window}):
            prepared |= prepare_leaves(run, Node(1, parent))
    for number in window:
        yield from _leaf_slices(request, run.plan, provider, number, prepared.get(number))


def _leaf_slices(
    request: DispatchRequest, plan: Plan, provider: str, number: int, item: LeafItem | None
) -> Iterator[ProbeSlice]:
    """The slices of the provider's missing probes in one leaf."""
    covered = range(number * FANOUT, min((number + 1) * FANOUT, plan.total))
    missing = item.leaf.missing(covered) if item else covered
    for owner, indexes in cut_slices(plan, missing):
        if owner == provider:
            yield ProbeSlice(
                workspace=request.workspace,
                run_id=request.run_id,
                fencing_token=request.fencing_token,
                leaf=number,
                indexes=indexes,
            )
