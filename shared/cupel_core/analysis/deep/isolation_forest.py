"""Isolation forest (Liu, Ting and Zhou 2008): rows that random cuts set apart early are unlike the others."""

from dataclasses import field
from functools import cache
from math import ceil, log, log2, nextafter
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import Floats, Numbers
from cupel_core.base.deferred import dataclass

TREES, SAMPLE_SIZE = 100, 256
_EULER = 0.5772156649015329
_TRIED_AT_ONCE = 8
_LEAF = -1


@cache
def average_path_length(size: int) -> float:
    """Of an unsuccessful search in a binary tree with so many leaves: what path lengths are measured against."""
    if size < 2:
        return 0.0
    return 1.0 if size == 2 else 2 * (log(size - 1) + _EULER) - 2 * (size - 1) / size


def forest_scores(rows: Floats, generator: np.random.Generator) -> Floats:
    """By row: about 0.5 for one like the others, near 1 for one that is set apart early; equal for equal rows."""
    size = min(SAMPLE_SIZE, len(rows))
    limit = ceil(log2(max(size, 2)))
    distinct, positions = np.unique(rows, axis=0, return_inverse=True)
    depths = np.zeros(len(distinct))
    for _ in range(TREES):
        sample = rows[generator.choice(len(rows), size, replace=False)]
        depths += _IsolationTree.grow(sample, limit, generator).path_lengths(distinct)
    scores: Floats = 2.0 ** (-depths / (TREES * max(average_path_length(size), 1.0)))
    return scores[positions.reshape(-1)]


@dataclass
class _IsolationTree:
    """Nodes by number: the feature and value of a cut and its two sides, or the path length that ends in a leaf."""

    features: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    sides: list[tuple[int, int]] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)

    @classmethod
    def grow(cls, sample: Floats, limit: int, generator: np.random.Generator) -> "_IsolationTree":
        tree = cls()
        tree._add(sample, 0, limit, generator)
        return tree

    def _add(self, rows: Floats, depth: int, limit: int, generator: np.random.Generator) -> int:
        number = len(self.features)
        varying = _varying_feature(rows, generator) if depth < limit and len(rows) > 1 else None
        self.features.append(varying.feature if varying else _LEAF)
        self.values.append(0.0)
        self.sides.append((number, number))
        self.lengths.append(depth + average_path_length(len(rows)))
        if varying:
            feature, low, high = varying
            self.values[number] = cut = min(generator.uniform(low, high), nextafter(high, low))
            is_low = rows[:, feature] <= cut
            below = self._add(rows[is_low], depth + 1, limit, generator)
            above = self._add(rows[~is_low], depth + 1, limit, generator)
            self.sides[number] = (below, above)
        return number

    def path_lengths(self, rows: Floats) -> Floats:
        features, values = np.array(self.features), np.array(self.values)
        sides, lengths = np.array(self.sides), np.array(self.lengths)
        nodes: Numbers = np.zeros(len(rows), np.intp)
        going = np.arange(len(rows)) if features[0] != _LEAF else np.empty(0, np.intp)
        while len(going):
            current = nodes[going]
            is_high = rows[going, features[current]] > values[current]
            nodes[going] = current = sides[current, is_high.astype(np.intp)]
            going = going[features[current] != _LEAF]
        found: Floats = lengths[nodes]
        return found


class _Varying(NamedTuple):
    """A feature in which rows differ, with its least and greatest value."""

    feature: int
    low: float
    high: float


def _varying_feature(rows: Floats, generator: np.random.Generator) -> _Varying | None:
    """One of the features in which the rows differ, each equally likely; None if there is none."""
    tried = generator.integers(rows.shape[1], size=_TRIED_AT_ONCE)
    columns = rows[:, tried]
    lows, highs = np.minimum.reduce(columns), np.maximum.reduce(columns)
    first = int((lows < highs).argmax())
    if lows[first] < highs[first]:
        return _Varying(int(tried[first]), float(lows[first]), float(highs[first]))
    varying = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    if not len(varying):
        return None
    feature = int(generator.choice(varying))
    return _Varying(feature, float(rows[:, feature].min()), float(rows[:, feature].max()))
