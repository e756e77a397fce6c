"""Lets a judge model evaluate a conversation by success and failure criteria."""

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from cupel_core.domain.conversations.conversation import Criteria, Verdict
from cupel_core.domain.conversations.material import messages_material, reading_request
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertions import AssertionResult
from cupel_core.domain.scoring.scoring import CRITERIA
from cupel_core.domain.text.storable import storable
from cupel_core.scoring.grading.grader import Grader, GraderError, GraderReply, request_structured
from cupel_core.scoring.grading.replies import StructuredReply, read_reply
from cupel_core.scoring.grading.reply_values import MAX_REASON_LENGTH, OptionalFlag, explanation, number_on, required

_INSTRUCTIONS = """You judge the "conversation" between a user and an assistant. Judge the assistant by these criteria
and nothing else.

Success criteria: {success}

Failure criteria: {failure}

Answer with one JSON object. "successMet": whether the success criteria are met by now; "failureMet": whether the
failure criteria are met by now; both are false while the conversation has not shown it, and a criterion that is (none)
is never met. "confidence": from 0 to 1, how sure you are of both. "reasoning": one to three sentences that name what in
the conversation decided it."""
_NONE = "(none)"


MAX_ERROR_LENGTH = 5_000
"""An error has at most this many characters, as the errors of assertions do."""
MAX_RAW_LENGTH = 20_000
"""The judge's reply is stored with its verdict, cut to this many characters."""


def _confidence(value: Any) -> float | None:
    """Read the judge's confidence, which is no part of the verdict; None if it is missing or on an unknown scale."""
    try:
        confidence = number_on(0, 1)(value)
    except ValueError:
        return None
    return confidence if confidence is not None and 0 <= confidence <= 1 else None


class _CriteriaReply(StructuredReply):
    model_config = ConfigDict(alias_generator=to_camel)
    explanations: ClassVar[frozenset[str]] = frozenset({"confidence", "reasoning"})
    optional: ClassVar[frozenset[str]] = frozenset({"successMet", "failureMet"})
    """A field has no effect if it is not a criterion of the scenario."""

    success_met: Annotated[OptionalFlag, Field()]
    failure_met: Annotated[OptionalFlag, Field()]
    confidence: Annotated[
        float | None,
        BeforeValidator(_confidence),
        WithJsonSchema({"maximum": 1, "minimum": 0, "type": "number"}),
    ]
    reasoning: Annotated[str, Field(min_length=1, max_length=MAX_REASON_LENGTH), explanation(MAX_REASON_LENGTH)]


async def evaluate_criteria(
    grader: Grader, messages: tuple[Message, ...], criteria: Criteria, interrupted: list[Spend] | None = None
) -> GraderReply[Verdict]:
    """Judge a conversation by criteria. Raises GraderError, and returns no verdict, when the judge gives no usable
    reply. `interrupted` is that of `request_structured`."""
    instructions = _INSTRUCTIONS.format(success=criteria.success or _NONE, failure=criteria.failure or _NONE)
    request = reading_request(instructions, {"conversation": messages_material(_without_system(messages))})

    def verdict_of(judged: _CriteriaReply) -> _Met:
        success = required("successMet", judged.success_met) if criteria.success else False
        failure = required("failureMet", judged.failure_met) if criteria.failure else False
        return _Met(success, failure)

    reply = await request_structured(
        grader, request, _CriteriaReply, interrupted, partial(read_reply, verdict_of=verdict_of)
    )
    met, judged = verdict_of(reply.value), reply.value
    raw = storable(reply.raw, MAX_RAW_LENGTH)
    verdict = Verdict(met.success, met.failure, judged.confidence, judged.reasoning, raw)
    return GraderReply(verdict, raw, reply.spend)


class _Met(NamedTuple):
    success: bool
    failure: bool


def unjudged_result(error: GraderError) -> AssertionResult:
    """Return the result that replaces a verdict that the judge did not give."""
    reason = storable(error.detail, MAX_ERROR_LENGTH)
    return replace(AssertionResult.uncomputed(CRITERIA, reason, error.cause), unusable_reply=error.unusable_reply)


def _without_system(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    return tuple(message for message in messages if message.role is not MessageRole.SYSTEM)
