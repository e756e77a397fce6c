"""The writer of a generation: a model writes the texts in chunks, until the invocation runs out of time.

Texts count in the order of their combinations. Texts of a chunk after one that failed are requested again, so at most
one chunk is ever paid for twice.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from random import Random
from typing import NamedTuple, Protocol

from cupel_core.accounts.keys import load_account
from cupel_core.accounts.leases import LeasePool
from cupel_core.base.clock import utc_now
from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Conflict, Invalid, NotFound
from cupel_core.base.messages import GenerationRequest
from cupel_core.budgets.charged_calls import generation_calls, workspace_calls
from cupel_core.budgets.reservations import BudgetShortage
from cupel_core.budgets.workspace_budgets import shortage
from cupel_core.definitions import resolve
from cupel_core.definitions.generation.generations import MAX_OUTPUT_TOKENS, budget_owner, generation_request, matrix_of
from cupel_core.domain.budgets.money import amount_text, limit_text, usd
from cupel_core.domain.budgets.periods import BudgetScope
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.definitions.generations import UNFINISHED, Generation, request_for
from cupel_core.domain.definitions.matrix import Matrix
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.providers import provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, complete_with_retry
from cupel_core.providers.errors import CallPostponed, ProviderError, RetryLater
from cupel_core.store import definition_scenarios, generations, queues, scenarios
from cupel_core.store.settings import settings

CHUNK_SIZE = 100
MAX_CONCURRENT = 50
MAX_WAIT_SECONDS = 20.0
MIN_CHUNK_SECONDS = 30.0
RESERVE_SECONDS = 15.0
"""An invocation reserves this time at its end to store a chunk and enqueue the request again."""
MAX_FAILED_ATTEMPTS = 10
_FIRST_BACKOFF_SECONDS = 15
_CONFLICT_DELAY_SECONDS = 5
_MAX_EMPTY_REPLIES = 3


class WriteResult(StrEnum):
    NOTHING = "nothing"
    """The generation has ended, or another invocation has its lease."""
    REQUEUED = "handed_on"
    FAILED = "failed"
    COMPLETED = "completed"


class CompleteCall(Protocol):
    async def __call__(
        self,
        account: Account,
        model: str,
        request: ModelRequest,
        /,
        *,
        timeout_seconds: float,
        max_wait_seconds: float,
        rng: Random,
        attempt: Attempt,
    ) -> Reply: ...


class WrittenTexts(NamedTuple):
    """The texts of a chunk up to the first that failed, and its failure."""

    texts: list[str]
    failure: ProviderError | RetryLater | CallPostponed | None


@dataclass(frozen=True)
class ScenarioWriter:
    matrix: Matrix
    account: Account
    model: str
    complete: CompleteCall
    attempt: Attempt
    """Makes each attempt within a lease on the account."""
    max_output_tokens: int | None = None

    async def write(self, indexes: range, seconds: float) -> WrittenTexts:
        slots = asyncio.Semaphore(min(self.account.max_parallel_requests, MAX_CONCURRENT))
        tasks = [asyncio.create_task(self._write_one(index, slots)) for index in indexes]
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return _texts_before_failure(results)

    async def _write_one(self, index: int, slots: asyncio.Semaphore) -> str:
        request = request_for(self.matrix, index, self.max_output_tokens)
        async with slots:
            for _ in range(_MAX_EMPTY_REPLIES):
                reply = await self.complete(
                    self.account,
                    self.model,
                    request,
                    timeout_seconds=settings().call_timeout_seconds,
                    max_wait_seconds=MAX_WAIT_SECONDS,
                    rng=Random(),  # noqa: S311 - jitter
                    attempt=self.attempt,
                )
                if text := reply.text.strip():
                    return text
        raise ProviderError(
            ProbeErrorCode.PROVIDER_ERROR, f"the model's replies for combination {index} were empty", final=True
        )


def _texts_before_failure(results: list[str | BaseException]) -> WrittenTexts:
    texts: list[str] = []
    for result in results:
        match result:
            case str():
                texts.append(result)
            case ProviderError() | RetryLater() | CallPostponed():
                return WrittenTexts(texts, result)
            case asyncio.CancelledError():
                late = ProviderError(ProbeErrorCode.TIMEOUT, "no text within the time of an invocation")
                return WrittenTexts(texts, None if texts else late)
            case BaseException():
                raise result
    return WrittenTexts(texts, None)


async def write_scenarios(
    request: GenerationRequest, seconds_left: Callable[[], float], complete: CompleteCall = complete_with_retry
) -> WriteResult:
    """Write texts while time allows, then enqueue the request again or finish. Raise NotFound for an unknown
    generation."""
    now = utc_now()
    leased_until = now + timedelta(seconds=seconds_left())
    generation = generations.claim(request, now, leased_until)
    if generation is None:
        return WriteResult.NOTHING
    async with LeasePool() as leases, _charged(generation, leases, seconds_left) as attempt:
        try:
            writer = _load_writer(generation, complete, leases, attempt)
        except NotFound as error:
            return _fail(generation, error.detail)
        return await _write_until_time_is_up(generation, writer, seconds_left, leased_until)


def _charged(
    generation: Generation, leases: LeasePool, seconds_left: Callable[[], float]
) -> AbstractAsyncContextManager[Attempt]:
    if generation.max_budget_usd is None:
        return workspace_calls(generation.workspace, leases, seconds_left=seconds_left)
    return generation_calls(budget_owner(generation), generation.max_budget_usd, leases, seconds_left=seconds_left)


async def _write_until_time_is_up(
    generation: Generation, writer: ScenarioWriter, seconds_left: Callable[[], float], leased_until: datetime
) -> WriteResult:
    while generation.completed < generation.total:
        budget_seconds = seconds_left() - RESERVE_SECONDS
        if budget_seconds < MIN_CHUNK_SECONDS:
            return _requeue(generation)
        end = min(generation.completed + CHUNK_SIZE, generation.total)
        texts, failure = await writer.write(range(generation.completed, end), budget_seconds)
        appended = generations.append_part(generation, texts, utc_now(), leased_until) if texts else generation
        if appended is None:
            return WriteResult.NOTHING
        generation = appended
        if failure:
            return _handle_failure(generation, failure)
    return _finish(generation, writer.matrix)


def give_up(request: GenerationRequest) -> WriteResult:
    """Fail a generation whose invocations keep dying, so that it does not stay pending forever."""
    generation = generations.get(request.workspace, request.definition_id, request.generation_id)
    if generation.status not in UNFINISHED:
        return WriteResult.NOTHING
    return _fail(generation, "internal: the generation was interrupted too often")


def _load_writer(generation: Generation, complete: CompleteCall, leases: LeasePool, attempt: Attempt) -> ScenarioWriter:
    definition = resolve(generation.workspace, generation.definition_id, generation.definition_version)
    model = generation.model or ""
    account = load_account(generation.workspace, provider_of(model).name)
    attempt = partial(leases.attempt, generation.workspace, attempt=attempt)
    limit = None if generation.max_budget_usd is None else MAX_OUTPUT_TOKENS
    return ScenarioWriter(matrix_of(generation, definition), account, model, complete, attempt, limit)


def _handle_failure(generation: Generation, error: ProviderError | RetryLater | CallPostponed) -> WriteResult:
    """Retry after a while if that can help, otherwise fail. A call that was postponed has not failed."""
    if isinstance(error, BudgetShortage) and error.exhausted is BudgetScope.RUN:
        return _fail(generation, f"budget: {_why_exhausted(generation, error)}")
    if isinstance(error, BudgetShortage) and error.exhausted is not None:
        why = shortage(generation.workspace, error.needed, utc_now()) or error.detail
        return _fail(generation, f"budget: {why}")
    if isinstance(error, CallPostponed):
        return _requeue(generation, max(error.retry_after_seconds, 1))
    message = f"{error.code}: {error.detail}"
    if isinstance(error, ProviderError) and not error.retryable:
        return _fail(generation, message)
    if generation.failed_attempts >= MAX_FAILED_ATTEMPTS:
        return _fail(generation, message)
    backoff_seconds = _FIRST_BACKOFF_SECONDS * 2**generation.failed_attempts
    delay_seconds = max(error.retry_after_seconds, 1) if isinstance(error, RetryLater) else backoff_seconds
    return _requeue(replace(generation, failed_attempts=generation.failed_attempts + 1), delay_seconds)


def _why_exhausted(generation: Generation, shortage: BudgetShortage) -> str:
    written, limit = f"{generation.completed:,} of {generation.total:,}", limit_text(generation.max_budget_usd or 0.0)
    return (
        f"the generation's budget of {limit} is used up: {written} texts were stored, and the next call may cost "
        f"{amount_text(usd(shortage.needed))}; no scenario was added; generate again with a greater maxBudgetUsd"
    )


def _requeue(generation: Generation, delay_seconds: float = 0) -> WriteResult:
    """Enqueue the request again. The lease is released before, as the message may be delivered before this function
    ends."""
    generations.release(generation, utc_now())
    queues.send(
        settings().generate_queue_url,
        [generation_request(generation)],
        delay_seconds=round(delay_seconds),
        group=generation.workspace,
    )
    return WriteResult.REQUEUED


def _fail(generation: Generation, error: str) -> WriteResult:
    generations.fail(generation, error, utc_now())
    return WriteResult.FAILED


def _finish(generation: Generation, matrix: Matrix) -> WriteResult:
    workspace, definition_id = generation.workspace, generation.definition_id
    written = _scenarios(generation, matrix)
    try:
        current = definition_scenarios.get_current(workspace, definition_id)
        manifest = scenarios.write_pages(
            workspace, definition_id, current.manifest, written, replace=generation.replace
        )
        finished = generations.finish(generation, current, manifest, utc_now())
    except (Invalid, NotFound) as error:
        return _fail(generation, error.detail)
    except Conflict:
        return _requeue(generation, _CONFLICT_DELAY_SECONDS)
    return WriteResult.COMPLETED if finished else WriteResult.NOTHING


def _scenarios(generation: Generation, matrix: Matrix) -> Iterator[Scenario]:
    texts = generations.read_texts(generation)
    for index in range(generation.total):
        text = next(texts, "")
        if not text.strip():
            raise Invalid(f"combination {index} has no text")
        yield matrix.scenario(index, text)
