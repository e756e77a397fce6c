from collections.abc import Iterable, Iterator, Mapping

from rich.table import Table

from cupel.counts import count_of
from cupel.json_types import Json
from cupel.markup import escape
from cupel.render_comparison import format_difference, format_interval, format_value
from cupel.resource_names import ResourceNames
from cupel.tables import table
from cupel.target_names import TargetNames
from cupel.terminal import NO_VALUE, format_time
from cupel_core.domain.text.figures import format_p


def experiments_table(experiments: Iterable[Json], names: ResourceNames) -> Table:
    columns = table(
        "experiment", "name", "status", "conclusion", "baseline", "hypothesis", "created", texts=["hypothesis"]
    )
    for each in experiments:
        columns.add_row(
            escape(each["id"]),
            escape(each["name"]),
            each["status"],
            each["conclusion"] or NO_VALUE,
            escape(names.of_run(each["baselineRunId"]) if each["baselineRunId"] else NO_VALUE),
            escape(each["hypothesis"]),
            format_time(each["createdAt"]),
        )
    return columns


def rows_table(summary: Json, targets: TargetNames) -> Table:
    is_labelled = any(row["correctedDifference"] for row in summary["rows"])
    corrected = ["corrected"] * is_labelled
    numbers = ["scenarios", "baseline", "run's", "difference", "interval", "adjusted p", *corrected]
    columns = table("run", "name", "target", *numbers, "verdict", texts=["name"], right=numbers)
    names = run_names(summary)
    for row in summary["rows"]:
        columns.add_row(
            escape(row["runId"]),
            escape(names.get(row["runId"], NO_VALUE)),
            escape(targets.of(row["target"])),
            f"{row['scenarios']:,}",
            format_value(row, row["baselineMean"]),
            format_value(row, row["comparisonMean"]),
            format_difference(row, row["difference"]),
            format_interval(row, row["interval"]),
            format_p(row["adjustedP"]),
            *([_corrected(row)] * is_labelled),
            row["verdict"],
        )
    return columns


def _corrected(row: Json) -> str:
    """Return the difference that is corrected for the judges' errors, with its interval."""
    corrected = row["correctedDifference"]
    if corrected is None:
        return NO_VALUE
    return f"{format_difference(row, corrected['difference'])} ({format_interval(row, corrected['interval'])})"


def run_names(summary: Json) -> dict[str, str]:
    return {each["runId"]: each["name"] or each["definitionName"] for each in summary["runs"]}


def notes(summary: Json) -> Iterator[str]:
    names = run_names(summary)
    if baseline := summary["experiment"]["baselineRunId"]:
        yield f"baseline: {_named(baseline, names)}"
    if summary["varied"]:
        yield f"varied: {', '.join(summary['varied'])}"
    if (hidden := summary["rowCount"] - len(summary["rows"])) > 0:
        yield f"{count_of(hidden, 'more row')}, of earlier runs: cupel compare shows them"
    for each in summary["reasons"]:
        yield f"not compared: {_named(each['runId'], names)}: {each['reason']}"
    if summary["suggestedConclusion"]:
        yield f"suggested conclusion: {summary['suggestedConclusion']}"


def _named(run_id: str, names: Mapping[str, str]) -> str:
    return f"{run_id} ({names[run_id]})" if run_id in names else run_id


def run_lines(run_id: str, summary: Json) -> Iterator[str]:
    names = run_names(summary)
    experiment, baseline = summary["experiment"], summary["experiment"]["baselineRunId"]
    name = f"experiment {experiment['id']} ({experiment['name']})"
    if baseline is None:
        yield f"{name}: it has no baseline yet"
    elif baseline == run_id:
        yield f"{name}: this run is the baseline"
    elif run_id in summary["pendingRunIds"]:
        yield f"{name}: not compared with the baseline {_named(baseline, names)} yet"
    for row in summary["rows"]:
        if row["runId"] == run_id:
            against = f"the baseline {_named(baseline, names)}"
            yield f"{name}: {row['target']} is {row['verdict']} against {against}{_figures(row, summary)}"


def _figures(row: Json, summary: Json) -> str:
    if row["difference"] is None:
        return ""
    tests = count_of(summary["rowCount"], "comparison")
    p = "" if row["adjustedP"] is None else f", adjusted p {format_p(row['adjustedP'])} over {tests}"
    return f" ({format_difference(row, row['difference'])}{p})"
