"""When to stop asking a judge: none of its first replies was usable, so that its other calls would be paid in vain.

A judge that fails for a while, or whose provider refuses its calls, is the breaker's affair (`domain/limits`). This is
about a judge that answers and gives no verdict: the wrong model, a prompt that it cannot follow, a filter.
"""

from typing import NamedTuple

from cupel_core.domain.runs.transcripts import Outcome, Transcript
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.domain.scoring.unscored import DESCRIPTIONS, UnscoredCause, UnscoredCode
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.turns.spend import Spend

MAX_REPLIES, MIN_REPLIES = 20, 3
_SHARE = 5
_UNUSABLE = frozenset({UnscoredCode.JUDGE_REPLY, UnscoredCode.JUDGE_REFUSED})


class JudgedReply(NamedTuple):
    """What an answer says about its judge. Either field is None or False if it says nothing."""

    unusable: UnscoredCause | None
    """The cause, if the judge gave no usable reply."""
    is_usable: bool
    """Whether a judge was called and the answer was scored."""
    error: str | None = None
    """Why the reply is unusable; it may quote the conversation."""


def patience(expected: int) -> int:
    """How many first replies may be unusable when so many are expected: a fifth of them, from 3 to 20."""
    return max(MIN_REPLIES, min(MAX_REPLIES, expected // _SHARE))


def judged_reply(outcome: Outcome) -> JudgedReply:
    """What the outcome of a probe says about its judge."""
    if not isinstance(outcome, Transcript):
        return _reply(outcome.cause, outcome.message, is_usable=False)
    if outcome.scoring is None:
        return _NOTHING
    return judged_scoring(outcome.scoring, outcome.conversation.judge_spend)


def judged_scoring(scoring: Scoring, judge: Spend, *causes: UnscoredCode) -> JudgedReply:
    """The same of a scoring and what its judge has cost. `causes` are further ones that count as unusable replies."""
    is_usable = scoring.success is not None and bool(judge.calls)
    return _reply(scoring.cause, scoring.unscored_error, *causes, is_usable=is_usable)


def _reply(cause: UnscoredCause | None, error: str | None, *causes: UnscoredCode, is_usable: bool) -> JudgedReply:
    is_unusable = cause is not None and (cause.code in _UNUSABLE or cause.code in causes)
    return JudgedReply(cause if is_unusable else None, is_usable, error if is_unusable else None)


_NOTHING = JudgedReply(None, is_usable=False)


def name_of(cause: UnscoredCause) -> str:
    """`the judge sim/judge`."""
    return f"the judge {cause.model}" if cause.model else "the judge"


def why_stopped(cause: UnscoredCause, replies: int, problem: str | None = None) -> str:
    """Why no further reply is asked for, after so many. `problem` is the last one; by default what its code means."""
    code = f"{cause.code}, {cause.provider_code}" if cause.provider_code else cause.code
    said = problem or DESCRIPTIONS[cause.code]
    return f"{name_of(cause)} gave no usable verdict on the first {count_of(replies, 'answer')} ({code}): {said}"


class JudgeWatch:
    """Follows the outcomes of one process until a judge has given a usable verdict, or too many unusable ones."""

    def __init__(self, expected: int) -> None:
        """`expected` is how many verdicts the run or evaluation needs."""
        self.why_stopped: str | None = None
        """Why nothing more is asked; None as long as there is no reason."""
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
