from math import ceil

from cupel_core.base.deferred import dataclass

MAX_CONCURRENCY = 1_000
MAX_STAGGER_MS = 10_000
IN_PROCESS_CONCURRENCY = 10
"""Conversations in progress at the same time of an evaluation in process that says nothing else."""
_PROBES_PER_WORKER = 100
"""Workers of a run share it by slices of this size."""

type Stagger = tuple[int, int]
"""The shortest and the longest gap between two starts, in milliseconds."""


@dataclass(frozen=True)
class Pace:
    """Without any limit, only the accounts of the providers limit the run."""

    max_concurrency: int | None = None
    """All workers together have at most this many conversations in progress."""
    stagger_ms: Stagger | None = None
    """The gap between two starts of one worker is drawn from this range."""

    def min_seconds(self, conversation_seconds: float, probes: int) -> float:
        """Return the minimum duration of the run if its conversations in sequence take `conversation_seconds`."""
        parallel = min(self.max_concurrency or probes, probes)
        gap = sum(self.stagger_ms) / 2_000 if self.stagger_ms else 0.0
        gaps = gap * (probes / ceil(probes / _PROBES_PER_WORKER) - 1) if probes else 0.0
        return max(gaps, conversation_seconds / parallel if self.max_concurrency and parallel else 0.0)


UNLIMITED = Pace()
SCALE_RUN_PACE = Pace(3, (200, 400))
