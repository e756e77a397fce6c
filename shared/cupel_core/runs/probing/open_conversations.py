"""The conversations in progress in a worker, by workspace."""

from collections import defaultdict, deque
from collections.abc import Callable

from cupel_core.domain.limits.worker_capacity import MAX_CALLS, WorkerUse


class OpenConversations:
    """Counts the open conversations, the memory that they use, and how fast they end."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.total = WorkerUse()
        self._clock = clock
        self._by_workspace: dict[str, WorkerUse] = defaultdict(WorkerUse)
        self._ended_at: dict[str, deque[float]] = {}
        """It lists when the latest conversations of each workspace ended; at first, when the first one started."""

    def of(self, workspace: str) -> WorkerUse:
        return self._by_workspace[workspace]

    def start(self, workspace: str, mb: float) -> None:
        self._ended_at.setdefault(workspace, deque([self._clock()], maxlen=MAX_CALLS))
        self._add(workspace, 1, mb)

    def end(self, workspace: str, mb: float) -> None:
        self._ended_at[workspace].append(self._clock())
        self._add(workspace, -1, -mb)

    def seconds_to_end(self, workspace: str, count: int) -> float:
        """Return how many seconds the last `count` conversations of the workspace took to end; 0 if it has had none."""
        ended_at = self._ended_at.get(workspace)
        return self._clock() - ended_at[-min(max(1, count), len(ended_at))] if ended_at else 0.0

    def _add(self, workspace: str, conversations: int, mb: float) -> None:
        self.total = self.total.plus(conversations, mb)
        self._by_workspace[workspace] = self._by_workspace[workspace].plus(conversations, mb)
