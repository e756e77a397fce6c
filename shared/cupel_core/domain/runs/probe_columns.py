"""Arranges the outcomes of a block of probes as columns, from which tables and plots of a large run are drawn.

A list per figure instead of an object per probe is compact: 100,000 probes are 1 MB, compressed, and quick to read in a
browser.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.analysis.counted_outcomes import CountedOutcome
from cupel_core.domain.runs.plan import Plan

PROBES_PER_BLOCK = 1_000
MAX_NAMES = 500
"""A block has at most this many different tags, and checks; further ones are left out, so that a response stays
small."""
_SCORE_DIGITS = 6
_USD_DIGITS = 9


class Names:
    """Numbers distinct names in the order of their first use."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, names: Iterable[str]) -> list[int]:
        return [number for name in names if (number := self._number(name)) is not None]

    def _number(self, name: str) -> int | None:
        if name not in self._numbers and len(self._numbers) < MAX_NAMES:
            self._numbers[name] = len(self._numbers)
        return self._numbers.get(name)

    def to_list(self) -> list[str]:
        return list(self._numbers)


@dataclass
class ProbeColumns:
    """Contains lists with an entry per probe, by index; None if there is no outcome or no such figure."""

    indexes: range
    column: list[int] = field(default_factory=list)
    case: list[int] = field(default_factory=list)
    repeat: list[int] = field(default_factory=list)
    completed: list[bool | None] = field(default_factory=list)
    success: list[bool | None] = field(default_factory=list)
    score: list[float | None] = field(default_factory=list)
    decision: list[str | None] = field(default_factory=list)
    tags: list[list[int]] = field(default_factory=list)
    failed_checks: list[list[int]] = field(default_factory=list)
    passed_checks: list[list[int]] = field(default_factory=list)
    turns: list[int | None] = field(default_factory=list)
    input_tokens: list[int | None] = field(default_factory=list)
    output_tokens: list[int | None] = field(default_factory=list)
    duration_ms: list[int | None] = field(default_factory=list)
    cost_usd: list[float | None] = field(default_factory=list)
    error_code: list[str | None] = field(default_factory=list)
    tag_names: Sequence[str] = ()
    check_names: Sequence[str] = ()


def block_indexes(plan: Plan, block: int) -> range:
    first = block * PROBES_PER_BLOCK
    return range(min(first, plan.total), min(first + PROBES_PER_BLOCK, plan.total))


def build_columns(plan: Plan, indexes: range, outcomes: Iterable[CountedOutcome]) -> ProbeColumns:
    """Build the columns of these probes; probes may have no outcome."""
    columns, tags, checks = ProbeColumns(indexes), Names(), Names()
    by_index = {outcome.probe_index: outcome for outcome in outcomes}
    for index in indexes:
        probe = plan.probe(index)
        columns.column.append(probe.column)
        columns.case.append(probe.case)
        columns.repeat.append(probe.repeat)
        outcome = by_index.get(index)
        _append(columns, outcome)
        columns.tags.append(tags.numbers(outcome.tags) if outcome else [])
        by_name = outcome.checks if outcome else {}
        for numbers, wanted in ((columns.failed_checks, False), (columns.passed_checks, True)):
            numbers.append(checks.numbers(name for name, passed in by_name.items() if passed is wanted))
    columns.tag_names, columns.check_names = tags.to_list(), checks.to_list()
    return columns


def _append(columns: ProbeColumns, outcome: CountedOutcome | None) -> None:
    done = outcome if outcome is not None and outcome.is_completed else None
    columns.completed.append(outcome.is_completed if outcome else None)
    columns.success.append(done.success if done else None)
    columns.score.append(_rounded(done.score, _SCORE_DIGITS) if done else None)
    columns.decision.append(done.code if done else None)
    columns.turns.append(done.turns if done else None)
    columns.input_tokens.append(done.input_tokens if done else None)
    columns.output_tokens.append(done.output_tokens if done else None)
    columns.duration_ms.append(done.duration_ms if done else None)
    columns.cost_usd.append(_rounded(_cost(outcome), _USD_DIGITS) if outcome else None)
    columns.error_code.append(outcome.error_code if outcome else None)


def _cost(outcome: CountedOutcome) -> float | None:
    prices = [cost.usd for cost in outcome.costs]
    return None if None in prices else sum(usd for usd in prices if usd is not None)


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
