"""When a run's next slices may be sent: as soon as few messages wait in the provider's queue.

A queue delivers roughly in order of arrival. If it held all of a large run, a run started later would wait for all of
the first one; with windows, it waits for one window. SQS treats the messages of each run as a group and is fair to
groups, but only once many messages are in flight; the embedded emulator is not.
"""

from math import ceil

from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.run import Run
from cupel_core.providers import queue_of
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS
from cupel_core.settings import settings
from cupel_core.store import governor, queues

WINDOW_LEAVES = 10
"""What is sent of a provider at a time, in leaves of 100 probes: 1,000 probes if all are missing."""
FINAL_WINDOW_EXTRA_LEAVES = 5
"""Further leaves sent with the last window: a short remainder is not worth waiting for room again."""
_RECHECK_SECONDS = 1
MAX_RECHECK_SECONDS = 4
"""A queue without room keeps workers busy for that long, even with calls of 0.2 s."""
_PAUSED_RECHECK_SECONDS = 20
_WAITING_CALLS_PER_PARALLEL_REQUEST = 20
"""Enough to keep workers busy until the next check, even with calls of 0.1 s."""


def seconds_until_capacity(run: Run, provider: str) -> int:
    """Seconds until the next check; 0 if the provider's queue has room now."""
    status = governor.get_status(run.workspace, provider)
    if status.paused:
        return _PAUSED_RECHECK_SECONDS
    waiting = queues.get_depth(settings().probe_queue_url(queue_of(provider), run.priority)).waiting
    return 0 if waiting < _max_waiting_messages(status.limit or DEFAULT_PARALLEL_REQUESTS) else _RECHECK_SECONDS


def _max_waiting_messages(parallel_requests: int) -> int:
    """In messages of 100 probes, the size within a large run."""
    return ceil(parallel_requests * _WAITING_CALLS_PER_PARALLEL_REQUEST / FANOUT)
