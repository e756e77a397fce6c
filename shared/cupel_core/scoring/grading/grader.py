"""Calls models other than the target: for a verdict, a score, or a simulated user's next message."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import StrEnum
from functools import partial
from random import Random
from typing import NamedTuple

from pydantic import ValidationError

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_parameters import ResponseFormat
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.scoring.assertions import UnusableJudgement
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode
from cupel_core.domain.text.control_characters import single_line
from cupel_core.domain.text.storable import storable
from cupel_core.providers import prices
from cupel_core.providers.account import Account
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.providers.call_guard import CallGuard, no_guard
from cupel_core.providers.completion import Attempt, complete, complete_with_retry
from cupel_core.providers.embeddings import EmbedAttempt, embed
from cupel_core.providers.errors import NO_REPLY, ProviderError, RetryLater
from cupel_core.providers.reservations import spend_of_failure
from cupel_core.scoring.grading.replies import StructuredReply, UnusableReply, problem_of, read_reply


class GraderRole(StrEnum):
    """Names a purpose for which a model is called, as error messages do."""

    JUDGE = "judge"
    SIMULATED_USER = "simulated user"
    SUMMARIZER = "summarizer"
    NARRATOR = "writer of the narrative"

    @property
    def error_code(self) -> ProbeErrorCode:
        is_user = self is GraderRole.SIMULATED_USER
        return ProbeErrorCode.SIMULATED_USER_ERROR if is_user else ProbeErrorCode.JUDGE_ERROR


@dataclass(frozen=True)
class Grader:
    """Contains a model and how to call it. `guard` surrounds every attempt: it may wait, and raise to prevent the
    call."""

    account: Account
    model: str
    timeout_seconds: float
    max_wait_seconds: float
    rng: Random
    attempt: Attempt = complete
    embed_attempt: EmbedAttempt = embed
    guard: CallGuard = no_guard
    role: GraderRole = GraderRole.JUDGE
    model_role: ModelRole = ModelRole.JUDGE
    max_attempts: int = MAX_ATTEMPTS
    log: AttemptLog = field(default_factory=AttemptLog)
    """The failed attempts of the calls that the grader is part of."""
    max_output_tokens: int | None = None


class GraderReply[T](NamedTuple):
    value: T
    raw: str
    """`value` was parsed from this text of the reply."""
    spend: Spend
    finish_reason: str | None = None


class GraderError(ProviderError):
    """The judge or simulated user failed, or its reply was unusable. The error says nothing about the target. `cause`
    says why the check stays unscored."""

    unusable_reply: UnusableJudgement | None = None
    """The model's reply and its problem; None if the call failed."""

    def __init__(
        self, role: GraderRole, message: str, spend: Spend, attempts: int = 1, cause: UnscoredCause | None = None
    ) -> None:
        super().__init__(role.error_code, message, attempts=attempts)
        self.title = f"The {role} failed"
        self.spend: Spend = spend
        self.cause: UnscoredCause = cause or UnscoredCause(UnscoredCode.JUDGE_REPLY)

    @classmethod
    def of_reply(cls, grader: "Grader", reply: str, problem: str, spend: Spend) -> "GraderError":
        """Return the error of a model whose last reply was also unusable; it quotes the reply."""
        said = storable(single_line(reply), MAX_QUOTED_LENGTH)
        quoted = f'it said "{said}"' if said else "it said nothing"
        message = f"the {grader.role} {grader.model} gave no usable reply, even after a repair request"
        cause = UnscoredCause(UnscoredCode.JUDGE_REPLY, grader.model)
        error = cls(grader.role, f"{message}: {problem}; {quoted}", spend, MAX_REQUESTS, cause)
        error.unusable_reply = UnusableJudgement(
            storable(problem, MAX_PROBLEM_LENGTH), storable(reply, MAX_STORED_LENGTH)
        )
        return error


MAX_REQUESTS = 2
"""The model is asked at most this often for one object; the second request asks it to repair its reply."""
MAX_REPEATED_LENGTH = 20_000
"""A reply to be repaired is shown to the model again, cut to this many characters, because it may have megabytes."""
MAX_QUOTED_LENGTH = 200
"""The message of an error quotes at most this many characters of an unusable reply."""
MAX_STORED_LENGTH = 2_000
"""An unusable reply is stored with a result, cut to this many characters."""
MAX_PROBLEM_LENGTH = 500


def _no_issue(_: object) -> None:
    """Find no issue, so that replies are used as soon as they are valid."""


async def request_structured[T: StructuredReply](
    grader: Grader,
    request: ModelRequest,
    reply_type: type[T],
    interrupted: list[Spend] | None = None,
    read: Callable[[type[T], str], T] = read_reply,
    find_issue: Callable[[T], str | None] = _no_issue,
) -> GraderReply[T]:
    """Ask the model for an object of this type, with one repair attempt.

    The provider's structured output is used if it has any. Raises GraderError when the call fails or the reply stays
    unusable. RetryLater, and whatever the guard raises, pass through; the cost of an earlier unusable reply is added to
    `interrupted`. `read` raises UnusableReply or ValidationError. `find_issue` returns what the model is asked to
    correct in a valid first reply. A second reply is not checked for it; without a valid one, the first is used.
    """
    request = replace(_with_schema(request, reply_type.model_json_schema()), role=grader.model_role)
    if request.parameters.max_output_tokens is None:
        request = request.with_parameters(max_output_tokens=grader.max_output_tokens)
    spent, imperfect, problem = list[Spend](), None, ""
    for number in range(MAX_REQUESTS):
        try:
            reply = await _complete(grader, request, spent)
        except BaseException as error:  # Also Halted and CancelledError: a first reply was paid for.
            if imperfect is not None and isinstance(error, NO_REPLY):
                return imperfect._replace(spend=sum(spent, Spend()))
            if interrupted is not None and not isinstance(error, GraderError):
                interrupted += spent
            raise
        try:
            value = read(reply_type, reply.text)
        except (UnusableReply, ValidationError) as error:
            problem = problem_of(error) if isinstance(error, ValidationError) else str(error)
            repair = f"That was not one JSON object as described ({problem}). Answer with the corrected object alone."
        else:
            usable = GraderReply(value, reply.text, sum(spent, Spend()), reply.finish_reason)
            issue = find_issue(value) if number == 0 else None
            if issue is None:
                return usable
            imperfect, repair = usable, issue
        request = _with_repair(request, reply, repair)
    spend = sum(spent, Spend())
    if imperfect is not None:
        return imperfect._replace(spend=spend)
    raise GraderError.of_reply(grader, reply.text, problem, spend)


def _with_repair(request: ModelRequest, reply: Reply, problem: str) -> ModelRequest:
    answer = Message(MessageRole.ASSISTANT, reply.text[:MAX_REPEATED_LENGTH] or "(nothing)")
    return request.with_message(answer).with_message(Message(MessageRole.USER, problem))


def _with_schema(request: ModelRequest, schema: Mapping[str, object]) -> ModelRequest:
    response_format = ResponseFormat.of_schema(schema)
    return request.with_parameters(response_format=response_format)


async def complete_request(grader: Grader, request: ModelRequest, spent: list[Spend]) -> Reply:
    """Call the model with retries. Raises what `complete_with_retry` and the guard raise. The cost of the answer, and
    what attempts without one have cost or may have, is added to `spent`."""
    reply = await complete_with_retry(
        grader.account,
        grader.model,
        request,
        timeout_seconds=grader.timeout_seconds,
        max_wait_seconds=grader.max_wait_seconds,
        rng=grader.rng,
        attempt=partial(_attempt, grader, spent),
        max_attempts=grader.max_attempts,
        log=grader.log,
    )
    spent.append(prices.spend_of(grader.account, grader.model, reply))
    return reply


async def _complete(grader: Grader, request: ModelRequest, spent: list[Spend]) -> Reply:
    try:
        return await complete_request(grader, request, spent)
    except RetryLater as wait:
        raise wait.by(grader.role.error_code, wait.model) from wait
    except ProviderError as error:
        message = f"the {grader.role} {grader.model}: {error.code}: {error.message}"
        cause = failed_call(error.code, grader.model)
        raise GraderError(grader.role, message, sum(spent, Spend()), error.attempts, cause) from error


def failed_call(code: ProbeErrorCode, model: str) -> UnscoredCause:
    """Return why a check stays unscored if the call of its judge or embedding model failed with this code."""
    match code:
        case ProbeErrorCode.CONTENT_FILTERED:
            return UnscoredCause(UnscoredCode.JUDGE_REFUSED, model)
        case ProbeErrorCode.BUDGET:
            return UnscoredCause(UnscoredCode.BUDGET, model)
    return UnscoredCause(UnscoredCode.JUDGE_FAILED, model, str(code))


async def _attempt(
    grader: Grader, spent: list[Spend], account: Account, model: str, request: ModelRequest, timeout_seconds: float
) -> Reply:
    async with grader.guard() as on_answer:
        try:
            with grader.log.in_flight(model, request, grader.max_attempts):
                reply = await grader.attempt(account, model, request, timeout_seconds)
        except ProviderError as error:
            if (spend := spend_of_failure(account, model, request, error)).has_calls:
                spent.append(spend)
            raise
        on_answer(reply)
        return reply
