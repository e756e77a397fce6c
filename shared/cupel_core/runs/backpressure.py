"""When a run's next slices may be sent: while few messages wait in the provider's queue.

A queue hands out roughly what came first. With all of a large run in it, a run that starts later would wait for the
whole of the first one; with a window of each, for a window. SQS knows the messages of each run as a group and is fair
to them by itself, once many are in flight; the embedded cloud is not.
"""

from math import ceil

from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.run import Run
from cupel_core.providers.account import DEFAULT_PARALLEL_REQUESTS
from cupel_core.settings import settings
from cupel_core.store import governor, queues

WINDOW_LEAVES = 10
"""So many leaves of a provider are sent at a time: a thousand probes when all are missing."""
REST_LEAVES = 5
"""So many more go with the last window: a short rest is not worth the looks for room that it would wait for."""
_LOOK_AGAIN_SECONDS = 1
LONGEST_LOOK_SECONDS = 4
"""A queue that has no room keeps workers busy as long, also with calls of 0.2 s."""
_LOOK_AGAIN_WHEN_PAUSED_SECONDS = 20
_COVER_CALLS = 20
"""Waiting calls per parallel one that keep workers busy until the next look, also with calls of 0.1 s."""


def seconds_until(run: Run, provider: str) -> int:
    """How long to wait before asking again; 0 when there is room."""
    account = governor.standing(run.workspace, provider)
    if account.paused:
        return _LOOK_AGAIN_WHEN_PAUSED_SECONDS
    waiting = queues.depth(settings().probe_queue_url(provider, run.priority)).waiting
    return 0 if waiting < _enough(account.limit or DEFAULT_PARALLEL_REQUESTS) else _LOOK_AGAIN_SECONDS


def _enough(parallel_requests: int) -> int:
    """Messages of a hundred probes each, as those in the midst of a large run are."""
    return ceil(parallel_requests * _COVER_CALLS / FANOUT)
