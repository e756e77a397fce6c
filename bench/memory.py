"""Memory of the workers over time: whether one grows."""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import linear_regression
from time import monotonic
from typing import NamedTuple

import psutil

_EVERY_SECONDS = 2.0
_WARM_SHARE = 0.3
"""Of a worker's time, in which it loads what it needs."""
_FEW = 15


class Trace(NamedTuple):
    """One process; the slope is that of its later, warm time."""

    worker: str
    seconds: float
    first_mb: float
    last_mb: float
    mb_a_minute: float


@dataclass
class Memory:
    emulator_pid: int
    _seen: dict[tuple[int, str], list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """(seconds, MB) by process id and function."""
    _looked_at: float = float("-inf")

    def look(self) -> None:
        """Notes what each worker holds now; not more often than every two seconds."""
        now = monotonic()
        if now - self._looked_at < _EVERY_SECONDS:
            return
        self._looked_at = now
        for child in psutil.Process(self.emulator_pid).children():
            try:
                function = _function(child.cmdline())
                if function:
                    self._seen[child.pid, function].append((now, child.memory_info().rss / 1e6))
            except psutil.NoSuchProcess:
                continue

    def traces(self) -> list[Trace]:
        """Of every process that was seen often enough to tell."""
        return [
            _trace(f"{function} {pid}", points) for (pid, function), points in self._seen.items() if len(points) >= _FEW
        ]

    @property
    def steepest(self) -> float:
        """MB a minute of the worker that grows most."""
        return max((trace.mb_a_minute for trace in self.traces()), default=0.0)


def _trace(worker: str, points: list[tuple[float, float]]) -> Trace:
    warm = points[int(len(points) * _WARM_SHARE) :]
    slope = linear_regression([at for at, _ in warm], [mb for _, mb in warm]).slope * 60
    return Trace(worker, points[-1][0] - points[0][0], warm[0][1], points[-1][1], slope)


def _function(arguments: list[str]) -> str | None:
    """Which function a process of the emulator works for; None for other processes."""
    marker = "ministack-lambda-cupel-"
    named = next((argument for argument in arguments if marker in argument), None)
    return named.partition(marker)[2].partition("-")[0] if named else None
