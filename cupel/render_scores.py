from collections.abc import Iterable, Iterator
from typing import Any

from rich.table import Table

from cupel.counts import count_of
from cupel.json_types import Json, without_none
from cupel.markup import escape
from cupel.render import column_title, format_status, scenario_title
from cupel.render_results import rescore_hint, unscored_line
from cupel.tables import table
from cupel.terminal import NO_VALUE, format_time
from cupel.unscored_answers import UnscoredReason
from cupel_core.domain.text.figures import format_decimal, format_percent, format_usd, with_interval


def rescores_table(rescores: Iterable[Json]) -> Table:
    counts = ["transcripts", "completed", "errored"]
    columns = table("rescore", "status", *counts, "overrides", "created", right=counts, texts=["overrides"])
    for rescore in rescores:
        progress = rescore["progress"]
        columns.add_row(
            escape(rescore["id"]),
            format_status(rescore["status"]),
            f"{progress['total']:,}",
            f"{progress['completed']:,}",
            f"{progress['failed']:,}",
            escape(_overrides(rescore["config"])),
            format_time(rescore["createdAt"]),
        )
    return columns


def agreement_table(pairs: Iterable[Json]) -> Table:
    figures = ["judged by both", "pass rate", "of the run", "equal verdicts", "κ (95%)"]
    columns = table("agreement with the run", *figures, right=figures)
    for pair in pairs:
        columns.add_row(
            escape(pair["second"]),
            f"{pair['conversations']:,}",
            format_percent(pair["secondPassRate"]),
            format_percent(pair["firstPassRate"]),
            format_percent(pair["agreement"]),
            with_interval(pair["kappa"], pair["kappaInterval95"], format_decimal),
        )
    return columns


def agreement_legend(pairs: Iterable[Json]) -> list[str]:
    """Define κ, then say what limits the figures."""
    notes = dict.fromkeys(pair["note"] for pair in pairs if pair["note"])
    return ["κ: Cohen's kappa: 1 if they always agree, 0 if they agree as often as by chance", *notes]


def rescore_line(rescore: Json) -> str:
    progress = rescore["progress"]
    total = count_of(progress["total"], "transcript")
    return (
        f"[bold]{escape(rescore['id'])}[/bold]  {format_status(rescore['status'])}  "
        f"{progress['completed']:,} completed and {progress['failed']:,} errored of {total}{_spent(rescore['budget'])}"
    )


def _spent(budget: Json | None) -> str:
    if budget is None:
        return ""
    return f", {format_usd(budget['spentUsd'] + budget['uncertainUsd'])} of {format_usd(budget['maxBudgetUsd'])} spent"


def models_table(models: Iterable[Json], k: int) -> Table:
    figures = [
        "judged",
        "passed",
        "pass rate ± s.e.",
        "95%",
        "mean score",
        *_pass_at_k_headings(k),
        *["from scenarios"] * (k > 1),
        "unscored",
    ]
    columns = table("target", *figures, right=figures)
    for model in models:
        interval = model["interval95"]
        columns.add_row(
            escape(column_title(model)),
            f"{model['judged']:,}",
            f"{model['successes']:,}",
            _with_error(model),
            f"{format_percent(interval[0])} to {format_percent(interval[1])}" if interval else NO_VALUE,
            format_decimal(model["meanScore"]),
            *(_pass_k_cells(model) if k > 1 else []),
            f"{model['unscored']:,}",
        )
    return columns


def _pass_k_cells(model: Json) -> Iterator[str]:
    for name in ("passAtK", "passHatK"):
        yield _share_with_error(model[name], model[f"{name}StandardError"])
    yield f"{model['passKScenarios']:,} of {model['scenarioCount']:,}"


def scenarios_table(rows: Iterable[Json], k: int, *, ids: bool) -> Table:
    figures = ["judged", "passed", "pass rate ± s.e.", *_pass_at_k_headings(k), "unscored"]
    columns = table("scenario", *(["scenario id"] * ids), "target", *figures, right=figures, texts=["scenario"])
    for row in rows:
        columns.add_row(
            escape(scenario_title(row)),
            *([escape(row["scenarioId"])] * ids),
            escape(column_title(row)),
            f"{row['judged']:,}",
            f"{row['successes']:,}",
            _with_error(row),
            *([format_percent(row["passAtK"]), format_percent(row["passHatK"])] if k > 1 else []),
            f"{row['unscored']:,}",
        )
    return columns


def results_table(results: Iterable[Json]) -> Table:
    columns = table("probe", "scenario", "target", "result", "score", right=["probe", "score"])
    for each in results:
        columns.add_row(
            str(each["probeIndex"]),
            escape(scenario_title(each)),
            escape(column_title(each)),
            "unscored" if each["success"] is None else "passed" if each["success"] else "failed",
            format_decimal(each["score"]),
        )
    return columns


def legend(scores: Json) -> list[str]:
    k, lines = scores["k"], ["s.e.: standard error of the pass rate, clustered by scenario"]
    if k > 1:
        lines.append(f"pass@{k}: at least one of {k} repeats passes; pass^{k}: all of them do; ± standard error")
        lines.append(f"from scenarios: those with fewer than {k} results are left out, as after errors")
    for model in scores["models"]:
        metrics = [f"{name} {format_decimal(value)}" for name, value in model["metrics"].items()]
        tags = [f"{count:,} {tag}" for tag, count in model["tags"].items()]
        lines += [f"{column_title(model)}: {', '.join(each)}" for each in (metrics, tags) if each]
        reasons = map(UnscoredReason.read, model["unscoredReasons"])
        lines += [f"{column_title(model)}: {unscored_line(each)}" for each in reasons]
    return lines


def repair(scores: Json) -> str | None:
    """Return the command that scores the answers again whose judge gave no verdict; None if there are none."""
    reasons = (reason for model in scores["models"] for reason in model["unscoredReasons"])
    return rescore_hint(scores["runId"], map(UnscoredReason.read, reasons))


def _pass_at_k_headings(k: int) -> list[str]:
    return [f"pass@{k}", f"pass^{k}"] if k > 1 else []


def _overrides(config: Json) -> str:
    overrides = without_none(**config)
    return ", ".join(_override_text(name, value) for name, value in overrides.items()) or "none"


def _override_text(name: str, value: Any) -> str:
    if name == "assertions":
        return count_of(len(value), "assertion")
    return "criteria" if name == "criteria" else str(value)


def _with_error(row: Json) -> str:
    return _share_with_error(row["mean"], row["standardError"])


def _share_with_error(share: float | None, error: float | None) -> str:
    return format_percent(share) + ("" if error is None else f" ± {format_percent(error)}")
