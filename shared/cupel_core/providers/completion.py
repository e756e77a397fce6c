"""A call of a model of any provider: one attempt, or several under the retry rules."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from cupel_core.base.clock import utc_now
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply, RequestParameter
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS, delay_seconds
from cupel_core.domain.limits.breaker import REFUSALS
from cupel_core.domain.limits.provider_errors import Remedy
from cupel_core.domain.text.quotations import quotes
from cupel_core.domain.text.storable import storable
from cupel_core.providers import model_name_of, wire_format_of
from cupel_core.providers.account import Account, secrets_of
from cupel_core.providers.adaptation import ADAPTER, with_omitted
from cupel_core.providers.attempt_log import AttemptLog, CallAttempts
from cupel_core.providers.call_time import setting_up
from cupel_core.providers.errors import ParameterRejected, ProviderError, RetryLater
from cupel_core.providers.reply_ends import answer_of
from cupel_core.providers.reply_limits import bounded_reply
from cupel_core.providers.wire_format import strip_code_fence

if TYPE_CHECKING:
    from cupel_core.providers.access_tokens import SendRequest

MAX_MESSAGE_LENGTH = 500
MAX_MALFORMED_REPLIES = 2
MAX_REJECTIONS = len(RequestParameter)

HAND_BACK_SECONDS = 10.0
"""A call that only the account's owner can repair is made again after this time. By then its run is paused."""

_REPORTED = (Remedy.WAIT, Remedy.OWNER)
"""For these remedies, the provider's words are shown outside the conversation, to people who can act on them."""

type Attempt = Callable[[Account, str, ModelRequest, float], Awaitable[Reply]]
type OnRetry = Callable[[ProviderError, float], None]
type Sleep = Callable[[float], Awaitable[None]]


async def complete(
    account: Account,
    model: str,
    request: ModelRequest,
    timeout_seconds: float,
    send: "SendRequest | None" = None,
) -> Reply:
    """Make one attempt at the next message, without parameters that the model rejects. Raise `ProviderError`, also when
    the whole call takes longer than `timeout_seconds`, and `ParameterRejected` when another attempt would leave out a
    parameter."""

    async def call(adapted: ModelRequest) -> Reply:
        return await _call_provider(account, model, adapted, timeout_seconds, send)

    return await adapted_call(account, model, request, timeout_seconds, call)


async def adapted_call(
    account: Account,
    model: str,
    request: ModelRequest,
    timeout_seconds: float,
    call: Callable[[ModelRequest], Awaitable[Reply]],
) -> Reply:
    """Make one attempt by `call`, which gets the request without parameters that the model rejects. Raise
    `ProviderError`, also when the whole call takes longer than `timeout_seconds`, and `ParameterRejected` when another
    attempt would leave out a parameter."""
    adaptation = ADAPTER.adaptation(account, model, request)
    adapted = adaptation.apply(request)
    try:
        async with asyncio.timeout(timeout_seconds):
            keeps_reasoning = bool(request.parameters.keep_reasoning)
            reply = bounded_reply(answer_of(await call(adapted), keeps_reasoning=keeps_reasoning))
    except TimeoutError as error:
        raise ProviderError(ProbeErrorCode.TIMEOUT, f"no response within {timeout_seconds:g} s") from error
    except ParameterRejected:
        raise
    except ProviderError as error:
        refusal = sanitized(error, account, (message.content for message in request.messages))
        _note_shutdown(refusal, model)
        raise ADAPTER.learn(account, model, request, adaptation, refusal) from error.__cause__
    if request.wants_json:
        reply = replace(reply, text=strip_code_fence(reply.text))
    return with_omitted(reply, adaptation.omitted)


def _note_shutdown(error: ProviderError, model: str) -> None:
    """Add to a refusal that the model was shut down, which few providers say, and the name of its successor."""
    if error.code is ProbeErrorCode.INVALID_REQUEST:
        from cupel_core.providers.model_metadata import shutdown_note

        if note := shutdown_note(model, utc_now().date()):
            error.detail = f"{error.message} ({note})"


async def _call_provider(
    account: Account,
    model: str,
    request: ModelRequest,
    timeout_seconds: float,
    send: "SendRequest | None",
) -> Reply:
    # Each client is imported only when it is used: aiohttp alone is a fifth of a cold start.
    wire_format, name = wire_format_of(model), model_name_of(model)
    if wire_format == "sim":
        from cupel_core.providers import sim

        return await sim.complete(name, request)
    if wire_format == "bedrock":
        with setting_up():
            from cupel_core.providers import bedrock

        return await bedrock.complete(account, name, request, timeout_seconds, now=utc_now())
    if wire_format == "connector":
        with setting_up():
            from cupel_core.providers.connectors import dispatch

        return await dispatch.complete(account, request, timeout_seconds, account.allow_private)
    with setting_up():
        from cupel_core.providers import http
        from cupel_core.providers.wire_formats import HTTP_WIRE_FORMATS

    return await http.exchange(HTTP_WIRE_FORMATS[wire_format], account, name, request, timeout_seconds, utc_now(), send)


def sanitized(error: ProviderError, account: Account, said: Iterable[str] = ()) -> ProviderError:
    """Return the error with a bounded message and without the API key: some servers repeat the key they reject. Some
    also repeat the conversation. `is_quoting` of the error records that, because refusals are reported outside it."""
    message = error.message
    for secret in secrets_of(account.api_key):
        message = message.replace(secret, "[key]")
    message = storable(message, MAX_MESSAGE_LENGTH)
    return ProviderError(
        error.code,
        message,
        error.retry_after_seconds,
        error.attempts,
        final=error.final,
        refused=error.refused,
        is_quoting=(error.code in REFUSALS or error.repair in _REPORTED) and quotes(message, said),
        is_malformed=error.is_malformed,
        usage=error.usage,
        cost_usd=error.cost_usd,
        repair=error.repair,
    )


async def complete_with_retry(
    account: Account,
    model: str,
    request: ModelRequest,
    *,
    timeout_seconds: float,
    max_wait_seconds: float,
    rng: Random,
    on_retry: OnRetry | None = None,
    attempt: Attempt = complete,
    max_attempts: int = MAX_ATTEMPTS,
    retry_delay_seconds: float | None = None,
    sleep: Sleep = asyncio.sleep,
    log: AttemptLog | None = None,
) -> Reply:
    """Make as many attempts at the next message as `with_retry` does, and raise the same errors. `log` has the attempts
    of the calls of the same conversation."""
    try:
        return await with_retry(
            lambda: attempt(account, model, request, timeout_seconds),
            max_wait_seconds=max_wait_seconds,
            rng=rng,
            on_retry=on_retry,
            max_attempts=max_attempts,
            retry_delay_seconds=retry_delay_seconds,
            sleep=sleep,
            attempts=None if log is None else log.of_call(model, request),
        )
    except RetryLater as wait:
        wait.model = model
        raise


async def with_retry[T](
    attempt: Callable[[], Awaitable[T]],
    *,
    max_wait_seconds: float,
    rng: Random,
    on_retry: OnRetry | None = None,
    max_attempts: int = MAX_ATTEMPTS,
    retry_delay_seconds: float | None = None,
    sleep: Sleep = asyncio.sleep,
    attempts: CallAttempts | None = None,
) -> T:
    """Make up to `max_attempts`, with a delay between them that is reported to `on_retry`.

    The delay is at most `retry_delay_seconds` before the second attempt, and grows before each further one. An attempt
    whose request the model rejected because of a parameter is repeated without it, and is not counted. Neither is one
    that the provider answered by asking to wait. `attempts` has those that earlier deliveries of the same work have
    made, and gets each that fails. After a second unreadable reply there is no further attempt, because such replies
    are paid for and seldom change.

    Raise `ProviderError` after the last attempt or for an error that is not retryable, and `RetryLater` when the delays
    together would exceed `max_wait_seconds`.
    """
    waits, rejections, malformed = 0, 0, 0
    attempts = attempts or AttemptLog().of("")
    attempts.raise_if_used_up(max_attempts)
    while True:
        try:
            answer = await attempt()
        except ParameterRejected as error:
            rejections += 1
            error.attempts = attempts.failed + rejections
            if rejections > MAX_REJECTIONS:
                raise
            continue
        except ProviderError as error:
            waits += error.asks_to_wait
            malformed += error.is_malformed
            await _note_failure(error, attempts, max_attempts, is_last=malformed >= MAX_MALFORMED_REPLIES)
            number, base = (waits, None) if error.asks_to_wait else (attempts.failed, retry_delay_seconds)
            delay = delay_seconds(number, error.retry_after_seconds, rng, base)
            if delay > max_wait_seconds:
                raise RetryLater(delay, error.code, error.attempts, words=error.detail) from error
            if on_retry is not None:
                on_retry(error, delay)
        else:
            attempts.note_answer()
            return answer
        max_wait_seconds -= delay
        await sleep(delay)


async def _note_failure(error: ProviderError, attempts: CallAttempts, max_attempts: int, *, is_last: bool) -> None:
    """Count the attempt unless the provider asks to wait. Raise if it was the last one of this call, or of this
    delivery."""
    may_repeat = (error.retryable or error.is_handed_back) and not is_last
    if not error.asks_to_wait:
        await attempts.note_failure(error, is_final=not may_repeat)
    error.attempts = attempts.failed or 1
    if attempts.failed >= max_attempts or not may_repeat:
        raise error
    if error.is_handed_back:
        raise RetryLater(HAND_BACK_SECONDS, error.code, error.attempts, words=error.detail) from error
