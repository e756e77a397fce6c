"""How answers look in a terminal: tables, and lines about a run."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cupel.json_types import Json
from cupel.results import ModelResults
from cupel_core.domain.statistics import DECISION_CODES, OTHER

NOTHING = "–"
_BARS = "▁▂▃▄▅▆▇█"
_ENDLESS = 10_000
"""Columns enough for any table, to measure how many it would take."""
_STATUS_COLOURS = {"COMPLETED": "green", "FAILED": "red", "CANCELLED": "yellow", "PAUSED": "yellow"}


def table(*headings: str, right: Sequence[str] = ()) -> Table:
    columns = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for heading in headings:
        columns.add_column(heading, justify="right" if heading in right else "left", overflow="fold")
    return columns


class Column(NamedTuple):
    heading: str
    cell: Callable[[ModelResults], str]
    right: bool = True


def results_tables(results: Sequence[ModelResults], console: Console) -> list[Table]:
    """One table with a row per model; two where the console is too narrow for it."""
    judged = any(model.correct for model in results)
    decisions = [*_DECISIONS, *([_CORRECT] if judged else []), *_DISTRIBUTION]
    whole = _results_table(results, [*_OUTCOMES, *decisions, *_EXPENSES])
    if console.measure(whole, options=console.options.update_width(_ENDLESS)).maximum <= console.width:
        return [whole]
    return [_results_table(results, [*_OUTCOMES, *_EXPENSES]), _results_table(results, decisions)]


def _results_table(results: Sequence[ModelResults], columns: Sequence[Column]) -> Table:
    headings = [column.heading for column in columns]
    filled = table("model", *headings, right=[column.heading for column in columns if column.right])
    for model in results:
        filled.add_row(escape(model.model), *(column.cell(model) for column in columns))
    return filled


def results_legend(results: Sequence[ModelResults]) -> list[str]:
    """What the table's figures are, why probes failed, and which models were simulated."""
    lines = ["mean and s.d. are of the decisions 1-5; s.e. is the standard error of the mean, clustered by scenario"]
    if any(model.correct for model in results):
        lines.append("correct: share of right answers with its 95 % Wilson interval")
    for model in results:
        if model.unscored:
            lines.append(f"{model.model}: {model.unscored:,} could not be scored, which is held against nobody")
        lines += [f"{model.model}: {r.count:,} failed with {r.code}: {shorten(r.example, 100)}" for r in model.reasons]
    simulated = [model.model for model in results if model.simulated]
    if simulated:
        lines.append(f"simulated, no real model was asked: {', '.join(simulated)}")
    return lines


def bars(counts: Sequence[int]) -> str:
    """One block per count, as high as its share of the largest; a dot for none."""
    largest = max(counts, default=0)
    return " ".join(_BARS[(count * len(_BARS) - 1) // largest] if count else "·" for count in counts)


def runs_table(runs: Iterable[Json]) -> Table:
    counts = ["probes", "completed", "failed"]
    columns = table("run", "status", *counts, "models", "created", right=counts)
    for run in runs:
        progress = run["progress"]
        columns.add_row(
            escape(run["id"]),
            status(run["status"]),
            f"{progress['total']:,}",
            f"{progress['completed']:,}",
            f"{progress['failed']:,}",
            escape(", ".join(run["config"]["models"])),
            moment(run["createdAt"]),
        )
    return columns


def evaluation_lines(run: Json) -> list[str]:
    """An evaluation in this process, as markup."""
    config = run["config"]
    return [
        f"[bold]{escape(run['name'])}[/bold]  {status(run['status'])}",
        f"{config['samplePercentage']} % of its scenarios (seed {config['sampleSeed']}), repeats {config['repeats']}",
        _counts(run["progress"]),
        *_about_the_judge(config),
    ]


def _counts(progress: Json) -> str:
    return f"{progress['completed']:,} completed and {progress['failed']:,} failed of {progress['total']:,} probes"


def _about_the_judge(config: Json) -> list[str]:
    simulated = str(config.get("judgeModel") or "").startswith("sim/")
    return ["[yellow]the judge is simulated: its verdicts are drawn by lot[/yellow]"] if simulated else []


def run_lines(run: Json) -> list[str]:
    """The run itself, as markup."""
    config = run["config"]
    lines = [
        f"[bold]{escape(run['id'])}[/bold]  {status(run['status'])}"
        + (f" ({escape(run['pauseReason'])})" if run.get("pauseReason") else ""),
        f"definition {escape(run['definitionId'])} version {run['definitionVersion']}, "
        f"{config['samplePercentage']} % of its scenarios (seed {config['sampleSeed']}), repeats {config['repeats']}",
        _counts(run["progress"]),
        f"created {moment(run['createdAt'])}, completed {moment(run.get('completedAt'))}",
        *_about_the_judge(config),
    ]
    failure = run.get("failure")
    if failure:
        lines.append(f"[red]failed in {escape(str(failure['where']))}: {escape(str(failure['why']))}[/red]")
    return lines


def transcripts_table(transcripts: Iterable[Json]) -> Table:
    columns = table(
        "probe", "model", "scenario", "decision", "tokens", "time", "answer", right=["probe", "tokens", "time"]
    )
    for transcript in transcripts:
        columns.add_row(
            str(transcript["probeIndex"]),
            escape(transcript["modelId"]),
            escape(transcript["scenarioId"]),
            escape(transcript["decisionCode"] or NOTHING),
            f"{transcript['tokenCount']:,}",
            duration(transcript["durationMs"]),
            escape(shorten(last_answer(transcript), 60)),
        )
    return columns


def last_answer(transcript: Json) -> str:
    """Empty when the content has expired."""
    messages = (transcript.get("content") or {}).get("messages") or []
    return next((str(m["content"]) for m in reversed(messages) if m["role"] == "assistant"), "")


def status(name: str) -> str:
    colour = _STATUS_COLOURS.get(name)
    return f"[{colour}]{name}[/{colour}]" if colour else name


def moment(iso: str | None) -> str:
    """`2026-01-31 09:30:00`, in UTC as the API tells it."""
    return iso[:19].replace("T", " ") if iso else NOTHING


def duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return NOTHING
    return f"{milliseconds:.0f} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.1f} s"


def cost(usd: float | None) -> str:
    if usd is None:
        return NOTHING
    if usd == 0 or usd >= 0.1:
        return f"${usd:,.2f}"
    return f"${usd:.2g}" if usd >= 0.0001 else "<$0.0001"


def plain(text: str) -> str:
    """Without the control characters by which a model's answer could steer the terminal it is shown in."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")


def shorten(text: str, length: int) -> str:
    line = " ".join(plain(text).split())
    return line if len(line) <= length else f"{line[: length - 1]}…"


def _figure(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.2f}"


def _with_error(value: float | None, error: float | None) -> str:
    return _figure(value) if error is None else f"{_figure(value)} ± {error:.2f}"


def _failed(model: ModelResults) -> str:
    return f"[red]{model.failed:,}[/red]" if model.failed else "0"


def _correct(model: ModelResults) -> str:
    if model.correct is None or model.correct.interval is None:
        return NOTHING
    low, high = model.correct.interval
    return f"{model.correct.successes / model.correct.judged:.0%} \\[{low:.0%}-{high:.0%}]"


def _bars(model: ModelResults) -> str:
    return bars([model.decisions.distribution[code] for code in DECISION_CODES])


_OUTCOMES = (
    Column("probes", lambda model: f"{model.probes:,}"),
    Column("completed", lambda model: f"{model.completed:,}"),
    Column("failed", _failed),
)
_DECISIONS = (
    Column("mean ± s.e.", lambda model: _with_error(model.decisions.mean, model.decisions.standard_error)),
    Column("s.d.", lambda model: _figure(model.decisions.sd)),
)
_CORRECT = Column("correct [95 %]", _correct)
_DISTRIBUTION = (
    Column("1 2 3 4 5", _bars, right=False),
    Column(OTHER, lambda model: f"{model.decisions.distribution[OTHER]:,}"),
)
_EXPENSES = (
    Column("tokens", lambda model: f"{model.tokens:,}"),
    Column("median time", lambda model: duration(model.median_duration_ms)),
    Column("cost", lambda model: cost(model.cost_usd)),
)
