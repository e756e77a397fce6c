"""Totals of one invocation, published as its metrics."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.transcripts import Outcome, ProbeError


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
