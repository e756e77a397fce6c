"""Delays the calls of an evaluation when a provider asks for it, by the rules of a stack (`domain/limits`).

A model that answers nothing and asks to wait is not called for growing times; then one call tries. Waiting costs no
attempt. A model that has asked for it for PATIENCE_SECONDS is given up: its calls fail with the provider's words.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.breaker import Breaker, CallRecord
from cupel_core.domain.limits.throttling import RecentCalls
from cupel_core.providers.account import Account
from cupel_core.providers.call_guard import BeforeCall, CallLimiter, OnAnswer, allow_call, ignore_answer
from cupel_core.providers.errors import ParameterRejected, ProviderError

PATIENCE_SECONDS = 600.0
_MAX_NAP_SECONDS = 1.0
"""A waiting call looks again so soon, because another one may have been answered."""

type OnWait = Callable[[str, datetime | None, str], None]
"""A function that gets the model that a call waits for, until when and why; the time is None when the call
continues."""


def ignore_wait(model: str, until: datetime | None, reason: str) -> None:
    """Ignore the wait, because nobody shows it."""


@dataclass
class ModelWaits:
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    breakers: dict[str, Breaker] = field(default_factory=dict)
    in_flight: Counter[str] = field(default_factory=Counter)
    answers: dict[str, RecentCalls] = field(default_factory=dict)
    trials: set[str] = field(default_factory=set)

    @asynccontextmanager
    async def call(self, model: str, on_wait: OnWait = ignore_wait) -> AsyncIterator[None]:
        """Wait until the model may be called, and note how the call ends. Raises ProviderError if the model is given
        up."""
        is_trial = await self._wait_for_turn(model, on_wait)
        started_at = self.clock()
        self.in_flight[model] += 1
        try:
            yield
        except ParameterRejected:
            raise
        except ProviderError as error:
            others = self.in_flight[model] - 1 + round(self._answered(model, 0).calls)
            self._note(_record(model, error, started_at, others))
            raise
        else:
            self.answers[model] = self._answered(model, 1)
            self._note(CallRecord(model, None, started_at))
        finally:
            self.in_flight[model] -= 1
            if is_trial:
                self.trials.discard(model)

    async def wait(self, model: str, on_wait: OnWait = ignore_wait) -> None:
        """Wait until the model may perhaps be called. Raises ProviderError if it is given up."""
        if await self._wait_for_turn(model, on_wait):
            self.trials.discard(model)

    def is_waiting(self, model: str) -> bool:
        breaker = self.breakers.get(model)
        return breaker is not None and breaker.is_open and (model in self.trials or breaker.until > self.clock())

    async def _wait_for_turn(self, model: str, on_wait: OnWait) -> bool:
        has_waited = False
        try:
            while (breaker := self.breakers.get(model)) is not None and breaker.is_open:
                if breaker.is_refusing:
                    raise ProviderError(ProbeErrorCode.RATE_LIMITED, breaker.reason, final=True)
                left = breaker.until - self.clock()
                if left <= 0 and model not in self.trials:
                    self.trials.add(model)
                    return True
                has_waited = True
                on_wait(model, datetime.fromtimestamp(breaker.until, UTC), breaker.reason)
                await self.sleep(min(_MAX_NAP_SECONDS, left) if left > 0 else _MAX_NAP_SECONDS / 4)
            return False
        finally:
            if has_waited:
                on_wait(model, None, "")

    def _answered(self, model: str, more: int) -> RecentCalls:
        return self.answers.get(model, RecentCalls()).with_calls(more, 0, self.clock())

    def _note(self, call: CallRecord) -> None:
        """Record a call. Only requests to wait suspend a model here; other failures use up attempts of their probe."""
        before = self.breakers.get(call.model, Breaker())
        if call.code is not None and not call.asks_to_wait:
            return
        after = before.after_call(call, self.clock(), PATIENCE_SECONDS)
        if after.is_healthy:
            self.breakers.pop(call.model, None)
        else:
            self.breakers[call.model] = after


def _record(model: str, error: ProviderError, started_at: float, others: int) -> CallRecord:
    repair, seconds = error.repair, error.retry_after_seconds or 0.0
    return CallRecord(model, error.code, started_at, error.detail, error.is_quoting, repair, seconds, others)


@dataclass(frozen=True)
class PatientLimiter:
    """Limits the calls of one probe: no call of a waiting model starts, and a waiting call holds no slot."""

    limiter: CallLimiter
    waits: ModelWaits
    on_wait: OnWait = ignore_wait

    @asynccontextmanager
    async def slot(
        self, workspace: str, account: Account, model: str, before_call: BeforeCall = allow_call
    ) -> AsyncIterator[OnAnswer]:
        while True:
            await self.waits.wait(model, self.on_wait)
            async with self.limiter.slot(workspace, account, model, before_call) as on_answer:
                if self.waits.is_waiting(model):
                    continue
                async with self.waits.call(model, self.on_wait):
                    yield on_answer
                return

    @asynccontextmanager
    async def target(self, model: str) -> AsyncIterator[OnAnswer]:
        async with self.waits.call(model, self.on_wait):
            yield ignore_answer
