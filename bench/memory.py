"""Measures the memory of the workers over time to detect leaks.

The number of a function's workers is the largest concurrency so far, and a worker that gets its first work late grows
only then. So the measure is the largest worker of each function at each time.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from time import monotonic
from typing import NamedTuple

import psutil

_SAMPLE_INTERVAL_SECONDS = 2.0
_WARM_SHARE = 0.5
"""After this share of the time, workers have loaded everything they need."""


class MemoryTrend(NamedTuple):
    """Holds the largest worker of a function after warm-up. `mb_per_minute` is the slope."""

    function: str
    workers: int
    seconds: float
    first_mb: float
    last_mb: float
    mb_per_minute: float


@dataclass
class WorkerMemory:
    emulator_pid: int
    _samples: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """Maps functions to pairs of time in seconds and MB of the largest worker."""
    _workers: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    _sampled_at: float = float("-inf")

    def sample(self) -> None:
        """Record the current memory of the workers, at most every two seconds."""
        now = monotonic()
        if now - self._sampled_at < _SAMPLE_INTERVAL_SECONDS:
            return
        self._sampled_at = now
        largest: dict[str, float] = defaultdict(float)
        for child in psutil.Process(self.emulator_pid).children():
            try:
                function = _function(child.cmdline())
                if function:
                    self._workers[function].add(child.pid)
                    largest[function] = max(largest[function], child.memory_info().rss / 1e6)
            except psutil.NoSuchProcess:
                continue
        for function, megabytes in largest.items():
            self._samples[function].append((now, megabytes))

    def trends(self) -> list[MemoryTrend]:
        return [self._trend(function, points) for function, points in sorted(self._samples.items()) if len(points) > 1]

    @property
    def steepest(self) -> float:
        """Return the MB per minute of the function whose workers grow fastest."""
        return max((trend.mb_per_minute for trend in self.trends()), default=0.0)

    def _trend(self, function: str, points: list[tuple[float, float]]) -> MemoryTrend:
        warm = points[min(int(len(points) * _WARM_SHARE), len(points) - 2) :]
        seconds = warm[-1][0] - warm[0][0]
        return MemoryTrend(function, len(self._workers[function]), seconds, warm[0][1], warm[-1][1], _slope(warm) * 60)


def _slope(points: list[tuple[float, float]]) -> float:
    """Return the Theil-Sen estimate, the median slope of all pairs: a single step, such as a late import, is no
    trend."""
    return median((later[1] - earlier[1]) / (later[0] - earlier[0]) for earlier, later in combinations(points, 2))


def _function(arguments: list[str]) -> str | None:
    marker = "ministack-lambda-cupel-"
    named = next((argument for argument in arguments if marker in argument), None)
    return named.partition(marker)[2].partition("-")[0] if named else None
