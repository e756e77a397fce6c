"""Terminal output of a run's figures by group of its cases."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from cupel.json_types import Json
from cupel.markup import escape
from cupel.render import column_title
from cupel.tables import table
from cupel.terminal import NO_VALUE
from cupel_core.domain.analysis.breakdowns import PERSONA
from cupel_core.domain.analysis.crossed import MIN_PERSONAS
from cupel_core.domain.text.figures import format_decimal, format_interval, format_percent, with_interval


def breakdown_table(by: str, groups: Sequence[Json]) -> Table:
    """A row per group, target and prompt. Pass rates and decisions are shown if the run has them."""
    estimates = [column["estimate"] for group in groups for column in group["columns"]]
    has_verdicts = any(each["passRate"]["trials"] for each in estimates)
    has_decisions = any(each["distribution"] for each in estimates)
    figures = ["scenarios", "probes", "errored"]
    figures += ["judged", "pass rate (95%)"] * has_verdicts + ["mean decision (95%)"] * has_decisions
    rows = table(by, "target", *figures, right=figures, texts=[by])
    for group in groups:
        for column in group["columns"]:
            rows.add_row(
                NO_VALUE if group["value"] is None else escape(group["value"]),
                escape(column_title(column)),
                f"{group['scenarios']:,}",
                *_cells(column["estimate"], has_verdicts=has_verdicts, has_decisions=has_decisions),
            )
    return rows


def _persona_lines(breakdown: Json) -> Iterator[str]:
    """Say whom the intervals are about, if the groups are personas."""
    if breakdown["by"] != PERSONA:
        return
    yield (
        "all intervals are for exactly these personas; for scenarios and personas like these:"
        if breakdown["forPersonas"]
        else f"all intervals are for exactly these personas; for others, at least {MIN_PERSONAS} are needed"
    )
    for column in breakdown["forPersonas"]:
        rate = format_interval(column["passRateInterval95"], format_percent)
        decision = format_interval(column["decisionInterval95"], format_decimal)
        figures = [f"pass rate {rate}"] * bool(rate) + [f"mean decision {decision}"] * bool(decision)
        none = "no interval, because too few have results, or all are equal"
        yield f"  {column_title(column)}: {', '.join(figures) or none}"


def _cells(estimate: Json, *, has_verdicts: bool, has_decisions: bool) -> Iterator[str]:
    passes, decision = estimate["passRate"], estimate["decision"]
    yield f"{estimate['completed'] + estimate['errored']:,}"
    yield f"{estimate['errored']:,}"
    if has_verdicts:
        yield f"{passes['trials']:,}"
        yield with_interval(passes["share"], passes["interval95"], format_percent)
    if has_decisions:
        yield with_interval(decision["mean"], decision["interval95"], format_decimal)


def breakdown_legend(breakdown: Json) -> list[str]:
    """Say what the rows and intervals mean, and what else the run can be grouped by."""
    by, groups = breakdown["by"], breakdown["groups"]
    lines = ["95%: confidence interval for scenarios like these; for exactly these in groups of fewer than five"]
    lines += _persona_lines(breakdown)
    if any(group["value"] is None for group in groups):
        lines.append(f"{NO_VALUE}: cases without a value of {by}")
    others = [f"--by {field['name']} ({field['values']:,})" for field in breakdown["fields"] if field["name"] != by]
    return [*lines, f"also: {', '.join(others)}"] if others else lines
