from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from typing import NamedTuple

from cupel.in_process.probes import ProbeResult
from cupel.printable import printable
from cupel.render_results import cost_columns
from cupel.results import ModelResults
from cupel.terminal import NO_VALUE
from cupel_core.contract.case_results import CaseResultsResponse
from cupel_core.domain.runs.case_results import CaseResults, cell_indexes, cell_results
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.scoring.selections import is_found_best
from cupel_core.domain.text.figures import format_decimal, format_percent


def matrix_rows(plan: Plan, results: Sequence[ProbeResult]) -> Iterator[CaseResultsResponse]:
    outcomes = {result.probe.index: result.outcome for result in results}
    winners = {result.probe.index for result in results if result.scoring and is_found_best(result.scoring)}
    for case in range(plan.cases):
        indexes = [cell_indexes(plan, case, column) for column in range(len(plan.columns))]
        cells = (
            cell_results(column, cell, outcomes, winners) for column, cell in zip(plan.columns, indexes, strict=True)
        )
        yield CaseResultsResponse.of(CaseResults(case, results[indexes[0][0]].probe.case, tuple(cells)))


def html_table(title: str, models: Sequence[ModelResults]) -> str:
    """Return a row per target. Names are escaped: they come from the definition and the caller."""
    has_decisions = any(model.decisions.ruled for model in models)
    columns = [column for column in _COLUMNS if has_decisions or column is not _MEAN_DECISION]
    columns += [_TableColumn(heading, cell) for heading, cell, _ in cost_columns(models)]
    head = "".join(f"<th>{heading}</th>" for heading, _ in columns)
    rows = "".join(_html_row(model, columns) for model in models)
    return f"<table><caption>{_text(title)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


class _TableColumn(NamedTuple):
    heading: str
    cell: Callable[[ModelResults], str]


def _html_row(model: ModelResults, columns: Iterable[_TableColumn]) -> str:
    return f"<tr>{''.join(f'<td>{_text(cell(model))}</td>' for _, cell in columns)}</tr>"


def _pass_rate(model: ModelResults) -> str:
    rate = model.pass_rate
    return NO_VALUE if rate is None else f"{format_percent(rate.share)} of {rate.judged:,}"


def _text(value: str) -> str:
    return escape(printable(value))


def _mean_decision(model: ModelResults) -> str:
    return format_decimal(model.decisions.mean)


_MEAN_DECISION = _TableColumn("mean decision", _mean_decision)
_COLUMNS = (
    _TableColumn("target", lambda model: model.name),
    _TableColumn("conversations", lambda model: f"{model.probes:,}"),
    _TableColumn("completed", lambda model: f"{model.completed:,}"),
    _TableColumn("errored", lambda model: f"{model.errored:,}"),
    _TableColumn("pass rate", _pass_rate),
    _MEAN_DECISION,
    _TableColumn("tokens", lambda model: f"{model.tokens:,}"),
)
