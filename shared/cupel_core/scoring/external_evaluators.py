"""Gets results from the workspace's own servers: one webhook per assertion, or one evaluator for a whole
conversation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.scoring.assertion_values import to_text
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, FailureTag
from cupel_core.domain.scoring.scoring import is_about_toxicity
from cupel_core.domain.scoring.unscored import UnscoredCode
from cupel_core.domain.text.validation_messages import error_message
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.check_result import CheckResult, NotComputable

if TYPE_CHECKING:
    from cupel_core.providers.safe_http import HttpResponse

WEBHOOK_TIMEOUT_SECONDS = 5.0
"""Promptfoo's timeout."""
EVALUATOR_TIMEOUT_SECONDS = 30.0
_MAX_RESULTS = 100
_MAX_REASON_LENGTH = 5_000

type UnitScore = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _WebhookReply(BaseModel):
    passed: Annotated[bool, Field(alias="pass", strict=True)]
    score: UnitScore | None = None
    reason: str | None = None


async def webhook(assertion: Assertion, context: AssertionContext, allow_private: bool) -> CheckResult:
    """POST `{output, context: {prompt, vars}}`; the response is `{pass, score?, reason?}`."""
    body = {"output": context.output, "context": {"prompt": context.prompt, "vars": dict(context.variables)}}
    try:
        response = await _post(assertion.value, body, {}, allow_private, WEBHOOK_TIMEOUT_SECONDS)
    except ProviderError as error:
        raise NotComputable(error.message, UnscoredCode.EVALUATOR) from error
    try:
        reply = _WebhookReply.model_validate(_body(response))
    except ValidationError as error:
        raise NotComputable(f"the webhook's response is invalid: {_describe(error)}", UnscoredCode.EVALUATOR) from None
    score = float(reply.passed) if reply.score is None else reply.score
    reason = reply.reason or f"the webhook responded with {'pass' if reply.passed else 'fail'}"
    return CheckResult(reply.passed, score, reason[:_MAX_REASON_LENGTH])


async def _post(
    url: str, body: object, headers: Mapping[str, str], allow_private: bool, timeout_seconds: float
) -> "HttpResponse":
    from cupel_core.providers.safe_http import post_json  # imports aiohttp, a fifth of a cold start

    return await post_json(url, body, headers, timeout_seconds=timeout_seconds, allow_private=allow_private)


def _body(response: "HttpResponse") -> object:
    if not response.ok:
        raise NotComputable(f"the server responded with HTTP {response.status}", UnscoredCode.EVALUATOR)
    return response.body


def _describe(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, problem['loc'])) or 'it'}: {error_message(problem)}" for problem in error.errors()[:3]
    )


class _EvaluatorResult(BaseModel):
    assertion: Annotated[str, Field(min_length=1, max_length=200)]
    passed: Annotated[bool, Field(alias="pass", strict=True)]
    score: UnitScore | None = None
    details: Any = None
    tag: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class _EvaluatorReply(BaseModel):
    results: Annotated[list[_EvaluatorResult], Field(max_length=_MAX_RESULTS)]


_EVALUATOR_REPLY = TypeAdapter(_EvaluatorReply)


class ExternalResults(NamedTuple):
    """`note` says why results are missing."""

    results: tuple[AssertionResult, ...] = ()
    note: str | None = None


async def evaluate_externally(
    url: str,
    headers: Mapping[str, str],
    context: AssertionContext,
    *,
    allow_private: bool,
    timeout_seconds: float = EVALUATOR_TIMEOUT_SECONDS,
) -> ExternalResults:
    """POST `{conversationId, transcript, goal}`; the response is `{results: [{assertion, pass, score?, details?}]}`. No
    error is raised: it becomes the note of empty results."""
    transcript = [_shown(message) for message in context.messages_without_system]
    body = {"conversationId": context.conversation_id, "transcript": transcript, "goal": context.goal}
    try:
        response = await _post(url, body, headers, allow_private, timeout_seconds)
        reply = _EVALUATOR_REPLY.validate_python(_body(response))
    except ProviderError as error:
        return ExternalResults(note=f"the external evaluator could not be called: {error.message}")
    except NotComputable as error:
        return ExternalResults(note=f"the external evaluator could not be called: {error}")
    except ValidationError as error:
        return ExternalResults(note=f"the external evaluator's response is invalid: {_describe(error)}")
    return ExternalResults(tuple(map(_assertion_result, reply.results)))


def _shown(message: Message) -> dict[str, Any]:
    """Return the message as in transcripts, with tool calls and results, but without fields that only the provider
    uses."""
    calls = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls]
    return {**message.without_reasoning.to_json(), **({"toolCalls": calls} if calls else {})}


def _assertion_result(result: _EvaluatorResult) -> AssertionResult:
    details = "" if result.details is None else to_text(result.details)
    failure_tag = result.tag or (FailureTag.TOXICITY if is_about_toxicity(result.assertion) else FailureTag.GOAL_MISS)
    return AssertionResult(
        type=result.assertion,
        passed=result.passed,
        score=float(result.passed) if result.score is None else result.score,
        reason=details[:_MAX_REASON_LENGTH],
        tag=None if result.passed else failure_tag,
        source="external",
    )
