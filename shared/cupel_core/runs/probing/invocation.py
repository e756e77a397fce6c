"""One invocation of a worker: its remaining time, its load, its open conversations and its totals."""

import os
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import field
from pathlib import Path

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.worker_capacity import MAX_CALLS, WorkerLoad, WorkerUse, fair_growth, processor_share
from cupel_core.domain.runs.transcripts import Outcome, ProbeError
from cupel_core.store.settings import settings

MARGIN_SECONDS = 6.0
"""Seconds at the end of an invocation that are reserved for the last commit."""
SPARE_SECONDS = 0.5
"""A call that times out ends at least this long before its conversation must."""
MEASURE_SECONDS = 2.0
"""The load is measured over this time, so that the burst at an invocation's start does not count as a lasting load."""
_STATM = Path("/proc/self/statm")
_MB = 1_000_000


class InvocationTime:
    """`ends_at` is the latest end of the invocation, in seconds since 1970 on `clock`."""

    def __init__(self, ends_at: float, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._deadline = ends_at - MARGIN_SECONDS
        # With calls as long as the invocation, no time would be left to start one.
        self.call_timeout_seconds = min(
            settings().call_timeout_seconds, max(0.0, self.remaining_seconds) / 2 - SPARE_SECONDS
        )

    def now(self) -> float:
        return self._clock()

    @property
    def remaining_seconds(self) -> float:
        """Return the seconds until conversations must end."""
        return self._deadline - self._clock()

    @property
    def is_closing(self) -> bool:
        """Return whether a call that starts now might be cut off, though it would be paid for."""
        return self.remaining_seconds < self.call_timeout_seconds + SPARE_SECONDS


@dataclass
class InvocationTotals:
    probes: int = 0
    retries: int = 0
    throttles: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    spent_usd: float = 0.0
    errors: Counter[ProbeErrorCode] = field(default_factory=Counter)

    def add_retry(self, code: ProbeErrorCode) -> None:
        self.retries += 1
        self.throttles += code is ProbeErrorCode.RATE_LIMITED

    def add(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self.probes += 1
            spending = outcome.spending
            usage = spending.total.usage
            self.input_tokens += usage.input_tokens
            self.output_tokens += usage.output_tokens
            self.spent_usd += spending.priced_usd
            if isinstance(outcome, ProbeError):
                self.errors[outcome.code] += 1


class LoadMeter:
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
        (before, used_before), (now, used) = self._last, (self._clock(), self._processor_clock())
        self._last = now, used
        return WorkerLoad((used - used_before) / max(1e-6, now - before) / self._processors, resident_mb())


def resident_mb() -> float:
    """Return the memory of this process in MB, or 0 on systems that do not report it, such as macOS."""
    try:
        pages = int(_STATM.read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB


class OpenConversations:
    """Counts the open conversations, the memory that they use, and how fast they end."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.total = WorkerUse()
        self._clock = clock
        self._by_workspace: dict[str, WorkerUse] = defaultdict(WorkerUse)
        self._ended_at: dict[str, deque[float]] = {}
        """The times when the latest conversations of each workspace ended. The first entry is when the first one
        started."""

    def of(self, workspace: str) -> WorkerUse:
        return self._by_workspace[workspace]

    def start(self, workspace: str, mb: float) -> None:
        self._ended_at.setdefault(workspace, deque([self._clock()], maxlen=MAX_CALLS))
        self._add(workspace, 1, mb)

    def end(self, workspace: str, mb: float) -> None:
        self._ended_at[workspace].append(self._clock())
        self._add(workspace, -1, -mb)

    def seconds_to_end(self, workspace: str, count: int) -> float:
        """Return how many seconds the last `count` conversations of the workspace took to end, or 0 if it has had
        none."""
        ended_at = self._ended_at.get(workspace)
        return self._clock() - ended_at[-min(max(1, count), len(ended_at))] if ended_at else 0.0

    def growth_of(self, workspace: str, capacity: int) -> int:
        return fair_growth(self.of(workspace).conversations, self.total.conversations, capacity)

    def _add(self, workspace: str, conversations: int, mb: float) -> None:
        self.total = self.total.plus(conversations, mb)
        self._by_workspace[workspace] = self._by_workspace[workspace].plus(conversations, mb)
