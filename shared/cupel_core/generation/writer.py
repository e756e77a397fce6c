"""A model writes the texts of a generation: some combinations at a time, until the invocation's time is up.

Texts are counted in the order of their combinations. Those of a chunk that come after one that failed are asked for
again; at most a chunk of them is ever paid twice.
"""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from random import Random
from typing import NamedTuple, Protocol

from cupel_core.accounts import account
from cupel_core.clock import utc_now
from cupel_core.definitions import resolve
from cupel_core.domain.definitions.generations import UNFINISHED, Generation, request_for
from cupel_core.domain.definitions.matrix import Matrix
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply
from cupel_core.errors import Conflict, Invalid, NotFound
from cupel_core.generation.generations import matrix_of, order_of
from cupel_core.messages import GenerationOrder
from cupel_core.providers import provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.completion import complete_with_retry
from cupel_core.providers.errors import PleaseWait, ProviderError
from cupel_core.settings import settings
from cupel_core.store import generations, queues, scenarios

CHUNK = 100
"""Texts that are written between two counts."""
MAX_PARALLEL = 50
CALL_SECONDS = 60.0
PATIENCE_SECONDS = 20.0
MIN_CHUNK_SECONDS = 30.0
CLOSING_SECONDS = 15.0
"""Kept free at the end of an invocation: to store a chunk and hand on the rest."""
MAX_SETBACKS = 10
_FIRST_SETBACK_SECONDS = 15
_EMPTY_ANSWERS = 3


class Step(StrEnum):
    """What an invocation did in the end."""

    NOTHING = "nothing"
    """The generation had ended, or another has it."""
    HANDED_ON = "handed_on"
    FAILED = "failed"
    COMPLETED = "completed"


class Ask(Protocol):
    async def __call__(
        self,
        account: Account,
        model: str,
        conversation: Conversation,
        /,
        *,
        timeout_seconds: float,
        patience_seconds: float,
        rng: Random,
    ) -> Reply: ...


class Written(NamedTuple):
    """The texts of a chunk up to the first that failed, and why that one did."""

    texts: list[str]
    setback: ProviderError | PleaseWait | None


@dataclass(frozen=True)
class Writer:
    matrix: Matrix
    account: Account
    model: str
    ask: Ask

    async def write(self, indexes: range, seconds: float) -> Written:
        """The texts of these combinations, or what there is of them when the time is up."""
        slots = asyncio.Semaphore(min(self.account.max_parallel_requests, MAX_PARALLEL))
        tasks = [asyncio.create_task(self._text(index, slots)) for index in indexes]
        _, late = await asyncio.wait(tasks, timeout=seconds)
        for task in late:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return _until_setback(results)

    async def _text(self, index: int, slots: asyncio.Semaphore) -> str:
        conversation = request_for(self.matrix, index)
        async with slots:
            for _ in range(_EMPTY_ANSWERS):
                reply = await self.ask(
                    self.account,
                    self.model,
                    conversation,
                    timeout_seconds=CALL_SECONDS,
                    patience_seconds=PATIENCE_SECONDS,
                    rng=Random(),  # noqa: S311 - for waiting times
                )
                if text := reply.text.strip():
                    return text
        raise ProviderError(ErrorCode.PROVIDER_ERROR, f"combination {index} came back empty", final=True)


def _until_setback(results: list[str | BaseException]) -> Written:
    texts: list[str] = []
    for result in results:
        match result:
            case str():
                texts.append(result)
            case ProviderError() | PleaseWait():
                return Written(texts, result)
            case asyncio.CancelledError():
                late = ProviderError(ErrorCode.TIMEOUT, "no text within the time of an invocation")
                return Written(texts, None if texts else late)
            case BaseException():
                raise result
    return Written(texts, None)


async def proceed(
    order: GenerationOrder, remaining_seconds: Callable[[], float], ask: Ask = complete_with_retry
) -> Step:
    """Writes as much as `remaining_seconds` allow and orders the rest; NotFound for a generation that never was."""
    now = utc_now()
    until = now + timedelta(seconds=remaining_seconds())
    generation = generations.claim(order, now, until)
    if generation is None:
        return Step.NOTHING
    try:
        writer = _writer(generation, ask)
    except NotFound as error:
        return _fail(generation, error.detail)
    while generation.completed < generation.total:
        budget = remaining_seconds() - CLOSING_SECONDS
        if budget < MIN_CHUNK_SECONDS:
            return _hand_on(generation)
        end = min(generation.completed + CHUNK, generation.total)
        texts, setback = await writer.write(range(generation.completed, end), budget)
        grown = generations.put_part(generation, texts, utc_now(), until) if texts else generation
        if grown is None:
            return Step.NOTHING
        generation = grown
        if setback:
            return _set_back(generation, setback)
    return _finish(generation, writer.matrix)


def give_up(order: GenerationOrder) -> Step:
    """For an order whose invocations have died before: whoever asks shall not wait for ever."""
    generation = generations.get(order.workspace, order.definition_id, order.generation_id)
    if generation.status not in UNFINISHED:
        return Step.NOTHING
    return _fail(generation, "internal: the generation was interrupted too often")


def _writer(generation: Generation, ask: Ask) -> Writer:
    definition = resolve(generation.workspace, generation.definition_id, generation.definition_version)
    model = generation.model or ""
    access = account(generation.workspace, provider_of(model).name)
    return Writer(matrix_of(generation, definition), access, model, ask)


def _set_back(generation: Generation, error: ProviderError | PleaseWait) -> Step:
    """Waits for what may pass, ends for what may not."""
    told = f"{error.code}: {error.detail}"
    if isinstance(error, ProviderError) and not error.retryable:
        return _fail(generation, told)
    if generation.setbacks >= MAX_SETBACKS:
        return _fail(generation, told)
    doubled = _FIRST_SETBACK_SECONDS * 2**generation.setbacks
    wait = max(error.retry_after_seconds, 1) if isinstance(error, PleaseWait) else doubled
    return _hand_on(replace(generation, setbacks=generation.setbacks + 1), wait)


def _hand_on(generation: Generation, delay_seconds: float = 0) -> Step:
    """Released first: the next message may come before this function ends."""
    generations.release(generation, utc_now())
    queues.send(settings().generate_queue_url, [order_of(generation)], delay_seconds=round(delay_seconds))
    return Step.HANDED_ON


def _fail(generation: Generation, error: str) -> Step:
    generations.fail(generation, error, utc_now())
    return Step.FAILED


def _finish(generation: Generation, matrix: Matrix) -> Step:
    workspace, definition_id = generation.workspace, generation.definition_id
    current = scenarios.manifest(workspace, definition_id)
    whole = _scenarios(generation, matrix)
    try:
        grown = scenarios.write_pages(workspace, definition_id, current, whole, replace=generation.replace)
        return Step.COMPLETED if generations.finish(generation, grown, utc_now()) else Step.NOTHING
    except Invalid as error:
        return _fail(generation, error.detail)
    except Conflict:
        return _hand_on(generation, delay_seconds=5)


def _scenarios(generation: Generation, matrix: Matrix) -> Iterator[Scenario]:
    """Every combination, each with a text; Invalid else."""
    written = generations.texts(generation)
    for index in range(generation.total):
        text = next(written, "")
        if not text.strip():
            raise Invalid(f"combination {index} has no text")
        yield matrix.scenario(index, text)
