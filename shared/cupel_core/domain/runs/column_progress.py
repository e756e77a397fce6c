"""Computes the progress of each column of a run from the leaves of its barrier, and selects outcomes to read for the
rest.

Leaves know which probes completed, which are errored and which are claimed. For a full leaf, its parent knows the
number of errored probes, which is enough unless the leaf has probes of several columns.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.barrier import FANOUT, Leaf, Node, probe_count
from cupel_core.domain.runs.claims import Claim
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.slow_calls import SlowCall

MAX_SAMPLED = 500
"""Number of completed probes of all columns together that are read, for the figures that no leaf has."""
MAX_ERRORS_READ = 100
"""Number of errored probes of all columns together that are read for their causes."""
_MIN_READ_PER_TARGET = 5
_MAX_ERRORED_LEAVES = 50


class LeafDetail(NamedTuple):
    leaf: Leaf
    claims: Sequence[Claim] = ()

    def running(self, now: float) -> frozenset[int]:
        """Return the offsets of conversations in progress: a worker has made a call, and there is no outcome yet."""
        calling = (claim.calling for claim in self.claims if claim.until > now)
        return frozenset[int]().union(*calling) - self.leaf.recorded


class LeafCounts(NamedTuple):
    """Describes a leaf that was written to. `detail` is None if only its parent was read, which knows that the leaf is
    full."""

    number: int
    completed: int
    failed: int
    detail: LeafDetail | None = None


@dataclass
class ColumnCounts:
    total: int
    completed: int = 0
    errored: int = 0
    running: int = 0
    slow_calls: list[SlowCall] = field(default_factory=list)
    """Calls in flight that are repeats or take long, as reported by workers."""

    @property
    def recorded(self) -> int:
        return self.completed + self.errored


class _Part(NamedTuple):
    column: int
    indexes: range
    position: int


class _Spans:
    def __init__(self, plan: Plan) -> None:
        spans: list[tuple[range, int, int]] = []
        for column in range(len(plan.columns)):
            position = 0
            for span in plan.column_ranges(column):
                spans.append((span, column, position))
                position += len(span)
        self._spans = sorted(spans, key=lambda each: each[0].start)
        self._starts = [span.start for span, *_ in self._spans]
        self._total = plan.total

    def parts(self, number: int) -> Iterator[_Part]:
        node = Node(0, number)
        first, stop = node.first_index, node.first_index + probe_count(node, self._total)
        for span, column, position in islice(self._spans, bisect_right(self._starts, first) - 1, None):
            if span.start >= stop:
                return
            indexes = range(max(first, span.start), min(stop, span.stop))
            yield _Part(column, indexes, position + indexes.start - span.start)

    def columns(self, number: int) -> list[int]:
        return [part.column for part in self.parts(number)]


def leaves_to_read(plan: Plan, leaves: Iterable[LeafCounts]) -> list[int]:
    """Return the full leaves with errored probes to read: those that columns share, and the newest others."""
    spans, shared, errored = _Spans(plan), list[int](), dict[int, list[int]]()
    for leaf in leaves:
        if leaf.detail is None and leaf.failed:
            columns = spans.columns(leaf.number)
            if len(columns) > 1:
                shared.append(leaf.number)
            else:
                errored.setdefault(columns[0], []).append(leaf.number)
    per_column = max(1, _MAX_ERRORED_LEAVES // len(plan.columns))
    return shared + [number for numbers in errored.values() for number in sorted(numbers)[-per_column:]]


def count_columns(plan: Plan, leaves: Iterable[LeafCounts], now: float) -> list[ColumnCounts]:
    """Return the counts of each column, in the plan's order, from all leaves, with details of `leaves_to_read`."""
    spans, counts = _Spans(plan), [ColumnCounts(plan.total // len(plan.columns)) for _ in plan.columns]
    for leaf in leaves:
        for part in spans.parts(leaf.number):
            if leaf.detail is None:
                _add_full(counts[part.column], part, leaf)
            else:
                _add_detailed(counts[part.column], part, leaf.detail, now)
    return counts


def _add_full(counts: ColumnCounts, part: _Part, leaf: LeafCounts) -> None:
    """Add a leaf of one column, or one without errors."""
    counts.completed += len(part.indexes) - leaf.failed
    counts.errored += leaf.failed


def _add_detailed(counts: ColumnCounts, part: _Part, detail: LeafDetail, now: float) -> None:
    offsets = frozenset(index % FANOUT for index in part.indexes)
    counts.completed += len(detail.leaf.completed & offsets)
    counts.errored += len(detail.leaf.failed & offsets)
    running = detail.running(now) & offsets
    counts.running += len(running)
    calls = (call for claim in detail.claims if claim.until > now for call in claim.slow_calls)
    counts.slow_calls += [call for call in calls if call.offset in running]


def errored_indexes(plan: Plan, leaves: Iterable[LeafCounts]) -> list[int]:
    """Return the errored probes to read: the newest of each column that are known from leaves read in detail."""
    spans, errored = _Spans(plan), dict[int, list[int]]()
    for leaf in leaves:
        if leaf.detail is not None and leaf.detail.leaf.failed:
            for part in spans.parts(leaf.number):
                failed = [index for index in part.indexes if index % FANOUT in leaf.detail.leaf.failed]
                errored.setdefault(part.column, []).extend(failed)
    per_column = max(_MIN_READ_PER_TARGET, MAX_ERRORS_READ // len(plan.columns))
    return [index for indexes in errored.values() for index in sorted(indexes)[-per_column:]]


def sample_indexes(plan: Plan, leaves: Iterable[LeafCounts], counts: Sequence[ColumnCounts]) -> list[int]:
    """Return the completed probes to read: all of a column, or a random one of each block of its probes.

    The size of the blocks doubles as the column progresses, so that the sample is bounded, spread over everything that
    was recorded, and mostly the same at the next request. For a leaf known only from its parent, errored probes are
    included.
    """
    spans, per_column = _Spans(plan), max(_MIN_READ_PER_TARGET, MAX_SAMPLED // len(plan.columns))
    strides = [_stride(each.recorded, per_column) for each in counts]
    sampled: list[int] = []
    for leaf in leaves:
        completed = None if leaf.detail is None else leaf.detail.leaf.completed
        for part in spans.parts(leaf.number):
            drawn = _one_per_block(part, strides[part.column])
            sampled += [index for index in drawn if completed is None or index % FANOUT in completed]
    return sampled


def _stride(recorded: int, limit: int) -> int:
    """Return the smallest power of two that leaves at most `limit` blocks."""
    return 1 << max(0, -(-recorded // limit) - 1).bit_length()


def _one_per_block(part: _Part, stride: int) -> Iterator[int]:
    """Yield one index per block. The position within a block is random, so alternating personas and repeats are not
    drawn by a fixed pattern."""
    for block in range(part.position // stride, (part.position + len(part.indexes) - 1) // stride + 1):
        within = block * stride + crc32(block.to_bytes(4)) % stride - part.position
        if 0 <= within < len(part.indexes):
            yield part.indexes[within]
