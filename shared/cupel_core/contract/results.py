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
    name: str
    arguments: Annotated[str, Field(description="As the model wrote them; not necessarily valid JSON")]


class TokenUsageResponse(ResponseModel):
    input_tokens: int
    output_tokens: int
    cached_input_tokens: Annotated[
        int, Field(description="Of the input tokens, those that the provider's cache of prompts had; they cost less")
    ]
    cache_write_tokens: Annotated[
        int, Field(description="Of the input tokens, those that the provider has written to its cache of prompts")
    ]
    unreported_calls: Annotated[
        int, Field(description="Calls whose usage nobody reported; their tokens are in none of the counts", default=0)
    ]


class ReplyVerdictResponse(ResponseModel):
    """A judge's decision on the conversation up to an answer."""

    success_met: bool
    failure_met: bool
    confidence: Annotated[float | None, Field(description="From 0 to 1, as the judge states it; null if it does not")]
    reasoning: str


class ReplyResponse(ResponseModel):
    """What a reply of the target used and took."""

    usage: TokenUsageResponse
    duration_ms: int
    cost_usd: CostUsd
    verdict: Annotated[
        ReplyVerdictResponse | None, Field(description="Null if no judge was asked about the conversation up to here")
    ]


class MessageResponse(ResponseModel):
    role: MessageRole
    content: Annotated[str | list[ContentPartResponse], Field(description="A text, or parts with images or files")]
    tool_calls: Annotated[
        list[ToolCallResponse] | None,
        Field(exclude_if=_is_none, description="Functions that the assistant called; absent if none"),
    ] = None
    tool_call_id: Annotated[
        str | None,
        Field(exclude_if=_is_none, description="Of a tool's result: the call that it answers; otherwise absent"),
    ] = None
    is_error: Annotated[
        bool | None,
        Field(exclude_if=_is_none, description="True of a tool's result that says why the call failed, else absent"),
    ] = None
    reasoning: Annotated[
        str | None,
        Field(
            exclude_if=_is_none,
            description="What the assistant wrote to itself: neither graded nor sent back; absent if nothing",
        ),
    ] = None
    reply: Annotated[
        ReplyResponse | None,
        Field(
            exclude_if=_is_none,
            description="Usage, duration, cost and verdict of a reply of the target; absent of other messages",
        ),
    ] = None

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
    calls: Annotated[int, Field(description="Number of model calls")]
    usage: TokenUsageResponse
    cost_usd: CostUsd
    uncertain_usd: Annotated[
        float, Field(description="What calls that timed out or gave no answer may have cost besides")
    ]


class CostByRoleResponse(ResponseModel):
    """This is what the models cost that were called for one purpose."""

    role: Annotated[ModelRole, Field(description="What they were called for; judges include summaries")]
    calls: Annotated[int, Field(description="Number of their calls; roles without calls are left out")]
    cost_usd: Annotated[float | None, Field(description="In US dollars; null if a price is unknown")]


RoleCosts = Annotated[
    list[CostByRoleResponse], Field(description="What the calls cost, by what the models were called for")
]


class ProbeResultResponse(ResponseModel):
    success: bool
    score: Annotated[float | None, Field(description="From 0 to 1")]
    reason: str | None


class VerdictResponse(ReplyVerdictResponse):
    """A judge's decision on success and failure criteria."""

    raw_response: Annotated[str, Field(description="The judge's reply as it was received")]


class UnusableJudgementResponse(ResponseModel):
    """A judge gave this reply in place of a verdict."""

    problem: Annotated[str, Field(description="What is wrong with the reply")]
    reply: Annotated[str, Field(description="The last reply, at most 2,000 characters of it")]


def _part(result: AssertionResult | dict[str, Any]) -> dict[str, Any]:
    return result if isinstance(result, dict) else encode(result)


class AssertionResultResponse(ResponseModel):
    type: str
    passed: Annotated[bool | None, Field(description="Null if it could not be computed; `error` then says why")]
    score: Annotated[float | None, Field(description="From 0 to 1")]
    reason: str
    weight: float
    metric: str | None
    tag: Annotated[str | None, Field(description="Failure category")]
    error: str | None
    source: Annotated[str, Field(description="`cupel`, or `external` for an external evaluator")]
    parts: Annotated[
        list[Annotated[dict[str, Any], BeforeValidator(_part)]],
        Field(description="Results of the members of an assertion set"),
    ]
    cause: Annotated[
        UnscoredCauseResponse | None,
        Field(
            description="Why it could not be computed; null if it was",
        ),
    ]

    unusable_reply: Annotated[
        UnusableJudgementResponse | None,
        Field(exclude_if=_is_none, description="Set if the error is an unusable reply of the judge; otherwise absent"),
    ] = None


class ScoringResponse(ResponseModel):
    success: Annotated[
        bool | None, Field(description="Null if a weighted result could not be computed, or if there is no result")
    ]
    score: Annotated[float | None, Field(description="From 0 to 1")]
    reason: str
    results: list[AssertionResultResponse]
    tags: Annotated[list[str], Field(description="Failure categories")]
    metrics: dict[str, float]
    evaluator_note: Annotated[str | None, Field(description="Why the external evaluator's result is missing")]
    left_out_checks: Annotated[LeftOutCounts, read_from("left_out")]
