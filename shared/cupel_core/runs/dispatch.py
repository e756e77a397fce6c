"""The dispatch of a run: the slices of its missing probes are sent to the queues of their providers.

Each provider's slices are sent in windows. A window is sent when little is left of those before, so that a queue holds
a little of every run instead of all of the first one. Within a window, the provider's targets take turns. Cursors are
saved after the sends they cover, so a crash repeats messages but loses none. The worker that receives a repeated slice
finds its probes claimed or done.

Once a run has started, its barrier says which indexes are missing. Cursors are changed on condition that they are
unchanged, so of two deliveries of one request only one continues. A request that finds no room is sent again after 1,
2, 4, 4, … seconds and records the time in its outbox row, so that the sweeper does not consider it lost. Near its
deadline, a request sends itself again. The row is removed after the last window.

A queue delivers roughly in order of arrival. If it held all of a large run, a run started later would wait for all of
the first one; with windows, it waits for one window. The window belongs to the workspace: its runs in one queue share
it, so that starting more of them puts no more in front of others. SQS treats the messages of each workspace as a group
and is fair to groups, but only once many messages are in flight; the embedded emulator is not. Messages of other
workspaces and of paused runs do not count. The list of active runs says how many share the window; each of them sends
at least one leaf at a time. So a queue contains one window of every workspace, and a small run does not wait behind a
large one.

Before a later dispatch, errors to retry are removed from the barrier and full leaves are reported to their parents.
Both may be repeated: a leaf is reopened once per retry round, and adding a member to a set twice adds it once. Retried
errors are copied to the probe's history before they are removed from their leaves. The inner nodes of each retry round
are separate, so full leaves are reported to those of the new round. Workers of an earlier round may still be recording,
so every leaf that is not full refuses their writes: their transcripts count in the leaf's round, and an error that they
record too late is run again.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from cupel_core.accounts.keys import get_provider
from cupel_core.base.errors import NotFound, RetryableError
from cupel_core.base.messages import DispatchRequest, ProbeSlice, RunRef
from cupel_core.domain.runs.barrier import FANOUT, Node
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import ACTIVE, Run, RunStatus
from cupel_core.domain.runs.slices import (
    LeafPart,
    Workers,
    cut_slices,
    latest_parts,
    next_window,
    parts_in_turn,
    probes_left,
    provider_columns,
    providers_of,
)
from cupel_core.providers import queue_of
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS
from cupel_core.store import active_runs, attempts, barrier, executions, governor, outbox, queues, runs
from cupel_core.store.barrier import Tree
from cupel_core.store.barrier_items import LeafItem
from cupel_core.store.clients import AWS_ERRORS
from cupel_core.store.settings import settings

_RESERVE_SECONDS = 10.0

type _Windows = Mapping[str, Sequence[LeafPart]]
WINDOW_LEAVES = 10
"""A workspace's runs send this many leaves of 100 probes at a time: 1,000 probes if all are missing."""
FINAL_WINDOW_EXTRA_LEAVES = 5
"""Number of further leaves that are sent with the last window: a short remainder is not worth another wait."""
_RECHECK_SECONDS = 1
_RUNS_PER_RECHECK_SECOND = 5
"""If more runs share a window, each is checked less often, because all dispatches share a few invocations."""
MAX_RECHECK_SECONDS = 4
"""Workers stay busy for that long, even with calls of 0.2 s."""
_PAUSED_RECHECK_SECONDS = 20
_PROBES_PER_PARALLEL_REQUEST = 24
"""Number of probes per parallel request that may be sent and not recorded, which keeps workers busy until the next
check. That holds even with calls of 0.1 s. Four of them are in progress, pending in the worker, or not recorded yet."""
_PROBES_PER_WORKER = 2_000
"""Up to this many probes per worker are sent and not recorded. A worker completes at most 500 probes per second."""


def enqueue(run: Run) -> None:
    """Request the dispatch that the run's transition wrote to the outbox. If sending fails, the sweeper does it."""
    request = DispatchRequest(workspace=run.workspace, run_id=run.id, fencing_token=run.fencing_token)
    with suppress(RetryableError, *AWS_ERRORS):
        queues.send(settings().dispatch_queue_url, [request], group=run.workspace)


def execute(request: DispatchRequest, now: datetime, seconds_left: Callable[[], float]) -> None:
    """Send the slices of the run's missing probes. Without room or time left, enqueue the request again."""
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
    try:
        run = runs.get(request.run)
    except NotFound:
        return None
    return run if run.fencing_token == request.fencing_token and run.status in ACTIVE else None


def _next_windows(run: Run, cursors: Mapping[str, int]) -> _Windows:
    windows = {
        provider: _next_window(run, provider, _first_leaves(run.plan, provider, cursors))
        for provider in dict.fromkeys(providers_of(run.plan))
    }
    return {provider: window for provider, window in windows.items() if window}


def _next_window(run: Run, provider: str, first_leaves: Mapping[int, int]) -> Sequence[LeafPart]:
    if not probes_left(run.plan, first_leaves):
        return ()
    window = window_of(run, provider)
    return next_window(parts_in_turn(run.plan, first_leaves), window.size, window.extra)


def _first_leaves(plan: Plan, provider: str, cursors: Mapping[str, int]) -> dict[int, int]:
    return {column: cursors.get(_cursor_name(provider, column), 0) for column in provider_columns(plan, provider)}


def _cursors_after(windows: _Windows) -> dict[str, int]:
    return {
        _cursor_name(provider, part.column): part.leaf + 1 for provider, window in windows.items() for part in window
    }


def _cursor_name(provider: str, column: int) -> str:
    return f"{provider}#{column}"


def _wait_by_provider(run: Run, windows: _Windows, cursors: Mapping[str, int]) -> dict[str, int]:
    """Return the seconds until each queue may have room. The first window of a provider never waits."""
    begun = {name.partition("#")[0] for name in cursors}
    return {
        provider: seconds_until_capacity(run, provider, _first_leaves(run.plan, provider, cursors))
        if provider in begun
        else 0
        for provider in windows
    }


def _requeue(request: DispatchRequest, wait_seconds: int) -> None:
    """Enqueue the request again. Checks become less frequent while no queue has room, because each takes two
    requests."""
    attempts = request.attempts_without_room
    again = request.model_copy(update={"attempts_without_room": attempts + 1 if wait_seconds else attempts})
    delay = max(wait_seconds, min(wait_seconds * 2**attempts, MAX_RECHECK_SECONDS))
    queues.send(settings().dispatch_queue_url, [again], delay_seconds=delay, group=request.workspace)


def _start_finish_if_complete(request: DispatchRequest, run: Run) -> None:
    """Start finishing the run if no probe was missing, as no worker is left to notice that the barrier is full."""
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
    leaves = sorted({part.leaf for part in window})
    covered = {leaf: range(leaf * FANOUT, min((leaf + 1) * FANOUT, run.plan.total)) for leaf in leaves}
    if run.status is RunStatus.PENDING:
        # Before the first probe has started, no leaf has an outcome, so there is nothing to read.
        return dict(covered)
    return {leaf: item.leaf.missing(covered[leaf]) for leaf, item in prepare_leaves(run, leaves).items()}


def prepare_leaves(run: Run, numbers: Sequence[int]) -> dict[int, LeafItem]:
    """Prepare these leaves for dispatch and return them by number."""
    tree = Tree.for_run(run)
    ranges = run.retry.ranges(run.plan) if run.retry else ()
    was_running = run.retry_round != run.conversation_round
    prepared = {
        number: _reopen_leaf(tree, Node(0, number), item, ranges, was_running=was_running)
        for number, item in barrier.get_leaves(tree.ref, numbers).items()
    }
    _report_full_leaves(run, tree, prepared)
    return prepared


def _report_full_leaves(run: Run, tree: Tree, leaves: Mapping[int, LeafItem]) -> None:
    full = (Node(0, number) for number, item in leaves.items() if item.leaf.is_full(Node(0, number), tree.total))
    for parent, nodes in groupby(sorted(full), key=attrgetter("parent")):
        by_position = {node.number % FANOUT: node for node in nodes}
        for position in sorted(barrier.unreported_children(tree, parent, by_position)):
            node = by_position[position]
            if barrier.propagate(tree, node, leaves[node.number]):
                executions.start_finish(tree.ref, run.fencing_token)


def _reopen_leaf(
    tree: Tree, node: Node, item: LeafItem, ranges: Sequence[range], *, was_running: bool = False
) -> LeafItem:
    """Reopen a leaf. If the run `was_running`, every leaf that is not full is reopened. Otherwise workers of an earlier
    round could record an error that a worker of this round overwrites, so it would count twice."""
    if item.reopened_in_round >= tree.retry_round:
        return item
    errored = [offset for offset in item.leaf.failed if any(node.first_index + offset in span for span in ranges)]
    if not errored and (not was_running or item.leaf.is_full(node, tree.total)):
        return item
    attempts.record(tree.ref, [node.first_index + offset for offset in errored])
    return barrier.reopen(tree, node, errored)


class Window(NamedTuple):
    """A limit of the probes that a run may have in the queue of a provider."""

    size: int
    extra: int
    """The number of probes that may be added to the last window."""
    outstanding: int
    """Nothing more is sent while this many probes are sent and not recorded."""
    recheck_seconds: int


def window_of(run: Run, provider: str, parallel_requests: int = DEFAULT_PARALLEL_REQUESTS) -> Window:
    lane = queue_of(provider)
    sharing = {
        each.run_id
        for each in active_runs.list_dispatched(run.workspace)
        if each.priority == run.priority and queue_of(each.provider) == lane
    }
    number = max(1, len(sharing))
    outstanding = min(_PROBES_PER_PARALLEL_REQUEST * parallel_requests, _PROBES_PER_WORKER * settings().probe_workers)
    return Window(
        max(1, WINDOW_LEAVES // number) * FANOUT,
        FINAL_WINDOW_EXTRA_LEAVES // number * FANOUT,
        max(1, outstanding // number),
        max(_RECHECK_SECONDS, number // _RUNS_PER_RECHECK_SECOND),
    )


def seconds_until_capacity(run: Run, provider: str, next_leaves: Mapping[int, int]) -> int:
    """Return the seconds until the next check, which is 0 if the next slices may be sent now. `next_leaves` maps each
    column of the provider to its first leaf that is not sent."""
    status = governor.get_status(run.workspace, provider)
    if status.paused:
        return _PAUSED_RECHECK_SECONDS
    window = window_of(run, provider, status.limit or DEFAULT_PARALLEL_REQUESTS)
    is_room = _count_outstanding(run, next_leaves, window.outstanding + window.size) < window.outstanding
    return 0 if is_room else window.recheck_seconds


def _count_outstanding(run: Run, next_leaves: Mapping[int, int], probes: int) -> int:
    parts = latest_parts(run.plan, next_leaves, probes)
    leaves = barrier.get_leaves(RunRef(run.workspace, run.id), sorted({part.leaf for part in parts}))
    return sum(len(leaves[part.leaf].leaf.missing(part.indexes)) for part in parts)
