"""Results of probes: verdicts, assertions and scores, and what producing them cost."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cupel_core.contract.common import ResponseModel, read_from
from cupel_core.contract.content_parts import ContentPartResponse
from cupel_core.contract.left_out_checks import LeftOutCounts
from cupel_core.contract.unscored import UnscoredCauseResponse
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.replies import ReplyRecord
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.scoring.assertions import AssertionResult

CostUsd = Annotated[float | None, Field(description="In US dollars; null for a model without a known price")]
RetryHelps = Annotated[
    bool, Field(description="Whether a retry of the run may end otherwise: false for a request that is refused again")
]
MESSAGES_DESCRIPTION = "The definition's system prompt, and what the user and the target said; sent to the target as is"
SimulatedUserPrompt = Annotated[
    str | None,
    Field(
        description="System prompt made of the persona and the scenario's `instructions`, by which a model wrote user "
        "messages; never sent to the target. Null if no model did"
    ),
]


def _is_none(value: object) -> bool:
    return value is None


class ToolCallResponse(ResponseModel):
    id: str
    """Example: call_1"""
    name: str
    """Example: find_order"""
    arguments: str
    """Arguments as the model wrote them; not necessarily valid JSON. Example: "{\\"number\\":\\"A-17\\"}" """


class TokenUsageResponse(ResponseModel):
    input_tokens: int
    """Tokens of prompts. Example: 412"""
    output_tokens: int
    """Tokens of answers. Example: 96"""
    cached_input_tokens: int
    """Input tokens read from the provider's prompt cache; they cost less. Example: 128"""
    cache_write_tokens: int
    """Input tokens written to the provider's prompt cache. Example: 0"""
    unreported_calls: Annotated[int, Field(default=0)]
    """Calls whose usage nobody reported; their tokens are in none of the counts. Example: 0"""


class ReplyVerdictResponse(ResponseModel):
    """A judge's decision on the conversation up to an answer."""

    success_met: bool
    """True if the success criteria are met. Example: true"""
    failure_met: bool
    """True if the failure criteria are met. Example: false"""
    confidence: float | None
    """Confidence from 0 to 1, as the judge states it; null if it does not. Example: 0.9"""
    reasoning: str
    """The judge's reasons."""


class ReplyResponse(ResponseModel):
    """Usage, duration, cost and verdict of a reply of the target."""

    usage: TokenUsageResponse
    duration_ms: int
    """Duration in milliseconds."""
    cost_usd: CostUsd
    verdict: ReplyVerdictResponse | None
    """Null if no judge was asked about the conversation up to here."""


class MessageResponse(ResponseModel):
    role: MessageRole
    """Who says it."""
    content: str | list[ContentPartResponse]
    """A text, or parts with images or files. Example: You can return it within 30 days."""
    tool_calls: Annotated[list[ToolCallResponse] | None, Field(exclude_if=_is_none)] = None
    """Functions that the assistant called; absent if none."""
    tool_call_id: Annotated[str | None, Field(exclude_if=_is_none)] = None
    """Id of the call that a tool's result answers; otherwise absent. Example: call_1"""
    is_error: Annotated[bool | None, Field(exclude_if=_is_none)] = None
    """True of a tool's result that says why the call failed, else absent. Example: true"""
    reasoning: Annotated[str | None, Field(exclude_if=_is_none)] = None
    """The assistant's notes to itself: neither graded nor sent back; absent without any."""
    reply: Annotated[ReplyResponse | None, Field(exclude_if=_is_none)] = None
    """Usage, duration, cost and verdict of a reply of the target; absent of other messages."""

    @classmethod
    def of(cls, message: Message, record: ReplyRecord | None = None) -> "MessageResponse":
        return cls.from_value(
            message,
            content=[ContentPartResponse.of(part) for part in message.parts] or message.content,
            tool_calls=message.tool_calls or None,
            is_error=message.is_error or None,
            reasoning=message.reasoning or None,
            reply=record,
        )

    @classmethod
    def list_of(cls, conversation: ConversationState) -> "list[MessageResponse]":
        records = conversation.reply_records
        return [cls.of(message, records.get(position)) for position, message in enumerate(conversation.messages)]


class SpendResponse(ResponseModel):
    calls: int
    """Number of model calls."""
    usage: TokenUsageResponse
    cost_usd: CostUsd
    uncertain_usd: float
    """What calls that timed out or gave no answer may have cost besides."""


class CostByRoleResponse(ResponseModel):
    """This is what the models cost that were called for one purpose."""

    role: ModelRole
    """Role of the models; judges include summaries."""
    calls: int
    """Number of their calls; roles without calls are left out."""
    cost_usd: float | None
    """Cost in US dollars; null if a price is unknown."""


RoleCosts = Annotated[
    list[CostByRoleResponse], Field(description="What the calls cost, by what the models were called for")
]


class ProbeResultResponse(ResponseModel):
    success: bool
    """True if it passed."""
    score: float | None
    """Score from 0 to 1."""
    reason: str | None


class VerdictResponse(ReplyVerdictResponse):
    """A judge's decision on success and failure criteria."""

    raw_response: str
    """The judge's reply as it was received."""


class UnusableJudgementResponse(ResponseModel):
    """A judge gave this reply in place of a verdict."""

    problem: str
    """Problem of the reply. Example: pass: Field required"""
    reply: str
    """The last reply, at most 2,000 characters of it.

    Example: "{\\"score\\": 0.9, \\"reason\\": \\"It explains the limit.\\"}"
    """


def _part(result: AssertionResult | dict[str, Any]) -> dict[str, Any]:
    return result if isinstance(result, dict) else encode(result)


class AssertionResultResponse(ResponseModel):
    type: str
    """Type of the assertion; see docs/assertions.md. Example: contains"""
    passed: bool | None
    """Null if it could not be computed; `error` then says why. Example: true"""
    score: float | None
    """Score from 0 to 1."""
    reason: str
    weight: float
    """Weight of the result in the score. Example: 1.0"""
    metric: str | None
    """Example: brevity"""
    tag: str | None
    """Failure category."""
    error: str | None
    source: str
    """`cupel`, or `external` for an external evaluator. Example: cupel"""
    parts: list[Annotated[dict[str, Any], BeforeValidator(_part)]]
    """Results of the members of an assertion set. Example: []"""
    cause: UnscoredCauseResponse | None
    """Cause why it could not be computed; null if it was."""

    unusable_reply: Annotated[UnusableJudgementResponse | None, Field(exclude_if=_is_none)] = None
    """Set if the error is an unusable reply of the judge; otherwise absent."""


class ScoringResponse(ResponseModel):
    success: bool | None
    """Null if a weighted result could not be computed, or if there is no result."""
    score: float | None
    """Score from 0 to 1."""
    reason: str
    results: list[AssertionResultResponse]
    """Result of each assertion."""
    tags: list[str]
    """Failure categories."""
    metrics: dict[str, float]
    """Scores by the name of their metric. Example: {"brevity": 0.95}"""
    evaluator_note: str | None
    """Reason why the external evaluator's result is missing. Example: the evaluator returned no score"""
    left_out_checks: Annotated[LeftOutCounts, read_from("left_out")]
