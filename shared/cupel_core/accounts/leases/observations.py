"""Collects what a worker has observed of an account since its last report to the governor."""

from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.limits.breaker import CallRecord


@dataclass
class Observations:
    calls: list[CallRecord] = field(default_factory=list)
    attempts: int = 0
    tokens: int = 0
    exhausted: dict[str, float] = field(default_factory=dict)
    """It maps a model to the Unix time until which its rate allowance is used up, as a reply reported."""

    def discard(self, calls: int, attempts: int, tokens: int) -> None:
        """Drop what was reported; what was observed during the report stays."""
        del self.calls[:calls]
        self.attempts -= attempts
        self.tokens -= tokens
