"""Maps a probe's index to its conversation and back, by arithmetic instead of stored rows.

A plan has one segment of cases from the start and one more per expansion. A case is a scenario with one of its
personas, or with none. A column is a target with one of the definition's prompts. Within a segment the order is column,
case, repeat (repeat changes fastest), and columns are ordered by target, so that the probes of one target, and
therefore of one provider, are adjacent. A later segment starts where the earlier ones end, so that an index never
changes its meaning.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.runs.targets import Target

MAX_PROBES = 1_000_000


class ProbePosition(NamedTuple):
    """Contains a position on each axis of the plan; `case` indexes the run's cases, not the definition's scenarios."""

    case: int
    column: int
    repeat: int


def column_name(target_id: str, prompt_id: str | None) -> str:
    return target_id if prompt_id is None else f"{target_id} · {prompt_id}"


class Column(NamedTuple):
    """Contains a target, asked by one of the definition's prompts; results are compared by columns."""

    target: Target
    prompt_id: str | None = None
    """None if the definition has no prompts of its own."""
    prompt_label: str | None = None
    """The prompt's shown name; None stands for its id."""

    @property
    def name(self) -> str:
        """Return a name for people, which is unique in the run."""
        return column_name(self.target.id, self.prompt_id)

    @property
    def target_id(self) -> str:
        return self.target.id

    @property
    def label(self) -> str | None:
        """Return what people call the target; None if it has neither a label nor the name of an agent."""
        return self.target.shown_label

    @property
    def model_id(self) -> str:
        return self.target.model

    @property
    def connector_id(self) -> str | None:
        return self.target.connector_id

    @property
    def variant(self) -> str:
        """Return what distinguishes the simulated answers of one model; empty for a target without a label and
        prompts."""
        return "\n".join(filter(None, (self.target.label, self.prompt_id)))


class _Segment(NamedTuple):
    first_case: int
    cases: int
    first_index: int


@dataclass(frozen=True)
class Plan:
    targets: tuple[Target, ...]
    segments: tuple[int, ...]
    repeats: int = 1
    prompt_ids: tuple[str, ...] = ()
    """Empty if the definition has no prompts of its own: then a column is a target."""
    prompt_labels: Mapping[str, str] = field(default_factory=dict, compare=False)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        if not self.prompt_ids:
            return tuple(map(Column, self.targets))
        prompts = [(prompt, self.prompt_labels.get(prompt)) for prompt in self.prompt_ids]
        return tuple(Column(target, prompt, label) for target in self.targets for prompt, label in prompts)

    @property
    def cases(self) -> int:
        return sum(self.segments)

    @cached_property
    def total(self) -> int:
        return self.cases * self._column_count * self.repeats

    @cached_property
    def _column_count(self) -> int:
        return len(self.targets) * (len(self.prompt_ids) or 1)

    def probe(self, index: int) -> ProbePosition:
        if not 0 <= index < self.total:
            raise IndexError(index)
        segment = self._segments[bisect_right(self._first_indexes, index) - 1]
        column, rest = divmod(index - segment.first_index, segment.cases * self.repeats)
        case, repeat = divmod(rest, self.repeats)
        return ProbePosition(segment.first_case + case, column, repeat)

    def column_of(self, index: int) -> Column:
        return self.columns[self.probe(index).column]

    def index(self, probe: ProbePosition) -> int:
        for first_case, count, base in self._segments:
            case = probe.case - first_case
            if case < count:
                return base + (probe.column * count + case) * self.repeats + probe.repeat
        raise IndexError(probe)

    def column_ranges(self, column: int) -> tuple[range, ...]:
        """Return the indexes of one column, ascending: one range per segment."""
        return tuple(
            range(base + column * count * self.repeats, base + (column + 1) * count * self.repeats)
            for _, count, base in self._segments
        )

    def ranges(self, columns: Iterable[int]) -> tuple[range, ...]:
        spans = (span for column in columns for span in self.column_ranges(column))
        return tuple(sorted(spans, key=lambda span: span.start))

    def columns_of(self, target: str | None = None, prompt_id: str | None = None) -> tuple[int, ...]:
        """Return the columns of a target, given by its id or its model, and of a prompt; None matches all."""
        return tuple(
            number
            for number, column in enumerate(self.columns)
            if target in (None, column.target.id, column.target.model) and prompt_id in (None, column.prompt_id)
        )

    def case_indexes(self, case: int) -> tuple[int, ...]:
        first = (self.index(ProbePosition(case, column, 0)) for column in range(self._column_count))
        return tuple(index for start in first for index in range(start, start + self.repeats))

    @cached_property
    def _segments(self) -> tuple[_Segment, ...]:
        starts = accumulate(self.segments, initial=0)
        return tuple(
            _Segment(first_case, cases, first_case * self._column_count * self.repeats)
            for first_case, cases in zip(starts, self.segments, strict=False)
        )

    @cached_property
    def _first_indexes(self) -> tuple[int, ...]:
        return tuple(segment.first_index for segment in self._segments)
