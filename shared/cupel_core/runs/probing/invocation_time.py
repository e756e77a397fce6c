"""Computes how much time an invocation has left for calls and for the last commit."""

from collections.abc import Callable

from cupel_core.store.settings import settings

MARGIN_SECONDS = 6.0
"""This much time at the end of an invocation is reserved for the last commit."""
SPARE_SECONDS = 0.5
"""A call that times out ends at least this long before its conversation must."""


class InvocationTime:
    """`ends_at` is the latest end of the invocation, in seconds since 1970 as `clock` tells them."""

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
        """Return whether a call that starts now might not end in time. A call that is cut off would have been paid
        for."""
        return self.remaining_seconds < self.call_timeout_seconds + SPARE_SECONDS
