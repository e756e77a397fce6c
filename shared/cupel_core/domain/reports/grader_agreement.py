from random import Random

from cupel_core.base.deferred import dataclass
from cupel_core.domain.statistics import Interval

MIN_PAIRS = 30
"""With fewer conversations, figures of agreement say little."""
_RESAMPLES = 1_000


@dataclass
class GraderPairs:
    both_passed: int = 0
    only_first: int = 0
    only_second: int = 0
    both_failed: int = 0

    def add(self, first: bool, second: bool) -> None:
        if first and second:
            self.both_passed += 1
        elif first:
            self.only_first += 1
        elif second:
            self.only_second += 1
        else:
            self.both_failed += 1

    @property
    def conversations(self) -> int:
        return self.both_passed + self.only_first + self.only_second + self.both_failed

    @property
    def first_pass_rate(self) -> float | None:
        total = self.conversations
        return (self.both_passed + self.only_first) / total if total else None

    @property
    def second_pass_rate(self) -> float | None:
        total = self.conversations
        return (self.both_passed + self.only_second) / total if total else None

    @property
    def agreement(self) -> float | None:
        total = self.conversations
        return (self.both_passed + self.both_failed) / total if total else None

    @property
    def kappa(self) -> float | None:
        """Return Cohen's kappa; None if both graders always say the same, because chance alone would explain it."""
        first, second, agreement = self.first_pass_rate, self.second_pass_rate, self.agreement
        if first is None or second is None or agreement is None:
            return None
        expected = first * second + (1 - first) * (1 - second)
        return None if expected >= 1 else (agreement - expected) / (1 - expected)

    @property
    def alpha(self) -> float | None:
        """Return Krippendorff's nominal alpha for two graders; None if all verdicts are equal."""
        differing = self.only_first + self.only_second
        passed, failed = 2 * self.both_passed + differing, 2 * self.both_failed + differing
        if not passed or not failed:
            return None
        return 1 - differing * (passed + failed - 1) / (passed * failed)

    def kappa_interval(self) -> Interval | None:
        """Return a 95 % interval by a seeded bootstrap; None for fewer than MIN_PAIRS conversations."""
        if self.conversations < MIN_PAIRS or self.kappa is None:
            return None
        rng = Random(self.conversations)  # noqa: S311 - reproducible, not secret
        resampled = sorted(kappa for _ in range(_RESAMPLES) if (kappa := self._resampled(rng).kappa) is not None)
        if not resampled:
            return None
        return Interval(resampled[int(0.025 * len(resampled))], resampled[int(0.975 * (len(resampled) - 1))])

    def _resampled(self, rng: Random) -> "GraderPairs":
        left, remaining, drawn = self.conversations, self.conversations, list[int]()
        for count in (self.both_passed, self.only_first, self.only_second):
            share = count / remaining if remaining else 0.0
            drawn.append(rng.binomialvariate(left, min(1.0, share)))
            left, remaining = left - drawn[-1], remaining - count
        both_passed, only_first, only_second = drawn
        return GraderPairs(both_passed, only_first, only_second, left)
