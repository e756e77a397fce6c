"""When a worker reports to the account of a budget."""

from math import inf

REPORT_SECONDS = 60.0
"""A worker that has drawn or spent anything reports at least as often."""
_MIN_INTERVAL_SECONDS = 0.2
_FIRST_RETRY_SECONDS, _MAX_DOUBLINGS = 1.0, 3


class ReportTimes:
    def __init__(self) -> None:
        self._reported_at = -inf
        self._next_at = -inf
        self._retries = 0

    def may_report(self, now: float) -> bool:
        return now >= self._next_at

    def is_due(self, now: float) -> bool:
        """Whether the lease must be renewed."""
        return now - self._reported_at >= REPORT_SECONDS

    def note_report(self, now: float) -> None:
        self._reported_at = now

    def note_grant(self, now: float) -> None:
        self._next_at, self._retries = now + _MIN_INTERVAL_SECONDS, 0

    def retry_later(self, now: float) -> None:
        """Nothing was granted: ask again after 1, 2, 4, 8, 8, … seconds."""
        self._next_at = now + _FIRST_RETRY_SECONDS * (1 << self._retries)
        self._retries = min(_MAX_DOUBLINGS, self._retries + 1)

    def reset(self) -> None:
        self._next_at, self._retries = -inf, 0
