"""Finds out whether a judge has changed, by verdicts on canaries: labelled transcripts that are judged in every run."""

from collections.abc import Iterable
from typing import NamedTuple

from cupel_core.domain.analysis.distributions import binomial_mid_p

CANARIES = 10
FLIPS_NEEDED = 5
"""The least number of flips in one direction, with none in the other, that the test finds."""
_ALPHA = 0.05


class CanaryVerdicts(NamedTuple):
    before: bool
    now: bool


class JudgeDrift(NamedTuple):
    """Flips of the verdicts on canaries, with a sign test of their direction.

    With ten canaries, five flips in one direction and none in the other are needed, so only a judge that became much
    stricter or more lenient is found. A judge that errs more often in both directions is not.
    """

    canaries: int
    to_pass: int
    to_fail: int

    @property
    def flips(self) -> int:
        return self.to_pass + self.to_fail

    @property
    def p(self) -> float:
        """Mid-p of the sign test that flips in both directions are equally likely."""
        return binomial_mid_p(min(self.to_pass, self.to_fail), self.flips)

    @property
    def is_stale(self) -> bool:
        """True if the calibration no longer describes the judge."""
        return self.p < _ALPHA


def judge_drift(canaries: Iterable[CanaryVerdicts]) -> JudgeDrift:
    verdicts = list(canaries)
    to_pass = sum(each.now and not each.before for each in verdicts)
    return JudgeDrift(len(verdicts), to_pass, sum(each.before and not each.now for each in verdicts))
