"""Limits of one task, and of a workspace whose tasks exceed them repeatedly."""

from collections import deque
from dataclasses import field

from cupel_core.base.deferred import dataclass

MAX_EXCEEDED = 3
WINDOW_SECONDS = 60.0
MAX_QUICK_TIMEOUTS = 5
_MB = 1_048_576


@dataclass(frozen=True)
class TaskLimits:
    cpu_seconds: float = 0.5
    memory_mb: int = 160
    """The limit of the address space. The interpreter with all its libraries needs 45."""
    max_output_bytes: int = 4 * _MB
    wall_seconds: float = 60.0
    """A limit for stuck tasks. A task does not wait, but on a busy machine its imports and its CPU time take longer."""

    @property
    def memory_bytes(self) -> int:
        return self.memory_mb * _MB


@dataclass
class WorkspaceBudget:
    """Limits a workspace's expressions to `MAX_EXCEEDED` exceeded limits in `WINDOW_SECONDS`. Without it, a run of
    10,000 probes would use 10,000 times the CPU limit."""

    exceeded_at: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_EXCEEDED))
    quick_timeouts: int = 0
    """The number of stopped searches in this process. After a few, the workspace's searches start in a helper at
    once."""

    def exhausted_seconds(self, now: float) -> float:
        """Return for how long it is still used up, or 0."""
        if len(self.exceeded_at) < MAX_EXCEEDED:
            return 0.0
        return max(0.0, self.exceeded_at[0] + WINDOW_SECONDS - now)

    def record_exceeded(self, now: float) -> None:
        self.exceeded_at.append(now)

    @property
    def may_try_here(self) -> bool:
        return self.quick_timeouts < MAX_QUICK_TIMEOUTS
