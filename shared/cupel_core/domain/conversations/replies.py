from dataclasses import replace
from typing import Annotated, NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.codec import INLINE, ROW
from cupel_core.domain.conversations.model_request import Usage


class ReplyVerdict(NamedTuple):
    """A judge's verdict on the conversation up to an answer; `confidence` is from 0 to 1, or None."""

    success_met: bool
    failure_met: bool
    confidence: float | None
    reasoning: str


@dataclass(frozen=True)
class ReplyRecord:
    usage: Annotated[Usage, INLINE]
    duration_ms: int
    cost_usd: float | None
    """None for a model without a known price."""
    verdict: Annotated[ReplyVerdict, ROW] | None = None
    """None for replies that no judge was asked about."""

    def judged(self, verdict: ReplyVerdict) -> "ReplyRecord":
        return replace(self, verdict=verdict)
