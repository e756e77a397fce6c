"""Draws pass rates from the posterior distributions of a judge's verdicts and of the labels of each verdict.

All draws come from one seeded generator of the standard library, so that the same counts give the same interval.
"""

from collections.abc import Sequence
from math import fsum
from random import Random
from typing import NamedTuple

from cupel_core.domain.statistics import Interval

DRAWS = 4_000
_PRIOR = 0.5
"""Weight of either outcome, and of each stratum, before anything is seen (Jeffreys' prior)."""


class StratumPosterior(NamedTuple):
    """What is known of the transcripts with the same verdict of the judge."""

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

    def draw(self, rng: Random) -> float:
        passed = self.pass_share * self.effective_labels
        return rng.betavariate(passed + _PRIOR, max(0.0, self.effective_labels - passed) + _PRIOR)

    def draw_of_these(self, rng: Random) -> float:
        """Draw the share of exactly these transcripts that pass, of which those with a label are known."""
        known = self.labelled_share * self.observed_pass_share
        if not self.unlabelled:
            return known
        passed = rng.binomialvariate(self.unlabelled, self.draw(rng))
        return known + (1 - self.labelled_share) * passed / self.unlabelled


def draw_rates(strata: Sequence[StratumPosterior], effective_transcripts: float, draws: int = DRAWS) -> list[float]:
    """Draw the pass rate of transcripts like these, in ascending order."""
    rng, drawn = Random(1), []  # noqa: S311 - reproducible, not secret
    weights = [stratum.share * effective_transcripts + _PRIOR for stratum in strata]
    for _ in range(draws):
        shares = [rng.gammavariate(weight, 1.0) for weight in weights]
        drawn.append(
            fsum(share * stratum.draw(rng) for share, stratum in zip(shares, strata, strict=True)) / fsum(shares)
        )
    return sorted(drawn)


def draw_rates_of_these(strata: Sequence[StratumPosterior], draws: int = DRAWS) -> list[float]:
    """Draw the pass rate of exactly these transcripts, in ascending order."""
    rng = Random(1)  # noqa: S311 - reproducible, not secret
    return sorted(fsum(stratum.share * stratum.draw_of_these(rng) for stratum in strata) for _ in range(draws))


def central_interval(drawn: Sequence[float], estimate: float, confidence: float) -> Interval:
    """Return the middle part of sorted draws; it always contains the estimate."""
    tail = int((1 - confidence) / 2 * len(drawn))
    return Interval(min(drawn[tail], estimate), max(drawn[-1 - tail], estimate))
