"""What a worker has seen of an account since it last told the governor."""

from dataclasses import dataclass, field

from cupel_core.domain.limits.breaker import Call
from cupel_core.domain.turns.model_request import ErrorCode


@dataclass
class Sight:
    calls: list[Call] = field(default_factory=list)
    attempts: int = 0
    tokens: int = 0
    asked_until: float = 0.0
    """When the last throttled call was told to come again."""
    spent_until: float = 0.0
    """Until then an allowance of the account is spent, as an answered call told."""

    def note(self, call: Call, ended_at: float, retry_after: float | None) -> None:
        self.calls.append(call)
        if call.code is ErrorCode.RATE_LIMITED and retry_after:
            self.asked_until = max(self.asked_until, ended_at + retry_after)

    def forget(self, calls: int, attempts: int, tokens: int) -> None:
        """Takes away what was told; what came while it was being told stays."""
        del self.calls[:calls]
        self.attempts -= attempts
        self.tokens -= tokens
