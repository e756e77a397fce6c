"""Computes figures by group of cases: by persona, by the level of a dimension, or by the value of a scenario's
metadata."""

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
"""A field with more values is refused, because each value would be a row."""
MAX_FIELDS = 20
"""No more fields than this are offered; others can still be requested by name."""
MAX_VALUE_LENGTH = 200
_NUMBER = re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]{1,15})?")

type CaseGroups = tuple[str, ...]
"""A case is in one group for most fields, in several for a list such as tags, and in none without a value."""


class CaseProperties(NamedTuple):
    scores: Mapping[str, float]
    metadata: Mapping[str, object]
    """The entry `vars` of the metadata has the columns of the scenario's table."""
    persona: str | None

    def groups(self, field: str) -> CaseGroups:
        if field == PERSONA:
            return () if self.persona is None else (self.persona,)
        if field in self.scores:
            return _groups_of(self.scores[field])
        variables = self.metadata.get("vars")
        if field in self.metadata and field != "vars":
            return _groups_of(self.metadata[field])
        return _groups_of(variables.get(field)) if isinstance(variables, Mapping) else ()

    def fields(self) -> Iterable[str]:
        yield from (PERSONA,) if self.persona is not None else ()
        yield from self.scores
        yield from (name for name in self.metadata if name != "vars")
        variables = self.metadata.get("vars")
        yield from variables if isinstance(variables, Mapping) else ()


def _groups_of(value: object) -> CaseGroups:
    values = value if isinstance(value, list | tuple) else (value,)
    return tuple(dict.fromkeys(group for each in values if (group := _group_of(each)) is not None))


def _group_of(value: object) -> str | None:
    """Return None for objects, lists, and texts that are too long to name a group."""
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
    name: str
    values: int


def groupable_fields(cases: Sequence[CaseProperties]) -> list[Field]:
    """Return fields that divide the cases into two to MAX_GROUPS groups, most of which have more than one case. The
    persona comes first, then fields by name."""
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
    value: str | None
    """None stands for the cases without a value."""
    scenarios: int
    columns: tuple[GroupEstimate, ...]


class CrossedFigures(NamedTuple):
    pass_rate: Interval | None
    decision: Interval | None


class Breakdown(NamedTuple):
    run_id: str
    columns: tuple[Column, ...]
    by: str | None
    fields: list[Field]
    groups: list[GroupFigures]
    """Numbers come first by size, then texts, then cases without a value; it is empty if `by` is None."""
    crossed: tuple[CrossedFigures, ...] = ()
    """Each column has an entry; there is none with fewer than MIN_PERSONAS personas or MIN_SCENARIOS scenarios."""


class NotGroupable(ValueError):
    """No case has a value for the name, or the cases have more than MAX_GROUPS values."""


def break_down(
    run_id: str, plan: Plan, cases: Sequence[CaseProperties], by: str | None, read_counts: Callable[[], RunCounts]
) -> Breakdown:
    """Group the cases of a plan. Raises NotGroupable before anything is counted."""
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
    """Return the figures of each group. The scenario stays the unit: the results of a group's personas and repeats for
    one scenario are added up. A case in several groups counts in each."""
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
    """Return the crossed intervals by column; each of `personas` has the persona of a case, or is empty."""
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
    """Return a sort key that puts numbers first by size, then texts, then no value."""
    if value is None:
        return True, True, 0.0, ""
    is_number = _NUMBER.fullmatch(value) is not None
    return False, not is_number, float(value) if is_number else 0.0, value
