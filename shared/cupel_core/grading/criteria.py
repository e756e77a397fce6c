"""A judge model evaluates a conversation by success and failure criteria."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from cupel_core.domain.turns.conversation import Criteria, Verdict
from cupel_core.domain.turns.material import messages_material, reading_request
from cupel_core.domain.turns.model_request import Message, MessageRole
from cupel_core.domain.turns.spend import Spend
from cupel_core.grading.grader import Grader, GraderReply, request_structured

_INSTRUCTIONS = """You judge the "conversation" between a user and an assistant. Judge the assistant by these criteria
and nothing else.

Success criteria: {success}

Failure criteria: {failure}

Answer with one JSON object. "successMet": whether the success criteria are met by now; "failureMet": whether the
failure criteria are met by now; both are false while the conversation has not shown it, and a criterion that is (none)
is never met. "confidence": from 0 to 1, how sure you are of both. "reasoning": one to three sentences that name what in
the conversation decided it."""
_NONE = "(none)"


class _CriteriaReply(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, defer_build=True)

    success_met: Annotated[bool, Field(strict=True)]
    failure_met: Annotated[bool, Field(strict=True)]
    confidence: Annotated[float, Field(ge=0, le=1)]
    reasoning: Annotated[str, Field(min_length=1, max_length=5_000)]


async def evaluate_criteria(
    grader: Grader, messages: tuple[Message, ...], criteria: Criteria, interrupted: list[Spend] | None = None
) -> GraderReply[Verdict]:
    """Judge a conversation by criteria. Raises GraderError, never a verdict, when the judge gives no usable reply.

    `interrupted` is that of `request_structured`.
    """
    instructions = _INSTRUCTIONS.format(success=criteria.success or _NONE, failure=criteria.failure or _NONE)
    request = reading_request(instructions, {"conversation": messages_material(_without_system(messages))})
    reply = await request_structured(grader, request, _CriteriaReply, interrupted)
    judged = reply.value
    verdict = Verdict(
        success_met=judged.success_met and bool(criteria.success),
        failure_met=judged.failure_met and bool(criteria.failure),
        confidence=judged.confidence,
        reasoning=judged.reasoning,
        raw_response=reply.raw,
    )
    return GraderReply(verdict, reply.raw, reply.spend)


def _without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.role is not MessageRole.SYSTEM)
