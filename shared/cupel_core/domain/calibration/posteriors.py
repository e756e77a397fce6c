"""Draws pass rates from the posterior distributions of a judge's verdicts and of the labels of each verdict.

All draws come from a generator of the standard library whose seed follows from the counts, so that the same counts give
the same interval. A constant seed would make the intervals of all counts too wide or too narrow in the same way.
"""

from collections.abc import Sequence
from math import sumprod
from random import Random
from typing import NamedTuple

from cupel_core.domain.statistics import Interval

DRAWS = 2_000
_PRIOR = 0.5
"""Weight of either outcome, and of each stratum, before anything is seen (Jeffreys' prior)."""


class StratumPosterior(NamedTuple):
    """Knowledge about the transcripts with the same verdict of the judge."""

    share: float
    """Share of these transcripts among all."""
    pass_share: float
    """Weighted share of the labels that are passes."""
    effective_labels: float
    labelled_share: float = 0.0
    """Share of these transcripts that have a label."""
    observed_pass_share: float = 0.0
    """Share of passes among the transcripts that have a label, without weights."""
    unlabelled: int = 0

    def draw(self, rng: Random, draws: int) -> list[float]:
        """Draw the share of passes among transcripts like these."""
        passed = min(self.effective_labels, self.pass_share * self.effective_labels)
        failed = self.effective_labels - passed
        return [rng.betavariate(passed + _PRIOR, failed + _PRIOR) for _ in range(draws)]

    def draw_of_these(self, rng: Random, draws: int) -> list[float]:
        """Draw the share of exactly these transcripts that pass, of which those with a label are known."""
        known = self.labelled_share * self.observed_pass_share
        if not self.unlabelled:
            return [known] * draws
        of_one = (1 - self.labelled_share) / self.unlabelled
        return [known + of_one * rng.binomialvariate(self.unlabelled, share) for share in self.draw(rng, draws)]


def draw_rates(strata: Sequence[StratumPosterior], effective_transcripts: float, draws: int = DRAWS) -> list[float]:
    """Draw the pass rate of transcripts like these, in ascending order."""
    rng = _seeded(strata)
    weights = [stratum.share * effective_transcripts + _PRIOR for stratum in strata]
    shares = zip(*([rng.gammavariate(weight, 1.0) for _ in range(draws)] for weight in weights), strict=True)
    passes = zip(*(stratum.draw(rng, draws) for stratum in strata), strict=True)
    return sorted(sumprod(share, passed) / sum(share) for share, passed in zip(shares, passes, strict=True))


def draw_rates_of_these(strata: Sequence[StratumPosterior], draws: int = DRAWS) -> list[float]:
    """Draw the pass rate of exactly these transcripts, in ascending order."""
    rng = _seeded(strata)
    shares = [stratum.share for stratum in strata]
    passes = zip(*(stratum.draw_of_these(rng, draws) for stratum in strata), strict=True)
    return sorted(sumprod(shares, passed) for passed in passes)


def central_interval(drawn: Sequence[float], estimate: float, confidence: float) -> Interval:
    """Return the middle part of sorted draws; it always contains the estimate."""
    tail = round((1 - confidence) / 2 * (len(drawn) - 1))
    return Interval(min(drawn[tail], estimate), max(drawn[-1 - tail], estimate))


def _seeded(strata: Sequence[StratumPosterior]) -> Random:
    rounded = [tuple(round(value, 6) for value in stratum) for stratum in strata]
    return Random(repr(rounded))  # noqa: S311 - reproducible, not secret
