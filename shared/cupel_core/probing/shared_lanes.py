"""Whether several workspaces use the queue of a worker."""

from cupel_core.domain.runs.priority import Priority
from cupel_core.providers import queue_of
from cupel_core.store import active_runs


def is_shared(lane: str, priority: Priority) -> bool:
    """Whether runs of two workspaces are being dispatched to this queue. Ends at the second one that is found."""
    workspaces = set[str]()
    for run in active_runs.list_dispatched():
        if run.priority == priority and queue_of(run.provider) == lane:
            workspaces.add(run.workspace)
            if len(workspaces) > 1:
                return True
    return False
