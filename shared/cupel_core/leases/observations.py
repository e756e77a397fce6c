"""What a worker has observed of an account since its last report to the governor."""

from dataclasses import field

from cupel_core.deferred import dataclass
from cupel_core.domain.limits.breaker import CallRecord
from cupel_core.domain.turns.model_request import ProbeErrorCode


@dataclass
class Observations:
    calls: list[CallRecord] = field(default_factory=list)
    attempts: int = 0
    tokens: int = 0
    throttled_until: float = 0.0
    """The latest time (seconds since 1970) until which a throttled call was asked to wait."""
    exhausted_until: float = 0.0
    """The time until which a rate allowance of the account is exhausted, as a successful reply reported."""

    def record(self, call: CallRecord, ended_at: float, retry_after_seconds: float | None) -> None:
        self.calls.append(call)
        if call.code is ProbeErrorCode.RATE_LIMITED and retry_after_seconds:
            self.throttled_until = max(self.throttled_until, ended_at + retry_after_seconds)

    def discard(self, calls: int, attempts: int, tokens: int) -> None:
        """Drop what was reported; what was observed during the report stays."""
        del self.calls[:calls]
        self.attempts -= attempts
        self.tokens -= tokens
