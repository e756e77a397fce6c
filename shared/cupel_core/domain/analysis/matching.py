"""Which scenarios, cases and columns of two sides of a comparison belong together."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.column_totals import ColumnTotals
from cupel_core.domain.analysis.counts import Cell
from cupel_core.domain.analysis.target_usage import TargetUsage
from cupel_core.domain.runs.plan import Column


class MatchedBy(StrEnum):
    SCENARIO_ID = "SCENARIO_ID"
    DIMENSIONS = "DIMENSIONS"
    """Equal scores in all dimensions: scenarios that were generated again have new ids."""


class NotMatchable(Exception):
    """No scenario of one side belongs to one of the other."""


class SideScenario(NamedTuple):
    """A scenario of a run, and the number of its case for each of its personas (None: without one)."""

    id: str
    name: str
    dimensions: Mapping[str, float]
    cases: Mapping[str | None, int]


class SideColumn(NamedTuple):
    """A column of a run, and its number in the run's plan."""

    number: int
    column: Column

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True)
class ComparisonSide:
    """What is compared: some or all columns of a run."""

    source: str
    """Identifies the outcomes: the id of the run, then `/` and the rescore whose results count, if it is not the run's
    own."""
    columns: tuple[SideColumn, ...]
    scenarios: Sequence[SideScenario]
    cell: Callable[[int, int], Cell]
    """The counts of a column and a case, by their numbers."""
    totals: Callable[[int], ColumnTotals] = lambda _: ColumnTotals()
    """The sums of a column, by its number."""
    usage: Callable[[int, int], TargetUsage] = lambda *_: TargetUsage()
    """It returns what the target's calls of a column and a case cost and took."""

    @property
    def run_id(self) -> str:
        return self.source.partition("/")[0]


class MatchedCase(NamedTuple):
    """The numbers of the cases with one persona: one on either side, unless scenarios are matched by dimensions."""

    baseline: tuple[int, ...]
    comparison: tuple[int, ...]


class MatchedScenario(NamedTuple):
    """`id` is that of the baseline's scenario, the first one if scenarios are matched by dimensions."""

    id: str
    name: str
    cases: tuple[MatchedCase, ...]
    """Of the personas that both sides have."""


class MatchedScenarios(NamedTuple):
    matched_by: MatchedBy
    common: list[MatchedScenario]
    only_baseline: int
    only_comparison: int


class ColumnPair(NamedTuple):
    """Columns that are compared with each other; the columns of a side are averaged."""

    baseline: tuple[SideColumn, ...]
    comparison: tuple[SideColumn, ...]

    @property
    def is_substituted(self) -> bool:
        """Whether the sides have different targets or prompts."""
        return _names(self.baseline) != _names(self.comparison)


class PairedColumns(NamedTuple):
    pairs: tuple[ColumnPair, ...]
    only_baseline: tuple[SideColumn, ...] = ()
    only_comparison: tuple[SideColumn, ...] = ()


def match_scenarios(baseline: Sequence[SideScenario], comparison: Sequence[SideScenario]) -> MatchedScenarios:
    """By id; if no id is shared, by dimension scores. Raises NotMatchable."""
    for matched_by, key in ((MatchedBy.SCENARIO_ID, _by_id), (MatchedBy.DIMENSIONS, _by_dimensions)):
        before, after = _grouped(baseline, key), _grouped(comparison, key)
        common = [_matched(matched_by, scenarios, after[name]) for name, scenarios in before.items() if name in after]
        if common:
            return MatchedScenarios(matched_by, common, len(before) - len(common), len(after) - len(common))
    raise NotMatchable


def pair_columns(baseline: ComparisonSide, comparison: ComparisonSide) -> PairedColumns:
    """Equal columns are compared with each other, and one that is left on either side with the other.

    Columns that differ in their prompts only, or in their targets only, are paired by what they share. If nothing is
    shared, all columns of a side are averaged. Columns are never compared with themselves.
    """
    is_same = baseline.source == comparison.source
    for key in (_target_and_prompt, _target, _prompt):
        before, after = _by_key(baseline.columns, key), _by_key(comparison.columns, key)
        shared = [name for name in before if name in after]
        pairs = [ColumnPair((before[name],), (after[name],)) for name in shared]
        if pairs and not (is_same and any(not pair.is_substituted for pair in pairs)):
            return _with_rest(pairs, baseline.columns, comparison.columns)
    return PairedColumns((ColumnPair(baseline.columns, comparison.columns),))


def _with_rest(
    pairs: list[ColumnPair], baseline: Iterable[SideColumn], comparison: Iterable[SideColumn]
) -> PairedColumns:
    before = tuple(column for column in baseline if all(column not in pair.baseline for pair in pairs))
    after = tuple(column for column in comparison if all(column not in pair.comparison for pair in pairs))
    if len(before) == len(after) == 1:
        return PairedColumns((*pairs, ColumnPair(before, after)))
    return PairedColumns(tuple(pairs), before, after)


def _target_and_prompt(column: Column) -> Hashable:
    return column.target.id, column.prompt_id


def _target(column: Column) -> Hashable:
    return column.target.id


def _prompt(column: Column) -> Hashable:
    return column.prompt_id


def _by_key(columns: Iterable[SideColumn], key: Callable[[Column], Hashable]) -> dict[Hashable, SideColumn]:
    """Without any if a key would mean several columns."""
    columns = tuple(columns)
    by_key = {key(each.column): each for each in columns}
    return by_key if len(by_key) == len(columns) else {}


def _names(columns: Iterable[SideColumn]) -> list[str]:
    return [column.name for column in columns]


def _by_id(scenario: SideScenario) -> Hashable:
    return scenario.id


def _by_dimensions(scenario: SideScenario) -> Hashable:
    """None, which means that it cannot be matched, for a scenario without dimensions."""
    return tuple(sorted(scenario.dimensions.items())) or None


def _grouped(
    scenarios: Iterable[SideScenario], key: Callable[[SideScenario], Hashable]
) -> dict[Hashable, list[SideScenario]]:
    groups: dict[Hashable, list[SideScenario]] = {}
    for scenario in scenarios:
        if (name := key(scenario)) is not None:
            groups.setdefault(name, []).append(scenario)
    return groups


def _matched(
    matched_by: MatchedBy, baseline: Sequence[SideScenario], comparison: Sequence[SideScenario]
) -> MatchedScenario:
    first = baseline[0]
    name = first.name if matched_by is MatchedBy.SCENARIO_ID else _combination_name(first.dimensions)
    before, after = _cases(baseline), _cases(comparison)
    common = tuple(MatchedCase(before[persona], after[persona]) for persona in before if persona in after)
    return MatchedScenario(first.id, name, common)


def _cases(scenarios: Iterable[SideScenario]) -> dict[str | None, tuple[int, ...]]:
    cases: dict[str | None, tuple[int, ...]] = {}
    for scenario in scenarios:
        for persona, number in scenario.cases.items():
            cases[persona] = (*cases.get(persona, ()), number)
    return cases


def _combination_name(dimensions: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {score:g}" for name, score in sorted(dimensions.items()))
