from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from rich.table import Table

from cupel.columns import column_of
from cupel.counts import count_of
from cupel.json_types import Json
from cupel.markup import escape
from cupel.render import format_duration, format_status
from cupel.resource_names import ResourceNames
from cupel.tables import table
from cupel.terminal import NO_VALUE, format_time
from cupel_core.domain.text import figures as figures_as_text
from cupel_core.domain.text.figures import (
    format_decimal,
    format_p,
    format_percent,
    format_points,
    format_ratio,
    format_ratio_interval,
    format_signed_percent,
    format_usd,
)

_MATCHED_BY = {
    "CONTENT_OR_NAME": ", matched by content or name",
    "DIMENSIONS": ", matched by dimension scores",
}
_FIGURES = ["scenarios", "baseline", "comparison", "difference", "interval", "adjusted p"]


def rows_table(figures: Json) -> Table:
    columns, rows = table("target", *_FIGURES, "verdict", right=_FIGURES), rows_of(figures)
    tested = sum(row["adjustedP"] is not None for row in rows)
    if tested > 1:
        columns.caption = (
            f"Each interval is for its row alone. The adjusted p allows for the {tested} rows that were tested."
        )
        columns.caption_justify = "left"
    for row in rows:
        columns.add_row(
            escape(row_title(row)),
            f"{row['scenarios']:,}",
            format_value(figures, row["baselineMean"]),
            format_value(figures, row["comparisonMean"]),
            format_difference(figures, row["difference"]),
            format_interval(figures, row["interval"]),
            format_p(row["adjustedP"]),
            row["verdict"],
        )
    return columns


def notes(figures: Json) -> Iterator[str]:
    rows = rows_of(figures)
    for row in rows:
        text = " ".join([row["sentence"], *row["notes"]])
        yield text if len(rows) == 1 else f"{row_title(row)}: {text}"
    yield from _corrected_notes(figures)
    cautions = {caution["code"]: caution["message"] for row in rows for caution in row["cautions"]}
    yield from (f"caution: {message}" for message in cautions.values())
    yield from _unmatched(figures)
    changed = figures["whatChanged"]
    yield from (f"changed: {summary}" for summary in changed["summary"])
    if changed["isConfounded"]:
        yield f"caution: several changes ({', '.join(changed['causes'])}): none of them alone explains a difference."


def _corrected_notes(figures: Json) -> Iterator[str]:
    """Say what is left of each difference without the judges' errors, where people have labelled both sides."""
    rows = rows_of(figures)
    for row in rows:
        if (corrected := row["correctedDifference"]) is not None:
            title = "" if len(rows) == 1 else f"{row_title(row)}: "
            sides = " → ".join(format_percent(corrected[side]) for side in ("baseline", "comparison"))
            difference = format_difference(figures, corrected["difference"])
            interval = format_interval(figures, corrected["interval"])
            yield f"{title}corrected for the judge's errors: {sides}, difference {difference}, 95% interval {interval}"


OPERATIONS_NOTE = "costs, tokens, times and errors: of all conversations of either side; they are not tested"
RATIOS_NOTE = (
    "costs and times of the target's calls: geometric means of completed conversations, paired by scenario; "
    "each interval is for its row alone"
)
_RATIOS = ["scenarios", "baseline", "comparison", "change", "interval", "adjusted p"]


def ratios_table(figures: Json) -> Table | None:
    """Show by which factor costs and times changed, with a row of each for every pair of columns.

    The result is None if no scenario has a ratio.
    """
    columns = table("target", "of calls", *_RATIOS, "verdict", right=_RATIOS)
    for row in rows_of(figures):
        for heading, name, form in (("cost", "costRatio", format_usd), ("time", "timeRatio", format_duration)):
            ratio = row[name]
            if ratio["scenarios"]:
                columns.add_row(escape(row_title(row)), heading, *_ratio_cells(ratio, form))
    return columns if columns.row_count else None


def ratio_notes(figures: Json) -> Iterator[str]:
    rows = rows_of(figures)
    for row in rows:
        title = "" if len(rows) == 1 else f"{row_title(row)}: "
        yield from (f"{title}{row[name]['sentence']}" for name in ("costRatio", "timeRatio"))
        for heading, name in (("cost", "costRatio"), ("time", "timeRatio")):
            reasons = [f"{count:,} {_LEFT_OUT[reason]}" for reason, count in row[name]["leftOut"].items()]
            if reasons:
                yield f"{title}scenarios without a ratio of {heading}: {', '.join(reasons)}"


_LEFT_OUT = {
    "notCompleted": "not completed on both sides",
    "unknown": "of which it is not known",
    "cached": "answered from a cache",
    "free": "with a conversation that cost nothing",
}


def _ratio_cells(ratio: Json, form: Callable[[float | None], str]) -> list[str]:
    return [
        f"{ratio['scenarios']:,}",
        form(ratio["baseline"]),
        form(ratio["comparison"]),
        format_ratio(ratio["ratio"]),
        format_ratio_interval(ratio["interval"]) or NO_VALUE,
        format_p(ratio["adjustedP"]),
        ratio["verdict"] or NO_VALUE,
    ]


def operations_table(figures: Json) -> Table | None:
    """Return times and costs of the sides, which are described and not tested, or None if nothing is known."""
    shown = [
        (heading, name, form)
        for heading, name, form in _OPERATIONS
        if any(row["operations"][side][name] for row in figures["rows"] for side in ("baseline", "comparison"))
    ]
    if not shown:
        return None
    headings = [heading for heading, *_ in shown]
    columns = table("target", *headings, right=headings)
    for row in rows_of(figures):
        sides = row["operations"]
        cells = [_change(sides["baseline"][name], sides["comparison"][name], form) for _, name, form in shown]
        columns.add_row(escape(row_title(row)), *cells)
    return columns


def _change(before: float | None, after: float | None, form: Callable[[float | None], str]) -> str:
    """Return `$0.010 → $0.012 (+20.0%)`."""
    share = f" ({format_signed_percent(after / before - 1)})" if before and after is not None else ""
    return f"{form(before)} → {form(after)}{share}"


def _tokens(number: float | None) -> str:
    return NO_VALUE if number is None else f"{number:,.0f}"


_OPERATIONS: tuple[tuple[str, str, Callable[[float | None], str]], ...] = (
    ("cost per conversation", "costUsd", format_usd),
    ("judge cost", "judgeCostUsd", format_usd),
    ("simulated user cost", "simulatedUserCostUsd", format_usd),
    ("operations cost", "operationsCostUsd", format_usd),
    ("tokens per conversation", "tokens", _tokens),
    ("median time", "medianDurationMs", format_duration),
    ("p95 time", "p95DurationMs", format_duration),
    ("errored", "errorRate", format_percent),
    ("without decision", "otherRate", format_percent),
)


def scenarios_table(figures: Json, scenarios: Iterable[Json]) -> Table:
    """List the scenarios that changed, with the pair of columns if there are several.

    `expected again` is the part of a difference that further repeats are expected to show. A scenario without q was not
    tested alone.
    """
    scenarios = list(scenarios)
    has_noise = any(each["shrunkenDifference"] is not None for each in scenarios)
    numbers = ["baseline", "comparison", "difference", *["expected again"] * has_noise, "q"]
    rows = figures["rows"]
    columns = table("most changed scenarios", *(["target"] * (len(rows) > 1)), *numbers, right=numbers)
    for scenario in scenarios:
        if scenario["difference"]:
            columns.add_row(
                escape(scenario["scenarioName"]),
                *([escape(row_title(rows[scenario["row"]]))] * (len(rows) > 1)),
                format_value(figures, scenario["baseline"]),
                format_value(figures, scenario["comparison"]),
                format_difference(figures, scenario["difference"]),
                *([format_difference(figures, scenario["shrunkenDifference"])] * has_noise),
                "not tested" if scenario["q"] is None else format_p(scenario["q"]),
            )
    return columns


def changes_line(figures: Json, scenarios: Iterable[Json]) -> str:
    counts = Counter[str]()
    for row in figures["rows"]:
        counts.update(row["changes"])
    scenarios = list(scenarios)
    shown = sum(1 for each in scenarios if each["difference"])
    changed = counts["increased"] + counts["decreased"]
    line = (
        f"{shown:,} of {count_of(changed, 'change')}: {counts['increased']:,} rose and {counts['decreased']:,} fell, "
        f"{counts['unchanged']:,} are unchanged"
    )
    if shown and all(each["shrunkenDifference"] is None for each in scenarios):
        return f"{line}; without repeats, it is unknown how much of this is chance"
    return line


def comparisons_table(comparisons: Iterable[Json], names: ResourceNames) -> Table:
    columns = table("comparison", "status", "baseline", "run", "verdict", "created")
    for comparison in comparisons:
        columns.add_row(
            escape(comparison["id"]),
            format_status(comparison["status"]),
            escape(names.of_run(comparison["baseline"]["runId"])),
            escape(names.of_run(comparison["comparison"]["runId"])),
            comparison["verdict"] or NO_VALUE,
            format_time(comparison["createdAt"]),
        )
    return columns


def jobs_table(jobs: Iterable[Json]) -> Table:
    columns = table("job", "kind", "status", "stage", "created", "failure", texts=["failure"])
    for job in jobs:
        columns.add_row(
            escape(job["id"]),
            job["kind"],
            format_status(job["status"]),
            job["stage"] or NO_VALUE,
            format_time(job["createdAt"]),
            escape(job["failure"]["why"]) if job["failure"] else NO_VALUE,
        )
    return columns


def _unmatched(figures: Json) -> Iterator[str]:
    counts = (("baseline", figures["onlyBaseline"]), ("run", figures["onlyComparison"]))
    only = [f"{count:,} of the {side} only" for side, count in counts if count]
    if only or figures["matchedBy"] != "SCENARIO_ID":
        by = _MATCHED_BY.get(figures["matchedBy"], "")
        yield f"scenarios: {', '.join([f'{figures["commonScenarios"]:,} common{by}', *only])}"


def rows_of(figures: Json) -> list[Json]:
    return [*figures["rows"], *([figures["overall"]] if figures["overall"] else [])]


def row_title(row: Json) -> str:
    """Name the column, or both if the sides differ. The page calls all of them together by the same name."""
    sides = [row[name] for name in ("baseline", "comparison")]
    if any(len(side) > 1 for side in sides):
        return "all targets together"
    before, after = (column_of(side[0]).name for side in sides)
    return f"{before} → {after}" if row["isSubstituted"] else after


def _is_rate(figures: Json) -> bool:
    return str(figures["metric"]) != "DECISION"


def format_value(figures: Json, value: float | None) -> str:
    return format_percent(value) if _is_rate(figures) else format_decimal(value)


def format_difference(figures: Json, value: float | None) -> str:
    return format_points(value) if _is_rate(figures) else figures_as_text.format_difference(value)


def format_interval(figures: Json, interval: list[float] | None) -> str:
    return NO_VALUE if interval is None else " to ".join(format_difference(figures, bound) for bound in interval)
