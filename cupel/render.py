from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.table import Table

from cupel.columns import column_of
from cupel.counts import count_of
from cupel.json_types import Json
from cupel.markup import escape
from cupel.message_texts import content_text
from cupel.tables import table
from cupel.terminal import NO_VALUE, format_time, shorten
from cupel.unscored_answers import is_unscored
from cupel_core.domain.budgets.confirmation import BudgetGuarantee
from cupel_core.domain.budgets.periods import PERIODS
from cupel_core.domain.runs.plan import column_name
from cupel_core.domain.runs.run import PauseReason, RunStatus
from cupel_core.domain.text.figures import format_usd

_STATUS_COLOURS = {"COMPLETED": "green", "FAILED": "red", "CANCELLED": "yellow", "PAUSED": "yellow"}


def runs_table(runs: Sequence[Json]) -> Table:
    counts, named = ["conversations", "completed", "errored", "spent"], any(run.get("name") for run in runs)
    labels = [*(["name"] * named), "definition"]
    texts = [*labels, "models", "started by"]
    headings = ["run", *labels, "status", *counts, "models", "started by", "created", "duration"]
    columns = table(*headings, right=[*counts, "duration"], texts=texts)
    for run in runs:
        progress = run["progress"]
        columns.add_row(
            escape(run["id"]),
            *([escape(run.get("name") or "")] * named),
            escape(run["definitionName"]),
            format_status(run["status"]),
            f"{progress['total']:,}",
            f"{progress['completed']:,}",
            f"{progress['failed']:,}",
            _amount(run["spend"]) or NO_VALUE,
            escape(", ".join(run["config"]["models"])),
            escape(_starter(run) or NO_VALUE),
            format_time(run["createdAt"]),
            format_duration(run.get("durationMs")),
        )
    return columns


def evaluation_lines(run: Json) -> list[str]:
    config = run["config"]
    return [
        f"[bold]{escape(run['name'] or run['definitionName'])}[/bold]  {format_status(run['status'])}",
        f"{count_of(run['scenarioCount'], 'scenario')} ({config['samplePercentage']}%, seed {config['sampleSeed']}), "
        f"repeats {config['repeats']}",
        _counts(run["progress"]),
        *_simulated_judge_warning(config),
        *_failure_lines(run),
    ]


def _failure_lines(run: Json) -> list[str]:
    failure = run.get("failure")
    return [f"[red]failed in {escape(str(failure['where']))}: {escape(str(failure['why']))}[/red]"] if failure else []


def _counts(progress: Json) -> str:
    total = count_of(progress["total"], "conversation")
    return f"{progress['completed']:,} completed and {progress['failed']:,} errored of {total}"


def _spend(spend: Json) -> str:
    """Return `, spent $1.20 (sim/steady $0.80, sim/bold $0.40)`, or an empty text if nothing is known."""
    amount = _amount(spend)
    if not amount:
        return ""
    lost = f" and {format_usd(spend['lostUsd'])} on outcomes that were lost" if spend["lostUsd"] else ""
    models = [
        f"{escape(column_name(each['targetId'], each['promptId']))} {_amount(each) or 'unknown'}"
        for each in spend["models"]
    ]
    return f", spent {amount}{lost}" + (f" ({', '.join(models)})" if len(models) > 1 else "")


def _amount(spend: Json) -> str:
    """Return `$1.20`, or `at least $1.20` if a price is unknown; empty if nothing is known."""
    if spend["costUsd"] is None and not spend["pricedUsd"]:
        return ""
    at_least = "at least " if spend["costUsd"] is None else ""
    return f"{at_least}{format_usd(spend['pricedUsd'])}"


def _simulated_judge_warning(config: Json) -> list[str]:
    judge = str(config.get("judgeModel") or "")
    if not judge.startswith("sim/"):
        return []
    verdicts = "it fails and passes some answers wrongly" if judge == "sim/lenient" else "its verdicts are random"
    return [f"[yellow]the judge is simulated: {verdicts}[/yellow]"]


def run_lines(run: Json) -> list[str]:
    config, starter = run["config"], _starter(run)
    return [
        f"[bold]{escape(run['id'])}[/bold]  {format_status(run['status'])}"
        + (f" ({_pause_reason(run['pauseReason'])})" if _is_paused(run) else ""),
        *_label_lines(run),
        f"definition {_definition(run)} version {run['definitionVersion']}, {_scenarios(run)}, "
        f"repeats {config['repeats']}" + (f", repeats run {escape(run['rerunOf'])}" if run.get("rerunOf") else ""),
        _counts(run["progress"]) + _spend(run["spend"]),
        *_budget_use_lines(run),
        f"created {format_time(run['createdAt'])}{f' by {escape(starter)}' if starter else ''}, "
        f"completed {format_time(run.get('completedAt'))}"
        + (f" after {format_duration(run['durationMs'])}" if run.get("durationMs") is not None else ""),
        *_simulated_judge_warning(config),
        *problem_lines(run),
        *_failure_lines(run),
    ]


def _budget_use_lines(run: Json) -> list[str]:
    """Return `budget $5.00: $3.20 spent, $0.10 uncertain, about $6.40 for all conversations`."""
    lines = []
    if use := run["spend"]["budget"]:
        projected = use["projectedUsd"]
        outlook = (
            f", about {format_usd(projected)} for all conversations" if projected and not run.get("completedAt") else ""
        )
        lines.append(f"budget {format_usd(use['maxBudgetUsd'])}: {_used(use)}{outlook}")
    if _is_paused(run) and run["pauseReason"] == PauseReason.BUDGET:
        lines.append(f"[yellow]{escape(budget_hint(run['id'], run.get('exhaustedBudget')))}[/yellow]")
    return lines


def _used(budget: Json) -> str:
    """Return `$3.20 spent, $0.10 uncertain, $0.40 reserved`."""
    amounts = (("spent", "spentUsd"), ("uncertain", "uncertainUsd"), ("reserved", "reservedUsd"))
    parts = [f"{format_usd(budget[field])} {name}" for name, field in amounts if name == "spent" or budget[field]]
    return ", ".join(parts)


def _available(budget: Json) -> str:
    """Return the amount, which is negative after the limit was lowered below the spending."""
    return f"{format_usd(max(0.0, budget['availableUsd']))} available"


def budget_hint(run_id: str, scope: str | None = None) -> str:
    """Say how a run continues whose budget is used up, or that of its workspace for a period."""
    if scope in PERIODS:
        return (
            f"the workspace's budget for the {scope} is used up; the run resumes when the {scope} has ended, or when "
            f"cupel budget set --{scope} USD raises it"
        )
    return f"the budget is used up; {_raise_hint(run_id)}"


def _raise_hint(run_id: str) -> str:
    return f"cupel budget raise {run_id} --to USD raises it, and the run resumes"


def workspace_budget_lines(budgets: Json) -> list[str]:
    return [f"time zone {escape(budgets['timezone'])}", *(_period_line(scope, budgets[scope]) for scope in PERIODS)]


def _period_line(scope: str, budget: Json) -> str:
    """Return `day 2026-11-23: $3.20 of $20.00 spent, $16.80 available until 2026-11-24 00:00`."""
    name = f"[bold]{scope} {escape(budget['period'])}[/bold]"
    if budget["limitUsd"] is None:
        return f"{name}: no limit, {'not counted' if budget['spentUsd'] is None else _used(budget)}"
    available = f"{_available(budget)} until {format_time(budget['endsAt'])}"
    return f"{name}: budget {format_usd(budget['limitUsd'])}: {_used(budget)}, {available}"


def guarantee_lines(budget: Json) -> list[str]:
    """Say how a budget can be exceeded, as plain text; return nothing if it cannot."""
    if budget["guarantee"] == BudgetGuarantee.UNPRICED_CALLS:
        return ["it does not limit calls whose price is unknown"]
    if budget["guarantee"] == BudgetGuarantee.CALLS_IN_FLIGHT:
        targets = ", ".join(budget["unlimitedTargets"])
        return [f"calls in flight may exceed it: {targets} without maxOutputTokens"]
    return []


def budget_lines(budget: Json) -> list[str]:
    status = format_status(budget["status"])
    lines = [
        f"[bold]{escape(budget['runId'])}[/bold]  {status}",
        f"budget {format_usd(budget['maxBudgetUsd'])}: {_used(budget)}, {_available(budget)}",
    ]
    if estimated := budget["estimatedUsd"]:
        bounds = f"{format_usd(estimated['low'])} to {format_usd(estimated['high'])}"
        lines.append(f"expected at the start: {format_usd(estimated['expected'])} ({bounds})")
    lines += map(escape, guarantee_lines(budget))
    if budget["finishUsd"]:
        lines.append(f"{format_usd(budget['finishUsd'])} of it is set aside for summaries and selections")
    if budget["byRole"]:
        roles = (f"{each['role']} {format_usd(each['usd'])}" for each in budget["byRole"])
        lines.append(f"spent on {', '.join(roles)}")
    if budget["leases"]:
        lines.append(f"{count_of(len(budget['leases']), 'worker')} at work")
    if budget["shortage"] and budget["status"] == RunStatus.PAUSED:
        reason = budget["shortage"].removesuffix("; raise maxBudgetUsd")
        lines.append(f"[yellow]{escape(f'{reason}; {_raise_hint(budget["runId"])}')}[/yellow]")
    return lines


def _is_paused(run: Json) -> bool:
    """Return whether the run is paused: one that was cancelled while paused keeps the reason of the pause."""
    return bool(run.get("pauseReason")) and run["status"] == RunStatus.PAUSED


def _label_lines(run: Json) -> list[str]:
    name, tags, metadata = run.get("name"), run.get("tags") or (), run.get("metadata") or {}
    labels = [
        *([f"[bold]{escape(name)}[/bold]"] if name else []),
        *(escape(f"[{tag}]") for tag in tags),
        *(escape(f"{key}={value}") for key, value in metadata.items()),
    ]
    return ["  ".join(labels)] if labels else []


def _definition(run: Json) -> str:
    return f"{escape(run['definitionName'])} ({escape(run['definitionId'])})"


def _scenarios(run: Json) -> str:
    """Return `12 of 120 scenarios (10%, seed 42)`; an eval or the playground names its scenarios instead of
    sampling."""
    config = run["config"]
    count = f"{run['scenarioCount']:,} of {count_of(run['scenarioTotal'], 'scenario')}"
    if run.get("evalId"):
        return f"{count} (chosen by eval {escape(run.get('evalTitle') or run['evalId'])})"
    if run.get("playground") or config["samplePercentage"] == 100:
        return count
    return f"{count} ({config['samplePercentage']}%, seed {config['sampleSeed']})"


def _starter(run: Json) -> str:
    started_by = run["startedBy"]
    named = started_by["name"] or started_by["id"]
    return f"{started_by['type']} {named}" if named else ""


def problem_lines(run: Json) -> list[str]:
    """Say why a run does not continue and what to do about it, as Rich markup; empty if nothing is wrong."""
    lines = [
        f"[yellow]{escape(model['model'])} is suspended until {format_time(model['until'])}: "
        f"{escape(model['reason'])}[/yellow]"
        for model in run.get("suspendedModels") or ()
    ]
    if lines and run["progress"]["failed"]:
        lines.append(f"cupel retry {escape(run['id'])} runs the errored conversations again, once it can be called")
    if cause := run.get("pauseCause"):
        lines += pause_cause_lines(run, cause, run.get("pauseReason"))
    return lines


def pause_cause_lines(run: Json, cause: Json, reason: str | None) -> list[str]:
    if reason == PauseReason.JUDGE:
        return [f"[red]{escape(cause['message'])}[/red]", escape(judge_hint(run["id"]))]
    return [
        f"[red]{escape(cause['model'])} cannot be called: {escape(cause['message'])}[/red]",
        escape(repair_hint(run, cause["model"])),
    ]


def judge_hint(run_id: str) -> str:
    return (
        f"cupel transcripts {run_id} --full shows what it replied; cupel resume {run_id} asks it again; after "
        f"cupel cancel {run_id}, another judge scores the answers so far (cupel rescore {run_id} --judge-model "
        f"PROVIDER/NAME) or all in another run (cupel rerun {run_id} --judge-model PROVIDER/NAME)"
    )


def repair_hint(run: Json, model: str) -> str:
    provider, _, name = model.partition("/")
    repair = f"correct the connector {name}" if provider == "connector" else f"cupel providers set {provider} …"
    run_id, config = run["id"], run["config"]
    options = {"--models": config["models"], "--judge-model": [config.get("judgeModel")]}
    option = next((option for option, models in options.items() if model in models), None)
    other = f"cupel rerun {run_id} {option} … and cupel cancel {run_id}" if option else f"cupel cancel {run_id}"
    return (
        f"repair it ({repair}) and the run resumes by itself; cupel resume {run_id} tries again without"
        f" a change; a wrong model name needs another run ({other})"
    )


def _pause_reason(reason: str) -> str:
    names = {"user": "user request", "budget": "budget used up", "judge": "judge gives no verdict"}
    return names.get(reason, escape(reason))


class TranscriptColumn(NamedTuple):
    """Defines a column; an `is_optional` one is left out if all cells are empty."""

    heading: str
    cell: Callable[[Json], str]
    right: bool = False
    text: bool = False
    is_optional: bool = False
    is_id: bool = False


def transcripts_table(transcripts: Sequence[Json], *, ids: bool) -> Table:
    chosen = [column for column in _TRANSCRIPT_COLUMNS if ids or not column.is_id]
    shown = [column for column in chosen if not column.is_optional or any(map(column.cell, transcripts))]
    rows = table(
        *(column.heading for column in shown),
        right=[column.heading for column in shown if column.right],
        texts=[column.heading for column in shown if column.text],
    )
    for transcript in transcripts:
        rows.add_row(*(escape(column.cell(transcript) or NO_VALUE) for column in shown))
    return rows


def result_word(transcript: Json) -> str:
    """Return `passed`, `failed`, `unscored`, or nothing if the conversation was not judged."""
    result = transcript.get("result")
    if result is not None:
        return "passed" if result["success"] else "failed"
    return "unscored" if is_unscored(transcript) else ""


def column_title(item: Json) -> str:
    return str(item.get("column") or column_of(item).name)


def scenario_title(item: Json) -> str:
    return str(item.get("scenarioName") or item["scenarioId"])


def case_title(item: Json) -> str:
    persona = f" ({item['personaName']})" if item.get("personaName") else ""
    repeat = _repeat(item)
    return f"{scenario_title(item)}{persona}{f' {repeat}' if repeat else ''}"


def variables_text(transcript: Json) -> str:
    return ", ".join(f"{name}={value}" for name, value in (transcript.get("variables") or {}).items())


def _repeat(transcript: Json) -> str:
    """Return the number of a repeat from 1; empty for the first, so that runs without repeats have no column for it."""
    return f"#{transcript['repeat'] + 1}" if transcript.get("repeat") else ""


def last_message(transcript: Json, role: str) -> str:
    """Return the message, or an empty text if the content has expired."""
    messages = (transcript.get("content") or {}).get("messages") or []
    return next((content_text(m) for m in reversed(messages) if m["role"] == role), "")


def format_status(name: str) -> str:
    colour = _STATUS_COLOURS.get(name)
    return f"[{colour}]{name}[/{colour}]" if colour else name


def format_duration(milliseconds: float | None) -> str:
    if milliseconds is None:
        return NO_VALUE
    if milliseconds < 60_000:
        return f"{milliseconds:.0f} ms" if milliseconds < 1_000 else f"{milliseconds / 1_000:.1f} s"
    hours, minutes, seconds = milliseconds // 3_600_000, milliseconds // 60_000 % 60, milliseconds // 1_000 % 60
    return f"{hours:,.0f} h {minutes:.0f} min" if hours else f"{minutes:.0f} min {seconds:.0f} s"


_TRANSCRIPT_COLUMNS = (
    TranscriptColumn("probe", lambda each: str(each["probeIndex"]), right=True),
    TranscriptColumn("id", lambda each: str(each["id"]), is_id=True),
    TranscriptColumn("target", column_title),
    TranscriptColumn("scenario", scenario_title, text=True),
    TranscriptColumn("scenario id", lambda each: str(each["scenarioId"]), is_id=True),
    TranscriptColumn("persona", lambda each: str(each.get("personaName") or ""), text=True, is_optional=True),
    TranscriptColumn("persona id", lambda each: str(each.get("personaId") or ""), is_optional=True, is_id=True),
    TranscriptColumn("repeat", _repeat, is_optional=True),
    TranscriptColumn("variables", lambda each: shorten(variables_text(each), 60), text=True, is_optional=True),
    TranscriptColumn("decision", lambda each: str(each["decisionCode"] or ""), is_optional=True),
    TranscriptColumn("result", result_word, is_optional=True),
    TranscriptColumn("tokens", lambda each: f"{each['tokenCount']:,}", right=True),
    TranscriptColumn("time", lambda each: format_duration(each["durationMs"]), right=True),
    TranscriptColumn("answer", lambda each: shorten(last_message(each, "assistant"), 60), text=True),
)
