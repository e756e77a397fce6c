"""Defines why an answer was not scored: a short code for each cause, so that causes are counted as errors are."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class UnscoredCode(StrEnum):
    """Each code says why a check has no result. The values are the same in stored items, API, command and page."""

    JUDGE_REPLY = "judge_reply"
    """The judge gave no usable reply, even after a repair request."""
    JUDGE_REFUSED = "judge_refused"
    """The judge, or the filter of its provider, declined to judge."""
    JUDGE_FAILED = "judge_failed"
    """The call of the judge or embedding model failed; `provider_code` says how."""
    NO_JUDGE = "no_judge"
    BUDGET = "budget"
    """The judge was not called, because the budget is used up."""
    EVALUATOR = "evaluator"
    """An external evaluator or a webhook could not be called, or its response is invalid."""
    INPUT = "input"
    """The answer or the scenario lacks what the check needs."""
    ASSERTION = "assertion"
    """The assertion itself cannot be computed: its value, expression or template is invalid."""
    CODE = "code"
    """The code of the check may not be run here, or did not run to its end."""
    LIMIT = "limit"
    """Computing the check exceeds the limits of time and memory."""
    DELETED = "deleted"
    """The conversation was deleted before it could be graded."""

    @property
    def is_judges(self) -> bool:
        """Return whether a rescore can score the answer, with another judge or with the same one once it works."""
        return self in _JUDGES


_JUDGES = frozenset(
    {
        UnscoredCode.JUDGE_REPLY,
        UnscoredCode.JUDGE_REFUSED,
        UnscoredCode.JUDGE_FAILED,
        UnscoredCode.NO_JUDGE,
        UnscoredCode.BUDGET,
    }
)

DESCRIPTIONS: Mapping[UnscoredCode, str] = {
    UnscoredCode.JUDGE_REPLY: "the judge gave no usable reply",
    UnscoredCode.JUDGE_REFUSED: "the judge declined to judge",
    UnscoredCode.JUDGE_FAILED: "the call of the judge failed",
    UnscoredCode.NO_JUDGE: "no model is configured that the check needs",
    UnscoredCode.BUDGET: "the budget was used up",
    UnscoredCode.EVALUATOR: "the external evaluator or webhook gave no result",
    UnscoredCode.INPUT: "the answer or the scenario lacks what the check needs",
    UnscoredCode.ASSERTION: "the assertion itself is invalid",
    UnscoredCode.CODE: "the code of the check could not be run",
    UnscoredCode.LIMIT: "the check takes too much time or memory",
    UnscoredCode.DELETED: "the conversation was deleted",
}


class UnscoredCause(NamedTuple):
    """Describes the cause of one missing result. It quotes nothing, so it is stored without the conversation."""

    code: UnscoredCode
    model: str | None = None
    """The judge or embedding model; None if no model was to be called."""
    provider_code: str | None = None
    """The error code of the failed call (`ProbeErrorCode`), and is set for JUDGE_FAILED only."""

    @property
    def sort_key(self) -> tuple[str, str, str]:
        return self.code, self.model or "", self.provider_code or ""
