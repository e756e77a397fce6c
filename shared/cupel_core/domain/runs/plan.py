"""Maps a probe's index to its conversation and back, by arithmetic instead of stored rows.

A plan has one segment of cases from the start and one more per expansion. A case is a scenario with one
of its personas, or with none. Within a segment the order is target, case, repeat (repeat changes fastest), so that the
probes of one target, and therefore of one provider, are adjacent. A later segment starts where the earlier ones end,
so that an index never changes its meaning.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

MAX_PROBES = 1_000_000
"""Per run."""


class ProbePosition(NamedTuple):
    """A position on each axis of the plan; `case` indexes the run's selected cases, not the definition's scenarios."""

    case: int
    target: int
    repeat: int


@dataclass(frozen=True)
class Plan:
    targets: tuple[str, ...]
    segments: tuple[int, ...]
    """Number of cases in each segment."""
    repeats: int = 1

    @property
    def cases(self) -> int:
        return sum(self.segments)

    @property
    def total(self) -> int:
        return self.cases * len(self.targets) * self.repeats

    def probe(self, index: int) -> ProbePosition:
        if not 0 <= index < self.total:
            raise IndexError(index)
        for first_case, count, base in self._segments():
            within = index - base
            if within < count * len(self.targets) * self.repeats:
                target, rest = divmod(within, count * self.repeats)
                case, repeat = divmod(rest, self.repeats)
                return ProbePosition(first_case + case, target, repeat)
        raise IndexError(index)

    def index(self, probe: ProbePosition) -> int:
        for first_case, count, base in self._segments():
            case = probe.case - first_case
            if case < count:
                return base + (probe.target * count + case) * self.repeats + probe.repeat
        raise IndexError(probe)

    def target_ranges(self, target: int) -> tuple[range, ...]:
        """The indexes of one target, ascending: one range per segment."""
        return tuple(
            range(base + target * count * self.repeats, base + (target + 1) * count * self.repeats)
            for _, count, base in self._segments()
        )

    def case_indexes(self, case: int) -> tuple[int, ...]:
        """The indexes of one case over all targets and repeats, ascending."""
        first = (self.index(ProbePosition(case, target, 0)) for target in range(len(self.targets)))
        return tuple(index for start in first for index in range(start, start + self.repeats))

    def _segments(self) -> Iterator[tuple[int, int, int]]:
        """(first case, cases, first index) of each segment."""
        starts = accumulate(self.segments, initial=0)
        for first_case, count in zip(starts, self.segments, strict=False):
            yield first_case, count, first_case * len(self.targets) * self.repeats
