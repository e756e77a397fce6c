"""How fast a run starts its conversations, if it limits that itself."""

from math import ceil

from cupel_core.base.deferred import dataclass

MAX_CONCURRENCY = 1_000
MAX_STAGGER_MS = 10_000
IN_PROCESS_CONCURRENCY = 10
"""Conversations in progress at the same time of an evaluation in process that says nothing else."""
_PROBES_PER_WORKER = 100
"""One slice: workers of a run share it by slices."""

type Stagger = tuple[int, int]
"""The shortest and the longest gap between two starts, in milliseconds."""


@dataclass(frozen=True)
class Pace:
    """Without any limit, the accounts of the providers decide alone."""

    max_concurrency: int | None = None
    """Conversations that are in progress at the same time, of all workers together."""
    stagger_ms: Stagger | None = None
    """Between two starts of one worker, drawn from this range."""

    def min_seconds(self, conversation_seconds: float, probes: int) -> float:
        """How long the run takes at least, if its conversations take so long one after the other."""
        parallel = min(self.max_concurrency or probes, probes)
        gap = sum(self.stagger_ms) / 2_000 if self.stagger_ms else 0.0
        gaps = gap * (probes / ceil(probes / _PROBES_PER_WORKER) - 1) if probes else 0.0
        return max(gaps, conversation_seconds / parallel if self.max_concurrency and parallel else 0.0)


UNLIMITED = Pace()
SCALE_RUN_PACE = Pace(3, (200, 400))
"""Of a scale run, unless it says otherwise."""
