"""Decides when to stop calling a judge: if none of its first replies is usable, further calls would be wasted.

The circuit breaker (`domain/limits`) handles a judge that fails for a while, or whose provider refuses its calls. This
module handles a judge that answers and gives no verdict: the wrong model, a prompt that it cannot follow, a filter.
"""

from typing import NamedTuple

from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.unscored import DESCRIPTIONS, UnscoredCause, UnscoredCode
from cupel_core.domain.text.counts import count_of

MAX_REPLIES, MIN_REPLIES = 20, 3
_SHARE = 5
_UNUSABLE = frozenset({UnscoredCode.JUDGE_REPLY, UnscoredCode.JUDGE_REFUSED})


class JudgedReply(NamedTuple):
    """Describes whether an answer's judge was usable; `unusable` is None and `is_usable` False if that is unknown."""

    unusable: UnscoredCause | None
    is_usable: bool
    """A judge was called and the answer was scored."""
    error: str | None = None
    """Says why the reply is unusable, and may quote the conversation."""


def patience(expected: int) -> int:
    """Return how many first replies may be unusable if this many are expected: a fifth of them, from 3 to 20."""
    return max(MIN_REPLIES, min(MAX_REPLIES, expected // _SHARE))


def judged_reply(outcome: Outcome) -> JudgedReply:
    if not isinstance(outcome, Transcript):
        return _reply(outcome.cause, outcome.message, is_usable=False)
    if outcome.scoring is None:
        return _NOTHING
    return judged_scoring(outcome.scoring, outcome.conversation.judge_spend)


def judged_scoring(scoring: Scoring, judge: Spend, *causes: UnscoredCode) -> JudgedReply:
    """Return what a scoring and the judge's spend say about the judge. `causes` also count as unusable replies."""
    is_usable = scoring.success is not None and bool(judge.calls)
    return _reply(scoring.cause, scoring.unscored_error, *causes, is_usable=is_usable)


def _reply(cause: UnscoredCause | None, error: str | None, *causes: UnscoredCode, is_usable: bool) -> JudgedReply:
    is_unusable = cause is not None and (cause.code in _UNUSABLE or cause.code in causes)
    return JudgedReply(cause if is_unusable else None, is_usable, error if is_unusable else None)


_NOTHING = JudgedReply(None, is_usable=False)


def name_of(cause: UnscoredCause) -> str:
    """Return a text such as `the judge sim/judge`."""
    return f"the judge {cause.model}" if cause.model else "the judge"


def why_stopped(cause: UnscoredCause, replies: int, problem: str | None = None) -> str:
    """Return why no further reply is requested after this many unusable ones. `problem` describes the last one; by
    default, the message says what its code means."""
    code = f"{cause.code}, {cause.provider_code}" if cause.provider_code else cause.code
    said = problem or DESCRIPTIONS[cause.code]
    return f"{name_of(cause)} gave no usable verdict on the first {count_of(replies, 'answer')} ({code}): {said}"


class JudgeWatch:
    """Follows the outcomes of one process until a judge has given a usable verdict, or too many unusable ones."""

    def __init__(self, expected: int) -> None:
        """Prepare to watch; the run or evaluation needs `expected` verdicts."""
        self.why_stopped: str | None = None
        self._patience = patience(expected)
        self._unusable = 0
        self._is_usable = False

    def add(self, outcome: Outcome) -> None:
        judged = judged_reply(outcome)
        self._is_usable = self._is_usable or judged.is_usable
        if judged.unusable is None or self._is_usable:
            return
        self._unusable += 1
        if self._unusable >= self._patience and self.why_stopped is None:
            self.why_stopped = why_stopped(judged.unusable, self._unusable, judged.error)
