"""What one invocation has done, by provider: the numbers behind the metrics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.turns.model_request import ErrorCode


@dataclass
class Tally:
    probes: int = 0
    retries: int = 0
    throttles: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    spent_usd: float = 0.0
    errors: Counter[ErrorCode] = field(default_factory=Counter)

    def retried(self, code: ErrorCode) -> None:
        self.retries += 1
        self.throttles += code is ErrorCode.RATE_LIMITED

    def add(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self.probes += 1
            if isinstance(outcome, Transcript):
                self.input_tokens += outcome.dialogue.usage.input_tokens
                self.output_tokens += outcome.dialogue.usage.output_tokens
                self.spent_usd += outcome.dialogue.cost_usd or 0.0
            else:
                self.errors[outcome.code] += 1
