"""Determines how many invocations of functions the local stack runs at a time, and the machine that they see."""

import os

MEMORY_MB = 1_769
"""With this memory, a function on AWS has one processor, as a worker here. Nothing is reserved for it."""
_MAX_WORKERS = 4
"""Beyond that, the embedded cloud is the limit: it is one process."""


def probe_workers(processors: int | None = None) -> int:
    """Return half of the processors, but at least two for a source. The embedded cloud and its clients need the
    others."""
    return max(2, min(_MAX_WORKERS, (processors or os.cpu_count() or 1) // 2))
