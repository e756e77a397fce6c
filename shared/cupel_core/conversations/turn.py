"""A turn: one pass around exactly one main model call, whose answer may have a structured output."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from random import Random
from typing import Any, NamedTuple, Protocol

from cupel_core import sandbox
from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_parameters import FormatType, ResponseFormat
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode, Reply
from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.limits.backoff import MAX_ATTEMPTS
from cupel_core.domain.text.json_limits import json_limit_error
from cupel_core.providers.account import Account
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.providers.call_guard import CallGuard, no_guard
from cupel_core.providers.call_time import start_timer
from cupel_core.providers.completion import Attempt, OnRetry, Sleep, complete, complete_with_retry
from cupel_core.providers.errors import CallPrevented, ProviderError
from cupel_core.providers.reservations import spend_of_failure

MAX_WAIT_SECONDS = 20.0
"""The limit for all waits of one call together. After longer ones the probe is requeued, as waiting is billed."""


_TASK = "cupel_core.scoring.schemas:violation"


@dataclass(frozen=True)
class CalledTarget:
    account: Account
    model: str
    call_timeout_seconds: float
    rng: Random
    on_retry: OnRetry | None = None
    max_attempts: int = MAX_ATTEMPTS
    retry_delay_seconds: float | None = None
    """The longest wait before the second attempt of a call. None means the default."""
    guard: CallGuard = no_guard
    """Surrounds every attempt of a call, retries included. Its waits do not count as the model's latency."""
    attempt: Attempt = complete
    files: "FileReader | None" = None
    """None where no message can have files."""
    log: AttemptLog = field(default_factory=AttemptLog)
    sleep: Sleep = asyncio.sleep


class FileReader(Protocol):
    async def read(self, file_ids: Iterable[str]) -> Mapping[str, bytes]:
        """Return the contents by id, without files that are gone."""


class Halted(CallPrevented):
    """No further call may start: the run was paused or cancelled, or time is up. The probe has no outcome."""


class Turn(NamedTuple):
    """The result of a turn: the reply, and how long the answered call took. Waits between attempts, attempts without an
    answer, and opening a connection are not the model's latency."""

    reply: Reply
    duration_ms: int


async def run_turn(request: ModelRequest, target: CalledTarget, unusable: list[Spend] | None = None) -> Turn:
    """Make one main model call. The (possible) cost of attempts without a usable answer is added to `unusable`. Raise
    ProviderError when the call failed for good, RetryLater when it should be made later, and what the guard raises
    (Halted, CallPostponed)."""
    attempt = _TimedAttempt(target, unusable if unusable is not None else [])
    reply = await complete_with_retry(
        target.account,
        target.model,
        await _with_files(request, target.files),
        timeout_seconds=target.call_timeout_seconds,
        max_wait_seconds=MAX_WAIT_SECONDS,
        rng=target.rng,
        on_retry=target.on_retry,
        attempt=attempt,
        max_attempts=target.max_attempts,
        retry_delay_seconds=target.retry_delay_seconds,
        log=target.log,
        sleep=target.sleep,
    )
    return Turn(reply, attempt.duration_ms)


async def _with_files(request: ModelRequest, reader: FileReader | None) -> ModelRequest:
    parts = [part for message in request.messages if message.parts for part in message.files]
    if not parts:
        return request
    wanted = {part.file_id: part for part in parts if part.file_id is not None}
    content = await reader.read(wanted) if reader is not None else {}
    gone = next((part for file_id, part in wanted.items() if file_id not in content), None)
    if gone is not None:
        message = f"the file {gone.file_id} of the message, {gone.note}, does not exist any more"
        raise ProviderError(ProbeErrorCode.FILE_NOT_FOUND, message, final=True)
    return replace(request, files=content)


@dataclass
class _TimedAttempt:
    target: CalledTarget
    unusable: list[Spend]
    duration_ms: int = 0

    async def __call__(self, account: Account, model: str, request: ModelRequest, timeout_seconds: float) -> Reply:
        async with self.target.guard() as on_answer:
            timer = start_timer()
            try:
                with self.target.log.in_flight(model, request, self.target.max_attempts):
                    reply = await self.target.attempt(account, model, request, timeout_seconds)
            except ProviderError as error:
                if (spend := spend_of_failure(account, model, request, error)).has_calls:
                    self.unusable.append(spend)
                raise
            cached_ms = reply.cached_duration_ms
            self.duration_ms = timer.duration_ms if cached_ms is None else cached_ms
            on_answer(reply)
            return reply


async def output_of(reply: Reply, reply_format: ResponseFormat | None) -> Mapping[str, object] | None:
    """Return the structured output. It is None also if the answer is not as requested, which assertions judge."""
    if reply.output or reply_format is None or reply_format.type is FormatType.TEXT:
        return reply.output
    answer = _json_object(reply.text)
    if answer is None or reply_format.schema is None:
        return answer
    return answer if await _satisfies(reply_format.schema, answer) else None


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) and json_limit_error(answer) is None else None


async def _satisfies(schema: Mapping[str, object], answer: Mapping[str, object]) -> bool:
    try:
        return await sandbox.run(_TASK, schema, answer) is None
    except (sandbox.ExpressionError, sandbox.SandboxFailed):  # The answer was paid for, so its probe continues.
        return False
