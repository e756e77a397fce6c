"""Dispatch: send the slices of a run's missing probes to the queues of their providers.

Each provider's slices are sent in windows, the next one when little is left of those before, so that a queue holds a
little of every run instead of all of the first one (`backpressure.py`); within a window, the provider's targets take
turns. Cursors are saved after the sends they cover, so a crash repeats messages but loses none; the worker that
receives a repeated slice finds its probes claimed or done.

Once a run has started, its barrier says which indexes are missing. Cursors move on condition that they are unchanged,
so of two deliveries of one request only one continues. A request that finds no room is sent again after 1, 2, 4, 4, …
seconds and records the time in its outbox row, so that the sweeper does not take it for lost; near its deadline, a
request sends itself again. The row is removed after the last window.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from cupel_core.accounts.keys import get_provider
from cupel_core.base.errors import NotFound, RetryableError
from cupel_core.base.messages import DispatchRequest, ProbeSlice
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import ACTIVE, Run, RunStatus
from cupel_core.domain.runs.slices import (
    LeafPart,
    Workers,
    cut_slices,
    next_window,
    parts_in_turn,
    probes_left,
    provider_columns,
    providers_of,
)
from cupel_core.providers import queue_of
from cupel_core.runs import backpressure
from cupel_core.runs.reopen import prepare_leaves
from cupel_core.store import barrier, executions, outbox, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings

_RESERVE_SECONDS = 10.0

type _Windows = Mapping[str, Sequence[LeafPart]]
"""What to send next, by provider."""


def enqueue(run: Run) -> None:
    """Request the dispatch that the run's transition wrote to the outbox. If sending fails, the sweeper does it."""
    request = DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)
    with suppress(RetryableError, *AWS_ERRORS):
        queues.send(settings().dispatch_queue_url, [request], group=run.workspace)


def execute(request: DispatchRequest, now: datetime, seconds_left: Callable[[], float]) -> None:
    """Send the slices of the run's missing probes; without room or time left, enqueue the request again."""
    pending = outbox.get(request)
    if pending is None:
        return
    # Read before each window: a run of a million probes that is deleted or paused must not fill the queues any further.
    while run := _active_run(request):
        windows = _next_windows(run, pending.cursors)
        if not windows:
            _start_finish_if_complete(request, run)
            break
        wait_seconds = _wait_by_provider(run, windows, pending.cursors)
        if min(wait_seconds.values()) > 0 or seconds_left() < _RESERVE_SECONDS:
            if outbox.advance(pending, dict(pending.cursors), now):
                _requeue(request, min(wait_seconds.values()))
            return
        ready = {provider: window for provider, window in windows.items() if not wait_seconds[provider]}
        _send_windows(request, run, ready, pending.cursors)
        cursors = {**pending.cursors, **_cursors_after(ready)}
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


def _next_windows(run: Run, cursors: Mapping[str, int]) -> _Windows:
    """Without the providers whose leaves are all sent."""
    windows = {
        provider: _next_window(run, provider, _first_leaves(run.plan, provider, cursors))
        for provider in dict.fromkeys(providers_of(run.plan))
    }
    return {provider: window for provider, window in windows.items() if window}


def _next_window(run: Run, provider: str, first_leaves: Mapping[int, int]) -> Sequence[LeafPart]:
    if not probes_left(run.plan, first_leaves):
        return ()
    window = backpressure.window_of(run, provider)
    return next_window(parts_in_turn(run.plan, first_leaves), window.size, window.extra)


def _first_leaves(plan: Plan, provider: str, cursors: Mapping[str, int]) -> dict[int, int]:
    """Return the leaf to continue at, by column."""
    return {column: cursors.get(_cursor_name(provider, column), 0) for column in provider_columns(plan, provider)}


def _cursors_after(windows: _Windows) -> dict[str, int]:
    return {
        _cursor_name(provider, part.column): part.leaf + 1 for provider, window in windows.items() for part in window
    }


def _cursor_name(provider: str, column: int) -> str:
    return f"{provider}#{column}"


def _wait_by_provider(run: Run, windows: _Windows, cursors: Mapping[str, int]) -> dict[str, int]:
    """Seconds until each queue may have room; the first window of a provider never waits."""
    begun = {name.partition("#")[0] for name in cursors}
    return {
        provider: backpressure.seconds_until_capacity(run, provider, _first_leaves(run.plan, provider, cursors))
        if provider in begun
        else 0
        for provider in windows
    }


def _requeue(request: DispatchRequest, wait_seconds: int) -> None:
    """Checks become less frequent while no queue has room: each takes two requests, and slow calls leave much time."""
    attempts = request.attempts_without_room
    again = request.model_copy(update={"attempts_without_room": attempts + 1 if wait_seconds else attempts})
    delay = max(wait_seconds, min(wait_seconds * 2**attempts, backpressure.MAX_RECHECK_SECONDS))
    queues.send(settings().dispatch_queue_url, [again], delay_seconds=delay, group=request.workspace)


def _start_finish_if_complete(request: DispatchRequest, run: Run) -> None:
    """If no probe was missing, no worker is left to notice that the barrier is full."""
    if run.status is RunStatus.RUNNING and barrier.is_finished(Tree.for_run(run)):
        executions.start_finish(request.run, request.fencing_token)


def _send_windows(request: DispatchRequest, run: Run, windows: _Windows, cursors: Mapping[str, int]) -> None:
    for provider, window in windows.items():
        parallel = get_provider(request.workspace, provider).max_parallel_requests
        workers = Workers(settings().probe_workers, parallel)
        left = probes_left(run.plan, _first_leaves(run.plan, provider, cursors))
        slices = [
            ProbeSlice(
                workspace=request.workspace,
                run_id=request.run_id,
                fencing_token=request.fencing_token,
                leaf=leaf,
                indexes=indexes,
            )
            for leaf, indexes in cut_slices(run.plan, window, _missing(run, window), left, workers)
        ]
        queues.send(settings().probe_queue_url(queue_of(provider), run.priority), slices, group=run.workspace)


def _missing(run: Run, window: Sequence[LeafPart]) -> dict[int, Sequence[int]]:
    """The indexes without an outcome, by leaf."""
    leaves = sorted({part.leaf for part in window})
    covered = {leaf: range(leaf * FANOUT, min((leaf + 1) * FANOUT, run.plan.total)) for leaf in leaves}
    if run.status is RunStatus.PENDING:
        # Before the first probe has started, no leaf has an outcome, so there is nothing to read.
        return dict(covered)
    return {leaf: item.leaf.missing(covered[leaf]) for leaf, item in prepare_leaves(run, leaves).items()}
