"""Memory of the workers over time: whether the workers of a function grow.

A function has as many workers as it was ever needed at a time, and one that first has work late grows then to what the
others hold. So what counts is the largest of a function's workers at each moment.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from time import monotonic
from typing import NamedTuple

import psutil

_EVERY_SECONDS = 2.0
_WARM_SHARE = 0.5
"""Of the time, in which workers load what they need."""


class Trace(NamedTuple):
    """The largest worker of a function. `mb_a_minute` is the slope of the later, warm time; the figures are of it."""

    function: str
    workers: int
    seconds: float
    first_mb: float
    last_mb: float
    mb_a_minute: float


@dataclass
class Memory:
    emulator_pid: int
    _seen: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """(seconds, MB of the largest) by function."""
    _workers: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    _looked_at: float = float("-inf")

    def look(self) -> None:
        """Notes what the workers hold now; not more often than every two seconds."""
        now = monotonic()
        if now - self._looked_at < _EVERY_SECONDS:
            return
        self._looked_at = now
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
            self._seen[function].append((now, megabytes))

    def traces(self) -> list[Trace]:
        return [self._trace(function, points) for function, points in sorted(self._seen.items()) if len(points) > 1]

    @property
    def steepest(self) -> float:
        """MB a minute of the function whose workers grow most."""
        return max((trace.mb_a_minute for trace in self.traces()), default=0.0)

    def _trace(self, function: str, points: list[tuple[float, float]]) -> Trace:
        warm = points[min(int(len(points) * _WARM_SHARE), len(points) - 2) :]
        seconds = warm[-1][0] - warm[0][0]
        return Trace(function, len(self._workers[function]), seconds, warm[0][1], warm[-1][1], _slope(warm) * 60)


def _slope(points: list[tuple[float, float]]) -> float:
    """By Theil and Sen, the median of all pairs' slopes: something loaded once is a step and no trend."""
    return median((later[1] - earlier[1]) / (later[0] - earlier[0]) for earlier, later in combinations(points, 2))


def _function(arguments: list[str]) -> str | None:
    """Which function a process of the emulator works for; None for other processes."""
    marker = "ministack-lambda-cupel-"
    named = next((argument for argument in arguments if marker in argument), None)
    return named.partition(marker)[2].partition("-")[0] if named else None
