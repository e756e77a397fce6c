"""Probes with their messages, and corrections of their results."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import RequestModel, ResponseModel, example, read_from
from cupel_core.contract.fields import Flag
from cupel_core.contract.results import MESSAGES_DESCRIPTION, MessageResponse, SimulatedUserPrompt
from cupel_core.contract.run_probes import ProbeResponse
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.runs.transcripts import TranscriptResult
from cupel_core.domain.runs.views import ProbeView


class ProbeOrder(StrEnum):
    OLDEST = "oldest"
    NEWEST = "newest"


class FailedCallResponse(ResponseModel):
    attempts: Annotated[int, read_from("number")]
    """Attempts of the call that have failed so far, over all workers."""
    code: ProbeErrorCode
    message: str
    """Message of the last failure."""


class ProbeDetailResponse(ProbeResponse):
    eval_id: Annotated[str | None, read_from("run.eval_id")]
    execution_id: Annotated[int | None, read_from("run.execution_id")]
    """Sequence number of the eval run within the workspace. Example: 17"""
    messages: Annotated[list[MessageResponse], Field(description=f"{MESSAGES_DESCRIPTION}, as far as it is known")]
    """Example: [{"role": "user", "content": "I want my money back."}, {"role": "assistant", "content": "You can return
    it within 30 days."}]"""
    simulated_user_prompt: SimulatedUserPrompt
    """Example: You are an impatient customer."""
    output: dict[str, Any] | None
    """The last answer that is the requested JSON object and satisfies its schema, or what an agent returned besides its
    message.

    Example: {"answer": "You can return it within 30 days."}
    """
    repeated_calls: list[FailedCallResponse]
    """Calls of a running probe that have failed and are attempted again.

    Example: [{"attempts": 1, "code": "timeout", "message": "no response within 120 s"}]
    """

    @classmethod
    def fields_of(cls, view: ProbeView) -> dict[str, Any]:
        conversation = view.conversation
        return {
            **super().fields_of(view),
            "messages": MessageResponse.list_of(conversation) if conversation else [],
            "simulated_user_prompt": conversation.simulated_user_prompt if conversation else None,
            "output": (conversation.output or None) if conversation else None,
        }


class ProbeDetailPage(ResponseModel):
    items: list[ProbeDetailResponse]
    next_cursor: str | None


class ProbeResultInput(RequestModel):
    success: Flag
    """True if it passed."""
    score: Annotated[float | None, Field(ge=0, le=1)] = None
    """Score from 0 to 1; null for none."""
    reason: Annotated[str | None, Field(max_length=5_000)] = None


class CorrectProbe(RequestModel):
    """A human result that overrides the graders'; null removes the override."""

    model_config = example(
        {"result": {"success": False, "score": 0.2, "reason": "The agent named the wrong time limit."}}
    )

    result: ProbeResultInput | None
    """Verdict with score and reason; null if nothing was judged."""

    def correction(self) -> TranscriptResult | None:
        if self.result is None:
            return None
        return TranscriptResult(self.result.success, self.result.score, self.result.reason)
