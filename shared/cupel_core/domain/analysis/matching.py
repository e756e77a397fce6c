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
    CONTENT_OR_NAME = "CONTENT_OR_NAME"
    """Scenarios have the same texts or names; replacing the scenarios of a definition gives them new ids."""
    DIMENSIONS = "DIMENSIONS"
    """Scenarios have equal scores in all dimensions; generating scenarios again gives them new ids."""


class NotMatchable(Exception):
    pass


class SideScenario(NamedTuple):
    """The number of a case is keyed by its persona, which may be None."""

    id: str
    name: str
    dimensions: Mapping[str, float]
    cases: Mapping[str | None, int]
    content: str | None = None
    """Digest of what the conversation is about; None if it is not known."""
    has_own_name: bool = True
    """True if an author chose the name."""


class SideColumn(NamedTuple):
    number: int
    column: Column

    @property
    def name(self) -> str:
        return self.column.name


@dataclass(frozen=True)
class ComparisonSide:
    source: str
    """The source identifies the outcomes: the run's id, followed by `/` and a rescore's id if a rescore's results
    count."""
    columns: tuple[SideColumn, ...]
    scenarios: Sequence[SideScenario]
    cell: Callable[[int, int], Cell]
    totals: Callable[[int], ColumnTotals] = lambda _: ColumnTotals()
    usage: Callable[[int, int], TargetUsage] = lambda *_: TargetUsage()

    @property
    def run_id(self) -> str:
        return self.source.partition("/")[0]


class MatchedCase(NamedTuple):
    """Contains the numbers of the cases with one persona: one on either side, unless scenarios are matched by
    dimensions."""

    baseline: tuple[int, ...]
    comparison: tuple[int, ...]


class MatchedScenario(NamedTuple):
    """Pairs scenarios; `id` is that of the baseline's first scenario."""

    id: str
    name: str
    cases: tuple[MatchedCase, ...]


class MatchedScenarios(NamedTuple):
    matched_by: MatchedBy
    common: list[MatchedScenario]
    only_baseline: int
    only_comparison: int


class ColumnPair(NamedTuple):
    """Pairs columns that are compared with each other; several columns of a side are averaged."""

    baseline: tuple[SideColumn, ...]
    comparison: tuple[SideColumn, ...]

    @property
    def is_substituted(self) -> bool:
        return _names(self.baseline) != _names(self.comparison)


class PairedColumns(NamedTuple):
    pairs: tuple[ColumnPair, ...]
    only_baseline: tuple[SideColumn, ...] = ()
    only_comparison: tuple[SideColumn, ...] = ()


def match_scenarios(baseline: Sequence[SideScenario], comparison: Sequence[SideScenario]) -> MatchedScenarios:
    """Match scenarios by id or, if no id is shared, by content and name or by dimension scores. Raises NotMatchable.

    Content and name count if they match at least half of the smaller side, because generated scenarios may share a few
    names by chance.
    """
    if by_id := _match_groups(MatchedBy.SCENARIO_ID, _by_id, baseline, comparison):
        return by_id
    common = _match_content_or_name(baseline, comparison)
    named = MatchedScenarios(
        MatchedBy.CONTENT_OR_NAME, common, len(baseline) - len(common), len(comparison) - len(common)
    )
    if common and 2 * len(common) >= min(len(baseline), len(comparison)):
        return named
    if by_dimensions := _match_groups(MatchedBy.DIMENSIONS, _by_dimensions, baseline, comparison):
        return by_dimensions
    if common:
        return named
    raise NotMatchable


def _match_groups(
    matched_by: MatchedBy,
    key: Callable[[SideScenario], Hashable],
    baseline: Sequence[SideScenario],
    comparison: Sequence[SideScenario],
) -> MatchedScenarios | None:
    before, after = _grouped(baseline, key), _grouped(comparison, key)
    common = [_matched(matched_by, scenarios, after[name]) for name, scenarios in before.items() if name in after]
    return MatchedScenarios(matched_by, common, len(before) - len(common), len(after) - len(common)) if common else None


def _match_content_or_name(
    baseline: Sequence[SideScenario], comparison: Sequence[SideScenario]
) -> list[MatchedScenario]:
    """Match scenarios of equal content and name first, then renamed ones by content and edited ones by name. A content
    or name that several of the remaining scenarios of a side have matches none of them."""
    before, after = {each.id: each for each in baseline}, {each.id: each for each in comparison}
    found: dict[str, MatchedScenario] = {}
    for key in (_by_content_and_name, _by_content, _by_name):
        first, second = _grouped(before.values(), key), _grouped(after.values(), key)
        for name in first.keys() & second.keys():
            if len(first[name]) == len(second[name]) == 1:
                one, other = first[name][0], second[name][0]
                found[one.id] = _matched(MatchedBy.CONTENT_OR_NAME, [one], [other])
                del before[one.id], after[other.id]
    return [found[each.id] for each in baseline if each.id in found]


def pair_columns(baseline: ComparisonSide, comparison: ComparisonSide) -> PairedColumns:
    """Compare equal columns with each other, and a single remaining column of one side with that of the other.

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
    """Return the columns by key, or nothing if a key would mean several columns."""
    columns = tuple(columns)
    by_key = {key(each.column): each for each in columns}
    return by_key if len(by_key) == len(columns) else {}


def _names(columns: Iterable[SideColumn]) -> list[str]:
    return [column.name for column in columns]


def _by_id(scenario: SideScenario) -> Hashable:
    return scenario.id


def _by_content(scenario: SideScenario) -> Hashable:
    return scenario.content


def _by_name(scenario: SideScenario) -> Hashable:
    return scenario.name if scenario.has_own_name else None


def _by_content_and_name(scenario: SideScenario) -> Hashable:
    content, name = _by_content(scenario), _by_name(scenario)
    return None if content is None or name is None else (content, name)


def _by_dimensions(scenario: SideScenario) -> Hashable:
    """Return None for a scenario without dimensions, which means that it cannot be matched."""
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
    name = _combination_name(first.dimensions) if matched_by is MatchedBy.DIMENSIONS else first.name
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
