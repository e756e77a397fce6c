"""One turn: one pass around exactly one main model call."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

from cupel_core.domain.turns.model_request import Conversation, Reply, Role
from cupel_core.providers.account import Account
from cupel_core.providers.completion import Attempt, OnRetry, complete, complete_with_retry

PATIENCE_SECONDS = 20.0
"""Longer waits are not worth an invocation's time: the probe is handed on with a delay."""


async def _always() -> bool:
    return True


@dataclass(frozen=True)
class Target:
    """What a probe talks to, and how long a call may take."""

    account: Account
    model: str
    call_timeout_seconds: float
    rng: Random
    on_retry: OnRetry | None = None
    may_call: Callable[[], Awaitable[bool]] = _always
    """Asked before every attempt of a call, also before retries."""
    attempt: Attempt = complete


class Halted(Exception):
    """The run was paused or cancelled, or time is up, before the next call: the probe has no outcome."""


class Turn(NamedTuple):
    """What a turn added: the conversation with the answer, the reply, and how long the call took."""

    conversation: Conversation
    reply: Reply
    duration_ms: int


async def run_turn(conversation: Conversation, target: Target) -> Turn:
    """Raises ProviderError when the call has failed for good, PleaseWait when it is to be made later, and Halted."""
    began = time.perf_counter()
    reply = await complete_with_retry(
        target.account,
        target.model,
        conversation,
        timeout_seconds=target.call_timeout_seconds,
        patience_seconds=PATIENCE_SECONDS,
        rng=target.rng,
        on_retry=target.on_retry,
        attempt=partial(_attempt, target),
    )
    duration_ms = round((time.perf_counter() - began) * 1_000)
    return Turn(conversation.say(Role.ASSISTANT, reply.text), reply, duration_ms)


async def _attempt(
    target: Target, account: Account, model: str, conversation: Conversation, timeout_seconds: float
) -> Reply:
    if not await target.may_call():
        raise Halted
    return await target.attempt(account, model, conversation, timeout_seconds)
