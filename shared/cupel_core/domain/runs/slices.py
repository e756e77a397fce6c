"""Divides a run's missing probes into messages.

A slice contains probes of one leaf and one provider. Large slices cost fewer messages; small ones let the workers
finish at the same time. So a slice has a fixed part of what is left for each worker (guided self-scheduling,
Polychronopoulos and Kuck 1987): slices are large while much of a run is left, small towards its end, and small from the
start if there are few probes per worker. Workers that make many calls at a time need no slices as small as others do:
what counts is a slice's part of a worker's calls.

The columns of a provider (targets, each with one prompt) take turns, the one with the most probes left first, so that
they progress side by side and can be compared early. The indexes of a column are adjacent all the same: only the order
of sending changes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from math import ceil
from typing import NamedTuple

from cupel_core.domain.runs.barrier import FANOUT
from cupel_core.domain.runs.plan import Plan

_PARTS = 5
"""A slice has at most this part of what is left for each worker."""
_PARTS_OF_SLOTS = 10
"""Slices need not be smaller than this part of the calls that a worker makes at a time."""
_LAST_ROUNDS = 3
"""Slices have the smallest size in this many last rounds of parallel calls: a worker has one round in progress and one
pending, and all must end up with equal parts of the last."""
MIN_SLICE_SIZE = 5
"""With 5, two workers of 25 slots that each refill their free slots share the last rounds exactly. With 10, one of them
got 30 of the last 50 and the run took one round longer (1.08 instead of 1.03 of the ideal at 1 s per call)."""
_TURNS = 20
"""If there are several columns, a slice has at most this part of a column's probes, so that none gets further ahead."""
_MIN_TURN_SIZE = 25
"""Smaller turns would cost more requests than they are worth."""


class LeafPart(NamedTuple):
    """Contains the probes of one column in one leaf; the column has `left` probes from this leaf on."""

    left: int
    column: int
    leaf: int
    indexes: Sequence[int]


class Workers(NamedTuple):
    """Describes how many workers serve a provider, and how many calls its account allows them together."""

    number: int
    parallel: int


class _Cut(NamedTuple):
    left: int
    column: int
    leaf: int
    indexes: list[int]
    size: int


def slice_size(probes_left: int, workers: Workers) -> int:
    """Return how many probes a slice should have when `probes_left` are still to be sent."""
    smallest = max(MIN_SLICE_SIZE, workers.parallel // workers.number // _PARTS_OF_SLOTS)
    if probes_left <= _LAST_ROUNDS * workers.parallel:
        return smallest
    return min(FANOUT, max(smallest, probes_left // (workers.number * _PARTS)))


def providers_of(plan: Plan) -> tuple[str, ...]:
    return tuple(column.target.provider for column in plan.columns)


def provider_columns(plan: Plan, provider: str) -> list[int]:
    return [number for number, name in enumerate(providers_of(plan)) if name == provider]


def provider_ranges(plan: Plan, provider: str) -> tuple[range, ...]:
    return tuple(span for column in provider_columns(plan, provider) for span in plan.column_ranges(column))


def probes_left(plan: Plan, first_leaves: Mapping[int, int]) -> int:
    """Return how many probes these columns have, from the given leaf of each on."""
    return sum(_left(plan, column, first) for column, first in first_leaves.items())


def parts_in_turn(plan: Plan, first_leaves: Mapping[int, int]) -> Iterator[LeafPart]:
    """Yield the probes of these columns by leaf, from the given leaf of each on; the column with most left comes
    next."""
    return merge(*(_parts(plan, column, first) for column, first in first_leaves.items()), key=_turn)


def _parts(plan: Plan, column: int, first: int) -> Iterator[LeafPart]:
    ranges, left, next_leaf = plan.column_ranges(column), _left(plan, column, first), first
    for span in ranges:
        for leaf in range(max(next_leaf, span.start // FANOUT), -(-span.stop // FANOUT)):
            indexes = [index for each in ranges for index in _overlap(each, leaf)]
            yield LeafPart(left, column, leaf, indexes)
            left -= len(indexes)
            next_leaf = leaf + 1


def latest_parts(plan: Plan, next_leaves: Mapping[int, int], probes: int) -> list[LeafPart]:
    """Return parts before these leaves, in the reverse order of `parts_in_turn`, until they have about `probes`
    probes."""
    before = (_parts_before(plan, column, leaf) for column, leaf in next_leaves.items())
    latest, count = list[LeafPart](), 0
    for part in merge(*before, key=lambda part: (part.left, -part.column)):
        latest.append(part)
        count += len(part.indexes)
        if count >= probes:
            break
    return latest


def _parts_before(plan: Plan, column: int, next_leaf: int) -> Iterator[LeafPart]:
    ranges = plan.column_ranges(column)
    for leaf in range(next_leaf - 1, ranges[0].start // FANOUT - 1, -1):
        if indexes := [index for each in ranges for index in _overlap(each, leaf)]:
            yield LeafPart(_left(plan, column, leaf), column, leaf, indexes)


def _left(plan: Plan, column: int, first: int) -> int:
    return sum(max(0, span.stop - max(span.start, first * FANOUT)) for span in plan.column_ranges(column))


def _overlap(indexes: range, leaf: int) -> range:
    return range(max(indexes.start, leaf * FANOUT), min(indexes.stop, (leaf + 1) * FANOUT))


def _turn(part: LeafPart | _Cut) -> tuple[int, int]:
    return -part.left, part.column


def next_window(parts: Iterable[LeafPart], size: int, extra: int) -> list[LeafPart]:
    """Return the next parts with `size` probes together, or all if they have at most `extra` more."""
    window: list[LeafPart] = []
    probes = parts_of_size = 0
    for part in parts:
        window.append(part)
        probes += len(part.indexes)
        if probes >= size and not parts_of_size:
            parts_of_size = len(window)
        if probes > size + extra:
            return window[:parts_of_size]
    return window


def cut_slices(
    plan: Plan, window: Sequence[LeafPart], missing: Mapping[int, Sequence[int]], left: int, workers: Workers
) -> list[tuple[int, list[int]]]:
    """Divide the missing indexes (by leaf) of a provider's window into slices: (leaf, indexes) of each, in turn. `left`
    is the number of the provider's probes from the window on."""
    cuts: list[_Cut] = []
    is_shared = len(provider_columns(plan, providers_of(plan)[window[0].column])) > 1
    max_size = max(_MIN_TURN_SIZE, plan.total // len(plan.columns) // _TURNS) if is_shared else FANOUT
    for part in window:
        cuts += _cut_part(part, missing[part.leaf], left, workers, max_size)
        left -= len(part.indexes)
    return _merged(sorted(cuts, key=_turn))


def _cut_part(part: LeafPart, missing: Sequence[int], left: int, workers: Workers, max_size: int) -> Iterator[_Cut]:
    """Yield cuts that are as equal as possible: 50 and 50 probes instead of 90 and 10. `left` counts from this part
    on."""
    own = frozenset(part.indexes)
    indexes = [index for index in missing if index in own]
    while indexes:
        before = part.indexes.index(indexes[0])
        size = min(slice_size(left - before, workers), max_size)
        count = ceil(len(indexes) / ceil(len(indexes) / size))
        yield _Cut(part.left - before, part.column, part.leaf, indexes[:count], size)
        indexes = indexes[count:]


def _merged(cuts: Sequence[_Cut]) -> list[tuple[int, list[int]]]:
    """Join neighboring cuts of one leaf that fit into a slice."""
    slices: list[tuple[int, list[int]]] = []
    for cut in cuts:
        if slices and slices[-1][0] == cut.leaf and len(slices[-1][1]) + len(cut.indexes) <= cut.size:
            slices[-1][1].extend(cut.indexes)
        else:
            slices.append((cut.leaf, cut.indexes))
    return slices
