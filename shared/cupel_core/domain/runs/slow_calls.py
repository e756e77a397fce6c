"""Selects the calls in flight that are shown in a run's progress: repeats, and those that take long."""

from collections.abc import Iterable
from typing import NamedTuple

from cupel_core.domain.conversations.attempts import AttemptInFlight

SLOW_SECONDS = 30.0
"""A first attempt that has taken longer is shown too."""
MAX_PER_CLAIM = 10
"""A worker reports at most this many calls of a slice, so that its claim stays small."""


class SlowCall(NamedTuple):
    offset: int
    """The offset of the probe in its leaf, or the index of the probe where there are no leaves."""
    attempt: int
    max_attempts: int
    since: int

    def seconds(self, now: float) -> float:
        return max(0.0, now - self.since)


def slow_calls(calls: Iterable[tuple[int, AttemptInFlight]], now: float) -> tuple[SlowCall, ...]:
    """Select at most MAX_PER_CLAIM of the calls in flight, the slowest first; each has its probe's offset."""
    selected = (
        SlowCall(offset, call.attempt, call.max_attempts, round(call.since))
        for offset, call in calls
        if call.attempt > 1 or now - call.since > SLOW_SECONDS
    )
    return tuple(sorted(selected, key=lambda call: (-call.attempt, call.since, call.offset))[:MAX_PER_CLAIM])
