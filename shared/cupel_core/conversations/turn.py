"""One turn: one pass around exactly one main model call."""

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.turns.model_request import ModelRequest, Reply
from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import CallGuard, no_guard
from cupel_core.providers.call_time import start_timer
from cupel_core.providers.completion import Attempt, OnRetry, complete, complete_with_retry
from cupel_core.providers.errors import CallPrevented

MAX_WAIT_SECONDS = 20.0
"""For all waits of one call together. Longer ones waste invocation time: the probe is requeued with a delay."""


@dataclass(frozen=True)
class CalledTarget:
    """The model under test, and how it is called."""

    account: Account
    model: str
    call_timeout_seconds: float
    rng: Random
    on_retry: OnRetry | None = None
    max_attempts: int = MAX_ATTEMPTS
    guard: CallGuard = no_guard
    """Surrounds every attempt of a call, retries included; what it waits is not the model's latency."""
    attempt: Attempt = complete


class Halted(CallPrevented):
    """No further call may start: the run was paused or cancelled, or time is up. The probe has no outcome."""


class Turn(NamedTuple):
    """The result of a turn: the request with the reply appended, the reply, and how long the answered call took.

    Waits between attempts, attempts without an answer, and opening a connection are not the model's latency.
    """

    request: ModelRequest
    reply: Reply
    duration_ms: int


async def run_turn(request: ModelRequest, target: CalledTarget) -> Turn:
    """Make one main model call.

    Raises ProviderError when the call failed for good, RetryLater when it should be made later, and what the guard
    raises (Halted, CallPostponed).
    """
    attempt = _TimedAttempt(target)
    reply = await complete_with_retry(
        target.account,
        target.model,
        request,
        timeout_seconds=target.call_timeout_seconds,
        max_wait_seconds=MAX_WAIT_SECONDS,
        rng=target.rng,
        on_retry=target.on_retry,
        attempt=attempt,
        max_attempts=target.max_attempts,
    )
    return Turn(request.with_message(reply.message), reply, attempt.duration_ms)


@dataclass
class _TimedAttempt:
    target: CalledTarget
    duration_ms: int = 0
    """Of the attempt that was answered."""

    async def __call__(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        async with self.target.guard() as on_answer:
            timer = start_timer()
            reply = await self.target.attempt(account, model, request, timeout_seconds)
            cached_ms = reply.cached_duration_ms
            self.duration_ms = timer.duration_ms if cached_ms is None else cached_ms
            on_answer(reply)
            return reply
