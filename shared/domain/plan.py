"""A probe is arithmetic, not a row: which conversation an index of a run stands for.

A plan has one segment of scenarios from the start and one more per expansion. Inside a segment the order is target,
scenario, persona, repeat (the last runs fastest), so that the probes of one target, and with it of one provider, lie
next to each other; a later segment starts where the earlier ones end, so that an index never changes its meaning.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

MAX_PROBES = 1_000_000
"""Of one run."""


class Probe(NamedTuple):
    """Positions on the plan's axes; `scenario` counts in the run's selection, not in the definition."""

    scenario: int
    target: int
    persona: int
    repeat: int


@dataclass(frozen=True)
class Plan:
    targets: tuple[str, ...]
    segments: tuple[int, ...]
    personas: int = 1
    repeats: int = 1

    @property
    def scenarios(self) -> int:
        return sum(self.segments)

    @property
    def total(self) -> int:
        return self.scenarios * len(self.targets) * self._each

    @property
    def _each(self) -> int:
        """Probes of one scenario and one target."""
        return self.personas * self.repeats

    def probe(self, index: int) -> Probe:
        if not 0 <= index < self.total:
            raise IndexError(index)
        for first_scenario, count, base in self._segments():
            within = index - base
            if within < count * len(self.targets) * self._each:
                target, rest = divmod(within, count * self._each)
                scenario, rest = divmod(rest, self._each)
                persona, repeat = divmod(rest, self.repeats)
                return Probe(first_scenario + scenario, target, persona, repeat)
        raise IndexError(index)

    def index(self, probe: Probe) -> int:
        for first_scenario, count, base in self._segments():
            scenario = probe.scenario - first_scenario
            if scenario < count:
                offset = (probe.target * count + scenario) * self._each
                return base + offset + probe.persona * self.repeats + probe.repeat
        raise IndexError(probe)

    def target_ranges(self, target: int) -> tuple[range, ...]:
        """The indexes of one target, ascending: one range per segment."""
        size = self._each
        return tuple(
            range(base + target * count * size, base + (target + 1) * count * size)
            for _, count, base in self._segments()
        )

    def scenario_indexes(self, scenario: int) -> tuple[int, ...]:
        """The indexes of one scenario over all targets, personas and repeats, ascending."""
        first = (self.index(Probe(scenario, target, 0, 0)) for target in range(len(self.targets)))
        return tuple(index for start in first for index in range(start, start + self._each))

    def _segments(self) -> Iterator[tuple[int, int, int]]:
        """(first scenario, scenarios, first index) of each segment."""
        starts = accumulate(self.segments, initial=0)
        for first_scenario, count in zip(starts, self.segments, strict=False):
            yield first_scenario, count, first_scenario * len(self.targets) * self._each
