"""When a model is left alone for a while: what keeps a thousand probes from failing one by one.

A breaker opens after several refusals in a row (a bad key, a model that does not exist) or when half of the latest
calls failed. It then holds its model's probes. After a time, which doubles with every opening in a row, one probe may
try; a success closes the breaker. An answer without content to judge is an answer: only infrastructure counts.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from cupel_core.domain.turns.model_request import ErrorCode

MOST_REFUSALS = 5
WINDOW = 20
MOST_FAILURES = WINDOW // 2
SHORTEST_SECONDS = 30.0
LONGEST_SECONDS = 900.0
TRIAL_SECONDS = 120.0
"""A trial that has not ended by then was its worker's last."""
ASK_AGAIN_SECONDS = 5.0
"""While another's trial is under way."""

_REFUSALS = frozenset({ErrorCode.AUTH, ErrorCode.INVALID_REQUEST})
_FAILURES = _REFUSALS | {ErrorCode.TIMEOUT, ErrorCode.PROVIDER_ERROR, ErrorCode.NETWORK}
_FAILED, _ANSWERED = "x", "."


class Call(NamedTuple):
    """One attempt of a model call: when it began (seconds since 1970), and its error, if it was one."""

    model: str
    code: ErrorCode | None
    began_at: float


@dataclass(frozen=True)
class Breaker:
    """Of one model. Times are seconds since 1970; `until` is when the next probe may try."""

    refusals: int = 0
    recent: str = ""
    """The latest calls, newest last: `x` failed, `.` answered."""
    opened_at: float | None = None
    until: float = 0.0
    openings: int = 0
    reason: str = ""
    trial_of: str | None = None
    """The worker whose probe tries."""
    trial_until: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None

    @property
    def is_sound(self) -> bool:
        """Whether there is nothing to remember."""
        return not self.is_open and _FAILED not in self.recent

    def note(self, call: Call, now: float) -> "Breaker":
        """After one more call. Being asked to wait says nothing about the model."""
        if call.code is ErrorCode.RATE_LIMITED:
            return replace(self, trial_of=None) if self.trial_of else self
        failed = call.code in _FAILURES
        if self.opened_at is not None:
            return self._note_open(call, self.opened_at, failed=failed, now=now)
        seen = replace(
            self,
            refusals=self.refusals + 1 if call.code in _REFUSALS else 0,
            recent=(self.recent + (_FAILED if failed else _ANSWERED))[-WINDOW:],
        )
        if seen.refusals >= MOST_REFUSALS:
            return seen.opened(f"{seen.refusals} calls in a row were refused: {call.code}", now)
        if len(seen.recent) == WINDOW and seen.recent.count(_FAILED) >= MOST_FAILURES:
            return seen.opened(f"{seen.recent.count(_FAILED)} of the last {WINDOW} calls failed: {call.code}", now)
        return seen

    def _note_open(self, call: Call, opened_at: float, *, failed: bool, now: float) -> "Breaker":
        """Calls that were in flight when it opened say nothing new."""
        if not failed and call.began_at > opened_at:
            return Breaker()
        if failed and call.began_at >= self.until:
            return self.opened(self.reason, now)
        return self

    def opened(self, reason: str, now: float) -> "Breaker":
        seconds = min(LONGEST_SECONDS, SHORTEST_SECONDS * 2.0 ** min(self.openings, 10))
        return Breaker(opened_at=now, until=now + seconds, openings=self.openings + 1, reason=reason)

    def tried_by(self, worker_id: str, now: float) -> "Breaker":
        """Gives the trial to this worker if it is due and nobody has it."""
        if not self.is_open or now < self.until or (self.trial_of and now < self.trial_until):
            return self
        return replace(self, trial_of=worker_id, trial_until=now + TRIAL_SECONDS)

    def held_seconds(self, now: float) -> float:
        """For how long a probe that may not try is to be held."""
        return max(self.until - now, ASK_AGAIN_SECONDS) if self.is_open else 0.0
