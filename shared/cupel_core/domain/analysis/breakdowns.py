"""Figures by group of cases: by persona, by the level of a dimension, or by the value of a scenario's metadata."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from cupel_core.domain.analysis.counts import Cell, RunCounts
from cupel_core.domain.analysis.crossed import MIN_PERSONAS, CaseAnswers, interval_of_codes, interval_of_share
from cupel_core.domain.analysis.estimates import GroupEstimate, group_estimate
from cupel_core.domain.analysis.metrics import Metric
from cupel_core.domain.runs.plan import Column, Plan
from cupel_core.domain.statistics import MIN_SCENARIOS, Interval

PERSONA = "persona"
MAX_GROUPS = 50
"""A field with more values is refused: each would be a row of its own."""
MAX_FIELDS = 20
"""At most so many are offered; another one can be named all the same."""
MAX_VALUE_LENGTH = 200
_NUMBER = re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]{1,15})?")

type CaseGroups = tuple[str, ...]
"""The groups that a case is in: one for most fields, several for a list such as tags, none without a value."""


class CaseProperties(NamedTuple):
    """A case of a run can be grouped by its persona and by what its scenario says of it."""

    scores: Mapping[str, float]
    """The scenario's score in each dimension that it has one in."""
    metadata: Mapping[str, object]
    """The scenario's metadata has the columns of its table in `vars`."""
    persona: str | None

    def groups(self, field: str) -> CaseGroups:
        """A name stands for the persona first, then for a dimension, then for metadata, then for a variable."""
        if field == PERSONA:
            return () if self.persona is None else (self.persona,)
        if field in self.scores:
            return _groups_of(self.scores[field])
        variables = self.metadata.get("vars")
        if field in self.metadata and field != "vars":
            return _groups_of(self.metadata[field])
        return _groups_of(variables.get(field)) if isinstance(variables, Mapping) else ()

    def fields(self) -> Iterable[str]:
        """The names that have a value here."""
        yield from (PERSONA,) if self.persona is not None else ()
        yield from self.scores
        yield from (name for name in self.metadata if name != "vars")
        variables = self.metadata.get("vars")
        yield from variables if isinstance(variables, Mapping) else ()


def _groups_of(value: object) -> CaseGroups:
    """A value is in one group, and a list of values is in the group of each."""
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(dict.fromkeys(group for each in values if (group := _group_of(each)) is not None))


def _group_of(value: object) -> str | None:
    """Objects, lists, and texts that are too long to be names of groups, are in none."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case str():
            text = value.strip()
            return text if 0 < len(text) <= MAX_VALUE_LENGTH else None
        case _:
            return None


class Field(NamedTuple):
    """Something that the cases of a run can be grouped by."""

    name: str
    values: int


def groupable_fields(cases: Sequence[CaseProperties]) -> list[Field]:
    """The fields that divide the cases into two to MAX_GROUPS groups, of which most have more than one case; the
    persona first, then by name."""
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    ended: set[str] = set()
    for case in cases:
        for name in case.fields():
            if name not in ended:
                values[name].update(case.groups(name))
                if len(values[name]) > MAX_GROUPS:
                    ended.add(name)
    found = (
        Field(name, len(counts))
        for name, counts in values.items()
        if name not in ended and len(counts) > 1 and 2 * sum(count > 1 for count in counts.values()) > len(counts)
    )
    return sorted(found, key=lambda field: (field.name != PERSONA, field.name))[:MAX_FIELDS]


class GroupFigures(NamedTuple):
    """The cases of one value."""

    value: str | None
    """None of the cases without a value."""
    scenarios: int
    columns: tuple[GroupEstimate, ...]
    """They are in the order of the columns of the run's plan."""


class CrossedFigures(NamedTuple):
    """It has the intervals of one column for scenarios and personas like those of the run."""

    pass_rate: Interval | None
    decision: Interval | None


class Breakdown(NamedTuple):
    """The figures of a run by what its cases have in common."""

    run_id: str
    columns: tuple[Column, ...]
    by: str | None
    fields: list[Field]
    """The cases can be grouped by these."""
    groups: list[GroupFigures]
    """Numbers by size, then texts, and the cases without a value last; empty if `by` is None."""
    crossed: tuple[CrossedFigures, ...] = ()
    """It has an entry for each column, or none with fewer than MIN_PERSONAS personas or MIN_SCENARIOS scenarios."""


class NotGroupable(ValueError):
    """No case has a value for the name, or they have more than MAX_GROUPS."""


def break_down(
    run_id: str, plan: Plan, cases: Sequence[CaseProperties], by: str | None, read_counts: Callable[[], RunCounts]
) -> Breakdown:
    """`cases` are those of the plan. Raises NotGroupable, before anything is counted."""
    fields = groupable_fields(cases)
    if by is None:
        return Breakdown(run_id, plan.columns, by, fields, [])
    groups = _groups_of_cases(cases, by, fields)
    counts = read_counts()
    crossed = crossed_figures(counts, groups) if by == PERSONA else ()
    return Breakdown(run_id, plan.columns, by, fields, grouped_figures(counts, groups), crossed)


def _groups_of_cases(cases: Sequence[CaseProperties], by: str, fields: Sequence[Field]) -> list[CaseGroups]:
    groups = [case.groups(by) for case in cases]
    known = f"the run can be grouped by {', '.join(field.name for field in fields)}" if fields else "nothing groups it"
    if not any(groups):
        what = "the run has no personas" if by == PERSONA else f"no scenario has a value named {by} to group by"
        raise NotGroupable(f"{what}; {known}")
    if len({value for values in groups for value in values}) > MAX_GROUPS:
        raise NotGroupable(f"{by} has more than {MAX_GROUPS} values; {known}")
    return groups


def grouped_figures(counts: RunCounts, groups: Sequence[CaseGroups]) -> list[GroupFigures]:
    """The scenario stays the unit: what personas and repeats of a group made of one scenario is added up. A case in
    several groups counts in each."""
    scenarios: dict[str | None, list[tuple[int, ...]]] = {}
    for scenario in counts.scenarios:
        cases: defaultdict[str | None, list[int]] = defaultdict(list)
        for case in scenario.cases:
            for value in groups[case] or (None,):
                cases[value].append(case)
        for value, numbers in cases.items():
            scenarios.setdefault(value, []).append(tuple(numbers))
    columns = range(len(counts.plan.columns))
    figures: dict[str | None, list[GroupEstimate]] = {value: [] for value in scenarios}
    for column in columns:
        cells = counts.cells_by_case(column)
        for value, members in scenarios.items():
            figures[value].append(group_estimate(Counter(_sum(cells, cases) for cases in members)))
    ordered = sorted(scenarios, key=_order_of)
    return [GroupFigures(value, len(scenarios[value]), tuple(figures[value])) for value in ordered]


def crossed_figures(counts: RunCounts, personas: Sequence[CaseGroups]) -> tuple[CrossedFigures, ...]:
    """`personas` are those of the cases: one, or none."""
    named = {persona for persona, *_ in filter(None, personas)}
    if len(named) < MIN_PERSONAS or len(counts.scenarios) < MIN_SCENARIOS:
        return ()
    return tuple(
        CrossedFigures(
            pass_rate=interval_of_share(_answers(counts, column, personas, Metric.PASS_RATE)),
            decision=interval_of_codes(_answers(counts, column, personas, Metric.DECISION)),
        )
        for column in range(len(counts.plan.columns))
    )


def _answers(counts: RunCounts, column: int, personas: Sequence[CaseGroups], metric: Metric) -> list[CaseAnswers]:
    cells = counts.cells_by_case(column)
    return [
        CaseAnswers(scenario.position, personas[case][0], metric.trials(cells[case]))
        for scenario in counts.scenarios
        for case in scenario.cases
        if personas[case]
    ]


def _sum(cells: Sequence[Cell], cases: tuple[int, ...]) -> Cell:
    first, *others = (cells[case] for case in cases)
    for cell in others:
        first = first.plus(cell)
    return first


def _order_of(value: str | None) -> tuple[bool, bool, float, str]:
    """Numbers by size, then texts, then no value."""
    if value is None:
        return True, True, 0.0, ""
    is_number = _NUMBER.fullmatch(value) is not None
    return False, not is_number, float(value) if is_number else 0.0, value
