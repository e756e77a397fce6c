"""Decides when a run's next slices may be sent: as soon as few of those sent before are left.

A queue delivers roughly in order of arrival. If it held all of a large run, a run started later would wait for all of
the first one; with windows, it waits for one window. The window belongs to the workspace: its runs in one queue share
it, so that starting more of them puts no more in front of others. SQS treats the messages of each workspace as a group
and is fair to groups, but only once many messages are in flight; the embedded emulator is not.

What other workspaces have in the queue does not count, and neither do paused runs. The list of active runs says how
many share the window; each of them sends at least one leaf at a time. So a queue contains one window of every
workspace, and a small run does not wait behind a large one.
"""

from collections.abc import Mapping
from typing import NamedTuple

from cupel_core.base.messages import RunRef
from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.slices import latest_parts
from cupel_core.providers import queue_of
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS
from cupel_core.store import active_runs, barrier, governor
from cupel_core.store.settings import settings

WINDOW_LEAVES = 10
"""A workspace's runs send this many leaves of 100 probes at a time: 1,000 probes if all are missing."""
FINAL_WINDOW_EXTRA_LEAVES = 5
"""This many further leaves are sent with the last window: a short remainder is not worth waiting for room again."""
_RECHECK_SECONDS = 1
_RUNS_PER_RECHECK_SECOND = 5
"""If more runs share a window, each is checked less often, because all dispatches share a few invocations."""
MAX_RECHECK_SECONDS = 4
"""Workers stay busy for that long, even with calls of 0.2 s."""
_PAUSED_RECHECK_SECONDS = 20
_PROBES_PER_PARALLEL_REQUEST = 24
"""Sent and not recorded. Enough to keep workers busy until the next check, even with calls of 0.1 s; four of them are
in progress, pending in the worker, or not recorded yet."""
_PROBES_PER_WORKER = 2_000
"""Sent and not recorded, at most: a worker completes no more than 500 probes per second."""


class Window(NamedTuple):
    """Limits what a run may have in the queue of a provider, in probes."""

    size: int
    """Sent at a time."""
    extra: int
    """Sent with the last ones."""
    outstanding: int
    """Sent and not recorded, from which on nothing more is sent."""
    recheck_seconds: int


def window_of(run: Run, provider: str, parallel_requests: int = DEFAULT_PARALLEL_REQUESTS) -> Window:
    """The run's part of its workspace's window."""
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
    """Return the seconds until the next check; 0 if the next slices may be sent now.

    `next_leaves` maps each column of the provider to its first leaf that is not sent.
    """
    status = governor.get_status(run.workspace, provider)
    if status.paused:
        return _PAUSED_RECHECK_SECONDS
    window = window_of(run, provider, status.limit or DEFAULT_PARALLEL_REQUESTS)
    is_room = _count_outstanding(run, next_leaves, window.outstanding + window.size) < window.outstanding
    return 0 if is_room else window.recheck_seconds


def _count_outstanding(run: Run, next_leaves: Mapping[int, int], probes: int) -> int:
    """How many of the last so many probes that were sent have no outcome."""
    parts = latest_parts(run.plan, next_leaves, probes)
    leaves = barrier.get_leaves(RunRef(run.workspace, run.id), sorted({part.leaf for part in parts}))
    return sum(len(leaves[part.leaf].leaf.missing(part.indexes)) for part in parts)
