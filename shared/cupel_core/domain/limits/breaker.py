"""Implements a circuit breaker per model, which keeps a thousand probes from failing one by one.

A breaker opens when half of the latest calls failed. While it is open, its model is suspended. After a time that
doubles with every consecutive opening, one probe may try; a success closes the breaker. Filtered content counts as an
answer: only infrastructure errors count.

It also opens when the provider asks to wait (a rate limit, an overloaded model) and nothing is answered any more: then
the model is tried again after growing waits, and no probe is charged for it. A single throttled call among answered
ones opens nothing.

It also opens after several refusals in a row that only the owner can repair (a bad key, no credit) or that show that
the model does not exist. No wait cures these, so the runs that call the model are paused. They are also paused when the
provider has asked to wait for too long. A request refused for its content, such as a prompt that is too long, says
nothing about the model, and neither does an invalid request to a model that has answered lately.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import ProbeErrorCode
from cupel_core.domain.limits.provider_errors import Remedy, usual_repair

MAX_REFUSALS = 5
WINDOW = 20
MAX_FAILURES = WINDOW // 2
MIN_OPEN_SECONDS = 30.0
MAX_OPEN_SECONDS = 900.0
TRIAL_SECONDS = 120.0
"""A trial that has not ended after this time is abandoned, because its worker must have died."""
RECHECK_SECONDS = 5.0
"""The breaker is checked again after this time while another worker's trial is in progress."""
WAIT_STEPS_SECONDS = (5.0, 10.0, 20.0, 60.0, 180.0, 330.0)
"""The waits of a model whose provider asks to wait; the last is repeated. The fourth outlasts a minute, over
which most limits apply, and all together last ten minutes."""
MIN_WAITS_IN_ROW = 2
PATIENCE_SECONDS = 3_600.0
"""A provider that only asks to wait for longer than this counts as refusing calls, so that the run's owner decides."""
PACING_HINT = "a limit on requests per minute (cupel providers set … --requests-per-minute) avoids such refusals"

REFUSALS = frozenset({ProbeErrorCode.AUTH, ProbeErrorCode.INVALID_REQUEST})
_FAILURES = REFUSALS | {ProbeErrorCode.TIMEOUT, ProbeErrorCode.PROVIDER_ERROR, ProbeErrorCode.NETWORK}
_CONTENT_REFUSED = re.compile(
    r"context.?(length|window)|too (long|large|many tokens)|(maximum|max|exceed\w*)\b.{0,40}\btokens|input length",
    re.IGNORECASE,
)
_MAX_REASON_LENGTH = 400
_QUOTING = "the provider repeats what was said, so its words are only in the errors of the probes"
_EXHAUSTED = f"its rate limit is used up, as its provider reports; {PACING_HINT}"
_FAILED, _ANSWERED = "x", "."


class CallRecord(NamedTuple):
    """Describes one attempt of a model call: when it started (Unix time) and its error, if it failed."""

    model: str
    code: ProbeErrorCode | None
    started_at: float
    message: str = ""
    is_quoting: bool = False
    """The message repeats parts of the conversation, which may be deleted, so it is not stored here."""
    repair: Remedy | None = None
    """The party who can repair the error; None if the code determines it."""
    wait_seconds: float = 0.0
    others: int = 0
    """Counts the worker's calls that were in flight when this one ended, or that the model has answered lately."""

    @property
    def asks_to_wait(self) -> bool:
        return self._repair is Remedy.WAIT

    @property
    def is_owners(self) -> bool:
        return self._repair is Remedy.OWNER

    @property
    def _repair(self) -> Remedy | None:
        return self.repair or (usual_repair(self.code) if self.code is not None else None)


@dataclass(frozen=True)
class Breaker:
    """Contains the state of one model's breaker. Times are Unix times; the next probe may try at `until`."""

    refusals: int = 0
    recent: str = ""
    """The latest calls, newest last: `x` failed, `.` succeeded."""
    opened_at: float | None = None
    until: float = 0.0
    openings: int = 0
    reason: str = ""
    trial_of: str | None = None
    trial_until: float = 0.0
    waits_in_row: int = 0
    """Counts requests to wait since the last answer."""
    asked_since: float | None = None
    """The first request to wait since the last answer was at this time."""
    steps: int = 0

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None

    @property
    def is_refusing(self) -> bool:
        """Return whether the breaker is open because every call was refused, which only a person can repair."""
        return self.is_open and self.refusals >= MAX_REFUSALS

    @property
    def is_waiting(self) -> bool:
        return self.is_open and self.steps > 0

    @property
    def is_healthy(self) -> bool:
        """Return whether the breaker is closed without recent failures, so that it need not be stored."""
        return not self.is_open and _FAILED not in self.recent and not self.waits_in_row

    def after_call(self, call: CallRecord, now: float, patience_seconds: float = PATIENCE_SECONDS) -> "Breaker":
        """Return the breaker after one more call. A prompt that is too long says nothing about the model."""
        if call.asks_to_wait:
            return self._after_request_to_wait(call, now, patience_seconds)
        if _refuses_content(call):
            return replace(self, trial_of=None) if self.trial_of else self
        failed = call.code in _FAILURES or call.is_owners
        if self.opened_at is not None:
            return self._after_call_while_open(call, self.opened_at, failed=failed, now=now)
        updated = replace(
            self,
            refusals=self.refusals + 1 if self._is_refusal(call) else 0,
            recent=(self.recent + (_FAILED if failed else _ANSWERED))[-WINDOW:],
            waits_in_row=self.waits_in_row if failed else 0,
            asked_since=self.asked_since if failed else None,
        )
        if updated.refusals >= MAX_REFUSALS:
            return updated.refusing(call, now)
        if len(updated.recent) == WINDOW and updated.recent.count(_FAILED) >= MAX_FAILURES:
            return updated.opened(
                f"{updated.recent.count(_FAILED)} of the last {WINDOW} calls failed: {call.code}", now
            )
        return updated

    def _after_call_while_open(self, call: CallRecord, opened_at: float, *, failed: bool, now: float) -> "Breaker":
        if not failed and call.started_at > opened_at:
            return Breaker()
        if failed and call.started_at >= self.until:
            if self.is_waiting and not call.is_owners:
                return self.waiting(call, now)
            is_refusal = self.is_refusing and self._is_refusal(call)
            return self.refusing(call, now) if is_refusal else self.opened(self.reason, now)
        return self

    def _after_request_to_wait(self, call: CallRecord, now: float, patience_seconds: float) -> "Breaker":
        """Apply a request to wait. Calls in flight when the breaker opened only extend its wait, because they are one
        burst."""
        if self.is_open and not self.is_waiting:
            is_trial = call.started_at >= self.until
            return Breaker(waits_in_row=1, asked_since=now).waiting(call, now) if is_trial else self
        since = now if self.asked_since is None else self.asked_since
        asked = replace(self, waits_in_row=self.waits_in_row + 1, asked_since=since)
        if self.is_open and call.started_at < self.until:
            return replace(asked, until=max(self.until, now + min(call.wait_seconds, MAX_OPEN_SECONDS)))
        if not self.is_open and asked.waits_in_row < max(MIN_WAITS_IN_ROW, min(WINDOW, call.others)):
            return asked
        if now - since >= patience_seconds:
            words = f"its provider has asked to wait for {(now - since) / 60:.0f} minutes: {_words_of(call)}"
            return replace(asked.opened(words[:_MAX_REASON_LENGTH], now), refusals=MAX_REFUSALS)
        return asked.waiting(call, now)

    def waiting(self, call: CallRecord, now: float) -> "Breaker":
        """Return the breaker while the provider asks to wait, at least for that time, and longer with each refusal."""
        step = WAIT_STEPS_SECONDS[min(self.steps, len(WAIT_STEPS_SECONDS) - 1)]
        reason = f"its provider asks to wait: {_words_of(call)}"[: _MAX_REASON_LENGTH - len(PACING_HINT) - 2]
        return replace(
            self,
            opened_at=now,
            until=now + max(step, call.wait_seconds),
            steps=self.steps + 1,
            reason=f"{reason}; {PACING_HINT}" if call.code is ProbeErrorCode.RATE_LIMITED else reason,
            trial_of=None,
            trial_until=0.0,
        )

    def exhausted(self, until: float, now: float) -> "Breaker":
        """Return the breaker after an answer that reports that the model's rate limit is used up until then."""
        if self.is_open and (not self.is_waiting or self.until >= until):
            return self
        return replace(
            self,
            opened_at=now,
            until=until,
            steps=max(1, self.steps),
            reason=_EXHAUSTED,
            trial_of=None,
            trial_until=0.0,
        )

    def _is_refusal(self, call: CallRecord) -> bool:
        if call.code is ProbeErrorCode.INVALID_REQUEST:
            return _ANSWERED not in self.recent
        return call.is_owners

    def refusing(self, call: CallRecord, now: float) -> "Breaker":
        """Return the open breaker after the last tolerated refusal."""
        reason = f"it refuses every call ({call.code}): {_words_of(call)}"[:_MAX_REASON_LENGTH]
        return replace(self.opened(reason, now), refusals=max(MAX_REFUSALS, self.refusals))

    def opened(self, reason: str, now: float) -> "Breaker":
        seconds = min(MAX_OPEN_SECONDS, MIN_OPEN_SECONDS * 2.0 ** min(self.openings, 10))
        return Breaker(opened_at=now, until=now + seconds, openings=self.openings + 1, reason=reason)

    def with_trial_by(self, worker_id: str, now: float) -> "Breaker":
        """Assign the trial to this worker if it is due and no other worker has it."""
        if not self.is_open or now < self.until or (self.trial_of and now < self.trial_until):
            return self
        return replace(self, trial_of=worker_id, trial_until=now + TRIAL_SECONDS)

    def suspended_until(self, now: float) -> float | None:
        """Return when calls may start again; None if the next call may start."""
        until = max(self.until, self.trial_until if self.trial_of else 0.0)
        return until if self.is_open and until > now else None

    def suspended_seconds(self, now: float) -> float:
        """Return how long a probe of the model waits, unless it is the trial."""
        return max(self.until - now, RECHECK_SECONDS) if self.is_open else 0.0


def _words_of(call: CallRecord) -> str:
    return _QUOTING if call.is_quoting else call.message


def _refuses_content(call: CallRecord) -> bool:
    return call.code is ProbeErrorCode.INVALID_REQUEST and bool(_CONTENT_REFUSED.search(call.message))
