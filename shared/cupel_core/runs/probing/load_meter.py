"""Measures what a worker uses of its function's memory and processor."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from cupel_core.domain.limits.worker_capacity import WorkerLoad, processor_share

MEASURE_SECONDS = 2.0
"""Long enough that the start of an invocation, when all conversations begin at once, is no lasting load."""
_STATM = Path("/proc/self/statm")
_MB = 1_000_000


class LoadMeter:
    """The load of this process, whose function has so much memory."""

    def __init__(
        self,
        memory_mb: int,
        clock: Callable[[], float] = time.monotonic,
        processor_clock: Callable[[], float] = time.process_time,
    ) -> None:
        self._processors = processor_share(memory_mb)
        self._clock, self._processor_clock = clock, processor_clock
        self._last = clock(), processor_clock()

    def measure(self) -> WorkerLoad:
        """The load since the last measurement."""
        (before, used_before), (now, used) = self._last, (self._clock(), self._processor_clock())
        self._last = now, used
        return WorkerLoad((used - used_before) / max(1e-6, now - before) / self._processors, resident_mb())


def resident_mb() -> float:
    """The memory of this process; 0 where the system does not tell, as on macOS."""
    try:
        pages = int(_STATM.read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB
