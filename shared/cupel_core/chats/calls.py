"""The calls of a turn: governed at high priority, and paid from the workspace's budgets."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any, NamedTuple

from cupel_core.accounts.leases import LeasePool
from cupel_core.base.clock import utc_now
from cupel_core.budgets.charged_calls import workspace_calls
from cupel_core.budgets.charging import Recheck
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.budgets.workspace_budgets import shortage
from cupel_core.chats.drafts import DraftWriter
from cupel_core.conversations.pipeline.kinds import Context, ModelCaller
from cupel_core.conversations.pipeline.steps import perform_step
from cupel_core.conversations.turn import CalledTarget, Turn
from cupel_core.domain.chats.turns import FinishReason, TurnHead
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import (
    AgentThread,
    Message,
    ModelRequest,
    ProbeErrorCode,
    Reply,
    RequestParameter,
    SimulationKey,
)
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.pipeline.operations import ProfileOperation
from cupel_core.domain.pipeline.results import PaidAnswer, StepErrorCode, StepResult
from cupel_core.domain.pipeline.turns import StoredArtifact
from cupel_core.domain.runs.run import Priority
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import prices
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete
from cupel_core.providers.errors import CallPostponed, ModelRefused, ProviderError, RetryLater
from cupel_core.providers.parameters import omitted_parameters, without_unknown
from cupel_core.providers.reservations import bound_of_call
from cupel_core.providers.streaming import complete_streaming
from cupel_core.resources import connectors
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.store.settings import settings

MAX_SLOT_WAIT_SECONDS = 20.0
"""A call waits this long for the account's limits, because a person waits for the answer."""
_REASONS = {
    ProbeErrorCode.RATE_LIMITED: FinishReason.RATE_LIMITED,
    ProbeErrorCode.TIMEOUT: FinishReason.TIMEOUT,
    ProbeErrorCode.CONTENT_FILTERED: FinishReason.POLICY_ERROR,
}


async def _store_nothing() -> None:
    return


class UnansweredCalls:
    """The maximum cost of calls whose answers are not recorded. Their providers may bill them. The cost is stored
    before a call is made, so that it also counts if the worker dies. It counts until the turn has the answer: at every
    moment, either the cost or the answer is stored."""

    def __init__(self) -> None:
        self.nano_usd = 0
        self.store: Callable[[], Awaitable[None]] = _store_nothing
        self._answered: dict[asyncio.Task[Any] | None, int] = {}
        """The costs by task. Each operation is a task, and makes one call at a time."""

    async def begin(self, nano_usd: int, *, is_main: bool) -> None:
        """Record the cost before a call. The main call is always stored, with its prompt."""
        self.nano_usd += nano_usd
        if nano_usd or is_main:
            await self.store()

    def note_refused(self, nano_usd: int) -> None:
        """Record that the call will not be billed, or was not made."""
        self.nano_usd -= nano_usd

    def note_answered(self, nano_usd: int) -> None:
        """Record that the present task is about to record the answer."""
        task = asyncio.current_task()
        self._answered[task] = self._answered.get(task, 0) + nano_usd

    def note_stored(self) -> None:
        self.nano_usd -= self._answered.pop(asyncio.current_task(), 0)


class ChatCalls(NamedTuple):
    target: CalledTarget
    operations: ModelCaller
    unanswered: UnansweredCalls


class CallFailure(NamedTuple):
    code: str
    message: str
    reason: FinishReason


@asynccontextmanager
async def chat_calls(
    workspace: str,
    head: TurnHead,
    accounts: Mapping[str, Account],
    draft: DraftWriter,
    seconds_left: Callable[[], float],
) -> AsyncIterator[ChatCalls]:
    """Yield the calls. `accounts` are those of the model and of all operations, by provider."""
    leases = LeasePool(priority=Priority.HIGH, is_interactive=True, max_wait_seconds=lambda: MAX_SLOT_WAIT_SECONDS)
    unanswered = UnansweredCalls()
    streaming = partial(_attempt, draft, unanswered, partial(leases.recheck, workspace))
    async with leases, workspace_calls(workspace, leases, streaming, seconds_left=seconds_left) as attempt:
        target = head.settings.parsed_target
        account = await asyncio.to_thread(_with_connector, workspace, accounts[target.provider], target.model)
        rng = Random()  # noqa: S311 - jitter
        called = CalledTarget(
            account,
            target.model,
            target.call_timeout_seconds or settings().call_timeout_seconds,
            rng,
            max_attempts=target.max_attempts or MAX_ATTEMPTS,
            guard=partial(leases.slot, workspace, account, target.model),
            attempt=attempt,
        )
        graders = GraderFactory(
            workspace=workspace,
            config=GraderConfig(),
            accounts=accounts,
            limiter=leases,
            call_timeout_seconds=settings().call_timeout_seconds,
            max_wait_seconds=MAX_SLOT_WAIT_SECONDS,
            attempt=attempt,
            rng=rng,
            allow_private=settings().allow_private_endpoints,
        )
        key = SimulationKey(head.exchange_id, repeat=head.answer_variant)
        yield ChatCalls(called, ModelCaller(graders, key), unanswered)


def _with_connector(workspace: str, account: Account, model: str) -> Account:
    """Return the account with the connector as it is now. A call without a connector fails."""
    connector_id = Target(model).connector_id
    connector = connectors.find(workspace, connector_id) if connector_id is not None else None
    return account if connector is None else replace(account, base_url=connector.base_url, connector=connector)


async def _attempt(
    draft: DraftWriter,
    unanswered: UnansweredCalls,
    recheck: Recheck,
    account: Account,
    model: str,
    request: ModelRequest,
    timeout_seconds: float,
) -> Reply:
    bound = bound_of_call(account, model, request).nano_usd
    await unanswered.begin(bound, is_main=not request.is_graders)
    try:
        await recheck(account)  # The limits may have changed while it was stored.
        reply = await _complete(draft, account, model, request, timeout_seconds)
    except CallPostponed:
        unanswered.note_refused(bound)
        raise
    except ProviderError as error:
        if not error.may_be_billed:
            unanswered.note_refused(bound)
        raise
    unanswered.note_answered(bound)
    return reply


async def _complete(
    draft: DraftWriter, account: Account, model: str, request: ModelRequest, timeout_seconds: float
) -> Reply:
    """Complete a call. Only the main call streams: operations need the whole answer."""
    if request.is_graders:
        return await complete(account, model, request, timeout_seconds)
    draft.begin()
    return await complete_streaming(account, model, request, timeout_seconds, draft.add)


async def perform_or_fail(
    operation: ProfileOperation, context: Context, stored: StoredArtifact | None, caller: ModelCaller
) -> StepResult:
    """Perform an operation. If its call cannot be made now, the operation fails, because no one retries it later."""
    paid = [caller.answer] if caller.answer is not None else []

    def note(answer: PaidAnswer) -> None:
        paid.append(answer)
        caller.on_answer(answer)

    try:
        return await perform_step(operation, context, stored, replace(caller, on_answer=note))
    except (RetryLater, CallPostponed) as error:
        failed = call_failure(error, caller.graders.workspace)
        return StepResult.failed(failed.code, failed.message, sum((answer.spend for answer in paid), Spend()))


def call_failure(error: ProviderError | RetryLater | CallPostponed, workspace: str) -> CallFailure:
    match error:
        case BudgetShortage():
            why = shortage(workspace, error.needed, utc_now()) or error.detail
            return CallFailure(StepErrorCode.BUDGET_EXCEEDED, why, FinishReason.RATE_LIMITED)
        case ModelRefused():
            return CallFailure(ProbeErrorCode.INVALID_REQUEST, error.detail, FinishReason.PROVIDER_ERROR)
        case CallPostponed():
            return CallFailure(ProbeErrorCode.RATE_LIMITED, error.detail, FinishReason.RATE_LIMITED)
    return CallFailure(error.code, error.detail, _REASONS.get(error.code, FinishReason.PROVIDER_ERROR))


def main_request(head: TurnHead, prompt: tuple[Message, ...]) -> tuple[ModelRequest, tuple[RequestParameter, ...]]:
    """Return the request of the main call, and the parameters omitted because the provider does not know them."""
    target = head.settings.parsed_target
    params = without_unknown(target, target.params)
    omitted = omitted_parameters(target.params.keys() - params.keys(), withholds_headers=False)
    request = ModelRequest(
        prompt,
        decode(ModelParameters, params),
        SimulationKey(head.exchange_id, repeat=head.answer_variant),
        # Each turn is a new conversation for an agent, so that it need not support edits and forks.
        thread=AgentThread(str(uuid.uuid5(uuid.NAMESPACE_OID, head.id))),
    )
    return request, omitted


def answer_fields(
    account: Account, head: TurnHead, answered: Turn, omitted: Iterable[RequestParameter]
) -> dict[str, Any]:
    """Return the fields of an answered main call for the turn's result. The reply has the parameters that the model
    refused."""
    reply, duration_ms = answered
    spend = prices.spend_of(account, head.settings.model, reply)
    return {
        "status": "done",
        "finishReason": FinishReason.COMPLETED,
        "stopReason": reply.finish_reason,
        "modelVersion": reply.model_version,
        "usage": encode(spend.usage),
        "costUsd": spend.cost_usd,
        "durationMs": duration_ms,
        "omittedParameters": sorted({*omitted, *reply.omitted_parameters}),
        "text": reply.text,
    }
