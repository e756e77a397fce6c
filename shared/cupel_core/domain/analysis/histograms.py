"""Counts whole numbers in logarithmic buckets: quantiles are within 1 %, and the size does not grow with a run.

The buckets are those of DDSketch (Masson, Rim, Lee 2019, arXiv:1908.10693): histograms of parts of a run add up to the
histogram of the whole run, whatever the parts.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from math import ceil, log
from typing import Any

from cupel_core.base.deferred import dataclass

RELATIVE_ERROR = 0.01
_GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GAMMA = log(_GAMMA)
_ZERO = -1
"""The number of the bucket for 0 and below; bucket 0 has the number 1 alone."""


@dataclass
class Histogram:
    buckets: Counter[int] = field(default_factory=Counter)
    total: int = 0
    minimum: int | None = None
    maximum: int | None = None

    @property
    def count(self) -> int:
        return self.buckets.total()

    @property
    def mean(self) -> float | None:
        return self.total / self.count if self.buckets else None

    def add(self, value: int) -> None:
        self.buckets[_bucket(value)] += 1
        self.total += value
        if self.minimum is None or value < self.minimum:
            self.minimum = value
        if self.maximum is None or value > self.maximum:
            self.maximum = value

    def merge(self, other: "Histogram") -> None:
        self.buckets.update(other.buckets)
        self.total += other.total
        self.minimum = min((each for each in (self.minimum, other.minimum) if each is not None), default=None)
        self.maximum = max((each for each in (self.maximum, other.maximum) if each is not None), default=None)

    def quantile(self, share: float) -> int | None:
        """Return the smallest value that at least this share of the values does not exceed; within 1 %, and exact below
        50."""
        if self.minimum is None or self.maximum is None:
            return None
        left = ceil(share * self.count)
        for bucket in sorted(self.buckets):
            left -= self.buckets[bucket]
            if left <= 0:
                return max(self.minimum, min(self.maximum, _middle(bucket)))
        return self.maximum

    def to_json(self) -> dict[str, Any]:
        return {
            "buckets": [[bucket, self.buckets[bucket]] for bucket in sorted(self.buckets)],
            "total": self.total,
            "range": [self.minimum, self.maximum],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Histogram":
        minimum, maximum = data["range"]
        buckets = Counter({int(bucket): int(count) for bucket, count in data["buckets"]})
        return cls(buckets, int(data["total"]), minimum, maximum)


@lru_cache(maxsize=65_536)
def _bucket(value: int) -> int:
    return ceil(log(value) / _LOG_GAMMA) if value > 0 else _ZERO


def _middle(bucket: int) -> int:
    """Return the whole number with the smallest relative error for the values of a bucket."""
    return 0 if bucket == _ZERO else round(2 * _GAMMA**bucket / (_GAMMA + 1))
