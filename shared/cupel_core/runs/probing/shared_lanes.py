"""Tells a worker whether several workspaces use its queue."""

from cupel_core.domain.runs.priority import Priority
from cupel_core.providers import queue_of
from cupel_core.store import active_runs


def is_shared(lane: str, priority: Priority) -> bool:
    """Return whether runs of two workspaces are being dispatched to this queue; reading ends at the second one."""
    workspaces = set[str]()
    for run in active_runs.list_dispatched():
        if run.priority == priority and queue_of(run.provider) == lane:
            workspaces.add(run.workspace)
            if len(workspaces) > 1:
                return True
    return False
