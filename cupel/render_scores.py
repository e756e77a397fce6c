"""How scorings and their figures look in a terminal."""

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from cupel.json_types import Json
from cupel.render import NOTHING, moment, status, table


def scorings_table(scorings: Iterable[Json]) -> Table:
    counts = ["transcripts", "scored", "errors"]
    columns = table("scoring", "status", *counts, "otherwise", "created", right=counts)
    for scoring in scorings:
        progress = scoring["progress"]
        columns.add_row(
            escape(scoring["id"]),
            status(scoring["status"]),
            f"{progress['total']:,}",
            f"{progress['scored']:,}",
            f"{progress['errors']:,}",
            escape(_otherwise(scoring["config"])),
            moment(scoring["createdAt"]),
        )
    return columns


def scoring_line(scoring: Json) -> str:
    """As markup."""
    progress = scoring["progress"]
    return (
        f"[bold]{escape(scoring['id'])}[/bold]  {status(scoring['status'])}  "
        f"{progress['scored']:,} scored, {progress['errors']:,} errors, of {progress['total']:,} transcripts"
    )


def models_table(models: Iterable[Json], k: int) -> Table:
    figures = ["judged", "passed", "pass rate ± s.e.", "95 %", "mean score", *_trials(k), "unscored"]
    columns = table("model", *figures, right=figures)
    for model in models:
        interval = model["interval95"]
        columns.add_row(
            escape(model["modelId"]),
            f"{model['judged']:,}",
            f"{model['successes']:,}",
            _with_error(model),
            f"{_percent(interval[0])} to {_percent(interval[1])}" if interval else NOTHING,
            NOTHING if model["meanScore"] is None else f"{model['meanScore']:.2f}",
            *([_percent(model["passAtK"]), _percent(model["passHatK"])] if k > 1 else []),
            f"{model['unscored']:,}",
        )
    return columns


def scenarios_table(rows: Iterable[Json], k: int) -> Table:
    figures = ["judged", "passed", "pass rate ± s.e.", *_trials(k), "unscored"]
    columns = table("scenario", "model", *figures, right=figures)
    for row in rows:
        columns.add_row(
            escape(row["scenarioId"]),
            escape(row["modelId"]),
            f"{row['judged']:,}",
            f"{row['successes']:,}",
            _with_error(row),
            *([_percent(row["passAtK"]), _percent(row["passHatK"])] if k > 1 else []),
            f"{row['unscored']:,}",
        )
    return columns


def legend(scores: Json) -> list[str]:
    """What the figures are, and what else is known of the models."""
    k, lines = scores["k"], ["s.e. is the standard error of the pass rate, clustered by scenario"]
    if k > 1:
        lines.append(f"pass@{k}: at least one of {k} repeats passes; pass^{k}: all of them do")
    for model in scores["models"]:
        metrics = [f"{name} {value:.2f}" for name, value in model["metrics"].items()]
        tags = [f"{count:,} {tag}" for tag, count in model["tags"].items()]
        lines += [f"{model['modelId']}: {', '.join(each)}" for each in (metrics, tags) if each]
    return lines


def _trials(k: int) -> list[str]:
    return [f"pass@{k}", f"pass^{k}"] if k > 1 else []


def _otherwise(config: Json) -> str:
    """What it has of its own."""
    given = {name: value for name, value in config.items() if value is not None}
    told = (f"{len(value)} assertions" if name == "assertions" else _word(name, value) for name, value in given.items())
    return ", ".join(told) or "nothing"


def _word(name: str, value: object) -> str:
    return "criteria" if name == "criteria" else str(value)


def _with_error(row: Json) -> str:
    error = row["standardError"]
    return _percent(row["mean"]) if error is None else f"{_percent(row['mean'])} ± {error:.1%}"


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.1%}"
