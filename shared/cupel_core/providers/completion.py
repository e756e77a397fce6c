"""The way to a model: one attempt, or as many as patience and the rules of retrying allow."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import TYPE_CHECKING

from cupel_core.clock import utc_now
from cupel_core.domain.limits.backoff import RETRIES, delay_seconds
from cupel_core.domain.turns.model_request import Conversation, ErrorCode, Reply
from cupel_core.providers import name_of, provider_of
from cupel_core.providers.account import Account
from cupel_core.providers.errors import PleaseWait, ProviderError

if TYPE_CHECKING:
    import httpx

MAX_MESSAGE = 500

type Attempt = Callable[[Account, str, Conversation, float], Awaitable[Reply]]
type OnRetry = Callable[[ProviderError, float], None]
type Sleep = Callable[[float], Awaitable[None]]


async def complete(
    account: Account,
    model: str,
    conversation: Conversation,
    timeout_seconds: float,
    connection: "httpx.AsyncClient | None" = None,
) -> Reply:
    """One attempt at the next message, for every provider. Raises `ProviderError`; a hang ends by the timeout."""
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _ask(account, model, conversation, timeout_seconds, connection)
    except TimeoutError as error:
        raise ProviderError(ErrorCode.TIMEOUT, f"no answer within {timeout_seconds:g} s") from error
    except ProviderError as error:
        raise presentable(error, account) from error.__cause__


async def _ask(
    account: Account,
    model: str,
    conversation: Conversation,
    timeout_seconds: float,
    connection: "httpx.AsyncClient | None",
) -> Reply:
    # Each way is loaded by who goes it: aiohttp alone is a fifth of a cold start.
    wire, name = provider_of(model).wire, name_of(model)
    if wire == "sim":
        from cupel_core.providers import sim

        return await sim.answer(name, conversation)
    if wire == "bedrock":
        from cupel_core.providers import bedrock

        return await bedrock.answer(account, name, conversation, timeout_seconds, now=utc_now())
    if wire == "connector":
        from cupel_core.providers.connectors import dispatch

        return await dispatch.answer(account, conversation, timeout_seconds, account.allow_private)
    from cupel_core.providers import http
    from cupel_core.providers.wire_formats import HTTP_WIRES

    return await http.exchange(connection or http.client(), HTTP_WIRES[wire], account, name, conversation, utc_now())


def presentable(error: ProviderError, account: Account) -> ProviderError:
    """Short, and without the key: servers have been seen to repeat the one they refuse."""
    key = (account.api_key or "").strip()
    message = error.message.replace(key, "[key]") if key else error.message
    return ProviderError(error.code, message[:MAX_MESSAGE], error.retry_after, error.attempts, final=error.final)


async def complete_with_retry(
    account: Account,
    model: str,
    conversation: Conversation,
    *,
    timeout_seconds: float,
    patience_seconds: float,
    rng: Random,
    on_retry: OnRetry | None = None,
    attempt: Attempt = complete,
    sleep: Sleep = asyncio.sleep,
) -> Reply:
    """The next message, by as many attempts as `with_retry` makes."""
    return await with_retry(
        lambda: attempt(account, model, conversation, timeout_seconds),
        patience_seconds=patience_seconds,
        rng=rng,
        on_retry=on_retry,
        sleep=sleep,
    )


async def with_retry[T](
    attempt: Callable[[], Awaitable[T]],
    *,
    patience_seconds: float,
    rng: Random,
    on_retry: OnRetry | None = None,
    sleep: Sleep = asyncio.sleep,
) -> T:
    """Up to four attempts, told to `on_retry` with the wait that follows each.

    Raises `ProviderError` after the last one or for what no retry can save, and `PleaseWait` when the waits together
    would take longer than `patience_seconds`.
    """
    number = 0
    while True:
        number += 1
        try:
            return await attempt()
        except ProviderError as error:
            error.attempts = number
            if number > RETRIES or not error.retryable:
                raise
            wait = delay_seconds(number, error.retry_after, rng)
            if wait > patience_seconds:
                raise PleaseWait(wait, error.code, number) from error
            if on_retry is not None:
                on_retry(error, wait)
        patience_seconds -= wait
        await sleep(wait)
