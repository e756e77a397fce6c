from typing import NamedTuple

from cupel_core.domain.conversations.spend import Spend
from cupel_core.domain.scoring.assertions import AssertionResult, JudgeReply
from cupel_core.domain.scoring.unscored import UnscoredCause, UnscoredCode

type SpendLog = list[Spend]
"""The spend of a check's model calls so far; complete even if the check fails."""

_MAX_QUOTE_LENGTH = 200


class CheckResult(NamedTuple):
    """`reason` states what was observed, so that it is also true for `not-…`. `score` is from 0 to 1."""

    passed: bool
    score: float
    reason: str
    parts: tuple[AssertionResult, ...] = ()
    judge_reply: JudgeReply | None = None


class NotComputable(ValueError):
    """The check has no result, because data is missing, or the assertion's value is invalid for this conversation."""

    def __init__(self, message: str, code: UnscoredCode = UnscoredCode.INPUT, model: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.model = model

    @property
    def cause(self) -> UnscoredCause:
        return UnscoredCause(self.code, self.model)


class TransformFailed(ValueError):
    """The answer does not have the form that the assertion's transform expects."""


class CodeFailed(ValueError):
    """Code raised an exception on an answer, or returned no valid result."""


def binary(passed: bool, reason: str) -> CheckResult:
    return CheckResult(passed, float(passed), reason)


def graded(name: str, score: float, threshold: float) -> CheckResult:
    """Return a result with a score, clamped to 0 … 1, that passes if it reaches the threshold."""
    score = min(1.0, max(0.0, score))
    # Rounding must not fail a score that equals the threshold.
    passed = score >= threshold - 1e-12
    return CheckResult(passed, score, f"{name} {score:.4g} is {'at least' if passed else 'below'} {threshold:g}")


def quote(text: object) -> str:
    content = str(text)
    return f'"{content}"' if len(content) <= _MAX_QUOTE_LENGTH else f'"{content[:_MAX_QUOTE_LENGTH]}…"'
