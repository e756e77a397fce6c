"""A circuit breaker per model, which keeps a thousand probes from failing one by one.

A breaker opens when half of the latest calls failed. While it is open, its model is suspended. After a time that
doubles with every consecutive opening, one probe may try; a success closes the breaker. Filtered content counts as an
answer: only infrastructure errors count.

It also opens after several refusals in a row (a bad key, a model that does not exist). No wait cures these: the runs
that call the model are paused. A request refused for its content, such as a prompt that is too long, says nothing about
the model, and neither does an invalid request to a model that has answered lately.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from cupel_core.deferred import dataclass
from cupel_core.domain.turns.model_request import ProbeErrorCode

MAX_REFUSALS = 5
WINDOW = 20
MAX_FAILURES = WINDOW // 2
MIN_OPEN_SECONDS = 30.0
MAX_OPEN_SECONDS = 900.0
TRIAL_SECONDS = 120.0
"""A trial that has not ended by then is given up: its worker must have died."""
RECHECK_SECONDS = 5.0
"""How soon to check again while another worker's trial is under way."""

REFUSALS = frozenset({ProbeErrorCode.AUTH, ProbeErrorCode.INVALID_REQUEST})
_FAILURES = REFUSALS | {ProbeErrorCode.TIMEOUT, ProbeErrorCode.PROVIDER_ERROR, ProbeErrorCode.NETWORK}
_CONTENT_REFUSED = re.compile(
    r"context.?(length|window)|too (long|large|many tokens)|(maximum|max|exceed\w*)\b.{0,40}\btokens|input length",
    re.IGNORECASE,
)
_MAX_REASON_LENGTH = 400
_QUOTING = "the provider repeats what was said, so its words are only in the errors of the probes"
_FAILED, _ANSWERED = "x", "."


class CallRecord(NamedTuple):
    """One attempt of a model call: when it started (Unix time) and its error, if it failed."""

    model: str
    code: ProbeErrorCode | None
    started_at: float
    message: str = ""
    """The provider's words."""
    is_quoting: bool = False
    """Whether they repeat what was said in the conversation, which may be deleted: the message is not stored here."""


@dataclass(frozen=True)
class Breaker:
    """The breaker of one model. Times are Unix times; `until` is when the next probe may try."""

    refusals: int = 0
    recent: str = ""
    """The latest calls, newest last: `x` failed, `.` succeeded."""
    opened_at: float | None = None
    until: float = 0.0
    openings: int = 0
    reason: str = ""
    trial_of: str | None = None
    """Id of the worker that has the trial."""
    trial_until: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None

    @property
    def is_refusing(self) -> bool:
        """Whether it is open because every call was refused: only a person can repair that."""
        return self.is_open and self.refusals >= MAX_REFUSALS

    @property
    def is_healthy(self) -> bool:
        """Whether it is closed without recent failures, so that it need not be stored."""
        return not self.is_open and _FAILED not in self.recent

    def after_call(self, call: CallRecord, now: float) -> "Breaker":
        """The breaker after one more call. A rate limit or a prompt that is too long says nothing about the model."""
        if call.code is ProbeErrorCode.RATE_LIMITED or _refuses_content(call):
            return replace(self, trial_of=None) if self.trial_of else self
        failed = call.code in _FAILURES
        if self.opened_at is not None:
            return self._after_call_while_open(call, self.opened_at, failed=failed, now=now)
        updated = replace(
            self,
            refusals=self.refusals + 1 if self._is_refusal(call) else 0,
            recent=(self.recent + (_FAILED if failed else _ANSWERED))[-WINDOW:],
        )
        if updated.refusals >= MAX_REFUSALS:
            return updated.refusing(call, now)
        if len(updated.recent) == WINDOW and updated.recent.count(_FAILED) >= MAX_FAILURES:
            return updated.opened(
                f"{updated.recent.count(_FAILED)} of the last {WINDOW} calls failed: {call.code}", now
            )
        return updated

    def _after_call_while_open(self, call: CallRecord, opened_at: float, *, failed: bool, now: float) -> "Breaker":
        """Calls that were in flight when it opened are ignored."""
        if not failed and call.started_at > opened_at:
            return Breaker()
        if failed and call.started_at >= self.until:
            is_refusal = self.is_refusing and self._is_refusal(call)
            return self.refusing(call, now) if is_refusal else self.opened(self.reason, now)
        return self

    def _is_refusal(self, call: CallRecord) -> bool:
        """Whether the call shows that the model refuses every call."""
        if call.code is ProbeErrorCode.INVALID_REQUEST:
            return _ANSWERED not in self.recent
        return call.code in REFUSALS

    def refusing(self, call: CallRecord, now: float) -> "Breaker":
        """The open breaker after a refusal too many."""
        words = _QUOTING if call.is_quoting else call.message
        reason = f"it refuses every call ({call.code}): {words}"[:_MAX_REASON_LENGTH]
        return replace(self.opened(reason, now), refusals=max(MAX_REFUSALS, self.refusals))

    def opened(self, reason: str, now: float) -> "Breaker":
        seconds = min(MAX_OPEN_SECONDS, MIN_OPEN_SECONDS * 2.0 ** min(self.openings, 10))
        return Breaker(opened_at=now, until=now + seconds, openings=self.openings + 1, reason=reason)

    def with_trial_by(self, worker_id: str, now: float) -> "Breaker":
        """Gives the trial to this worker if it is due and no other worker has it."""
        if not self.is_open or now < self.until or (self.trial_of and now < self.trial_until):
            return self
        return replace(self, trial_of=worker_id, trial_until=now + TRIAL_SECONDS)

    def suspended_seconds(self, now: float) -> float:
        """How long a probe of the model waits, unless it is the trial."""
        return max(self.until - now, RECHECK_SECONDS) if self.is_open else 0.0


def _refuses_content(call: CallRecord) -> bool:
    return call.code is ProbeErrorCode.INVALID_REQUEST and bool(_CONTENT_REFUSED.search(call.message))
