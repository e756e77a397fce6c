"""Finds targets and scenarios that are unlike the others.

There are three indicators for targets; from five targets on, two of them must agree:

- distance: Mahalanobis's, in the space of the first components. In the full space all targets have the same one, as
  there are more scenarios than targets.
- forest: an isolation forest (Liu, Ting and Zhou 2008) with the scenarios as features. Rows that random cuts isolate
  early are unlike the others.
- agreement: alpha of the others is clearly higher.
"""

from collections.abc import Iterator
from dataclasses import field
from functools import cache
from math import ceil, log, log2, nextafter
from typing import NamedTuple

import numpy as np

from cupel_core.analysis.deep.answer_sums import CompleteMatrix, Floats, Numbers, to_float
from cupel_core.analysis.deep.components import principal_axes
from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.agreement import LeaveOneOut
from cupel_core.domain.analysis.deep import (
    OmittedIndicator,
    OutlierIndicator,
    OutlierScenario,
    OutlierScenarios,
    OutlierTargets,
    TargetOutlyingness,
)
from cupel_core.domain.analysis.distributions import beta_tails
from cupel_core.domain.analysis.multiple_testing import holm

MIN_COLUMNS_FOR_ANY = 3
MIN_SCENARIOS_FOR_ANY = 5
MIN_COLUMNS_FOR_DISTANCE = 5
MIN_COLUMNS_FOR_FOREST = 8
MIN_SCENARIOS_FOR_FOREST = 20
MAX_LISTED = 20
_LEVEL = 0.05
_OUTLYING_SCORE = 0.6
_MAX_AXES = 3
_NEEDED = 2
"""From MIN_COLUMNS_FOR_DISTANCE targets on, so many indicators must agree."""


TREES, SAMPLE_SIZE = 100, 256
_EULER = 0.5772156649015329
_TRIED_AT_ONCE = 8
_LEAF = -1


def mahalanobis_distances(coordinates: Floats) -> Floats:
    """Return the distance of each row from the mean, in a space of uncorrelated axes."""
    rows = len(coordinates)
    squared: Floats = (coordinates**2 / ((coordinates**2).sum(axis=0) / (rows - 1))).sum(axis=1)
    return np.sqrt(squared)


def distance_p(distance: float, rows: int, axes: int) -> float:
    """Return the p-value of a row's distance from the mean of all rows, if they are normal.

    The largest possible distance is (rows - 1) / sqrt(rows) (Gnanadesikan and Kettenring 1972).
    """
    share = min(1.0, distance**2 * rows / (rows - 1) ** 2)
    return beta_tails(axes / 2, (rows - axes - 1) / 2, share, 1 - share).upper


def why_targets_unavailable(matrix: CompleteMatrix) -> str | None:
    if len(matrix.columns) < MIN_COLUMNS_FOR_ANY:
        return f"needs at least {MIN_COLUMNS_FOR_ANY} targets with answers to the same scenarios"
    if len(matrix.scenarios) < MIN_SCENARIOS_FOR_ANY:
        return f"needs at least {MIN_SCENARIOS_FOR_ANY} scenarios that most targets have decided"
    return None


def outlier_targets(
    matrix: CompleteMatrix, without: tuple[LeaveOneOut, ...], generator: np.random.Generator
) -> OutlierTargets:
    number = len(matrix.columns)
    distances = _distances(matrix) if number >= MIN_COLUMNS_FOR_DISTANCE else None
    scores = forest_scores(matrix.values, generator) if number >= MIN_COLUMNS_FOR_FOREST else None
    gains = [without[column].gain for column in matrix.columns.tolist()]
    has_gains = any(gain is not None for gain in gains)
    p_values = [None] * number if distances is None else [p for _, p in distances]
    adjusted = holm(p_values)
    targets = []
    for position, column in enumerate(matrix.columns.tolist()):
        gain, p = gains[position], adjusted[position]
        flags = {
            OutlierIndicator.DISTANCE: p is not None and p < _LEVEL,
            OutlierIndicator.FOREST: scores is not None and scores[position] > _OUTLYING_SCORE,
            OutlierIndicator.AGREEMENT: without[column].is_outlier,
        }
        flagging = tuple(indicator for indicator, is_flagged in flags.items() if is_flagged)
        targets.append(
            TargetOutlyingness(
                column=column,
                distance=None if distances is None else to_float(distances[position][0]),
                distance_p=_rounded(p_values[position]),
                distance_adjusted_p=_rounded(p),
                forest_score=None if scores is None else to_float(scores[position]),
                agreement_gain=_rounded(gain),
                indicators=flagging,
                is_outlier=len(flagging) >= (_NEEDED if number >= MIN_COLUMNS_FOR_DISTANCE else 1),
            )
        )
    return OutlierTargets(tuple(targets), tuple(_omitted(number, distances is not None, has_gains=has_gains)))


def _rounded(value: float | None) -> float | None:
    return None if value is None else to_float(value)


def _omitted(number: int, has_distances: bool, *, has_gains: bool) -> Iterator[OmittedIndicator]:
    if not has_distances:
        few = f"needs at least {MIN_COLUMNS_FOR_DISTANCE} targets"
        equal = "all targets give the same answers"
        reason = few if number < MIN_COLUMNS_FOR_DISTANCE else equal
        yield OmittedIndicator(OutlierIndicator.DISTANCE, reason)
    if number < MIN_COLUMNS_FOR_FOREST:
        yield OmittedIndicator(OutlierIndicator.FOREST, f"needs at least {MIN_COLUMNS_FOR_FOREST} targets")
    if not has_gains:
        yield OmittedIndicator(OutlierIndicator.AGREEMENT, "alpha is undefined: all answers are the same")


def _distances(matrix: CompleteMatrix) -> list[tuple[float, float]] | None:
    """Return each column's distance and p-value, or None if all columns are equal."""
    number = len(matrix.columns)
    axes = principal_axes(matrix.values, max(1, min(_MAX_AXES, (number - 1) // 3)))
    count = axes.coordinates.shape[1]
    if not count:
        return None
    return [(each, distance_p(each, number, count)) for each in mahalanobis_distances(axes.coordinates).tolist()]


def why_scenarios_unavailable(matrix: CompleteMatrix) -> str | None:
    if len(matrix.scenarios) < MIN_SCENARIOS_FOR_FOREST:
        return f"needs at least {MIN_SCENARIOS_FOR_FOREST} scenarios that most targets have decided"
    if not np.ptp(matrix.values, axis=1).any():
        return "all scenarios are answered in the same way"
    return None


def outlier_scenarios(matrix: CompleteMatrix, generator: np.random.Generator) -> OutlierScenarios:
    rows = np.ascontiguousarray(matrix.values.T)
    scores = forest_scores(rows, generator)
    highest = np.argsort(-scores, kind="stable")[:MAX_LISTED].tolist()
    return OutlierScenarios(
        tuple(matrix.columns.tolist()),
        tuple(
            OutlierScenario(
                int(matrix.scenarios[position]), to_float(scores[position]), tuple(map(to_float, rows[position]))
            )
            for position in highest
        ),
    )


@cache
def average_path_length(size: int) -> float:
    """Return the average path length of an unsuccessful search in a binary tree with so many leaves."""
    if size < 2:
        return 0.0
    return 1.0 if size == 2 else 2 * (log(size - 1) + _EULER) - 2 * (size - 1) / size


def forest_scores(rows: Floats, generator: np.random.Generator) -> Floats:
    """Return a score for each row: about 0.5 if it is like others, near 1 if it is isolated early. Equal rows are
    equal."""
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
    """Stores nodes by number: either the feature and value of a cut with its two sides, or the path length of a
    leaf."""

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
    feature: int
    low: float
    high: float


def _varying_feature(rows: Floats, generator: np.random.Generator) -> _Varying | None:
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
