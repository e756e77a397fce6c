"""Results that a server of the workspace's own gives: one webhook per assertion, or an evaluator for all at once."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from cupel_core.domain.scoring.assertion_values import written
from cupel_core.domain.scoring.assertions import Assertion, AssertionResult, Tag
from cupel_core.domain.scoring.scoring import is_about_toxicity
from cupel_core.providers.errors import ProviderError
from cupel_core.scoring.assertion_context import Evidence
from cupel_core.scoring.check_result import Outcome, Uncomputable

if TYPE_CHECKING:
    from cupel_core.providers.safe_http import Answer

WEBHOOK_SECONDS = 5.0
"""As long as promptfoo waits."""
EVALUATOR_SECONDS = 30.0
_MAX_RESULTS = 100
_MAX_REASON = 5_000

type Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Judgement(BaseModel):
    passed: Annotated[bool, Field(alias="pass", strict=True)]
    score: Share | None = None
    reason: str | None = None


async def webhook(assertion: Assertion, evidence: Evidence, allow_private: bool) -> Outcome:
    """POSTs `{output, context: {prompt, vars}}`; is answered `{pass, score?, reason?}`."""
    context = {"prompt": evidence.prompt, "vars": dict(evidence.variables)}
    body = {"output": evidence.output, "context": context}
    answer = await _post(assertion.value, body, {}, allow_private, WEBHOOK_SECONDS)
    try:
        judgement = _Judgement.model_validate(_body(answer))
    except ValidationError as error:
        raise Uncomputable(f"the webhook's answer is not understood: {_gist(error)}") from None
    score = float(judgement.passed) if judgement.score is None else judgement.score
    reason = judgement.reason or f"the webhook answered {'pass' if judgement.passed else 'fail'}"
    return Outcome(judgement.passed, score, reason[:_MAX_REASON])


async def _post(
    url: str, body: object, headers: Mapping[str, str], allow_private: bool, timeout_seconds: float
) -> "Answer":
    from cupel_core.providers.safe_http import post_json  # brings aiohttp, a fifth of a cold start

    return await post_json(url, body, headers, timeout_seconds=timeout_seconds, allow_private=allow_private)


def _body(answer: "Answer") -> object:
    if not answer.ok:
        raise Uncomputable(f"it answered HTTP {answer.status}")
    return answer.body


def _gist(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'it'}: {each['msg']}" for each in error.errors()[:3])


class _Finding(BaseModel):
    assertion: Annotated[str, Field(min_length=1, max_length=200)]
    passed: Annotated[bool, Field(alias="pass", strict=True)]
    score: Share | None = None
    details: Any = None
    tag: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class _Evaluation(BaseModel):
    results: Annotated[list[_Finding], Field(max_length=_MAX_RESULTS)]


_EVALUATION = TypeAdapter(_Evaluation)


class External(NamedTuple):
    """`note` says why there are no results, where there should be."""

    results: tuple[AssertionResult, ...] = ()
    note: str | None = None


async def evaluate_outside(
    url: str,
    headers: Mapping[str, str],
    evidence: Evidence,
    *,
    allow_private: bool,
    timeout_seconds: float = EVALUATOR_SECONDS,
) -> External:
    """POSTs `{conversationId, transcript, goal}`; is answered `{results: [{assertion, pass, score?, details?}]}`."""
    transcript = [{"role": str(message.role), "content": message.content} for message in evidence.exchanges]
    body = {"conversationId": evidence.conversation_id, "transcript": transcript, "goal": evidence.goal}
    try:
        answer = await _post(url, body, headers, allow_private, timeout_seconds)
        evaluation = _EVALUATION.validate_python(_body(answer))
    except ProviderError as error:
        return External(note=f"the external evaluator could not be asked: {error.message}")
    except Uncomputable as error:
        return External(note=f"the external evaluator could not be asked: {error}")
    except ValidationError as error:
        return External(note=f"the external evaluator's answer is not understood: {_gist(error)}")
    return External(tuple(map(_result, evaluation.results)))


def _result(finding: _Finding) -> AssertionResult:
    details = "" if finding.details is None else written(finding.details)
    failure = finding.tag or (Tag.TOXICITY if is_about_toxicity(finding.assertion) else Tag.GOAL_MISS)
    return AssertionResult(
        type=finding.assertion,
        passed=finding.passed,
        score=float(finding.passed) if finding.score is None else finding.score,
        reason=details[:_MAX_REASON],
        tag=None if finding.passed else failure,
        source="external",
    )
