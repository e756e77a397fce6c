"""A `ReplyRecord` says what a single reply of a target used and took, and what a judge decided on it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Usage


class ReplyVerdict(NamedTuple):
    """A judge's verdict on the conversation up to an answer; `confidence` is from 0 to 1, or None."""

    success_met: bool
    failure_met: bool
    confidence: float | None
    reasoning: str


@dataclass(frozen=True)
class ReplyRecord:
    usage: Usage
    duration_ms: int
    cost_usd: float | None
    """It is None for a model without a known price."""
    verdict: ReplyVerdict | None = None
    """It is None for replies that no judge was asked about."""

    def judged(self, verdict: ReplyVerdict) -> "ReplyRecord":
        return replace(self, verdict=verdict)

    def to_json(self) -> dict[str, Any]:
        verdict = {"verdict": list(self.verdict)} if self.verdict else {}
        return {**self.usage.to_json(), "durationMs": self.duration_ms, "costUsd": self.cost_usd, **verdict}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ReplyRecord":
        verdict = ReplyVerdict(*data["verdict"]) if "verdict" in data else None
        return cls(Usage.from_json(data), data["durationMs"], data["costUsd"], verdict)
